import json
from pathlib import Path

import jsonschema
import pytest

from reports.formats import json as json_format
from reports.report import Report, report_of
from tests.reports.formats.conftest import GOLDEN

SCHEMA = json.loads((Path(json_format.__file__).parent / "report.schema.json").read_text("utf-8"))
VALIDATOR = jsonschema.Draft202012Validator(SCHEMA)


@pytest.mark.parametrize("name", ["golden", "hostile"])
def test_document_keeps_the_published_schema(name: str, request: pytest.FixtureRequest) -> None:
    VALIDATOR.check_schema(SCHEMA)
    text = json_format.render(request.getfixturevalue(name))
    VALIDATOR.validate(json.loads(text, parse_constant=lambda constant: pytest.fail(constant)))


def test_schema_refuses_what_is_no_report(golden: Report) -> None:
    document = json.loads(json_format.render(golden))
    for change in ({"schema": 2}, {"configurations": []}, {"more": 1}, {"ratios": [{}]}):
        assert not VALIDATOR.is_valid({**document, **change})


def test_ladders_alone_keep_the_schema() -> None:
    report = report_of(list(GOLDEN.glob("*/*-ladder")))
    VALIDATOR.validate(json.loads(json_format.render(report)))

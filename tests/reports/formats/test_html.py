import base64
import json
import re
import zlib

import pytest

from reports.formats import html
from reports.report import Report


@pytest.fixture(scope="module")
def page(golden: Report) -> str:
    return html.render(golden)


def test_page_is_one_file_that_may_load_nothing(page: str) -> None:
    assert page.startswith("<!DOCTYPE html>")
    assert 'content="default-src &#39;none&#39;; script-src &#39;sha256-' in page
    assert not re.search(r"""(?:src|href)=["'](?!#)""", page)


def test_page_holds_every_transcript(page: str, golden: Report) -> None:
    packed = re.search(r'<script type="text/plain" id="data">([A-Za-z0-9+/=]*)</script>', page)
    assert packed
    data = json.loads(zlib.decompress(base64.b64decode(packed[1])))
    for side, configuration in zip(data["sides"], golden.configurations, strict=True):
        assert configuration.quality
        trials = list(configuration.quality.trials())
        assert sum(len(rows) for rows in side["trials"].values()) == len(trials)
        for trial in trials:
            row = side["trials"][trial.item_id][trial.repeat - 1]
            assert trial.exchange.response and data["texts"][row["answer"]] == trial.exchange.response.text

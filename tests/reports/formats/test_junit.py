from collections.abc import Callable
from pathlib import Path
from xml.etree import ElementTree

import pytest
import xmlschema

from reports.formats import junit
from reports.report import Report

SCHEMA = xmlschema.XMLSchema(str(Path(__file__).parents[2] / "data" / "junit.xsd"))


def cases(report: Report) -> dict[str, list[str]]:
    """By `suite/case` what its children are."""
    root = ElementTree.fromstring(junit.render(report))
    return {
        f"{suite.get('name')}/{case.get('name')}": [child.tag for child in case]
        for suite in root
        for case in suite.iter("testcase")
    }


@pytest.mark.parametrize("name", ["golden", "hostile"])
def test_document_is_valid(name: str, request: pytest.FixtureRequest) -> None:
    SCHEMA.validate(junit.render(request.getfixturevalue(name)))


def test_only_what_the_candidate_lost_fails(made_report: Callable[..., Report]) -> None:
    report = made_report(
        {"items": ["a-01", "a-02", "a-03", "b-01", "b-02"]},
        old=["ppp", "fff", "ppp", "ppp", "fff"],
        new=["fff", "fff", "ppp", "uuu", "ppp"],
    )
    assert cases(report) == {
        "verdict/new against old": ["skipped"],
        "new.a/a-01": ["failure"],
        "new.a/a-02": ["skipped"],
        "new.a/a-03": [],
        "new.b/b-01": ["skipped"],
        "new.b/b-02": [],
    }


def test_a_configuration_alone_is_held_against_the_right_answers(made_report: Callable[..., Report]) -> None:
    report = made_report({"items": ["a-01", "a-02", "b-01", "b-02"]}, only=["ppf", "pff", "eee", "uuu"])
    assert cases(report) == {
        "only.a/a-01": [],
        "only.a/a-02": ["failure"],
        "only.b/b-01": ["error"],
        "only.b/b-02": ["skipped"],
    }


def test_counts_are_those_of_the_cases(golden: Report) -> None:
    root = ElementTree.fromstring(junit.render(golden))
    for holder in (root, *root):
        assert holder.get("tests") == str(len(list(holder.iter("testcase"))))
        for attribute, tag in (("failures", "failure"), ("errors", "error"), ("skipped", "skipped")):
            assert holder.get(attribute) == str(len(list(holder.iter(tag))))


@pytest.mark.parametrize(("verdict", "tag"), [("REGRESSION", "failure"), ("INVALID", "error"), ("PARITY", None)])
def test_verdict_is_a_case(golden: Report, verdict: str, tag: str | None) -> None:
    [comparison] = golden.document["comparisons"]
    suite = junit.verdict_suite({"comparisons": [{**comparison, "verdict": verdict}]})
    [case] = suite.iter("testcase")
    assert [child.tag for child in case] == ([tag] if tag else [])


def test_what_xml_cannot_hold_is_replaced() -> None:
    assert junit.legal("a\0b\x1bc\ud800\ufffe\tü😀") == "a\ufffdb\ufffdc\ufffd\ufffd\tü😀"

"""The report as JUnit XML, so that a CI system shows which item broke: dimensions as suites, items as cases.

With a comparison a case of the candidate fails where its majority was lost against the baseline; an item that the
baseline fails too is skipped, because nothing broke. A single configuration is held against the right answers alone.
The verdict has a suite of its own, with every number of the document as a property.
"""

import re
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any
from xml.etree import ElementTree

from reports.formats.csv import leaves

if TYPE_CHECKING:
    from reports.report import Report

SUFFIX = ".xml"
FORBIDDEN = re.compile("[^\t\n\r\u0020-\u007e\u00a0-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
"""What XML 1.0 cannot hold, and the control characters that it can."""

Row = Mapping[str, Any]


def render(report: "Report") -> str:
    """One `testsuites` document."""
    document = report.document
    root = ElementTree.Element("testsuites", name="triplicate")
    root.append(verdict_suite(document))
    measured = [row for row in document["configurations"] if row["quality"]]
    flips = {each["candidate"]: {flip["item"]: flip for flip in each["flips"]} for each in document["comparisons"]}
    judged = [row for row in measured if row["name"] in flips] or measured
    for row in judged:
        found = flips.get(row["name"])
        for dimension in dict.fromkeys(item["dimension"] for item in row["quality"]["items"]):
            items = [item for item in row["quality"]["items"] if item["dimension"] == dimension]
            root.append(suite(f"{row['name']}.{dimension}", [case(row["name"], item, found) for item in items]))
    for total in ("tests", "failures", "errors", "skipped"):
        root.set(total, str(sum(int(each.get(total, "0")) for each in root)))
    ElementTree.indent(root)
    return '<?xml version="1.0" encoding="UTF-8"?>\n' + ElementTree.tostring(root, encoding="unicode") + "\n"


def suite(name: str, cases: Sequence[ElementTree.Element]) -> ElementTree.Element:
    """A suite with its counts."""
    made = ElementTree.Element("testsuite", name=legal(name), tests=str(len(cases)))
    for attribute, tag in (("failures", "failure"), ("errors", "error"), ("skipped", "skipped")):
        made.set(attribute, str(sum(each.find(tag) is not None for each in cases)))
    made.extend(cases)
    return made


def case(name: str, item: Row, flips: Mapping[str, Row] | None) -> ElementTree.Element:
    """An item as a case; `flips` by item against the baseline, or None where there is no comparison."""
    made = ElementTree.Element("testcase", classname=legal(f"{name}.{item['dimension']}"), name=legal(item["item"]))
    outcomes = [each["outcome"] for each in item["repeats"]]
    passes, fails = outcomes.count("pass"), outcomes.count("fail")
    said = ", ".join(f"{each['outcome']} {each['reason']}".strip() for each in item["repeats"])
    flip = (flips or {}).get(item["item"])
    if passes + fails == 0:
        tag = "error" if "error" in outcomes else "skipped"
        _add(made, tag, "no answer could be had" if tag == "error" else "nothing scorable", said)
    elif flip is not None and flip["direction"] == "lost":
        _add(made, "failure", f"lost against the baseline, {flip['kind']}", said)
    elif flips is not None and fails > passes:
        _add(made, "skipped", "fails as the baseline does", said)
    elif flips is None and fails > passes:
        _add(made, "failure", f"fails in {fails} of {passes + fails} repeats", said)
    return made


def verdict_suite(document: Row) -> ElementTree.Element:
    """Every comparison as a case, every number of the document as a property."""
    cases = []
    for comparison in document["comparisons"]:
        name = f"{comparison['candidate']} against {comparison['baseline']}"
        made = ElementTree.Element("testcase", classname="verdict", name=legal(name))
        tag = {"REGRESSION": "failure", "INVALID": "error", "UNDECIDED": "skipped"}.get(comparison["verdict"])
        if tag:
            _add(made, tag, comparison["sentence"], "\n".join(comparison["reasons"]))
        cases.append(made)
    made = suite("verdict", cases)
    properties = ElementTree.Element("properties")
    for pointer, value in leaves(document):
        if isinstance(value, int | float) and not isinstance(value, bool):
            ElementTree.SubElement(properties, "property", name=legal(pointer), value=repr(value))
    made.insert(0, properties)
    return made


def legal(text: str) -> str:
    """The text with U+FFFD for what XML cannot hold and for control characters."""
    return FORBIDDEN.sub("\ufffd", text)


def _add(made: ElementTree.Element, tag: str, message: str, text: str) -> None:
    child = ElementTree.SubElement(made, tag, message=legal(message))
    child.text = legal(text)

"""Every figure of the document stands in every format, and no format knows another one."""

import csv as csv_module
import io
import json
from collections.abc import Iterator, Mapping
from typing import Any
from xml.etree import ElementTree

import pytest

import reports.formats
from itembank import plugins
from reports.formats.csv import leaves
from reports.report import Report, render, report_of
from reports.wording import figure
from tests.reports.formats.conftest import GOLDEN


def figures(document: Mapping[str, Any]) -> Iterator[str]:
    """The figures that people read, as they are printed."""
    for row in document["configurations"]:
        scores = row["quality"]["scores"]
        yield figure(scores["mean"])
        for each in (scores, *scores["dimensions"]):
            yield from map(figure, each["runs"])
        for level in row["curve"]["levels"]:
            if level["tok_s"] is not None:
                yield from (figure(level["tok_s"]), str(level["concurrency"]), figure(level["mean_tokens"], 0))
                yield from (figure(level["p50_s"], 2), figure(level["p95_s"], 2), figure(level["tpot_s"], 4))
    for comparison in document["comparisons"]:
        yield figure(comparison["difference"], signed=True)
        yield from (figure(value, signed=True) for value in comparison["interval"])
        for side in comparison["scores"].values():
            yield from (figure(side[key]) for key in ("mean", "micro", "min", "max", "range"))
    for ratio in document["ratios"]:
        yield from (f"{level['ratio']:.1f}x" for level in ratio["levels"] if level["ratio"])
        yield f"{ratio['peaks']['ratio']:.1f}x"
        yield f"{ratio['per_gpu']['ratio']:.1f}x"


@pytest.mark.parametrize("name", ["html", "markdown", "terminal"])
def test_formats_for_people_show_every_figure(golden: Report, name: str) -> None:
    text = str(render(golden, name)).replace("\\", "")
    words = set(text.replace(">", " ").replace("<", " ").replace("(", " ").replace(",", " ").replace(";", " ").split())
    words |= {word.rstrip(".") for word in words} | {word.lstrip("~") for word in words}
    assert not [value for value in figures(golden.document) if value not in words]


@pytest.mark.parametrize("name", ["csv", "json", "junit"])
def test_formats_for_programs_hold_every_number_exactly(golden: Report, name: str) -> None:
    numbers = {
        pointer: value
        for pointer, value in leaves(golden.document)
        if isinstance(value, int | float) and not isinstance(value, bool)
    }
    text = str(render(golden, name))
    if name == "json":
        held = dict(leaves(json.loads(text)))
    elif name == "csv":
        held = {row["pointer"]: row["value"] for row in csv_module.DictReader(io.StringIO(text))}
    else:
        held = {each.get("name"): each.get("value") for each in ElementTree.fromstring(text).iter("property")}
    assert {pointer: float(held[pointer]) for pointer in numbers} == numbers


@pytest.mark.parametrize("name", plugins.names(reports.formats))
def test_every_format_has_a_suffix_of_its_own_and_renders(golden: Report, name: str) -> None:
    modules = [plugins.load(reports.formats, each) for each in plugins.names(reports.formats)]
    assert len({module.SUFFIX for module in modules}) == len(modules)
    assert render(golden, name)


@pytest.mark.parametrize("name", [name for name in plugins.names(reports.formats) if name != "html"])
def test_no_attack_breaks_a_format(hostile: Report, name: str) -> None:
    content = render(hostile, name)
    if isinstance(content, str) and name != "json":
        assert not set(content) & {"\x1b", "\x9b", "\x07", "\0"} or name == "csv"
        assert "\0" not in content


@pytest.mark.parametrize("name", ["markdown", "terminal", "csv", "junit"])
def test_ladders_alone_render(name: str) -> None:
    text = str(render(report_of(sorted(GOLDEN.glob("*/*-ladder"))), name))
    assert "candidate" in text or (name == "junit" and "property" in text), "JUnit has no words for a ladder"


@pytest.mark.parametrize("name", ["markdown", "terminal", "csv", "junit"])
def test_a_ladder_beside_a_quality_run_renders(name: str) -> None:
    runs = [next((GOLDEN / "incumbent").glob("*-ladder")), next((GOLDEN / "candidate").glob("*-quality"))]
    assert "candidate" in str(render(report_of(runs), name))

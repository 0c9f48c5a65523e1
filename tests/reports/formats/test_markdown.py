from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from xml.etree import ElementTree

import pytest
from markdown_it import MarkdownIt

from reports.formats import html, markdown
from reports.report import Report, write
from tests.reports.formats.conftest import ATTACKS


def rendered(text: str) -> str:
    return MarkdownIt("gfm-like", {"html": True, "linkify": False}).render(text)


def test_tables_are_tables(golden: Report) -> None:
    page = rendered(markdown.render(golden))
    assert page.count("<table>") == page.count("</table>") >= 8
    assert "<h2>REGRESSION: candidate against incumbent</h2>" in page
    assert "| ---" not in page


def test_charts_lie_beside_the_file(golden: Report, tmp_path: Path) -> None:
    text, *pictures = write(golden, "markdown", tmp_path / "my report.md")
    assert [path.name for path in pictures] == [
        f"my report-{name}.svg" for name in ("interval0", "scores", "throughput", "latency", "ratio")
    ]
    page = rendered(text.read_text("utf-8"))
    for path in pictures:
        assert f'src="{path.name.replace(" ", "%20")}"' in page
        assert ElementTree.parse(path).getroot().tag.endswith("svg")


def test_without_the_extra_the_text_stands_alone(
    golden: Report, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(html, "missing_package", lambda: "altair")
    [text] = write(golden, "markdown", tmp_path / "r.md")
    assert "![" not in text.read_text("utf-8")


@pytest.mark.parametrize("attack", [attack for attack in ATTACKS if 0 < len(attack) < 300])
def test_names_make_no_markup(attack: str) -> None:
    page = rendered(f"| a | b |\n| --- | --- |\n| {markdown.plain(attack)} | 2 |")
    assert page.count("<td") == 2
    inside = page.split("<td")[1]
    for mark in ("<img", "<script", "<a ", "<strong", "<code", "<em", "<!--"):
        assert mark not in inside
    assert "@everyone" not in page


def test_hostile_runs_make_no_markup(hostile: Report) -> None:
    page = rendered(markdown.render(hostile))
    assert "<img" not in page and "<script" not in page and "<a " not in page


def test_fence_is_longer_than_what_it_holds() -> None:
    assert markdown.fenced(["a ```` b"]) == ["`````", "a ```` b", "`````"]


def test_quality_alone_has_no_curves(made_report: Callable[..., Report]) -> None:
    text = markdown.render(made_report(only=["ppp", "fff"]))
    assert "### Throughput" not in text and "### Scores" in text


def test_sides_without_flips_and_ladders_without_gpus_have_no_lines_for_them(
    made_report: Callable[..., Report], golden: Report
) -> None:
    text = markdown.render(made_report(a=["ppp", "fff"], b=["ppp", "fff"]))
    assert "What this does not say" in text and "flips</summary>" not in text
    ratio = {**golden.document["ratios"][0], "per_gpu": None}
    text = markdown.render(replace(golden, document={**golden.document, "ratios": [ratio]}))
    assert "At the peaks" in text and "Per GPU" not in text

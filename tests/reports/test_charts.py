from collections.abc import Callable
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest

from reports import chart_style, charts
from reports.report import report_of

GOLDEN = Path(__file__).parents[1] / "data" / "runs" / "v1"
ATTACK = '</text><script>1</script>&"'


@pytest.fixture(scope="module")
def document() -> dict[str, Any]:
    return report_of([path for name in ("incumbent", "candidate") for path in (GOLDEN / name).iterdir()]).document


def values(spec: chart_style.Spec, key: str) -> list[dict[str, Any]]:
    """The rows of all layers that have this key; layers may share their rows."""
    found = [layer["data"]["values"] for layer in spec["layer"] if "data" in layer]
    found += [spec["data"]["values"]] if "data" in spec else []
    found += [rows for rows in spec.get("datasets", {}).values()]
    unique: list[dict[str, Any]] = []
    for rows in found:
        unique += [row for row in rows if key in row and row not in unique]
    return unique


def test_every_measured_level_is_a_point_and_every_void_one_is_hollow(document: dict[str, Any]) -> None:
    spec = charts.throughput(document, 640)
    assert spec
    shown = values(spec, "tok_s")
    for row in document["configurations"]:
        mine = {each["concurrency"]: each["tok_s"] for each in shown if each["name"] == charts.curve_label(row)}
        for level in row["curve"]["levels"]:
            if level["tok_s"] is None:
                assert mine[level["concurrency"]] < min(each["curve"]["peak"]["tok_s"] for each in [row])
            else:
                assert mine[level["concurrency"]] == level["tok_s"]
    marks = [layer["mark"].get("filled") for layer in spec["layer"] if layer["mark"]["type"] == "point"]
    assert marks == [True, False]


def test_per_gpu_divides_and_leaves_out_who_states_no_gpus(document: dict[str, Any]) -> None:
    spec = charts.throughput(document, 640, per_gpu=True)
    assert spec
    label = charts.curve_label(document["configurations"][0])
    first = document["configurations"][0]["curve"]["levels"][0]["tok_s"]
    assert first / 2 in [row["tok_s"] for row in values(spec, "tok_s") if row["name"] == label]
    without = [{**row, "curve": {**row["curve"], "gpus": None}} for row in document["configurations"]]
    assert charts.throughput({"configurations": without}, 640, per_gpu=True) is None


def test_curves_carry_signature_k_and_label() -> None:
    curve = {"signature": "CAPPED", "k": 4, "peak": {"label": "ceiling"}}
    assert charts.curve_label({"name": "a", "curve": curve}) == "a: CAPPED k = 4, ceiling"
    assert charts.curve_label({"name": "a", "curve": {**curve, "k": None, "peak": None}}) == "a: CAPPED"


def test_every_repeat_is_a_dot(document: dict[str, Any]) -> None:
    spec = charts.scores(document, 640)
    assert spec
    for row in document["configurations"]:
        found = row["quality"]["scores"]
        shown = [each for each in values(spec, "score") if each["name"] == row["name"]]
        for value in found["runs"]:
            assert {"dimension": "all dimensions", "name": row["name"], "score": value} in shown


def test_charts_without_anything_to_show_are_none(make_run: Callable[..., Any], document: dict[str, Any]) -> None:
    quality = report_of([make_run("a", ["ppp"]).path]).document
    for make in (charts.throughput, charts.latency, charts.ratio):
        assert make(quality, 640) is None
    ladders = report_of(list(GOLDEN.glob("*/*-ladder"))).document
    assert charts.scores(ladders, 640) is None
    [comparison] = document["comparisons"]
    assert charts.interval({**comparison, "interval": None}, 640) is None


@pytest.mark.long
def test_charts_keep_the_schema_of_vega_lite(document: dict[str, Any]) -> None:
    import altair

    for spec in (
        charts.interval(document["comparisons"][0], 640),
        charts.scores(document, 640),
        charts.throughput(document, 640),
        charts.latency(document, 640),
        charts.ratio(document, 640),
    ):
        assert spec
        altair.LayerChart.from_dict(spec, validate=True)


def test_names_are_text_and_ids_are_unique(document: dict[str, Any]) -> None:
    rows = [{**row, "name": ATTACK} for row in document["configurations"][:1]]
    spec = charts.latency({"configurations": rows}, 640)
    assert spec
    drawn = ElementTree.fromstring(chart_style.inlined(spec, "a"))
    assert not [each for each in drawn.iter() if each.tag.endswith("script")]
    assert ATTACK in {each.text for each in drawn.iter() if each.tag.endswith("text")}


def test_a_narrow_chart_is_the_same_chart(document: dict[str, Any]) -> None:
    wide = charts.throughput(document, 640)
    assert wide
    narrow = chart_style.narrowed(wide, 290)
    assert (narrow["width"], narrow["height"]) == (290, 230)
    assert values(narrow, "tok_s") == values(wide, "tok_s")
    score = charts.scores(document, 640)
    assert score and chart_style.narrowed(score, 290)["height"] == score["height"]


def test_pictures_are_png_and_svg(document: dict[str, Any]) -> None:
    spec = charts.interval(document["comparisons"][0], 300)
    assert spec
    assert chart_style.png(spec, 1.0)[:4] == b"\x89PNG"
    assert chart_style.svg(spec).startswith("<svg")


def test_more_series_than_colours_go_round() -> None:
    colours, shapes, dashes = chart_style.series([""] * 10)
    assert len(colours) == len(shapes) == len(dashes) == 10
    assert len(set(colours)) == len(set(shapes)) == 8


def test_long_names_are_cut() -> None:
    assert charts.shown("x" * 50) == "x" * 35 + "…"
    assert charts.shown("a\x1bb") == "a\ufffdb"

"""How charts look, and Vega-Lite as SVG and PNG text. Knows no figure.

Colours are those of Okabe and Ito ("Color Universal Design", 2008), which colour-blind people can tell apart; no chart
relies on them alone: every series has a shape and a dash of its own.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#7A6A00", "#5B5B5B")
SHAPES = (
    *("circle", "square", "triangle-up", "diamond"),
    *("triangle-down", "cross", "triangle-right", "triangle-left"),
)
DASHES: tuple[tuple[int, ...], ...] = ((1, 0), (6, 3), (2, 2), (8, 3, 2, 3), (4, 2), (10, 4), (3, 5), (6, 2, 2, 2))
INK, QUIET, RULE, SHADE, PAPER = "#1f2328", "#59636e", "#d7dce1", "#f4e3d7", "#ffffff"
"""Each stands for one role, so that a page can give it another value in the dark."""
FONT = "Liberation Sans, Arial, Helvetica, sans-serif"
_NOISE = re.compile(r' (?:class|role|aria-[a-z]+|pointer-events|xmlns:xlink|version|opacity="1"|font-family)="[^"<>]*"')

Spec = dict[str, Any]


def series(names: Sequence[str]) -> tuple[list[str], list[str], list[list[int]]]:
    """Colours, shapes and dashes for as many series, in their order."""
    places = range(len(names))
    return (
        [COLOURS[place % len(COLOURS)] for place in places],
        [SHAPES[place % len(SHAPES)] for place in places],
        [list(DASHES[place % len(DASHES)]) for place in places],
    )


@contextmanager
def unchecked() -> Iterator[None]:
    """Within it altair does not hold every part of a chart against its schema, which takes most of a chart's time."""
    from altair.utils.schemapi import debug_mode

    with debug_mode(False):
        yield


def styled(chart: Any) -> Spec:
    """The specification of an altair chart in our style."""
    axis = {
        "labelColor": QUIET,
        "titleColor": INK,
        "gridColor": RULE,
        "domainColor": RULE,
        "tickColor": RULE,
        "labelFontSize": 12,
        "titleFontSize": 12,
        "titleFontWeight": "normal",
        "titlePadding": 8,
    }
    legend = {"labelColor": INK, "titleColor": INK, "labelFontSize": 12, "labelLimit": 600, "symbolSize": 90}
    spec: Spec = chart.to_dict(validate=False)
    spec["config"] = {
        "background": PAPER,
        "font": FONT,
        "view": {"stroke": None},
        "axis": axis,
        "legend": {**legend, "orient": "top", "direction": "vertical", "title": None, "offset": 12},
        "title": {"color": INK, "fontSize": 13, "anchor": "start", "fontWeight": "bold", "offset": 8},
        "text": {"color": INK},
    }
    return spec


def narrowed(spec: Mapping[str, Any], width: int) -> Spec:
    """The same chart for a narrow window: less wide, at most as high, its legend in one column."""
    import json

    narrow: Spec = json.loads(json.dumps(spec).replace('"columns": 2', '"columns": 1'))
    narrow["width"] = width
    if isinstance(narrow.get("height"), int):
        narrow["height"] = min(narrow["height"], 230)
    return narrow


def svg(spec: Mapping[str, Any]) -> str:
    """The chart as one SVG element that stands by itself."""
    import vl_convert

    drawn: str = vl_convert.vegalite_to_svg(dict(spec))
    return drawn


def png(spec: Mapping[str, Any], scale: float = 2.0) -> bytes:
    """The chart as a PNG picture."""
    import vl_convert

    drawn: bytes = vl_convert.vegalite_to_png(dict(spec), scale=scale)
    return drawn


def inlined(spec: Mapping[str, Any], prefix: str) -> str:
    """The chart as an SVG element for a page: hidden from screen readers, and no id that another chart has."""
    drawn = _NOISE.sub("", svg(spec))
    drawn = re.sub(r'id="(\w+)"', rf'id="{prefix}-\1"', drawn)
    drawn = re.sub(r"url\(#(\w+)\)", rf"url(#{prefix}-\1)", drawn)
    return drawn.replace("<svg ", '<svg aria-hidden="true" focusable="false" ', 1)

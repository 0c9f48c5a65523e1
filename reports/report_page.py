"""The HTML page's parts: charts as inline SVG, data that no text can break out of, and the policy that binds both.

Everything is in one file, and the policy lets the page load nothing. Lays nothing out: that is `formats/page.html.j2`.
"""

import base64
import hashlib
import json
import zlib
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from reports import chart_style, charts
from reports.report_items import grouped_items
from reports.report_transcripts import TEXT_BYTES, TEXT_CHARACTERS, transcripts

if TYPE_CHECKING:
    from reports.report import Report

MOST_DATA = 10_500_000
"""Bytes of embedded data: a page stays under 12 MB."""
LEAST_TEXT = 50
"""Characters of one text; it is not cut to fewer, however large the page."""
WIDE, NARROW = 820, 290
LETTERS = {"pass": "P", "fail": "F", "unscorable": "U", "error": "E", "missing": "–"}

Document = Mapping[str, Any]


def embedded(report: "Report", most: int = MOST_DATA) -> str:
    """The transcripts as base64 of deflated JSON, at most `most` characters: longer texts are cut further."""
    measured = [each for each in report.configurations if each.quality]
    names = [each.name for each in measured]
    runs = [each.quality for each in measured if each.quality]
    groups = grouped_items(report.document)
    limit = TEXT_CHARACTERS
    while True:
        is_last = limit <= LEAST_TEXT
        found = transcripts(names, runs, limit, None if is_last else TEXT_BYTES)
        packed = _packed({**found, "groups": groups, "limit": limit}) if found else None
        if packed is not None and (is_last or len(packed) <= most):
            return packed
        limit //= 4


def _packed(data: Document) -> str:
    return base64.b64encode(zlib.compress(json.dumps(data, separators=(",", ":")).encode(), 6)).decode()


def policy(script: str, style: str) -> str:
    """The Content-Security-Policy that allows this script and this style and nothing else."""
    hashes = [base64.b64encode(hashlib.sha256(text.encode()).digest()).decode() for text in (script, style)]
    return (
        f"default-src 'none'; script-src 'sha256-{hashes[0]}'; style-src 'sha256-{hashes[1]}'; "
        "base-uri 'none'; form-action 'none'"
    )


def drawings(document: Document) -> dict[str, list[str]]:
    """Each chart that has something to show, as SVG elements for wide and for narrow windows."""
    with chart_style.unchecked():
        specs = {
            "scores": charts.scores(document, WIDE),
            "throughput": charts.throughput(document, WIDE),
            "per_gpu": charts.throughput(document, WIDE, per_gpu=True),
            "latency": charts.latency(document, WIDE),
            "ratio": charts.ratio(document, WIDE),
            **{f"interval{place}": charts.interval(each, WIDE) for place, each in enumerate(document["comparisons"])},
        }
    return {
        name: [
            chart_style.inlined(spec, f"{name}-w"),
            chart_style.inlined(chart_style.narrowed(spec, NARROW), f"{name}-n"),
        ]
        for name, spec in specs.items()
        if spec
    }


def grid(document: Document) -> list[dict[str, Any]]:
    """The items in groups, flips first: for each item one list of cells a configuration with quality runs."""
    sides = [row["quality"]["items"] for row in document["configurations"] if row["quality"]]
    by_item = [{item["item"]: item for item in items} for items in sides]
    widths = [max((len(item["repeats"]) for item in items), default=0) for items in sides]
    return [
        {
            "name": name,
            "rows": [
                {
                    "item": item,
                    "cells": [_cells(side.get(item), width) for side, width in zip(by_item, widths, strict=True)],
                }
                for item in items
            ],
        }
        for name, items in grouped_items(document)
    ]


def cell_markup(sides: Sequence[Sequence[Document]]) -> str:
    """The cells of one item as markup, made of the five outcomes and of numbers alone."""
    return "".join(
        f'<td class="{cell["outcome"][0]}{" d" if cell["defects"] else ""}{"" if place else " side"}" '
        f'data-s="{side}" data-r="{cell["repeat"]:d}">{LETTERS[cell["outcome"]]}</td>'
        for side, cells in enumerate(sides)
        for place, cell in enumerate(cells)
    )


def _cells(item: Document | None, width: int) -> list[Document]:
    if item is None:
        return [{"repeat": place + 1, "outcome": "missing", "reason": "", "defects": []} for place in range(width)]
    cells: list[Document] = item["repeats"]
    return cells

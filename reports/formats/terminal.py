"""The report as plain text in 80 columns, in reading order: verdicts, identity, scores, curves, ratios."""

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

from reports import probe, sweep_wording, wording

if TYPE_CHECKING:
    from reports.report import Report

SUFFIX = ".txt"


def render(report: "Report") -> str:
    """All lines; nothing in them can move a terminal's cursor."""
    return "\n".join(line.rstrip() for line in lines(report.document)) + "\n"


def lines(document: Mapping[str, Any]) -> Iterator[str]:
    """The report's lines."""
    if document["simulated"]:
        yield f"SIMULATED, no real engine: {', '.join(wording.printable(name) for name in document['simulated'])}"
        yield ""
    for comparison in document["comparisons"]:
        yield from titled(f"{comparison['candidate']} against {comparison['baseline']}")
        yield from (*wording.lines(comparison), "")
    for row in document["configurations"]:
        yield from titled(row["name"])
        yield from (*probe.lines(row["identity"]), "")
        if row["quality"]:
            yield from (*quality_lines(row["quality"]), "")
        if row["curve"]:
            yield from (*sweep_wording.sweep_lines(row["curve"]), "")
    for ratio in document["ratios"]:
        yield from (*sweep_wording.ratio_lines(ratio), "")
    yield from titled("to reproduce")
    yield from document["commands"]


def titled(text: str) -> list[str]:
    """A heading and its rule."""
    shown = wording.printable(text)[: wording.WIDTH]
    return [shown, "=" * len(shown)]


def quality_lines(row: Mapping[str, Any]) -> list[str]:
    """The scores of one run with spread, coverage, band and throughput."""
    scores = row["scores"]
    runs = ", ".join(wording.figure(value) for value in scores["runs"])
    out = [
        f"score {wording.figure(scores['mean'])} (runs {runs}; range {wording.figure(scores['range'])}, "
        f"SD {wording.figure(scores['sd'], 2)})",
        f"micro {wording.figure(scores['micro'])}, {scores['scorable']} of {scores['asked']} scorable, "
        f"band {' to '.join(wording.figure(value) for value in scores['band'])}, {row['status']}",
    ]
    for dimension in scores["dimensions"]:
        values = " ".join(f"{wording.figure(value):>6}" for value in dimension["runs"])
        out.append(f"  {wording.printable(dimension['dimension'])[:24]:<25}{values}")
    return out + wording.wrapped(wording.throughput_phrase(row["throughput"]))

"""The report as text in 80 columns, in reading order; in colour only where a person watches.

Colour says nothing that the words do not say. Nothing that a model or a server wrote can move the cursor.
"""

from collections.abc import Iterator, Mapping
from typing import IO, TYPE_CHECKING, Any

from reports import sweep_wording, wording

if TYPE_CHECKING:
    from rich.console import Console

    from reports.report import Report

SUFFIX = ".txt"
COLOURS = {
    **{"PARITY": "bold green", "IMPROVEMENT": "bold green", "REGRESSION": "bold red", "INVALID": "bold red"},
    "UNDECIDED": "bold yellow",
}
BAR = 60
"""Columns of the drawing of an interval."""

Document = Mapping[str, Any]


def render(report: "Report") -> str:
    """The whole report without colour."""
    from io import StringIO

    out = StringIO()
    _print(report, _console(out, plain=True))
    return out.getvalue()


def show(report: "Report", stream: IO[str]) -> None:
    """Print the report; in colour if the stream is a terminal and NO_COLOR is not set."""
    _print(report, _console(stream, plain=not stream.isatty()))


def _console(stream: IO[str], plain: bool) -> "Console":
    from rich.console import Console

    options: dict[str, Any] = {"color_system": None, "force_terminal": False} if plain else {}
    return Console(file=stream, width=wording.WIDTH, highlight=False, emoji=False, markup=False, **options)


def _print(report: "Report", console: "Console") -> None:
    from rich.text import Text

    for style, line in lines(report.document):
        console.print(Text(line.rstrip(), style=style), soft_wrap=True)


def lines(document: Document) -> Iterator[tuple[str, str]]:
    """The report's lines, each behind its style."""
    if document["simulated"]:
        names = ", ".join(wording.printable(name) for name in document["simulated"])
        yield from (("bold yellow", line) for line in wording.wrapped(f"SIMULATED, no real engine: {names}"))
        yield "", ""
    for comparison in document["comparisons"]:
        yield from titled(f"{comparison['candidate']} against {comparison['baseline']}")
        yield from comparison_lines(comparison)
    for row in document["configurations"]:
        yield from titled(row["name"])
        yield from identity_lines(row["identity"])
        if row["quality"]:
            yield from (("", line) for line in (*quality_lines(row["quality"]), ""))
        if row["curve"]:
            yield from (("", line) for line in (*sweep_wording.sweep_lines(row["curve"]), ""))
    for ratio in document["ratios"]:
        yield from titled(f"{ratio['candidate']} over {ratio['baseline']}")
        yield from (("", line) for line in (*sweep_wording.ratio_lines(ratio)[1:], ""))
    yield from titled("to reproduce")
    yield from (("", line) for command in document["commands"] for line in command_lines(command))


def command_lines(command: str) -> list[str]:
    """A command line in lines of at most 80 columns that a shell reads as one."""
    import textwrap

    lines = textwrap.wrap(
        wording.printable(command),
        wording.WIDTH - 2,
        subsequent_indent="    ",
        break_long_words=False,
        break_on_hyphens=False,
    )
    return [*(f"{line} \\" for line in lines[:-1]), lines[-1]]


def titled(text: str) -> list[tuple[str, str]]:
    """A heading and its rule."""
    shown = wording.printable(text)[: wording.WIDTH]
    return [("bold", shown), ("dim", "─" * wording.WIDTH)]


def comparison_lines(comparison: Document) -> Iterator[tuple[str, str]]:
    """The verdict, its interval drawn against the margin, and all that stands beside it."""
    first, *rest = wording.lines(comparison)
    yield COLOURS[comparison["verdict"]], first
    drawn = interval_lines(comparison)
    yield from (("cyan", line) for line in (["", *drawn] if drawn else []))
    yield from (("yellow" if line.startswith("! ") else "", line) for line in rest)
    flips = comparison["flips"]
    yield from [("", ""), ("bold", "flips")] if flips else []
    for flip in flips:
        counts = [f"{flip[side]['pass']} of {flip[side]['repeats']}" for side in ("baseline", "candidate")]
        name = wording.printable(flip["item"])[:33]
        style = "red" if flip["direction"] == "lost" else "green"
        yield style, f"  {name:<34}{flip['direction']}, {flip['kind']}: passes {counts[0]} -> {counts[1]}"
    yield "", ""


def interval_lines(comparison: Document) -> list[str]:
    """The interval as a bar over an axis with the margin's marks; nothing where there is none.

    The diamond is the difference; `m` marks minus and plus the margin, 0 equal scores.
    """
    if comparison["interval"] is None:
        return []
    low, high = comparison["interval"]
    margin, value = comparison["margin"], comparison["difference"]
    reach: float = 1.1 * max(abs(low), abs(high), 1.5 * margin)

    def column(points: float) -> int:
        return round((points + reach) / (2 * reach) * (BAR - 1))

    axis, bar = ["─"] * BAR, [" "] * BAR
    for points, mark in ((-margin, "m"), (margin, "m"), (0.0, "0")):
        axis[column(points)] = mark
    bar[column(low) : column(high) + 1] = "━" * (column(high) + 1 - column(low))
    bar[column(low)], bar[column(high)], bar[column(value)] = "┣", "┫", "◆"
    return [f"  worse  {''.join(bar)}  better", f"         {''.join(axis)}"]


def identity_lines(identity: Document) -> Iterator[tuple[str, str]]:
    """Engine, disagreements, and what was found; facts in one paragraph, because sources are in the other formats."""
    engine = f"{identity['engine'] or 'unknown engine'} {identity['version'] or ''}".strip()
    yield from (("", line) for line in wording.wrapped(wording.printable(engine)))
    for row in identity["differs"]:
        columns = [f"{key} {_value(row[key])}" for key in ("intended", "found", "measured") if key in row]
        text = wording.printable(f"{row['name']}: {', '.join(columns)}")
        yield from (("bold red", line) for line in wording.wrapped(text, "! "))
    facts = [f"{fact['name']} {_value(fact['value'])}" for fact in identity["facts"]]
    yield from (("", line) for line in wording.wrapped(wording.printable("; ".join(facts) or "no facts"), "  "))
    for note in identity["notes"]:
        yield from (("yellow", line) for line in wording.wrapped(wording.printable(note), "! "))
    yield "", ""


def _value(value: Any) -> str:
    text = {True: "yes", False: "no"}[value] if isinstance(value, bool) else "unknown" if value is None else str(value)
    return text if len(text) <= 60 else f"{text[:59]}…"


def quality_lines(row: Document) -> list[str]:
    """The scores of one run with spread, coverage, band and throughput; a column a repeat."""
    scores = row["scores"]
    runs = ", ".join(wording.figure(value) for value in scores["runs"])
    band = " to ".join(wording.figure(value) for value in scores["band"])
    out = wording.wrapped(
        f"score {wording.figure(scores['mean'])} (runs {runs}; range {wording.figure(scores['range'])}, "
        f"SD {wording.figure(scores['sd'], 2)})"
    )
    out += wording.wrapped(
        f"micro {wording.figure(scores['micro'])}, {scores['scorable']} of {scores['asked']} scorable, "
        f"band {band}, {row['status']}"
    )
    for dimension in scores["dimensions"]:
        values = [f"{wording.figure(value):>6}" for value in dimension["runs"]]
        heads = [f"  {wording.printable(dimension['dimension'])[:23]:<25}", *[" " * 27] * (len(values) // 7)]
        out += [head + "".join(values[7 * place : 7 * place + 7]) for place, head in enumerate(heads)]
    return out + wording.wrapped(wording.throughput_phrase(row["throughput"]))

"""The report as GitHub's Markdown, for a pull request or GITHUB_STEP_SUMMARY; with `-o` its charts lie beside it.

What a model or server named is escaped: it makes no markup, no link and mentions nobody.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import PurePath
from typing import TYPE_CHECKING, Any

from reports import sweep_wording, wording
from reports.report_page import WIDE

if TYPE_CHECKING:
    from reports.report import Report

SUFFIX = ".md"
SPECIAL = re.compile(r"[\\`*_{}\[\]()#+.!|~$-]")

Document = Mapping[str, Any]


def render(report: "Report") -> str:
    """The report as text alone."""
    return "\n".join(lines(report.document, {})) + "\n"


def written(report: "Report", name: str) -> dict[str, str]:
    """The files of `-o NAME`: the text, and a picture for each chart where the packages that draw them are there."""
    from reports.formats.html import missing_package

    stem = PurePath(name).stem
    drawn = {} if missing_package() else pictures(report.document)
    names = {chart: f"{stem}-{chart}.svg" for chart in drawn}
    text = "\n".join(lines(report.document, names)) + "\n"
    return {name: text, **{names[chart]: svg for chart, svg in drawn.items()}}


def pictures(document: Document) -> dict[str, str]:
    """Each chart that has something to show, as SVG."""
    from reports import chart_style, charts

    with chart_style.unchecked():
        specs = {
            **{f"interval{place}": charts.interval(each, WIDE) for place, each in enumerate(document["comparisons"])},
            "scores": charts.scores(document, WIDE),
            "throughput": charts.throughput(document, WIDE),
            "latency": charts.latency(document, WIDE),
            "ratio": charts.ratio(document, WIDE),
        }
    return {name: chart_style.svg(spec) for name, spec in specs.items() if spec}


def lines(document: Document, names: Mapping[str, str]) -> Iterator[str]:
    """The report's lines; `names` are the files of the charts."""
    if document["simulated"]:
        yield f"> **Simulated, no real engine:** {', '.join(map(plain, document['simulated']))}"
        yield ""
    for place, comparison in enumerate(document["comparisons"]):
        yield from comparison_lines(comparison, names.get(f"interval{place}"))
    for row in document["configurations"]:
        yield from identity_lines(row)
    yield from score_lines(document, names.get("scores"))
    yield from curve_lines(document, names)
    for ratio in document["ratios"]:
        yield from ratio_lines(ratio)
    yield from image(names.get("ratio"), "Ratio of throughput at the same concurrency")
    yield from ("### To reproduce", "", *fenced(document["commands"]))


def comparison_lines(comparison: Document, picture: str | None) -> Iterator[str]:
    """A verdict with what it rests on."""
    yield f"## {comparison['verdict']}: {plain(comparison['candidate'])} against {plain(comparison['baseline'])}"
    yield from ("", plain(comparison["sentence"]), "")
    yield from image(picture, "The interval against the margin")
    yield from (f"- {plain(text)}" for text in (*comparison["reasons"], *comparison["warnings"]))
    yield ""
    heads = ("", "mean", "micro", "min", "max", "range", "SD", "coverage", "band", "repeats")
    yield from table(heads, [_score_cells(comparison, side) for side in ("baseline", "candidate")])
    cells = [
        (
            plain(row["dimension"]),
            wording.figure(row["baseline"]),
            wording.figure(row["candidate"]),
            *(str(row[key]) for key in ("gained", "lost", "unstable")),
            f"{row['self_flips']['baseline']} / {row['self_flips']['candidate']}",
        )
        for row in comparison["dimensions"]
    ]
    yield from table(("dimension (watch)", "baseline", "candidate", "gained", "lost", "unstable", "self-flips"), cells)
    flips = [
        (
            plain(flip["item"]),
            f"{flip['direction']}, {flip['kind']}",
            *(f"{flip[side]['pass']} of {flip[side]['repeats']}" for side in ("baseline", "candidate")),
        )
        for flip in comparison["flips"]
    ]
    if flips:
        yield from folded(f"{len(flips)} flips", table(("item", "flip", "baseline passes", "candidate passes"), flips))
    yield from folded("What this does not say", [f"- {plain(line)}" for line in comparison["not_said"]])


def _score_cells(comparison: Document, side: str) -> tuple[str, ...]:
    row = comparison["scores"][side]
    coverage = "n/a" if row["coverage"] is None else f"{100 * row['coverage']:.1f} %"
    return (
        plain(comparison[side]),
        *(wording.figure(row[key]) for key in ("mean", "micro", "min", "max", "range")),
        wording.figure(row["sd"], 2),
        coverage,
        " to ".join(wording.figure(value) for value in row["band"]),
        str(comparison["repeats"][side]),
    )


def identity_lines(row: Document) -> Iterator[str]:
    """What disagrees in the open, the facts folded away."""
    identity = row["identity"]
    engine = f"{identity['engine'] or 'unknown engine'} {identity['version'] or ''}"
    yield f"**{plain(row['name'])}**: {plain(engine)}"
    yield ""
    for each in identity["differs"]:
        columns = (f"{key} {plain(str(each[key]))}" for key in ("intended", "found", "measured") if key in each)
        yield f"- **disagrees** {plain(each['name'])}: {', '.join(columns)}"
    yield ""
    facts = [
        (
            plain(fact["name"]),
            plain(str(identity["intended"].get(fact["name"], ""))),
            plain(str(fact["value"])),
            plain(fact["source"]),
        )
        for fact in identity["facts"]
    ]
    yield from folded("Identity", table(("fact", "intended", "found", "read from"), facts))


def score_lines(document: Document, picture: str | None) -> Iterator[str]:
    """Every repeat of every dimension and configuration."""
    measured = [row for row in document["configurations"] if row["quality"]]
    if not measured:
        return
    yield from ("### Scores", "")
    yield from image(picture, "Every repeat's score by dimension")
    for row in measured:
        scores = row["quality"]["scores"]
        rows = [
            (plain(each["dimension"]), wording.figure(each["mean"]), ", ".join(map(wording.figure, each["runs"])))
            for each in ({"dimension": "all", **scores}, *scores["dimensions"])
        ]
        yield from table((plain(row["name"]), "mean", "repeats"), rows)
        yield from (plain(wording.throughput_phrase(row["quality"]["throughput"])), "")


def curve_lines(document: Document, names: Mapping[str, str]) -> Iterator[str]:
    """Signature, caps, peak and levels of each ladder."""
    curves = [row["curve"] for row in document["configurations"] if row["curve"]]
    if curves:
        yield from ("### Throughput", "")
    yield from image(names.get("throughput"), "Throughput over concurrency")
    yield from image(names.get("latency"), "Latency over concurrency")
    for curve in curves:
        yield f"**{plain(str(curve['serving']))}**: {plain(sweep_wording.signature_sentence(curve))}"
        yield ""
        yield f"{plain(sweep_wording.cap_line(curve['cap']))}; {plain(sweep_wording.peak_sentence(curve['peak']))}"
        yield ""
        rows = [tuple(map(plain, sweep_wording.level_cells(level))) for level in curve["levels"]]
        yield from folded("Levels", table(tuple(map(plain, sweep_wording.HEAD)), rows))
        yield from (f"- {plain(finding)}" for finding in curve["findings"])
        yield ""


def ratio_lines(ratio: Document) -> Iterator[str]:
    """A ratio curve."""
    yield from (f"### {plain(str(ratio['candidate']))} over {plain(str(ratio['baseline']))}", "")
    rows = [
        (
            str(row["concurrency"]),
            wording.figure(row["baseline_tok_s"]),
            wording.figure(row["baseline_mean_tokens"], 0),
            wording.figure(row["candidate_tok_s"]),
            wording.figure(row["candidate_mean_tokens"], 0),
            sweep_wording.times(row["ratio"]),
        )
        for row in ratio["levels"]
    ]
    heads = ("C", "baseline tok/s", "mean tokens", "candidate tok/s", "mean tokens", "ratio")
    yield from table(heads, rows)
    for key, name in (("peaks", "At the peaks"), ("per_gpu", "Per GPU")):
        if ratio[key]:
            said = f"{name} {sweep_wording.times(ratio[key]['ratio'])}{sweep_wording.bound_phrase(ratio[key]['bound'])}"
            yield from (plain(said), "")


def table(heads: Sequence[str], rows: Sequence[Sequence[str]]) -> list[str]:
    """Cells that are escaped already as a table, an empty line behind it."""
    ruler = ["---"] + ["---:"] * (len(heads) - 1)
    return [*(f"| {' | '.join(row)} |" for row in (heads, ruler, *rows)), ""]


def folded(title: str, inside: Sequence[str]) -> list[str]:
    """Lines that a reader unfolds."""
    return [f"<details><summary>{title}</summary>", "", *inside, "", "</details>", ""]


def image(name: str | None, text: str) -> list[str]:
    """A picture beside the file; nothing where there is none."""
    return [f"![{text}]({re.sub(r'[^A-Za-z0-9._-]', lambda m: f'%{ord(m[0]):02X}', name)})", ""] if name else []


def fenced(rows: Sequence[str]) -> list[str]:
    """Lines in a fence that is longer than any within."""
    longest = max((len(run) for row in rows for run in re.findall("`+", row)), default=0)
    fence = "`" * max(3, longest + 1)
    return [fence, *(wording.printable(row) for row in rows), fence]


def plain(text: str) -> str:
    r"""Text that Markdown shows as it is: no markup, no HTML, no mention, no table cell that ends early.

    >>> plain("<b>|@x")
    '&lt;b&gt;\\|@&#8203;x'
    """
    shown = wording.printable(text.replace("\n", " "))
    escaped = SPECIAL.sub(
        lambda found: f"\\{found[0]}", shown.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
    )
    return re.sub(r"([@]|://|\\#)", lambda found: f"{found[0]}&#8203;", escaped)

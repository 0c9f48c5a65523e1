"""The charts of a report, each a Vega-Lite specification made from the report's document. Computes no figure.

A chart that has nothing to show is None. Widths are in pixels of the drawing area.
"""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from reports import chart_style as style
from reports.wording import printable

if TYPE_CHECKING:
    import altair

Document = Mapping[str, Any]
LABELS = {"floor": "floor", "ceiling": "ceiling", "likely_ceiling": "likely ceiling"}


def interval(comparison: Document, width: int) -> style.Spec | None:
    """The difference and its interval against the margin, in points; None where there is no interval."""
    import altair as alt

    if comparison["interval"] is None:
        return None
    low, high = comparison["interval"]
    margin, value = comparison["margin"], comparison["difference"]
    reach = 1.15 * max(abs(low), abs(high), abs(value), 1.6 * margin)
    scale = alt.Scale(domain=[-reach, reach], nice=False, zero=False)
    shade = values([{"from": -reach, "to": -margin}])
    marks = [{"at": at, "text": f"{at:+g}".replace("-", "−")} for at in (-margin, 0.0, margin)]
    beside: list[tuple[Any, int, Any]] = [(marks[0], -4, "right"), (marks[2], 4, "left")]
    x = alt.X("low:Q", scale=scale, axis=alt.Axis(title="candidate minus baseline, points", grid=False))
    return style.styled(
        alt.layer(
            alt.Chart(shade).mark_rect(color=style.SHADE).encode(x=alt.X("from:Q", scale=scale), x2=alt.X2("to")),
            alt.Chart(values(marks)).mark_rule(color=style.QUIET, strokeDash=[3, 3]).encode(x=alt.X("at:Q")),
            *(
                alt.Chart(values([mark]))
                .mark_text(color=style.QUIET, y=8, dx=shift, align=align, fontSize=11)
                .encode(x=alt.X("at:Q"), text=alt.Text("text:N"))
                for mark, shift, align in beside
            ),
            alt.Chart(values([{"low": low, "high": high}]))
            .mark_rule(color=style.COLOURS[0], strokeWidth=4, y=40)
            .encode(x=x, x2=alt.X2("high")),
            alt.Chart(values([{"end": low}, {"end": high}]))
            .mark_tick(color=style.COLOURS[0], thickness=3, size=18, y=40, opacity=1)
            .encode(x=alt.X("end:Q")),
            alt.Chart(values([{"value": value}]))
            .mark_point(
                filled=True, size=150, shape="diamond", color=style.COLOURS[0], stroke=style.PAPER, opacity=1, y=40
            )
            .encode(x=alt.X("value:Q")),
        ).properties(width=width, height=64)
    )


def scores(document: Document, width: int) -> style.Spec | None:
    """Every repeat's score as a dot, by dimension and configuration, the mean as a tick; None without quality runs."""
    import altair as alt

    measured = [row for row in document["configurations"] if row["quality"]]
    if not measured:
        return None
    names = [shown(row["name"]) for row in measured]
    dots, means = [], []
    for row, name in zip(measured, names, strict=True):
        found = row["quality"]["scores"]
        for each in ({"dimension": "all dimensions", **found}, *found["dimensions"]):
            place = {"dimension": printable(each["dimension"]).replace("_", " "), "name": name}
            dots += [{**place, "score": value} for value in each["runs"] if value is not None]
            means += [{**place, "score": each["mean"]}] if each["mean"] is not None else []
    order = list(dict.fromkeys(row["dimension"] for row in means))
    y = alt.Y("dimension:N", sort=order, axis=alt.Axis(title=None, grid=True, labelLimit=170, domain=False))
    offset = alt.YOffset("name:N", sort=names)
    x = alt.X(
        "score:Q", scale=alt.Scale(domain=[0, 100]), axis=alt.Axis(title="score, points", values=[*range(0, 101, 20)])
    )
    colour, shape, _ = encodings(names)
    step = max(9, min(16, 60 // len(names)))
    return style.styled(
        alt.layer(
            alt.Chart(values(means)).mark_tick(thickness=2, size=step + 3, opacity=0.75).encode(x, y, offset, colour),
            alt.Chart(values(dots))
            .mark_point(filled=True, size=34, opacity=0.75)
            .encode(x=x, y=y, yOffset=offset, color=colour, shape=shape),
        ).properties(width=width, height=alt.Step(step, **{"for": "offset"}))
    )


def throughput(document: Document, width: int, per_gpu: bool = False) -> style.Spec | None:
    """Aggregate tokens a second over concurrency, both logarithmic; void levels stand hollow on the lowest line.

    With `per_gpu` divided by the GPUs; None where no ladder has a throughput, or a GPU count is missing.
    """
    import altair as alt

    curves = _curves(document)
    if per_gpu:
        curves = [row for row in curves if row["curve"]["gpus"]]
    rows, void = [], []
    for row in curves:
        share = row["curve"]["gpus"] if per_gpu else 1
        for level in row["curve"]["levels"]:
            place = {"concurrency": level["concurrency"], "name": curve_label(row)}
            void += [place] if level["void"] else []
            rows += [{**place, "tok_s": level["tok_s"] / share}] if level["tok_s"] else []
    if not rows:
        return None
    low, high = min(row["tok_s"] for row in rows) * 0.7, max(row["tok_s"] for row in rows) * 1.4
    title = "tok/s per GPU" if per_gpu else "tok/s, all requests together"
    y = alt.Y("tok_s:Q", scale=alt.Scale(type="log", domain=[low, high], nice=False), axis=log_axis(title, low, high))
    names = [curve_label(row) for row in curves]
    x = level_axis([*rows, *void])
    colour, shape, dash = encodings(names, len(names) > 3)
    lines = alt.Chart(values(rows))
    hollow = values([{**row, "tok_s": low} for row in void])
    return style.styled(
        alt.layer(
            lines.mark_line(strokeWidth=2).encode(x=x, y=y, color=colour, strokeDash=dash),
            lines.mark_point(filled=True, size=60, opacity=1).encode(x=x, y=y, color=colour, shape=shape),
            alt.Chart(hollow).mark_point(filled=False, size=70).encode(x=x, y=y, color=colour, shape=shape),
        ).properties(width=width, height=300)
    )


def latency(document: Document, width: int) -> style.Spec | None:
    """Seconds a request at p50 (line) and p95 (dashed), on linear axes so that queueing is a straight line."""
    import altair as alt

    curves = _curves(document)
    rows = [
        {"concurrency": level["concurrency"], "name": shown(row["name"]), "of": name, "seconds": level[f"{name}_s"]}
        for row in curves
        for level in row["curve"]["levels"]
        for name in ("p50", "p95")
        if level[f"{name}_s"] is not None
    ]
    if not rows:
        return None
    names = [shown(row["name"]) for row in curves]
    colour, shape, _ = encodings(names, len(names) > 3)
    dash = alt.StrokeDash("of:N", scale=alt.Scale(domain=["p50", "p95"], range=[[1, 0], [5, 4]]), legend=alt.Legend())
    x = alt.X("concurrency:Q", axis=alt.Axis(title="requests at once"))
    y = alt.Y("seconds:Q", axis=alt.Axis(title="seconds a request"))
    base = alt.Chart(values(rows))
    return style.styled(
        alt.layer(
            base.mark_line(strokeWidth=2).encode(x=x, y=y, color=colour, strokeDash=dash),
            base.mark_point(filled=True, size=45, opacity=1).encode(x=x, y=y, color=colour, shape=shape),
        ).properties(width=width, height=240)
    )


def ratio(document: Document, width: int) -> style.Spec | None:
    """Candidate over baseline at the same concurrency, logarithmic, with a rule at 1; None without two ladders."""
    import altair as alt

    rows = [
        {"concurrency": level["concurrency"], "name": ratio_label(each), "ratio": level["ratio"]}
        for each in document["ratios"]
        for level in each["levels"]
        if level["ratio"]
    ]
    if not rows:
        return None
    names = [ratio_label(each) for each in document["ratios"]]
    low, high = min(1.0, *(row["ratio"] for row in rows)) * 0.8, max(1.0, *(row["ratio"] for row in rows)) * 1.25
    y = alt.Y("ratio:Q", scale=alt.Scale(type="log", domain=[low, high], nice=False), axis=log_axis("times", low, high))
    x = level_axis(rows)
    first = len(document["configurations"]) - len(names)
    colour, shape, dash = encodings(names, False, first)
    base = alt.Chart(values(rows))
    return style.styled(
        alt.layer(
            alt.Chart(values([{"one": 1.0}])).mark_rule(color=style.QUIET).encode(y=alt.Y("one:Q")),
            base.mark_line(strokeWidth=2).encode(x=x, y=y, color=colour, strokeDash=dash),
            base.mark_point(filled=True, size=60, opacity=1).encode(x=x, y=y, color=colour, shape=shape),
        ).properties(width=width, height=220)
    )


def shown(name: str, most: int = 36) -> str:
    """A name as a chart writes it."""
    text = printable(name)
    return text if len(text) <= most else f"{text[: most - 1]}…"


def curve_label(row: Document) -> str:
    """A configuration's name with what its ladder showed: signature, k, floor or ceiling."""
    curve = row["curve"]
    k = f" k = {curve['k']}" if curve["k"] is not None else ""
    label = f", {LABELS[curve['peak']['label']]}" if curve["peak"] else ""
    return f"{shown(row['name'])}: {curve['signature']}{k}{label}"


def ratio_label(row: Document) -> str:
    """Which ladder over which."""
    return f"{shown(row['candidate'], 24)} over {shown(row['baseline'], 24)}"


def values(rows: Sequence[Mapping[str, Any]]) -> Any:
    """Rows as inline data."""
    import altair as alt

    data: Any = alt.Data
    return data(values=list(rows))


def encodings(names: Sequence[str], two_columns: bool = False, skip: int = 0) -> tuple[Any, Any, Any]:
    """Colour, shape and dash by name, with one legend; `skip` series are passed over, so that names keep theirs."""
    import altair as alt

    colours, shapes, dashes = style.series([""] * skip + list(names))
    legend = alt.Legend(columns=2 if two_columns else 1)
    domain = list(names)
    return (
        alt.Color("name:N", scale=alt.Scale(domain=domain, range=colours[skip:]), legend=legend),
        alt.Shape("name:N", scale=alt.Scale(domain=domain, range=shapes[skip:]), legend=legend),
        alt.StrokeDash("name:N", scale=alt.Scale(domain=domain, range=dashes[skip:]), legend=None),
    )


def level_axis(rows: Sequence[Mapping[str, Any]]) -> "altair.X":
    """Concurrency, logarithmic, a tick at every level."""
    import altair as alt

    levels = sorted({row["concurrency"] for row in rows})
    axis = alt.Axis(title="requests at once", values=levels, format="d", labelOverlap=True)
    return alt.X("concurrency:Q", scale=alt.Scale(type="log", base=2, nice=False), axis=axis)


def log_axis(title: str, low: float, high: float) -> "altair.Axis":
    """A logarithmic axis with ticks at 1, 2 and 5 of each power of ten."""
    import altair as alt

    steps = [digit * 10.0**power for power in range(-6, 12) for digit in (1, 2, 5)]
    return alt.Axis(title=title, values=[step for step in steps if low <= step <= high], format="~g")


def _curves(document: Document) -> list[Any]:
    return [row for row in document["configurations"] if row["curve"]]

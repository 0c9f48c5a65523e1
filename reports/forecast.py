"""What a decide will cost, and whether its looks can decide at all: printed before the first request. Asks nobody."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from reports.decision import Rule
from reports.outcomes import load_outcomes
from reports.planner import plan
from reports.throughput import pass_throughput
from reports.wording import figure, printable, wrapped
from runner.find import run_folders
from runner.store import RunFolder


@dataclass(frozen=True, slots=True, kw_only=True)
class Pace:
    """What one request of a side costs."""

    seconds: float
    """Wall time at the planned concurrency."""
    tokens: float | None
    source: str
    """The run folder it was read from, or `pilot`."""


def pace_of(run: RunFolder, source: str) -> Pace | None:
    """The pace of a measured run; None if it holds no request."""
    found = pass_throughput(run)
    if not found["requests"]:
        return None
    return Pace(seconds=found["busy_s"] / found["requests"], tokens=found["mean_tokens"], source=source)


def earlier_run(out: Path, serving: str, bank_digest: str, concurrency: int) -> RunFolder | None:
    """The newest complete quality run of a serving over the same bank at the same concurrency; None without one."""
    runs = [RunFolder.read(path) for path in run_folders(out)] if out.is_dir() else []
    fitting = [
        run
        for run in runs
        if run.record.kind == "quality"
        and run.record.status == "complete"
        and run.record.serving.get("name") == serving
        and run.record.bank.get("digest") == bank_digest
        and run.record.plan.get("concurrency") == concurrency
    ]
    return max(fitting, key=lambda run: (run.record.started_at, run.path.name)) if fitting else None


def forecast_document(
    rule: Rule, items: int, sides: Mapping[str, Pace | None], noise: RunFolder | None
) -> dict[str, Any]:
    """The plan of a decide: by look the requests, and the time and tokens where a pace is known; with a warning.

    `sides` are those to be measured; `noise` is an earlier run of the baseline, for the repeats that the margin needs.
    """
    paces = list(sides.values())
    known = [pace for pace in paces if pace is not None]
    complete = len(known) == len(paces)
    rows = []
    for repeats in rule.looks:
        requests = repeats * items
        tokens = [pace.tokens for pace in known]
        rows.append(
            {
                "repeats": repeats,
                "requests": requests * len(paces),
                "seconds": sum(pace.seconds for pace in known) * requests if complete else None,
                "tokens": sum(t for t in tokens if t is not None) * requests
                if complete and None not in tokens
                else None,
            }
        )
    needed = None if noise is None else plan(load_outcomes(noise), rule.margin).repeats_needed
    return {
        "looks": rows,
        "margin": rule.margin,
        "alpha": rule.alpha,
        "items": items,
        "sources": {name: pace.source if pace else None for name, pace in sides.items()},
        "repeats_needed": needed,
        "warning": _warning(needed, rule),
    }


def _warning(needed: int | None, rule: Rule) -> str | None:
    if needed is None or needed <= rule.looks[-1]:
        return None
    return (
        f"a margin of {rule.margin:g} points needs about {needed} repeats a side with the noise that the baseline "
        f"showed: {rule.looks[-1]} will probably not decide; give a wider --margin or more --looks"
    )


def forecast_lines(document: Mapping[str, Any]) -> list[str]:
    """The plan in words, at most 80 columns."""
    looks = ", ".join(str(row["repeats"]) for row in document["looks"])
    out = wrapped(
        f"plan: {document['items']} items; looks at {looks} repeats a side; margin {document['margin']:g} points; "
        f"one-sided level {document['alpha']:g} at each; stops at the first look that decides"
    )
    for row in document["looks"]:
        cost = "time not known yet" if row["seconds"] is None else f"about {duration(row['seconds'])}"
        tokens = "" if row["tokens"] is None else f", {figure(row['tokens'], 0)} tokens"
        out.append(f"  {row['repeats']:>3} repeats: {row['requests']} requests, {cost}{tokens}")
    for name, source in document["sources"].items():
        out += wrapped(printable(f"{name}: pace from {source or 'its first repeats; no earlier run shows it'}"), "  ")
    if document["repeats_needed"] is not None:
        out.append(f"  the margin needs about {document['repeats_needed']} repeats a side")
    if document["warning"]:
        out += wrapped(f"warning: {document['warning']}", "! ")
    return out


def duration(seconds: float) -> str:
    """A time for people.

    >>> duration(4), duration(100), duration(7000)
    ('4 s', '2 min', '1.9 h')
    """
    if seconds < 90:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 5400 else f"{seconds / 3600:.1f} h"

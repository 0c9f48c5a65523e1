"""The speculative-decoding check as a document: off against on, condition by condition. Pure; measures nothing.

Exact equality of texts is the wrong test: what counts is the verdict on the score, behaviour beyond each side's own
noise, and whether anything that drafting is known to break came more often.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from reports.comparison import comparison_document
from reports.decision import SINGLE_ALPHA, Rule, Verdict, decision
from reports.defects import DefectRate, defect_rates, defects_document, risen
from reports.outcomes import Outcomes, load_outcomes
from reports.throughput import lengths
from reports.wording import figure
from runner.record import Identity
from runner.store import RunFolder

Runs = tuple[RunFolder, RunFolder]
GOOD = (Verdict.PARITY, Verdict.IMPROVEMENT)


def equivalence_document(
    runs: Mapping[tuple[int, bool], Runs], *, margin: float, curves: Mapping[str, Any] | None = None
) -> dict[str, Any]:
    """The check of runs by (concurrency, streaming), each off and on; `curves` is what two short ladders show."""
    conditions = []
    for (concurrency, stream), (off, on) in runs.items():
        document = comparison_document(off, on, margin=margin)
        conditions.append(
            {
                "concurrency": concurrency,
                "stream": stream,
                "completion_length_ratio": _length_ratio(off, on),
                "acceptance": acceptance(on.record.identity_before, on.record.identity_after),
                **document,
            }
        )
    levels = sorted({concurrency for concurrency, _ in runs})
    pools = {level: _pooled([pair for (c, _), pair in runs.items() if c == level]) for level in levels}
    rates = {level: defect_rates(off, on) for level, (off, on) in pools.items()}
    significant = risen(tuple(rate for level in levels for rate in rates[level]))
    pooled = {level: decision(off, on, Rule(margin=margin, alpha=SINGLE_ALPHA)) for level, (off, on) in pools.items()}
    document = {
        "margin": margin,
        "conditions": conditions,
        "by_concurrency": [
            {
                "concurrency": level,
                "verdict": str(pooled[level].verdict),
                "repeats": pools[level][0].repeats,
                "defects": defects_document(rates[level], significant),
            }
            for level in levels
        ],
        "acceptance": acceptance(*_outermost([on for _, on in runs.values()])),
        "speedup": _speedup(conditions),
        "batching": curves["batching"] if curves else None,
        "ratio": curves["ratio"] if curves else None,
    }
    verdict, finding = _finding(document, [(level, r) for level in levels for r in rates[level] if r in significant])
    return {**document, "verdict": str(verdict), "finding": finding}


def acceptance(before: Identity | None, after: Identity | None) -> dict[str, Any] | None:
    """`drafted`, `accepted` and their `rate` between two readings of the server's counters; None without counters."""
    if before is None or after is None:
        return None
    names = ("draft_tokens", "accepted_tokens")
    if any(name not in reading.counters for name in names for reading in (before, after)):
        return None
    drafted, accepted = (after.counters[name] - before.counters[name] for name in names)
    if drafted < 0 or accepted < 0:
        return None
    return {"drafted": drafted, "accepted": accepted, "rate": accepted / drafted if drafted else None}


def _outermost(runs: Sequence[RunFolder]) -> tuple[Identity | None, Identity | None]:
    """The earliest reading before and the latest after, over runs of one server."""
    before = [run.record.identity_before for run in runs if run.record.identity_before]
    after = [run.record.identity_after for run in runs if run.record.identity_after]
    return (
        min(before, key=lambda identity: identity.read_at, default=None),
        max(after, key=lambda identity: identity.read_at, default=None),
    )


def _length_ratio(off: RunFolder, on: RunFolder) -> float | None:
    """Mean completion tokens with over those without, over the items that both answered; None without usage."""
    tokens_off, tokens_on = lengths(off), lengths(on)
    shared = tokens_off.keys() & tokens_on.keys()
    total = sum(tokens_off[item] for item in shared)
    return sum(tokens_on[item] for item in shared) / total if total else None


def _pooled(pairs: Sequence[Runs]) -> tuple[Outcomes, Outcomes]:
    """Both sides with the repeats of several runs one after the other."""
    return _joined([load_outcomes(off) for off, _ in pairs]), _joined([load_outcomes(on) for _, on in pairs])


def _joined(parts: Sequence[Outcomes]) -> Outcomes:
    import numpy as np

    reasons: dict[tuple[int, int], str] = {}
    defects: dict[tuple[int, int], tuple[tuple[str, str], ...]] = {}
    offset = 0
    for part in parts:
        reasons |= {(item, repeat + offset): value for (item, repeat), value in part.reasons.items()}
        defects |= {(item, repeat + offset): found for (item, repeat), found in part.defects.items()}
        offset += part.repeats
    grid = np.concatenate([part.grid for part in parts], axis=1)
    boots = tuple(boot for part in parts for boot in part.boots)
    return replace(parts[0], grid=grid, reasons=reasons, defects=defects, boots=boots)


def _speedup(conditions: Sequence[Mapping[str, Any]]) -> dict[str, Any] | None:
    """How much faster each side was at the higher concurrency, streaming; None without both or without token counts."""
    streamed = [row for row in conditions if row["stream"]]
    if len(streamed) < 2:
        return None
    low, high = (pick(streamed, key=lambda row: row["concurrency"]) for pick in (min, max))
    gains = {}
    for side, name in (("baseline", "off"), ("candidate", "on")):
        slow, fast = (row["throughput"][side]["tok_s"] for row in (low, high))
        gains[name] = fast / slow if slow and fast else None
    return {"concurrency": [low["concurrency"], high["concurrency"]], **gains}


def _finding(document: Mapping[str, Any], significant: Sequence[tuple[int, DefectRate]]) -> tuple[Verdict, str]:
    """The last line: no regression, or which."""
    conditions = document["conditions"]
    invalid = [row for row in conditions if row["verdict"] == Verdict.INVALID]
    if invalid:
        return Verdict.INVALID, f"INVALID at {_where(invalid[0])}: {invalid[0]['reasons'][0]}"
    broken = [
        f"{rate.kind} in {rate.counts[1]} of {rate.responses[1]} responses against {rate.counts[0]} of "
        f"{rate.responses[0]} at concurrency {level} (p = {rate.p:.2g})"
        + (f", for example {rate.examples[0]!r}" if rate.examples else "")
        for level, rate in significant
    ]
    worse = [
        f"the score fell by {figure(-row['difference'])} points at {_where(row)}"
        for row in conditions
        if row["verdict"] == Verdict.REGRESSION
    ]
    worse += [
        f"the score fell at concurrency {row['concurrency']}, all conditions together"
        for row in document["by_concurrency"]
        if row["verdict"] == Verdict.REGRESSION
    ]
    if broken or worse:
        return Verdict.REGRESSION, f"REGRESSION: {'; '.join(broken + worse)}"
    open_levels = [row for row in document["by_concurrency"] if row["verdict"] not in GOOD]
    if open_levels:
        where = ", ".join(str(row["concurrency"]) for row in open_levels)
        needed = max((row["repeats_needed"] or 0 for row in conditions), default=0)
        return Verdict.UNDECIDED, (
            f"UNDECIDED: no regression was found, but at concurrency {where} the repeats cannot exclude one of "
            f"{document['margin']:g} points; repeat before you decide (about {max(needed, 5)} repeats)"
        )
    return Verdict.PARITY, (
        f"no regression: with speculation the score is within {document['margin']:g} points, and nothing that drafting "
        "is known to break came more often" + _price(document["batching"])
    )


def _price(batching: Mapping[str, Any] | None) -> str:
    if not batching or not batching["cost"]:
        return ""
    off = "none" if batching["off"]["k"] is None else batching["off"]["k"]
    return f"; but it cost the batching: {batching['on']['k']} requests at once, and without it the limit is {off}"


def _where(row: Mapping[str, Any]) -> str:
    return f"concurrency {row['concurrency']}, {'streaming' if row['stream'] else 'not streaming'}"

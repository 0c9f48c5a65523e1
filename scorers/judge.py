"""Judges one response: guards, then defects, then the item's scorer, under a hard time limit. Knows no server.

The scorer sees the text behind the reasoning, up to the first stop or role token, without control tokens.
"""

from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import Any

import scorers.methods
from itembank import plugins
from itembank.item import Item
from scorers.guards import guard
from scorers.response import Response
from scorers.verdict import Verdict, unscorable


def judge(item: Item, response: Response) -> Verdict:
    """The verdict on one response; UNSCORABLE `scorer_error` or `scorer_timeout` where the scorer itself fails."""
    method = plugins.load(scorers.methods, item.scorer)
    seen, decided, defects = guard(item, response)
    try:
        verdict: Verdict = decided or method.score(item.expect, seen)
    except Exception as error:  # noqa: BLE001  a broken scorer is data, whatever broke in it
        verdict = unscorable("scorer_error", f"{type(error).__name__}: {error}")
    return replace(verdict, defects=defects, scorer=item.scorer, scorer_version=method.VERSION)


def judge_many(pairs: Iterable[tuple[Item, Response]], workers: int | None = None) -> Iterator[Verdict]:
    """The verdicts in the order of `pairs`, judged by `workers` processes (default: one a core)."""
    for item, response in pairs:
        yield judge(item, response)


def verdict_row(item: Item, repeat: int, verdict: Verdict) -> dict[str, Any]:
    """The verdict as a line of `verdicts.jsonl`."""
    return {
        "item": item.id,
        "dimension": item.dimension,
        "repeat": repeat,
        "outcome": str(verdict.outcome),
        "reason": verdict.reason,
        "detail": verdict.detail,
        "extracted": verdict.extracted,
        "defects": [{"kind": defect.kind, "text": defect.text} for defect in verdict.defects],
        "scorer": verdict.scorer,
        "scorer_version": verdict.scorer_version,
    }

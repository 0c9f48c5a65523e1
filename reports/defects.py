"""Rates of broken output in two runs, with an exact test of whether one rose. Decides nothing.

Defects stand beside the outcome: control tokens, stop overruns, repetition loops, tool calls written as text;
truncation and malformed JSON or calls are counted here too.
"""

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from reports.outcomes import ERROR, MISSING, Outcomes

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

REASON_KINDS = ("truncated", "malformed", "unclosed_reasoning", "reasoning_only", "empty", "aborted")


@dataclass(frozen=True, slots=True, kw_only=True)
class DefectRate:
    """How often one kind of defect came on either side."""

    kind: str
    counts: tuple[int, int]
    """Responses of the baseline and of the candidate that show it."""
    responses: tuple[int, int]
    p: float
    """One-sided: the chance of so many on the candidate's side if it made no difference."""
    least_p: float
    """The smallest p that these totals allow."""
    examples: tuple[str, ...]
    """Up to three of the candidate's distinct pieces of evidence, the most frequent first."""


def defect_rates(baseline: Outcomes, candidate: Outcomes) -> tuple[DefectRate, ...]:
    """The kinds that occur on either side; both runs must hold the same items in the same order."""
    by_kind_a, by_kind_b = _by_kind(baseline), _by_kind(candidate)
    answered_a, answered_b = _answered(baseline), _answered(candidate)
    rates = []
    for kind in sorted(by_kind_a.keys() | by_kind_b.keys()):
        events_a, events_b = by_kind_a.get(kind, {}), by_kind_b.get(kind, {})
        hits_a, hits_b = _by_item(events_a, baseline), _by_item(events_b, candidate)
        p, least_p = stratified_p(hits_a, answered_a, hits_b, answered_b)
        rates.append(
            DefectRate(
                kind=kind,
                counts=(len(events_a), len(events_b)),
                responses=(int(answered_a.sum()), int(answered_b.sum())),
                p=p,
                least_p=least_p,
                examples=_most_frequent(list(events_b.values())),
            )
        )
    return tuple(rates)


def stratified_p(
    hits_a: "NDArray[np.int64]", asked_a: "NDArray[np.int64]", hits_b: "NDArray[np.int64]", asked_b: "NDArray[np.int64]"
) -> tuple[float, float]:
    """(p, smallest attainable p) of the one-sided exact test that B has more hits, item by item.

    Given an item's hits, B's share of them is hypergeometric if the side makes no difference (with one item this is
    Fisher's exact test); the sum over items is their convolution (Mehta, Patel and Gray 1985). Repeats of an item are
    never taken for independent items.
    """
    import numpy as np

    mass = np.ones(1)
    for total_a, n_a, total_b, n_b in zip(hits_a, asked_a, hits_b, asked_b, strict=True):
        hits = int(total_a + total_b)
        if hits and n_a + n_b:
            mass = np.convolve(mass, hypergeometric_mass(hits, int(n_a), int(n_b)))
    observed = int(hits_b.sum())
    possible = np.flatnonzero(mass > 0)
    return min(1.0, float(mass[observed:].sum())), min(1.0, float(mass[possible[-1]]))


def hypergeometric_mass(hits: int, n_a: int, n_b: int) -> list[float]:
    """The chance of 0 .. `hits` of the hits lying among the `n_b` of `n_a` + `n_b` places; sums to 1."""
    ways = math.comb(n_a + n_b, hits)
    return [math.comb(n_b, x) * math.comb(n_a, hits - x) / ways for x in range(hits + 1)]


def risen(rates: tuple[DefectRate, ...], alpha: float = 0.05) -> tuple[DefectRate, ...]:
    """The kinds whose rate rose significantly, at `alpha` over all of them together.

    Bonferroni after Tarone (Biometrics 1990): a kind too rare to ever reach significance does not count as a test.
    """
    for tests in range(1, len(rates) + 1):
        if sum(rate.least_p <= alpha / tests for rate in rates) <= tests:
            return tuple(rate for rate in rates if rate.p <= alpha / tests)
    return ()


def _by_kind(outcomes: Outcomes) -> dict[str, dict[tuple[int, int], str]]:
    kinds: dict[str, dict[tuple[int, int], str]] = {}
    for key, found in outcomes.defects.items():
        for kind, text in found:
            kinds.setdefault(kind, {}).setdefault(key, text)
    for key, reason in outcomes.reasons.items():
        if reason in REASON_KINDS and outcomes.grid[key] not in (ERROR, MISSING):
            kinds.setdefault(reason, {})[key] = ""
    return kinds


def _answered(outcomes: Outcomes) -> "NDArray[np.int64]":
    import numpy as np

    return np.asarray(((outcomes.grid != ERROR) & (outcomes.grid != MISSING)).sum(axis=1))


def _by_item(events: dict[tuple[int, int], str], outcomes: Outcomes) -> "NDArray[np.int64]":
    import numpy as np

    return np.bincount(np.array([item for item, _ in events], np.int64), minlength=len(outcomes.items))


def _most_frequent(texts: list[str]) -> tuple[str, ...]:
    distinct = sorted({text for text in texts if text}, key=lambda text: (-texts.count(text), text))
    return tuple(distinct[:3])


def defects_document(rates: tuple[DefectRate, ...], significant: tuple[DefectRate, ...]) -> list[dict[str, Any]]:
    """The rates as JSON: `kind`, `baseline` and `candidate` counts and rates, `p`, `risen`, `examples`."""
    return [
        {
            "kind": rate.kind,
            "baseline": {"count": rate.counts[0], "responses": rate.responses[0], "rate": _rate(rate, 0)},
            "candidate": {"count": rate.counts[1], "responses": rate.responses[1], "rate": _rate(rate, 1)},
            "p": rate.p,
            "risen": rate in significant,
            "examples": list(rate.examples),
        }
        for rate in rates
    ]


def _rate(rate: DefectRate, side: int) -> float | None:
    return rate.counts[side] / rate.responses[side] if rate.responses[side] else None

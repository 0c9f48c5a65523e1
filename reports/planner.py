"""How many repeats a margin needs, from the noise that a run showed. Decides nothing and starts nothing."""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from reports.decision import LEAST_REPEATS, SINGLE_ALPHA
from reports.flips import self_flips, tallies
from reports.intervals import Interval, t_quantile
from reports.outcomes import Outcomes

POWER = 0.80
FACTOR = 6.18
"""(z_.95 + z_.80)^2 = (1.645 + 0.842)^2."""
MOST_REPEATS = 10_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """What a margin costs on this bank, if there is no true difference."""

    flaky_items: int | None
    """Items whose outcome differed between repeats; None for a single run."""
    instability: float | None
    """S = sum_i p_i (1 - p_i), estimated without bias; None for a single run."""
    repeats_needed: int | None
    """A side, at 80 % power; None where a single run gives no estimate."""
    margin: float
    power: float = POWER


def instability(outcomes: Outcomes) -> float | None:
    """S = sum_i c_i (K_i - c_i) / (K_i (K_i - 1)); None if no item has two scorable repeats."""
    passes, scorable = tallies(outcomes)
    usable = scorable >= 2
    if not usable.any():
        return None
    c, k = passes[usable], scorable[usable]
    return float((c * (k - c) / (k * (k - 1.0))).sum())


def least_repeats(items: int, margin: float, alpha: float = SINGLE_ALPHA) -> int:
    """Repeats a side below which not even a bank of unanimous items shows parity: the floor alone is too wide."""
    for repeats in range(LEAST_REPEATS, MOST_REPEATS):
        half = 100.0 * float(t_quantile(1.0 - alpha, 2.0 * repeats - 2.0)) * math.sqrt(2.0) / (items * repeats)
        if half < margin:
            return repeats
    return MOST_REPEATS


def repeats_needed(instabilities: float, items: int, margin: float) -> int:
    """K = 6.18 * (S_A + S_B) / (n m)^2, rounded up, at least what the floor and a verdict need.

    The sample size of a one-sided test at 5 % with 80 % power; m is `margin` in points as a fraction.
    """
    repeats = math.ceil(FACTOR * instabilities / (items * margin / 100.0) ** 2 - 1e-9)
    return min(max(repeats, least_repeats(items, margin)), MOST_REPEATS)


def plan(outcomes: Outcomes, margin: float) -> Plan:
    """What the margin needs, if a candidate is as unsteady as this run."""
    noise = instability(outcomes)
    return Plan(
        flaky_items=None if noise is None else int(self_flips(outcomes).sum()),
        instability=noise,
        repeats_needed=None if noise is None else repeats_needed(2.0 * noise, len(outcomes.items), margin),
        margin=margin,
    )


def pair_repeats(baseline: Outcomes, candidate: Outcomes, margin: float) -> int | None:
    """Repeats a side that the margin needs with the noise of both; a single run is taken to be like the other."""
    known = [noise for noise in (instability(baseline), instability(candidate)) if noise is not None]
    if not known:
        return None
    return repeats_needed(2.0 * sum(known) / len(known), len(baseline.items), margin)


def deciding_repeats(found: Interval, repeats: tuple[int, int], margin: float) -> int | None:
    """Repeats a side that would decide if the difference stays what it is; None where that is out of reach.

    The half-width shrinks with the root of the repeats; it has to clear the nearer of the bounds that decide:
    -m for PARITY, 0 for REGRESSION.
    """
    difference, half = float(found.difference), float(found.half_width)
    distance = difference + margin if difference > -margin else -difference
    needed = math.ceil(min(repeats) * (half / distance) ** 2) if distance > 0 else MOST_REPEATS
    return max(needed, min(repeats) + 1) if needed < MOST_REPEATS else None


def plan_document(found: Plan, outcomes: Outcomes) -> dict[str, Any]:
    """The plan as JSON."""
    return {
        "serving": outcomes.name,
        "items": len(outcomes.items),
        "repeats": outcomes.repeats,
        "flaky_items": found.flaky_items,
        "instability": found.instability,
        "repeats_needed": found.repeats_needed,
        "margin": found.margin,
        "power": found.power,
    }


def plan_lines(document: Mapping[str, Any]) -> list[str]:
    """The plan in words, at most 80 columns."""
    if document["repeats_needed"] is None:
        return [
            f"{document['items']} items asked {document['repeats']} times: one repeat shows no noise.",
            "Repeat before you decide: `triplicate run SERVING --repeats 3` shows how many it takes.",
        ]
    return [
        f"{document['flaky_items']} of {document['items']} items changed their outcome within "
        f"{document['repeats']} repeats.",
        f"A margin of {document['margin']:g} points needs {document['repeats_needed']} repeats a side "
        f"({100 * document['power']:.0f} % power).",
    ]

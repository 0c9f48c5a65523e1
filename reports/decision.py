"""The verdict for two sets of outcomes: at one look, or at pre-registered looks until one decides.

Pure functions over outcomes. Whether two runs may be compared at all is the matter of `validity`.
"""

from dataclasses import dataclass
from enum import StrEnum
from itertools import pairwise
from typing import TYPE_CHECKING, Any

from itembank.errors import UserError
from reports.intervals import Interval, Side, interval
from reports.outcomes import FAIL, MISSING, PASS, UNSCORABLE, Outcomes

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

LEAST_REPEATS = 3
LOOKS = (3, 5, 10)
LOOK_ALPHA = 0.022
"""One-sided, at each of three looks: a Pocock-type constant (Pocock 1977), about 0.05 over all of them."""
SINGLE_ALPHA = 0.05
MARGIN = 3.0


class Verdict(StrEnum):
    """How a comparison ends."""

    IMPROVEMENT = "IMPROVEMENT"
    PARITY = "PARITY"
    REGRESSION = "REGRESSION"
    UNDECIDED = "UNDECIDED"
    INVALID = "INVALID"


EXIT_STATUS = {
    Verdict.IMPROVEMENT: 0,
    Verdict.PARITY: 0,
    Verdict.REGRESSION: 1,
    Verdict.UNDECIDED: 3,
    Verdict.INVALID: 4,
}
ORDER = (Verdict.UNDECIDED, Verdict.IMPROVEMENT, Verdict.PARITY, Verdict.REGRESSION)
"""The verdicts by the codes of `verdict_codes`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Rule:
    """What is fixed before the first request."""

    margin: float = MARGIN
    """Points of score that may be lost."""
    alpha: float = SINGLE_ALPHA
    """One-sided, at each look."""
    looks: tuple[int, ...] = ()
    """Repeats a side at which it is decided; empty for one look at all repeats."""


def checked_margin(margin: float) -> float:
    """The margin in points. Raises UserError unless it lies between 0 and 100."""
    if not 0.0 < margin < 100.0:
        raise UserError(f"a margin of {margin:g} makes no sense; give points of score above 0 and below 100")
    return margin


def checked_looks(looks: tuple[int, ...]) -> tuple[int, ...]:
    """The looks. Raises UserError unless they rise from at least 3 repeats."""
    if not looks or looks[0] < LEAST_REPEATS or any(b <= a for a, b in pairwise(looks)):
        given = ",".join(str(look) for look in looks) or "none"
        raise UserError(f"looks of {given} make no sense; give rising numbers of repeats from {LEAST_REPEATS}: 3,5,10")
    return looks


def look_alpha(looks: tuple[int, ...]) -> float:
    """The one-sided level at each of the looks: 0.05 for one, 0.022 for up to three, else 0.05 split evenly."""
    if len(looks) <= 1:
        return SINGLE_ALPHA
    return LOOK_ALPHA if len(looks) <= len(LOOKS) else SINGLE_ALPHA / len(looks)


def verdict_codes(measured: Interval, margin: float) -> "NDArray[np.int64]":
    """Codes into ORDER, by the first row of the table that holds; scalars or arrays."""
    import numpy as np

    low, high, difference = (np.asarray(x) for x in (measured.low, measured.high, measured.difference))
    tolerance = 1e-9
    better = (low > 0) & (difference >= margin - tolerance)
    worse = (high < 0) & (difference <= -margin + tolerance)
    return np.select([better, low > -margin, worse], [1, 2, 3], 0)


@dataclass(frozen=True, slots=True, kw_only=True)
class Look:
    """What one look at two sets of outcomes shows."""

    verdict: Verdict
    repeats: tuple[int, int]
    """Baseline and candidate."""
    alpha: float
    measured: Interval
    """Over the scorable responses."""
    filled: Interval
    """With every unscorable response of the candidate as a fail and of the baseline as a pass."""
    unscorable: tuple[int, int]
    alone: Verdict
    """What the scorable responses alone would say."""


def look(baseline: Outcomes, candidate: Outcomes, margin: float, alpha: float) -> Look:
    """The verdict at these repeats (at least two a side), which must survive the worst-case fill.

    An IMPROVEMENT that becomes PARITY under the fill is PARITY: that claim holds both ways. Anything else that the fill
    changes is UNDECIDED.
    """
    measured = interval(_side(baseline, None), _side(candidate, None), alpha)
    unscorable = baseline.count(UNSCORABLE), candidate.count(UNSCORABLE)
    filled = interval(_side(baseline, PASS), _side(candidate, FAIL), alpha) if any(unscorable) else measured
    alone, under_fill = (ORDER[int(verdict_codes(found, margin))] for found in (measured, filled))
    verdict = alone if alone is under_fill else Verdict.UNDECIDED
    if (alone, under_fill) == (Verdict.IMPROVEMENT, Verdict.PARITY):
        verdict = Verdict.PARITY
    return Look(
        verdict=verdict,
        repeats=(baseline.repeats, candidate.repeats),
        alpha=alpha,
        measured=measured,
        filled=filled,
        unscorable=unscorable,
        alone=alone,
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Decision:
    """The verdict over all looks that the repeats allow."""

    verdict: Verdict
    looks: tuple[Look, ...]
    """Those taken, in order; the last one decided, unless the verdict is UNDECIDED. None is taken at repeats of which
    one has no score."""
    next_look: int | None
    """Repeats a side at the look that comes next; None where the verdict is final."""


def decision(baseline: Outcomes, candidate: Outcomes, rule: Rule, *, fixed_baseline: bool = False) -> Decision:
    """Look after look, the first that decides; UNDECIDED after the last one or where repeats run out.

    A `fixed_baseline` was measured before and takes part with all its repeats in every look.
    """
    if not rule.looks:
        if min(baseline.repeats, candidate.repeats) < LEAST_REPEATS:
            return Decision(verdict=Verdict.UNDECIDED, looks=(), next_look=LEAST_REPEATS)
        if not (every_repeat_scored(baseline) and every_repeat_scored(candidate)):
            return Decision(verdict=Verdict.UNDECIDED, looks=(), next_look=None)
        only = look(baseline, candidate, rule.margin, rule.alpha)
        return Decision(verdict=only.verdict, looks=(only,), next_look=None)
    have = complete_repeats(candidate)
    if not fixed_baseline:
        have = min(have, complete_repeats(baseline))
    taken: list[Look] = []
    for repeats in rule.looks:
        if repeats > have:
            return Decision(verdict=Verdict.UNDECIDED, looks=tuple(taken), next_look=repeats)
        side_a, side_b = baseline if fixed_baseline else baseline.first(repeats), candidate.first(repeats)
        if not (every_repeat_scored(side_a) and every_repeat_scored(side_b)):
            return Decision(verdict=Verdict.UNDECIDED, looks=tuple(taken), next_look=None)
        taken.append(look(side_a, side_b, rule.margin, rule.alpha))
        if taken[-1].verdict is not Verdict.UNDECIDED:
            break
    return Decision(verdict=taken[-1].verdict, looks=tuple(taken), next_look=None)


def complete_repeats(outcomes: Outcomes) -> int:
    """How many repeats from the first on have something for every item."""
    import numpy as np

    incomplete = np.flatnonzero((outcomes.grid == MISSING).any(axis=0))
    return int(incomplete[0]) if len(incomplete) else outcomes.repeats


def every_repeat_scored(outcomes: Outcomes) -> bool:
    """Whether each repeat holds something scorable; one that does not has no score that could be compared."""
    return bool(((outcomes.grid == PASS) | (outcomes.grid == FAIL)).any(axis=0).all())


def groups(outcomes: Outcomes) -> "NDArray[np.int64]":
    """The dimension of each item as a number from 0."""
    import numpy as np

    numbers = {name: number for number, name in enumerate(outcomes.dimension_names)}
    return np.array([numbers[name] for name in outcomes.dimensions], np.int64)


def _side(outcomes: Outcomes, fill: int | None) -> Side:
    """The outcomes as an interval takes them; unscorable ones are left out or filled, errors never count."""
    grid: Any = outcomes.grid
    passes, counted = grid == PASS, (grid == PASS) | (grid == FAIL)
    if fill is not None:
        unscorable = grid == UNSCORABLE
        passes, counted = passes | (unscorable if fill == PASS else False), counted | unscorable
    return Side(passes=passes, scorable=None if counted.all() else counted, groups=groups(outcomes))

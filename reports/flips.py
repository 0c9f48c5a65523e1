"""Self-flips of one run, flips between two, and excess flips: behaviour changed beyond a run's own noise.

Equal scores can hide churn ("Accuracy is Not All You Need", arXiv:2407.09141), and a run flips against itself too;
so what counts is the disagreement between two runs beyond that within each. Decides nothing.
"""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from reports.outcomes import FAIL, PASS, Outcomes

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

PERMUTATIONS = 9_999
SEED = 20_240_613


def tallies(outcomes: Outcomes) -> tuple["NDArray[np.int64]", "NDArray[np.int64]"]:
    """(passes, scorable repeats) of each item."""
    passes = (outcomes.grid == PASS).sum(axis=1)
    return passes, passes + (outcomes.grid == FAIL).sum(axis=1)


def self_flips(outcomes: Outcomes) -> "NDArray[np.bool_]":
    """Which items had different outcomes in different repeats, unscorable ones left out."""
    import numpy as np

    passes, scorable = tallies(outcomes)
    return np.asarray((passes > 0) & (passes < scorable))


def self_disagreement(passes: "NDArray[Any]", scorable: "NDArray[Any]") -> "NDArray[np.float64]":
    """By item, 2 c (K - c) / (K (K - 1)): the chance that two different repeats disagree; needs K >= 2."""
    import numpy as np

    return np.asarray(2.0 * passes * (scorable - passes) / (scorable * (scorable - 1.0)))


def cross_disagreement(
    passes_a: "NDArray[Any]", scorable_a: "NDArray[Any]", passes_b: "NDArray[Any]", scorable_b: "NDArray[Any]"
) -> "NDArray[np.float64]":
    """By item, p_A (1 - p_B) + p_B (1 - p_A): the chance that a repeat of A and one of B disagree."""
    import numpy as np

    p_a, p_b = passes_a / scorable_a, passes_b / scorable_b
    return np.asarray(p_a * (1.0 - p_b) + p_b * (1.0 - p_a))


def excess_flips(baseline: Outcomes, candidate: Outcomes, permutations: int = PERMUTATIONS) -> dict[str, Any]:
    """`value` = D_AB - (D_AA + D_BB) / 2 over the items, its permutation `p`, and its three parts; None where K < 2.

    An energy distance (Szekely and Rizzo 2013) of Bernoulli outcomes: its expectation is mean_i (p_iA - p_iB)^2. `p` is
    one-sided, by permuting repeat labels within items: given an item's passes, those of A are hypergeometric.
    Items with fewer than two scorable repeats on a side are left out and counted.
    """
    import numpy as np

    (c_a, k_a), (c_b, k_b) = tallies(baseline), tallies(candidate)
    usable = (k_a >= 2) & (k_b >= 2)
    c_a, k_a, c_b, k_b = c_a[usable], k_a[usable], c_b[usable], k_b[usable]
    left_out = int((~usable).sum())
    if not usable.any():
        return {"value": None, "p": None, "between": None, "baseline": None, "candidate": None, "left_out": left_out}
    d_ab = cross_disagreement(c_a, k_a, c_b, k_b)
    d_aa, d_bb = self_disagreement(c_a, k_a), self_disagreement(c_b, k_b)
    value = float((d_ab - (d_aa + d_bb) / 2.0).mean())
    total, mixed = c_a + c_b, (c_a + c_b > 0) & (c_a + c_b < k_a + k_b)
    extreme = permutations
    if mixed.any():
        k_a, k_b, total = k_a[mixed], k_b[mixed], total[mixed]
        rng = np.random.default_rng(SEED)
        drawn = rng.hypergeometric(total, k_a + k_b - total, k_a, size=(permutations, len(total)))
        possible = np.arange(k_a.max() + 1)[:, None]
        rest = total - possible
        excess = cross_disagreement(possible, k_a, rest, k_b)
        excess -= (self_disagreement(possible, k_a) + self_disagreement(rest, k_b)) / 2.0
        sums = np.take_along_axis(excess, drawn, axis=0).sum(axis=1)
        extreme = int((sums >= value * len(c_a) - 1e-9).sum())
    return {
        "value": value,
        "p": (1 + extreme) / (1 + permutations),
        "between": float(d_ab.mean()),
        "baseline": float(d_aa.mean()),
        "candidate": float(d_bb.mean()),
        "left_out": left_out,
    }


@dataclass(frozen=True, slots=True, kw_only=True)
class Flip:
    """One item whose majority outcome differs between two runs."""

    item: str
    dimension: str
    gained: bool
    """True from fail to pass, False from pass to fail."""
    persistent: bool
    """Unanimous on both sides; otherwise unstable."""
    baseline: tuple[int, int]
    """Passes and scorable repeats."""
    candidate: tuple[int, int]


def flips(baseline: Outcomes, candidate: Outcomes) -> tuple[Flip, ...]:
    """The items of both runs whose majority differs; a tie is no majority and no flip."""
    (c_a, k_a), (c_b, k_b) = tallies(baseline), tallies(candidate)
    other = {item: place for place, item in enumerate(candidate.items)}
    found = []
    for place, item in enumerate(baseline.items):
        if item not in other:
            continue
        there = other[item]
        a, b = (int(c_a[place]), int(k_a[place])), (int(c_b[there]), int(k_b[there]))
        lean_a, lean_b = 2 * a[0] - a[1], 2 * b[0] - b[1]
        if lean_a * lean_b < 0:
            found.append(
                Flip(
                    item=item,
                    dimension=baseline.dimensions[place],
                    gained=lean_b > 0,
                    persistent=abs(lean_a) == a[1] and abs(lean_b) == b[1],
                    baseline=a,
                    candidate=b,
                )
            )
    return tuple(found)

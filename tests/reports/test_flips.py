"""Flips and excess flips against exact enumeration."""

from itertools import product
from math import comb

import numpy as np
import pytest

from reports.flips import cross_disagreement, excess_flips, flips, self_disagreement, self_flips
from reports.outcomes import FAIL, PASS, UNSCORABLE, Outcomes

CODES = {"p": PASS, "f": FAIL, "u": UNSCORABLE}


def outcomes(*rows: str) -> Outcomes:
    return Outcomes(
        name="x",
        items=tuple(f"i{place}" for place in range(len(rows))),
        dimensions=("d",) * len(rows),
        grid=np.array([[CODES[letter] for letter in row] for row in rows], np.int8),
        reasons={},
        defects={},
        digests={},
        scorers=frozenset(),
        boots=(1,) * len(rows[0]),
    )


def pairwise_disagreement(row: str) -> float:
    pairs = [(x, y) for i, x in enumerate(row) for j, y in enumerate(row) if i != j]
    return sum(x != y for x, y in pairs) / len(pairs)


@pytest.mark.parametrize("row", ["pp", "pf", "ppf", "ppffp", "ffff"])
def test_self_disagreement_is_the_share_of_unequal_pairs(row: str) -> None:
    passes, count = np.array([row.count("p")]), np.array([len(row)])
    assert self_disagreement(passes, count)[0] == pytest.approx(pairwise_disagreement(row))


def test_cross_disagreement_is_the_share_of_unequal_pairs_between() -> None:
    a, b = "ppf", "pffff"
    expected = sum(x != y for x, y in product(a, b)) / 15
    assert cross_disagreement(np.array([2]), np.array([3]), np.array([1]), np.array([5]))[0] == pytest.approx(expected)


@pytest.mark.parametrize(("p_a", "p_b"), [(0.3, 0.3), (0.9, 0.2), (1.0, 0.5)])
def test_excess_is_unbiased_for_the_squared_difference(p_a: float, p_b: float) -> None:
    """Over every possible outcome of K_A = 3 and K_B = 4, weighted by its chance."""
    expectation = 0.0
    for c_a, c_b in product(range(4), range(5)):
        chance = comb(3, c_a) * p_a**c_a * (1 - p_a) ** (3 - c_a) * comb(4, c_b) * p_b**c_b * (1 - p_b) ** (4 - c_b)
        found = excess_flips(outcomes("p" * c_a + "f" * (3 - c_a)), outcomes("p" * c_b + "f" * (4 - c_b)), 9)
        expectation += chance * found["value"]
    assert expectation == pytest.approx((p_a - p_b) ** 2)


def test_p_is_the_share_of_label_permutations_as_extreme() -> None:
    """Two items, 3 + 3 repeats: every way to deal the labels, counted exactly."""
    a, b = outcomes("ppp", "ppf"), outcomes("fff", "pff")
    observed = excess_flips(a, b)
    as_extreme = total = 0
    for x, y in product(range(4), range(4)):
        ways = comb(3, x) * comb(3, 3 - x) * comb(3, y) * comb(3, 3 - y)
        rows = [["p" * n + "f" * (3 - n), "p" * (3 - n) + "f" * n] for n in (x, y)]
        dealt = excess_flips(outcomes(rows[0][0], rows[1][0]), outcomes(rows[0][1], rows[1][1]), 1)
        total += ways
        as_extreme += ways * (dealt["value"] >= observed["value"] - 1e-12)
    assert total == comb(6, 3) ** 2
    assert observed["p"] == pytest.approx(as_extreme / total, abs=0.01)
    assert observed == excess_flips(a, b), "the seed is fixed"


def test_unanimous_equal_runs_show_no_excess() -> None:
    found = excess_flips(outcomes("ppp", "fff"), outcomes("ppp", "fff"))
    assert (found["value"], found["p"]) == (0.0, 1.0)


def test_no_excess_without_two_repeats() -> None:
    found = excess_flips(outcomes("p", "f"), outcomes("p", "f"))
    assert found["value"] is None
    assert found["p"] is None
    assert found["left_out"] == 2


def test_items_without_two_scorable_repeats_are_left_out_and_counted() -> None:
    found = excess_flips(outcomes("ppp", "uup"), outcomes("fff", "ppp"))
    assert found["value"] == 1.0
    assert found["left_out"] == 1


def test_changed_behaviour_shows_where_the_score_did_not_move() -> None:
    """Ten items gained and ten lost: the mean is the same, a permutation sees it."""
    a = outcomes(*["ppppp"] * 10, *["fffff"] * 10)
    b = outcomes(*["fffff"] * 10, *["ppppp"] * 10)
    found = excess_flips(a, b)
    assert found["value"] == 1.0
    assert found["p"] == pytest.approx(1e-4)


def test_self_flips_ignore_unscorable_repeats() -> None:
    assert self_flips(outcomes("ppu", "pfp", "fff")).tolist() == [False, True, False]


@pytest.mark.parametrize(
    ("a", "b", "expected"),
    [
        ("ppp", "fff", (False, True)),
        ("fff", "ppp", (True, True)),
        ("ppf", "fff", (False, False)),
        ("ffp", "ppp", (True, False)),
        ("ppp", "ppf", None),
        ("pf", "ff", None),
        ("uuu", "ppp", None),
    ],
)
def test_flips_have_direction_and_kind(a: str, b: str, expected: tuple[bool, bool] | None) -> None:
    found = flips(outcomes(a), outcomes(b))
    assert [(flip.gained, flip.persistent) for flip in found] == ([expected] if expected else [])


def test_items_of_one_side_alone_are_no_flips() -> None:
    assert flips(outcomes("ppp", "ppp").only(["i1"]), outcomes("fff")) == ()

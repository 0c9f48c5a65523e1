"""The planner against the method's printed figures, and the two floors under it."""

from collections.abc import Callable
from math import sqrt

import numpy as np
import pytest
from scipy.stats import norm

from reports.intervals import Interval, Side, interval
from reports.outcomes import load_outcomes
from reports.planner import (
    FACTOR,
    deciding_repeats,
    instability,
    least_repeats,
    pair_repeats,
    plan,
    plan_document,
    plan_lines,
    repeats_needed,
)
from runner.store import RunFolder

Make = Callable[..., RunFolder]


def test_factor_is_the_normal_quantiles() -> None:
    assert pytest.approx((norm.ppf(0.95) + norm.ppf(0.80)) ** 2, abs=0.005) == FACTOR


@pytest.mark.parametrize(("margin", "repeats"), [(3.0, 5), (1.0, 37)])
def test_fifteen_percent_flaky_items_need_what_the_method_prints(margin: float, repeats: int) -> None:
    """S = 2.6: 4.04 repeats for three points, 36.4 for one."""
    assert repeats_needed(2 * 2.6, 94, margin) == repeats


def test_instability_is_the_unbiased_sum(make_run: Make) -> None:
    found = load_outcomes(make_run("a", ["ppff", "pppf", "pppp", "upuu"]))
    assert instability(found) == pytest.approx(2 * 2 / 12 + 3 * 1 / 12)


def test_the_floor_asks_for_more_where_items_are_few() -> None:
    """Unanimous items: the least K at which one unseen flip a side is narrower than the margin."""
    for items, margin in ((94, 3.0), (94, 1.0), (10, 3.0), (10, 1.0)):
        least = least_repeats(items, margin)
        side = Side(passes=np.ones((items, least), bool), groups=np.zeros(items, int))
        assert interval(side, side, 0.05).item_level < margin
        if least > 3:
            fewer = Side(passes=np.ones((items, least - 1), bool), groups=np.zeros(items, int))
            assert interval(fewer, fewer, 0.05).item_level >= margin
    assert least_repeats(94, 3.0) == 3
    assert least_repeats(1, 0.01) == 10_000


def test_a_single_run_shows_no_noise(make_run: Make) -> None:
    outcomes = load_outcomes(make_run("a", ["p", "f"]))
    found = plan(outcomes, 3.0)
    assert (found.flaky_items, found.repeats_needed) == (None, None)
    text = "\n".join(plan_lines(plan_document(found, outcomes)))
    assert "Repeat before you decide" in text


def test_plan_has_the_contracts_keys(make_run: Make, bank94: list[str]) -> None:
    rows = ["ppf" if place < 14 else "ppp" for place in range(94)]
    outcomes = load_outcomes(make_run("a", rows, items=bank94))
    document = plan_document(plan(outcomes, 3.0), outcomes)
    assert document.keys() >= {"flaky_items", "repeats_needed", "margin", "power"}
    assert document["flaky_items"] == 14
    assert document["instability"] == pytest.approx(14 / 3)
    expected = FACTOR * 2 * (14 / 3) / (94 * 0.03) ** 2
    assert expected < document["repeats_needed"] < expected + 1
    assert "14 of 94 items" in plan_lines(document)[0]


def test_pairs_take_the_noise_of_the_side_that_shows_it(make_run: Make, bank94: list[str]) -> None:
    single = load_outcomes(make_run("a", ["p"] * 94, items=bank94))
    noisy = load_outcomes(make_run("b", ["pf"] * 20 + ["pp"] * 74, items=bank94))
    assert pair_repeats(single, single, 3.0) is None
    assert pair_repeats(single, noisy, 3.0) == repeats_needed(2 * 10.0, 94, 3.0)


@pytest.mark.parametrize(
    ("difference", "expected"),
    [(0.0, 20), (-1.5, 80), (-4.0, 12), (-3.0, 20), (-2.999, None)],
)
def test_deciding_repeats_narrow_the_interval_to_the_nearer_bound(difference: float, expected: int | None) -> None:
    """At 5 repeats the half-width is 6: for no difference it has to halve, so four times the repeats."""
    found = Interval(difference=difference, run_level=6.0, item_level=1.0)
    assert deciding_repeats(found, (5, 5), 3.0) == expected
    if expected is not None and difference == 0.0:
        assert 6.0 * sqrt(5 / expected) == pytest.approx(3.0)

"""Intervals against printed tables and against a second computation in plain Python."""

import math
import statistics
from itertools import pairwise

import numpy as np
import pytest

from reports.intervals import Interval, Side, interval, population_interval, t_quantile, weights_of

GROUPS = np.array([0, 0, 0, 1, 1])


@pytest.mark.parametrize(
    ("level", "freedom", "printed"),
    [(0.95, 4, 2.132), (0.95, 18, 1.734), (0.975, 8, 2.306), (0.95, 1, 6.314), (0.99, 30, 2.457), (0.95, 1e6, 1.645)],
)
def test_t_as_in_students_table(level: float, freedom: float, printed: float) -> None:
    assert float(t_quantile(level, freedom)) == pytest.approx(printed, abs=6e-4)


def test_weights_give_every_dimension_the_same() -> None:
    assert weights_of(GROUPS) == pytest.approx([1 / 6, 1 / 6, 1 / 6, 1 / 4, 1 / 4])


def plain(a: list[list[int]], b: list[list[int]], alpha: float) -> tuple[float, float, float]:
    """(difference, run-level, item-level half-width) from the formulas, item by item."""
    weights = [1 / 6, 1 / 6, 1 / 6, 1 / 4, 1 / 4]
    runs = [[100 * sum(w * x for w, x in zip(weights, r, strict=True)) for r in zip(*s, strict=True)] for s in (a, b)]
    k_a, k_b = len(runs[0]), len(runs[1])
    run_error = math.sqrt(statistics.variance(runs[0]) / k_a + statistics.variance(runs[1]) / k_b)
    total, squares = 0.0, 0.0
    for side, count in ((a, k_a), (b, k_b)):
        for weight, row in zip(weights, side, strict=True):
            term = weight**2 * statistics.variance(row) / count
            total += term
            squares += term**2 / (count - 1)
    freedom = max(total**2 / squares if squares else 0.0, k_a + k_b - 2)
    floor = statistics.median(weights) ** 2 * (1 / k_a**2 + 1 / k_b**2)
    difference = statistics.mean(runs[1]) - statistics.mean(runs[0])
    run_level = float(t_quantile(1 - alpha, k_a + k_b - 2)) * run_error
    return difference, run_level, 100 * float(t_quantile(1 - alpha, freedom)) * math.sqrt(total + floor)


def sides(a: list[list[int]], b: list[list[int]]) -> tuple[Side, Side]:
    return tuple(Side(passes=np.array(x, bool), groups=GROUPS) for x in (a, b))  # type: ignore[return-value]


@pytest.mark.parametrize("seed", range(6))
def test_interval_is_what_the_formulas_say(seed: int) -> None:
    rng = np.random.default_rng(seed)
    chance = rng.choice([0.0, 0.3, 0.8, 1.0], (5, 1))
    a, b = ((rng.random((5, k)) < chance).astype(int).tolist() for k in (4, 6))
    found = interval(*sides(a, b), 0.05)
    expected = plain(a, b, 0.05)
    assert (found.difference, found.run_level, found.item_level) == pytest.approx(expected)
    assert found.high - found.low == pytest.approx(2 * max(expected[1:]))


def test_unanimous_items_keep_the_width_of_one_unseen_flip() -> None:
    a = [[1] * 3] * 10
    side = Side(passes=np.array(a, bool), groups=np.zeros(10, int))
    found = interval(side, side, 0.05)
    assert found.run_level == 0.0
    assert found.item_level == pytest.approx(100 * 2.1318 * 0.1 * math.sqrt(2 / 9), rel=1e-4)


def test_a_shared_cause_widens_the_run_level() -> None:
    """When whole repeats move together, each item alone shows too little."""
    rows = np.zeros((20, 6), bool)
    rows[:, ::2] = True
    side = Side(passes=rows, groups=np.zeros(20, int))
    found = interval(side, side, 0.05)
    assert found.half_width == found.run_level > 2 * found.item_level


def test_leading_axes_are_many_comparisons_at_once() -> None:
    rng = np.random.default_rng(3)
    a, b = rng.random((7, 5, 4)) < 0.6, rng.random((7, 5, 3)) < 0.6
    together = interval(Side(passes=a, groups=GROUPS), Side(passes=b, groups=GROUPS), 0.022)
    for place in range(7):
        one = interval(Side(passes=a[place], groups=GROUPS), Side(passes=b[place], groups=GROUPS), 0.022)
        assert together.low[place] == pytest.approx(float(one.low))
        assert together.high[place] == pytest.approx(float(one.high))


def test_unscorable_responses_are_left_out_of_scores_and_variances() -> None:
    passes = np.array([[1, 1, 0, 0], [1, 1, 1, 1], [0, 0, 0, 0], [1, 0, 1, 0], [1, 1, 1, 1]], bool)
    scorable = np.ones_like(passes)
    scorable[0, 3] = scorable[3, :] = False
    side = Side(passes=passes, scorable=scorable, groups=GROUPS)
    assert side.run_scores() == pytest.approx([250 / 3, 250 / 3, 200 / 3, 75.0])
    variance, freedom = side.item_variances()
    assert variance[0] == pytest.approx(statistics.variance([1, 1, 0]) / 3)
    assert freedom[0] == 2
    assert variance[3] == 0.0


def test_a_dimension_without_scorable_responses_has_no_part_in_the_repeat() -> None:
    passes = np.ones((5, 2), bool)
    scorable = np.array([[1, 1], [1, 1], [1, 1], [0, 0], [0, 0]], bool)
    assert Side(passes=passes, scorable=scorable, groups=GROUPS).run_scores() == pytest.approx([100.0, 100.0])


NARROW = Interval(difference=0.0, run_level=0.0, item_level=0.1)


@pytest.mark.parametrize(("items", "percent"), [(9, 28.3), (10, 25.9), (94, 3.14), (282, 1.06)])
def test_no_moved_item_bounds_harm_by_the_exact_zero_event_bound(items: int, percent: float) -> None:
    found = population_interval(np.zeros(items), np.full(items, 1 / items), NARROW, 0.05)
    assert found == (pytest.approx(-percent, abs=0.06), pytest.approx(percent, abs=0.06))


def test_equal_weights_give_the_paired_t_interval() -> None:
    from scipy import stats

    moved = np.array([0.2, -0.4, 0.0, 0.0, 1.0, -0.2])
    fixed = Interval(difference=100 * moved.mean(), run_level=0.0, item_level=0.1)
    expected = stats.ttest_1samp(moved, 0.0).confidence_interval(0.90)
    assert population_interval(moved, np.full(6, 1 / 6), fixed, 0.05) == pytest.approx(
        (100 * expected.low, 100 * expected.high)
    )


def test_population_interval_holds_the_noise_of_the_fixed_items() -> None:
    fixed = Interval(difference=1.0, run_level=50.0, item_level=2.0)
    assert population_interval(np.array([0.01, -0.01]), np.array([0.5, 0.5]), fixed, 0.05) == (-49.0, 51.0)
    assert population_interval(np.array([0.1]), np.array([1.0]), fixed, 0.05) is None


def test_more_repeats_narrow_the_interval() -> None:
    widths = []
    for repeats in (3, 6, 12, 24):
        side = Side(passes=np.tile(np.array([[1, 0, 1]] * 5, bool), repeats // 3), groups=GROUPS)
        widths.append(float(interval(side, side, 0.05).half_width))
    assert all(b < a for a, b in pairwise(widths))

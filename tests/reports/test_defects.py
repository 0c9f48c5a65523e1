"""Defect rates: the exact test against scipy's and against enumeration, and the allowance for many kinds."""

from itertools import product
from math import comb

import numpy as np
import pytest
from scipy import stats

from reports.defects import DefectRate, defect_rates, defects_document, risen, stratified_p
from reports.outcomes import ERROR, FAIL, PASS, UNSCORABLE, Outcomes


def outcomes(grid: list[list[int]], **fields: object) -> Outcomes:
    given = {"reasons": {}, "defects": {}} | fields
    return Outcomes(
        name="x",
        items=tuple(f"i{place}" for place in range(len(grid))),
        dimensions=("d",) * len(grid),
        grid=np.array(grid, np.int8),
        digests={},
        scorers=frozenset(),
        boots=(1,) * len(grid[0]),
        **given,  # type: ignore[arg-type]
    )


@pytest.mark.parametrize(
    ("hits_a", "n_a", "hits_b", "n_b"), [(0, 10, 5, 10), (2, 7, 3, 9), (4, 4, 0, 4), (0, 282, 8, 282)]
)
def test_one_item_is_fishers_exact_test(hits_a: int, n_a: int, hits_b: int, n_b: int) -> None:
    table = [[hits_b, n_b - hits_b], [hits_a, n_a - hits_a]]
    p, _ = stratified_p(*(np.array([x]) for x in (hits_a, n_a, hits_b, n_b)))
    assert p == pytest.approx(stats.fisher_exact(table, alternative="greater").pvalue)


def test_items_are_strata() -> None:
    """Two items of 3 + 3 responses with 3 and 1 hits: every deal of the hits, counted."""
    favourable = total = 0
    for x, y in product(range(4), range(2)):
        ways = comb(3, x) * comb(3, 3 - x) * comb(3, y) * comb(3, 1 - y)
        total += ways
        favourable += ways * (x + y >= 3)
    p, least = stratified_p(np.array([1, 0]), np.array([3, 3]), np.array([2, 1]), np.array([3, 3]))
    assert p == pytest.approx(favourable / total)
    assert least == pytest.approx(1 / comb(6, 3) * 3 / 6)


def test_an_item_that_always_breaks_on_both_sides_tells_nothing() -> None:
    p, least = stratified_p(np.array([5]), np.array([5]), np.array([5]), np.array([5]))
    assert (p, least) == (1.0, 1.0)


def rate(kind: str, p: float, least_p: float) -> DefectRate:
    return DefectRate(kind=kind, counts=(0, 1), responses=(9, 9), p=p, least_p=least_p, examples=())


def test_rare_kinds_cost_the_others_nothing() -> None:
    hopeless = tuple(rate(f"rare{n}", 0.5, 0.5) for n in range(9))
    assert [found.kind for found in risen((*hopeless, rate("a", 0.03, 0.001)))] == ["a"]


def test_many_able_kinds_share_the_level() -> None:
    able = tuple(rate(f"k{n}", 0.03, 0.001) for n in range(4))
    assert risen(able) == ()
    assert [found.kind for found in risen((*able, rate("worst", 0.009, 0.001)))] == ["worst"]
    assert risen(()) == ()


def test_rates_count_defects_and_broken_forms_of_answers() -> None:
    a = outcomes([[PASS, PASS, PASS], [FAIL, FAIL, ERROR]], reasons={(1, 0): "malformed", (1, 2): "http_status"})
    b = outcomes(
        [[PASS, UNSCORABLE, PASS], [PASS, PASS, PASS]],
        reasons={(0, 1): "truncated"},
        defects={
            (0, 0): (("control_token", "<|im_end|>"),),
            (1, 1): (("control_token", "<|im_end|>"), ("stop_overrun", "x")),
        },
    )
    found = {row.kind: row for row in defect_rates(a, b)}
    assert {kind: row.counts for kind, row in found.items()} == {
        "control_token": (0, 2),
        "stop_overrun": (0, 1),
        "truncated": (0, 1),
        "malformed": (1, 0),
    }
    assert found["control_token"].responses == (5, 6)
    assert found["control_token"].examples == ("<|im_end|>",)
    document = defects_document(tuple(found.values()), (found["control_token"],))
    row = next(row for row in document if row["kind"] == "control_token")
    assert row["risen"]
    assert row["candidate"] == {"count": 2, "responses": 6, "rate": pytest.approx(1 / 3)}


def test_a_side_without_answers_has_no_rate() -> None:
    a = outcomes([[ERROR]], reasons={(0, 0): "timeout"})
    b = outcomes([[PASS]], defects={(0, 0): (("tool_text", "f()"),)})
    assert defects_document(defect_rates(a, b), ())[0]["baseline"]["rate"] is None

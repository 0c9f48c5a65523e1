"""The published case: 84.4 once, 77.8 and 72.3 of another configuration; and a drafter on and off."""

from collections.abc import Callable, Mapping

import pytest

from reports.comparison import comparison_document, lines
from reports.decision import LEAST_REPEATS
from reports.outcomes import load_outcomes
from reports.planner import FACTOR, instability
from runner.store import RunFolder

Make = Callable[..., RunFolder]
NAMES = ("reasoning", "a", "b", "c", "d", "e", "f", "g", "h", "i")
SIZES = dict(zip(NAMES, (8, 9, 9, 9, 9, 10, 10, 10, 10, 10), strict=True))
ITEMS = [f"{name}-{number:02}" for name, size in SIZES.items() for number in range(1, size + 1)]


def repeat(reasoning: int, ninths: int, tenths: int) -> Mapping[str, bool]:
    """One repeat that passes so many items of reasoning, of the four dimensions of nine, of the five of ten."""
    left = {8: reasoning, 9: ninths, 10: tenths}
    passed = {}
    for item in ITEMS:
        size = SIZES[item.rpartition("-")[0]]
        passed[item] = left[size] > 0
        left[size] -= 1
    return passed


def rows(*repeats: Mapping[str, bool]) -> list[str]:
    return ["".join("p" if one[item] else "f" for one in repeats) for item in ITEMS]


PRODUCTION = repeat(8, 31, 40)
BATCH = (repeat(5, 32, 36), repeat(4, 30, 34))


def test_one_run_against_two_has_no_verdict(make_run: Make) -> None:
    production = make_run("production", rows(PRODUCTION), items=ITEMS)
    batch = make_run("batch", rows(*BATCH), items=ITEMS)
    document = comparison_document(production, batch)
    scores = document["scores"]
    assert round(scores["baseline"]["mean"], 1) == 84.4
    assert [round(score, 1) for score in scores["candidate"]["runs"]] == [77.8, 72.3]
    assert round(scores["candidate"]["range"], 1) == 5.5
    assert scores["baseline"]["sd"] is None
    reasoning = next(row for row in scores["candidate"]["dimensions"] if row["dimension"] == "reasoning")
    assert reasoning["runs"] == [62.5, 50.0]
    assert document["verdict"] == "UNDECIDED"
    assert document["interval"] is None
    assert document["excess_flips"]["value"] is None
    assert "repeat before you decide" in document["reasons"][0]
    assert "repeat before you decide" in document["sentence"]


def test_the_planner_answers_from_the_two_runs(make_run: Make) -> None:
    """Five items flipped between the two: S = 5/2 by c (K - c) / (K (K - 1)), 3.9 repeats, so 4."""
    production = make_run("production", rows(PRODUCTION), items=ITEMS)
    batch = make_run("batch", rows(*BATCH), items=ITEMS)
    flipped = sum(BATCH[0][item] != BATCH[1][item] for item in ITEMS)
    assert flipped == 5
    assert instability(load_outcomes(batch)) == pytest.approx(flipped / 2)
    needed = FACTOR * 2 * (flipped / 2) / (94 * 0.03) ** 2
    document = comparison_document(production, batch)
    assert document["repeats_needed"] == max(LEAST_REPEATS, int(needed) + 1) == 4
    assert "4 repeats a side would do" in document["reasons"][1]
    assert any("4 repeats a side" in line for line in lines(document))


def test_a_drafter_that_moved_three_items_in_three_dimensions_is_no_regression(make_run: Make) -> None:
    """With the drafter 84.3 and without 81.1 in one run; on repeats, three items and seven dimensions untouched."""
    off = dict(PRODUCTION)
    moved = ["f-10", "g-10", "h-10"]
    on = off | dict.fromkeys(moved, True)
    off |= dict.fromkeys(moved, False)
    without = make_run("off", rows(*[off] * 5), items=ITEMS)
    with_drafter = make_run("on", rows(*[on] * 5), items=ITEMS)
    document = comparison_document(without, with_drafter)
    assert document["difference"] == pytest.approx(3.0)
    assert document["verdict"] in ("PARITY", "IMPROVEMENT")
    touched = [row["dimension"] for row in document["dimensions"] if row["gained"] or row["lost"] or row["unstable"]]
    assert touched == ["f", "g", "h"]
    assert [flip["item"] for flip in document["flips"]] == moved
    back = comparison_document(with_drafter, without)
    assert back["verdict"] == "UNDECIDED" or back["difference"] <= -3.0

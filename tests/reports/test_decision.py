"""The decision table, the looks, and the worst-case fill."""

import numpy as np
import pytest

from itembank.errors import UserError
from reports.decision import (
    EXIT_STATUS,
    ORDER,
    Rule,
    Verdict,
    checked_looks,
    complete_repeats,
    decision,
    look,
    look_alpha,
    verdict_codes,
)
from reports.intervals import Interval
from reports.outcomes import Outcomes

LETTERS = {"f": 0, "p": 1, "u": 2, "e": 3, ".": 4}


def outcomes(*rows: str) -> Outcomes:
    return Outcomes(
        name="x",
        items=tuple(f"i{place}" for place in range(len(rows))),
        dimensions=("d",) * len(rows),
        grid=np.array([[LETTERS[letter] for letter in row] for row in rows], np.int8),
        reasons={},
        defects={},
        digests={},
        scorers=frozenset(),
        boots=(1,) * len(rows[0]),
    )


def side(passing: int, repeats: int, items: int = 100, letter: str = "f") -> Outcomes:
    return outcomes(*["p" * repeats] * passing, *[letter * repeats] * (items - passing))


@pytest.mark.parametrize(
    ("difference", "half", "verdict"),
    [
        (4.0, 1.0, "IMPROVEMENT"),
        (3.0, 2.9, "IMPROVEMENT"),
        (2.9, 0.1, "PARITY"),
        (3.5, 4.0, "PARITY"),
        (0.0, 2.9, "PARITY"),
        (-2.0, 0.9, "PARITY"),
        (-2.0, 1.0, "UNDECIDED"),
        (0.0, 3.0, "UNDECIDED"),
        (-3.0, 2.9, "REGRESSION"),
        (-3.0, 3.0, "UNDECIDED"),
        (-2.9, 0.5, "UNDECIDED"),
        (-80.0, 5.0, "REGRESSION"),
    ],
)
def test_the_table_for_a_margin_of_three(difference: float, half: float, verdict: str) -> None:
    found = Interval(difference=difference, run_level=half, item_level=0.0)
    assert ORDER[int(verdict_codes(found, 3.0))] == verdict


def test_exit_statuses() -> None:
    assert {str(v): s for v, s in EXIT_STATUS.items()} == {
        "IMPROVEMENT": 0,
        "PARITY": 0,
        "REGRESSION": 1,
        "UNDECIDED": 3,
        "INVALID": 4,
    }


def test_looks_that_make_sense() -> None:
    assert checked_looks((3, 5, 10)) == (3, 5, 10)
    for looks in ((), (2, 5), (5, 5), (5, 3)):
        with pytest.raises(UserError, match="make no sense"):
            checked_looks(looks)


@pytest.mark.parametrize(("looks", "alpha"), [((), 0.05), ((3,), 0.05), ((3, 5, 10), 0.022), ((3, 5, 7, 9, 11), 0.01)])
def test_the_level_of_each_look(looks: tuple[int, ...], alpha: float) -> None:
    assert look_alpha(looks) == alpha


LOOKS = Rule(margin=3.0, alpha=0.022, looks=(3, 5, 10))


def test_the_first_look_that_decides_ends_it() -> None:
    found = decision(side(80, 10), side(80, 10), LOOKS)
    assert found.verdict is Verdict.PARITY
    assert [one.repeats for one in found.looks] == [(3, 3)]
    assert found.next_look is None


def test_looks_wait_for_whole_repeats_of_both_sides() -> None:
    noisy = outcomes(*["pf" * 5, "fp" * 5] * 20)
    found = decision(noisy.first(10), noisy.first(4), LOOKS)
    assert (found.verdict, found.next_look) == (Verdict.UNDECIDED, 5)
    assert len(found.looks) == 1
    assert decision(noisy.first(2), noisy.first(2), LOOKS).looks == ()
    last = decision(noisy, noisy, Rule(margin=0.5, alpha=0.022, looks=(3, 5)))
    assert (last.verdict, last.next_look, len(last.looks)) == (Verdict.UNDECIDED, None, 2)


def test_a_fixed_baseline_takes_part_with_all_its_repeats() -> None:
    found = decision(side(80, 7), side(80, 3), LOOKS, fixed_baseline=True)
    assert (found.verdict, found.looks[0].repeats) == (Verdict.PARITY, (7, 3))


def test_two_repeats_are_no_verdict() -> None:
    found = decision(side(80, 2), side(80, 9), Rule())
    assert (found.verdict, found.looks, found.next_look) == (Verdict.UNDECIDED, (), 3)


def test_an_incomplete_repeat_is_not_counted() -> None:
    assert complete_repeats(outcomes("ppp", "pp.")) == 2
    assert complete_repeats(outcomes("ppp", "ppe")) == 3


def test_parity_must_survive_the_worst_case() -> None:
    """Three unanswerable items of 100: as fails they cost three points and more than the margin holds."""
    found = look(side(100, 5), side(97, 5, letter="u"), 3.0, 0.05)
    assert (found.alone, found.verdict) == (Verdict.PARITY, Verdict.UNDECIDED)
    assert float(found.filled.difference) == pytest.approx(-3.0)


def test_unscorable_baseline_answers_count_as_passes_in_the_worst_case() -> None:
    found = look(side(90, 5, letter="u"), side(100, 5), 3.0, 0.05)
    assert (found.alone, found.verdict) == (Verdict.PARITY, Verdict.PARITY)
    assert float(found.filled.difference) == pytest.approx(0.0)


def test_an_improvement_that_the_worst_case_makes_parity_is_parity() -> None:
    """80 % against 84 %, one unanswerable item: the worst case gains less than the margin, but loses nothing."""
    candidate = outcomes(*["ppppp"] * 83, "uuuuu", *["fffff"] * 16)
    found = look(side(80, 5), candidate, 3.5, 0.05)
    assert (found.alone, found.verdict) == (Verdict.IMPROVEMENT, Verdict.PARITY)


def test_a_regression_survives_its_own_unscorable_answers() -> None:
    candidate = outcomes(*["ppppp"] * 60, *["fffff"] * 38, "uuuuu", "uuuuu")
    assert look(side(100, 5), candidate, 3.0, 0.05).verdict is Verdict.REGRESSION

"""Boots: the analysis of variance against scipy's, and when there is nothing to say."""

from collections.abc import Callable

import pytest
from scipy import stats

from reports.boots import boot_document, variance_ratio_p
from reports.outcomes import Outcomes, load_outcomes
from runner.record import RunRecord
from runner.store import RunFolder


@pytest.mark.parametrize("groups", [[[1.0, 2.0, 3.0], [2.0, 5.0]], [[1.0, 1.5], [9.0, 9.5], [4.0, 4.5]]])
def test_p_is_that_of_a_one_way_analysis(groups: list[list[float]]) -> None:
    assert variance_ratio_p(groups) == pytest.approx(stats.f_oneway(*groups).pvalue)


def test_p_without_spread() -> None:
    assert variance_ratio_p([[1.0], [2.0]]) is None
    assert variance_ratio_p([[1.0, 2.0]]) is None
    assert variance_ratio_p([[1.0, 1.0], [1.0, 1.0]]) == 1.0
    assert variance_ratio_p([[1.0, 1.0], [2.0, 2.0]]) == 0.0


def loaded(run: RunFolder, boots: tuple[int, ...], launched: bool) -> tuple[RunRecord, Outcomes]:
    from dataclasses import replace

    record = replace(run.record, boots=tuple({"number": n, "launched": launched} for n in sorted(set(boots))))
    return record, replace(load_outcomes(run), boots=boots)


def test_boots_that_differ_are_named(make_run: Callable[..., RunFolder]) -> None:
    run = make_run("a", ["pppfff", "pppfff", "pppppp", "ppppfp"], items=["d-01", "d-02", "d-03", "d-04"])
    found = boot_document(*loaded(run, (1, 1, 1, 2, 2, 2), True))
    assert found is not None
    assert found["differ"]
    assert [row["mean"] for row in found["boots"]] == [pytest.approx(100.0), pytest.approx(125 / 3)]


def test_one_boot_or_none_of_ours_says_nothing(make_run: Callable[..., RunFolder]) -> None:
    run = make_run("a", ["pf", "uu"])
    assert boot_document(*loaded(run, (1, 1), True)) is None
    assert boot_document(*loaded(run, (1, 2), False)) is None
    empty = make_run("b", ["uu"])
    assert boot_document(*loaded(empty, (1, 2), True)) is None

"""Throughput of a quality pass: labelled, and never guessed."""

from collections.abc import Callable

import pytest

from reports.throughput import covered_ns, lengths, pass_throughput
from runner.store import RunFolder

Make = Callable[..., RunFolder]


@pytest.mark.parametrize(
    ("spans", "covered"),
    [([], 0), ([(0, 10)], 10), ([(0, 10), (5, 12)], 12), ([(5, 6), (0, 10)], 10), ([(0, 1), (9, 10)], 2)],
)
def test_covered_time_is_the_union(spans: list[tuple[int, int]], covered: int) -> None:
    assert covered_ns(spans) == covered


def test_tokens_over_busy_time_with_every_label(make_run: Make) -> None:
    """Four requests of half a second with 100 tokens each; the pauses between them do not count."""
    found = pass_throughput(make_run("a", ["pp", "ff"], plan={"concurrency": 4}))
    assert found["tok_s"] == pytest.approx(400 / 2.0)
    assert (found["concurrency"], found["mean_tokens"], found["token_source"], found["requests"]) == (
        4,
        100,
        "usage",
        4,
    )


def test_no_usage_is_no_figure(make_run: Make) -> None:
    found = pass_throughput(make_run("a", ["pp"], tokens=None))
    assert (found["tok_s"], found["mean_tokens"], found["token_source"]) == (None, None, "none")


def test_failures_bring_no_tokens_and_are_not_missed(make_run: Make) -> None:
    found = pass_throughput(make_run("a", ["pe"]))
    assert found["tok_s"] == pytest.approx(100 / 1.0)


def test_an_empty_run_has_none(make_run: Make) -> None:
    found = pass_throughput(make_run("a", ["."]))
    assert (found["tok_s"], found["requests"], found["busy_s"]) == (None, 0, 0.0)


def test_lengths_are_means_by_item(make_run: Make) -> None:
    assert lengths(make_run("a", ["pp", "e."])) == {"d0-00": 100.0}

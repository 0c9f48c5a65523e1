"""Levels read from bursts."""

import numpy as np
import pytest

from reports.overlap import Served
from reports.reading import NEEDED, level_reading, percentile, summary_reading, thin_percentiles
from tests.reports.ladders import staircase


def test_percentiles_are_numpys() -> None:
    values = [float(v) for v in np.random.default_rng(0).exponential(size=37)]
    for p in (50, 95, 99):
        assert percentile(values, p) == pytest.approx(float(np.percentile(values, p)))
    assert percentile([3.0], 95) == 3.0 and percentile([], 95) is None


def test_how_many_values_a_percentile_needs() -> None:
    for name, n in NEEDED.items():
        p = int(name[1:]) / 100
        assert 1 - p**n >= 0.99 > 1 - p ** (n - 1)
    assert thin_percentiles(3) == ["p50", "p95", "p99"]
    assert thin_percentiles(90) == ["p99"] and thin_percentiles(459) == []


def test_per_burst_then_the_median() -> None:
    """Three bursts of four: service 1, 1 and 3 s; the slow one moves no median."""
    reading = level_reading(4, [staircase(4, 4), staircase(4, 4), staircase(4, 4, service_s=3.0)], errors=1)
    assert reading.tok_s == pytest.approx(4 * 101 / 1.01)
    assert reading.req_s == pytest.approx(4 / 1.01)
    assert reading.tpot_s == pytest.approx(0.01)
    assert (reading.n, reading.bursts, reading.errors, reading.mean_tokens) == (12, 3, 1, 101)
    assert reading.rate == reading.tok_s
    assert reading.waiting is not None and reading.waiting.overlap == 4


def test_cadences_of_bursts_that_have_one() -> None:
    reading = level_reading(8, [staircase(8, 4), staircase(8, 8)])
    assert reading.waiting is not None and reading.waiting.cadence == float("inf")


def test_a_burst_that_completed_nothing_is_left_out() -> None:
    reading = level_reading(4, [staircase(4, 4), []])
    assert reading.bursts == 1 and reading.tok_s is not None
    empty = level_reading(4, [[]], errors=4, void="dead")
    assert (empty.n, empty.errors, empty.void, empty.tok_s, empty.rate) == (0, 4, "dead", None, None)


def test_one_unknown_count_leaves_no_throughput() -> None:
    unknown = Served(sent_s=0, first_s=0.1, last_s=1, end_s=1, tokens=None, full_length=False)
    reading = level_reading(5, [[*staircase(4, 4), unknown]])
    assert reading.tok_s is None and reading.mean_tokens is None and reading.req_s is not None
    assert not reading.even and reading.rate is None, "requests of uneven lengths are no measure"


def test_a_burst_without_stream_leaves_no_waiting() -> None:
    whole = Served(sent_s=0, first_s=None, last_s=1, end_s=1, tokens=9)
    assert level_reading(1, [[whole], staircase(1, 1)]).waiting is None
    instant = Served(sent_s=0, first_s=None, last_s=0, end_s=1e-9, tokens=9)
    assert level_reading(1, [[instant]]).waiting is None


def test_a_summary_row_is_read_by_its_keys() -> None:
    reading = summary_reading({"concurrency": 8, "tok_s": 5.0, "unknown": 1})
    assert (reading.concurrency, reading.tok_s, reading.waiting) == (8, 5.0, None)

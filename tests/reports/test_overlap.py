"""Waiting inside one burst, on bursts whose truth is stated."""

import pytest

from reports.overlap import (
    Served,
    buffered_share,
    latency_overlap,
    median_tpot_s,
    overlap,
    tokens_per_s,
    waiting,
    wall_s,
)
from tests.reports.ladders import staircase


def stream(first: float, last: float, tokens: int | None = 11, sent: float = 0.0) -> Served:
    return Served(sent_s=sent, first_s=first, last_s=last, end_s=last, tokens=tokens)


@pytest.mark.parametrize(("concurrency", "k"), [(1, 1), (4, 4), (8, 3), (64, 9), (33, 32), (64, 1)])
def test_a_staircase_shows_its_k(concurrency: int, k: int) -> None:
    seen = waiting(staircase(concurrency, k))
    assert seen is not None
    assert seen.overlap == k
    assert seen.queued == concurrency - k
    assert seen.gap == pytest.approx(1.01 if concurrency > k else 0.0)


def test_an_overlap_counts_only_if_it_was_held() -> None:
    """Ten seconds; three streams at once for 0.1 s is less than 2 % of the wall time, for 0.3 s it is more."""
    two = [stream(0, 10, 1001), stream(0, 10, 1001)]
    assert overlap([*two, stream(5.0, 5.1, 11)]) == 2
    assert overlap([*two, stream(5.0, 5.3, 11)]) == 3
    assert overlap([*two, stream(4.0, 4.15, 11), stream(6.0, 6.15, 11)]) == 3, "held is the sum over the burst"


def test_an_overlap_shorter_than_three_tokens_does_not_count() -> None:
    """One token a second: two seconds at the same time are less than 3 TPOT, four are more."""
    assert overlap([stream(0, 10), stream(8, 18)]) == 1
    assert overlap([stream(0, 10), stream(6, 16)]) == 2


def test_unknown_token_counts_leave_the_share_of_the_wall_time() -> None:
    assert median_tpot_s([stream(0, 10, None)]) is None
    assert overlap([stream(0, 10, None), stream(8, 18, None)]) == 2


def test_a_stream_whose_tokens_came_at_once_has_no_overlap() -> None:
    assert overlap([stream(10, 10), stream(10, 10)]) == 0
    seen = waiting([stream(10, 10), stream(10, 10)])
    assert seen is not None and seen.gap == float("inf")


def test_without_streams_nothing_is_said_about_waiting() -> None:
    whole = [Served(sent_s=0, first_s=None, last_s=2, end_s=2, tokens=5)]
    assert waiting(whole) is None and buffered_share(whole) is None
    assert whole[0].service_s == 0.0


def test_cadence_tells_a_fill_from_a_ramp() -> None:
    fill = [stream(0.01 * n, 10 + 0.01 * n) for n in range(4)] + [stream(10 + 0.01 * n, 20) for n in range(4)]
    seen = waiting(fill)
    assert seen is not None and seen.overlap == 4
    assert seen.cadence == pytest.approx((3 / 0.03) / (4 / 10.0), rel=0.01)
    ramp = waiting([stream(n, n + 4.0) for n in range(12)])
    assert ramp is not None and ramp.cadence == pytest.approx(1.0)


def test_cadence_is_undefined_without_a_rest_or_for_few_streams() -> None:
    for burst in (staircase(4, 4), staircase(8, 2)):
        seen = waiting(burst)
        assert seen is not None and seen.cadence is None
    instant = waiting(staircase(8, 4))
    assert instant is not None and instant.cadence == float("inf")
    together = [*(stream(0, 10, 1001) for _ in range(3)), stream(0, 0.01, 2)]
    assert waiting(together) == waiting(together[::-1])
    seen = waiting(together)
    assert seen is not None and seen.overlap == 3 and seen.cadence is None


def test_totals() -> None:
    burst = [stream(0.5, 2.0, 30, sent=0.0), stream(1.0, 4.0, 50, sent=0.1)]
    assert wall_s(burst) == 4.0
    assert tokens_per_s(burst) == pytest.approx(20.0)
    assert tokens_per_s([*burst, stream(1, 2, None)]) is None, "an unknown count is never guessed"
    assert tokens_per_s([stream(0, 0, 3)]) is None


def test_whole_latencies() -> None:
    assert latency_overlap(staircase(8, 4)) == pytest.approx(4.0)
    assert buffered_share([stream(9.0, 10.0), stream(9.5, 10.0)]) == pytest.approx(0.9)

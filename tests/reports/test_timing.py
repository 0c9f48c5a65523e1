"""Times of one exchange against times that were put in."""

import pytest

from reports.timing import completion_tokens, e2e_s, end_ns, itl_s, tpot_s, ttft_s
from tests.reports.ladders import MS, failed_exchange, made_exchange


def test_the_four_times() -> None:
    exchange = made_exchange(sent_ms=5, first_ms=25, last_ms=115, tokens=10, token_ns=(25 * MS, 45 * MS, 115 * MS))
    assert ttft_s(exchange) == pytest.approx(0.020)
    assert e2e_s(exchange) == pytest.approx(0.110)
    assert tpot_s(exchange) == pytest.approx(0.010)
    assert itl_s(exchange) == pytest.approx((0.020, 0.070))


def test_three_tokens_a_chunk_do_not_bend_tpot() -> None:
    """30 tokens in 10 chunks of 27 ms: a verify step is 27 ms, a token 9 ms and a bit."""
    chunks = tuple(int((100 + 27 * n) * MS) for n in range(10))
    exchange = made_exchange(first_ms=100, last_ms=343, tokens=30, token_ns=chunks)
    assert tpot_s(exchange) == pytest.approx(0.243 / 29)
    assert itl_s(exchange) == pytest.approx((0.027,) * 9)


def test_what_does_not_exist_is_none() -> None:
    for exchange in (failed_exchange(), made_exchange(first_ms=None), made_exchange(token_ns=())):
        assert ttft_s(exchange) is None and tpot_s(exchange) is None and itl_s(exchange) == ()
    assert ttft_s(made_exchange(sent_ns=None)) is None
    assert e2e_s(failed_exchange()) is None and e2e_s(made_exchange(sent_ns=None)) is None
    assert tpot_s(made_exchange(tokens=1)) is None and tpot_s(made_exchange(tokens=None)) is None
    assert completion_tokens(made_exchange(tokens=None)) is None and completion_tokens(failed_exchange()) is None


def test_the_end_is_the_last_byte_that_belongs_to_the_reply() -> None:
    assert end_ns(made_exchange(last_ms=100, done_ns=350 * MS)) == 100 * MS
    assert end_ns(made_exchange(last_ms=100, read_ns=(10 * MS, 300 * MS), done_ns=100 * MS)) == 100 * MS
    assert end_ns(failed_exchange(done_ns=7)) == 7

"""Each reason that voids a level, at both sides of its limit."""

from typing import Any

import pytest

from reports.void import void_reason
from runner.exchange import Exchange, FailureKind, Level
from tests.reports.ladders import MS, failed_exchange, made_exchange, made_level


def reason(level: Level, exchanges: list[Exchange], **options: Any) -> str:
    return void_reason([(level, exchanges)], **options) or ""


def hundred(bad: int, **failed: Any) -> list[Exchange]:
    return [made_exchange() for _ in range(100 - bad)] + [failed_exchange(**failed) for _ in range(bad)]


def test_a_sound_level_is_valid() -> None:
    assert void_reason([(made_level(), hundred(0))], events_per_s=2000.0) is None
    assert void_reason([(made_level(), hundred(1))]) is None, "one in a hundred may fail"


def test_nothing_measured() -> None:
    assert void_reason([]) == "not measured"
    assert void_reason([(made_level(), [])]) == "no request ended"


def test_errors_above_one_percent() -> None:
    found = reason(made_level(concurrency=8, peak_in_flight=3), hundred(2))
    assert found == "2 of 100 requests failed (connect: gone)", "a missing peak then needs no reason of its own"
    assert "10 of 10" in reason(made_level(), [failed_exchange()] * 10)


@pytest.mark.parametrize("status", [429, 503])
def test_any_refusal(status: int) -> None:
    assert reason(made_level(), hundred(1, kind=FailureKind.HTTP_STATUS, status=status)) == (
        f"the server refused 1 of 100 requests with {status}"
    )
    assert reason(made_level(), hundred(1, kind=FailureKind.HTTP_STATUS, status=500)) == ""


def test_peak_below_the_level() -> None:
    assert reason(made_level(8, peak_in_flight=7), hundred(0)) == "only 7 of 8 requests were in flight"


def test_event_loop_lag() -> None:
    """Latency 100 ms: 2 % of it are 2 ms, so 5 ms are the limit; at 1 s it is 20 ms."""
    assert reason(made_level(lag_ns=(int(4.9 * MS),) * 50), hundred(0)) == ""
    assert "lagged 0.0051 s (limit 0.0050 s)" in reason(made_level(lag_ns=(int(5.1 * MS),) * 50), hundred(0))
    slow = [made_exchange(last_ms=1000.0)] * 20
    assert reason(made_level(lag_ns=(19 * MS,) * 50), slow) == ""
    assert "lagged 0.0210 s" in reason(made_level(lag_ns=(21 * MS,) * 50), slow)


def test_processor_time() -> None:
    assert reason(made_level(cpu_ns=690 * MS), hundred(0)) == ""
    assert "used 71% of a core" in reason(made_level(cpu_ns=710 * MS), hundred(0))
    assert reason(made_level(cpu_ns=710 * MS, end_ns=0), hundred(0)) == "", "a window of nothing has no share"


def test_send_skew() -> None:
    on_time, late = made_exchange(sent_ms=19.0, due_ms=0.0), made_exchange(sent_ms=21.0, due_ms=0.0)
    assert reason(made_level(), [on_time] * 20) == ""
    assert "left 0.0210 s late (limit 0.0200 s)" in reason(made_level(), [late] * 20)
    slow = made_exchange(sent_ms=40.0, due_ms=0.0, last_ms=1040.0)
    assert reason(made_level(), [slow] * 20) == "", "5 % of a second"
    never_sent = failed_exchange(sent_ns=None)
    assert "left" not in reason(made_level(), [*[on_time] * 200, never_sent])


def test_more_events_than_the_client_sustains() -> None:
    """100 requests of 10 events in one second."""
    assert "1000 events/s are more than the client sustains (999)" in reason(
        made_level(), hundred(0), events_per_s=999.0
    )
    assert reason(made_level(workers=2), hundred(0), events_per_s=999.0) == ""


def test_reasons_add_up() -> None:
    found = reason(made_level(8, peak_in_flight=7, cpu_ns=900 * MS), hundred(0))
    assert found.count(";") == 2 and "in flight" in found and "of a core" in found

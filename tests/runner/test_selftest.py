"""The client's measurement of itself."""

from runner.client import run
from runner.selftest import STREAMS, client_ceiling


def test_the_client_states_what_it_sustains() -> None:
    """The cost of an event lies between 5 us, which no Python client reaches, and 1 ms, which none needs."""
    found = run(client_ceiling())
    assert found["failed"] == 0 and found["streams"] == STREAMS
    assert 700 < found["events_per_s"] < 140_000
    assert abs(found["events_per_s"] * found["cpu_us_per_event"] - 700_000) < 0.01 * 700_000

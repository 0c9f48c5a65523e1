"""The closed loop, against the simulator's own count of what it was sent."""

import asyncio
import gc
import time
from typing import Any

import pytest

from runner.client import Client, run
from runner.config import ServingConfig
from runner.exchange import Exchange
from runner.load import Job, Strain, peak_in_flight, run_load
from runner.simulator import Simulator, simulated

BODY = {"model": "simulated", "messages": [{"role": "user", "content": "Go on."}], "max_tokens": 8, "ignore_eos": True}


def loaded(server: Simulator, count: int, concurrency: int, **changes: Any) -> tuple[list[Exchange], Strain, int]:
    kept: list[Exchange] = []
    start_ns = time.perf_counter_ns() + 20_000_000
    fields = {"bodies": (BODY,) * count, "concurrency": concurrency, "start_ns": start_ns} | changes

    async def main() -> Strain:
        async with Client(ServingConfig(name="s", base_url=server.base_url)) as client:
            return await run_load(client, Job(**fields), kept.append)

    return kept, run(main()), start_ns


def test_a_burst_is_all_in_flight_at_once() -> None:
    with simulated("queueing", speed=1) as server:
        kept, strain, start_ns = loaded(server, 16, 16)
        assert server.peak_in_flight == 16
    assert [one.failure for one in kept] == [None] * 16
    assert {one.due_ns for one in kept} == {start_ns}
    assert all(one.sent_ns is not None and one.sent_ns >= start_ns for one in kept)
    assert strain.cpu_ns > 0 and strain.lag_ns and min(strain.lag_ns) >= 0
    assert gc.isenabled()


def test_a_closed_loop_keeps_its_places_filled() -> None:
    with simulated("batching", speed=5) as server:
        kept, _, _ = loaded(server, 20, 4)
        assert server.peak_in_flight == 4 and server.requests == 20
    assert peak_in_flight([(one.sent_ns or 0, one.done_ns) for one in kept]) == 4
    ends = sorted(one.done_ns for one in kept)
    later = sorted(one.due_ns for one in kept)[4:]
    assert all(due >= end for due, end in zip(later, ends, strict=False)), "a place asks again when it is free"


def test_the_time_limit_stops_new_requests_only() -> None:
    with simulated("batching", speed=5) as server:
        kept, _, _ = loaded(server, 50, 4, seconds=0.0)
    assert len(kept) == 4 and all(one.failure is None for one in kept)


def test_more_places_than_bodies() -> None:
    with simulated("batching", speed=20) as server:
        assert len(loaded(server, 2, 8)[0]) == 2


def test_a_cancelled_load_leaves_nothing_running() -> None:
    with simulated("queueing", speed=0.1) as server:

        async def main() -> int:
            async with Client(ServingConfig(name="s", base_url=server.base_url)) as client:
                before = len(asyncio.all_tasks())
                job = Job(bodies=(BODY,) * 4, concurrency=4, start_ns=time.perf_counter_ns())
                task = asyncio.create_task(run_load(client, job, lambda exchange: None))
                while server.in_flight < 4:
                    await asyncio.sleep(0.01)
                task.cancel()
                with pytest.raises(asyncio.CancelledError):
                    await task
                for _ in range(200):
                    if len(asyncio.all_tasks()) == before:
                        break
                    await asyncio.sleep(0.01)
                return len(asyncio.all_tasks()) - before

        assert run(main()) == 0
    assert gc.isenabled()


def test_peak_of_spans() -> None:
    assert peak_in_flight([]) == 0
    assert peak_in_flight([(0, 5), (1, 3), (3, 4)]) == 2, "one that ends as another begins is not beside it"
    assert peak_in_flight([(0, 9)] * 7) == 7

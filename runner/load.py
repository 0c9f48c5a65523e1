"""Keeps C requests in flight and notes how hard that was for the client. Judges nothing, retries nothing.

A burst is a closed loop in which every request has a place at once: as many bodies as places.
"""

import asyncio
import gc
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from runner.client import Client
from runner.exchange import Exchange
from runner.reply import Received

LAG_PERIOD_S = 0.01
NS = 1_000_000_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Job:
    """What one process is to send."""

    bodies: tuple[Mapping[str, Any], ...]
    concurrency: int
    """Places; a place asks the next body as soon as its reply has ended."""
    start_ns: int
    """When the first request of every place is due, on this host's monotonic clock."""
    seconds: float | None = None
    """After this time nothing new is sent; None for no limit."""


@dataclass(slots=True, kw_only=True)
class Strain:
    """What a client process noticed of itself while it sent."""

    lag_ns: list[int] = field(default_factory=list)
    """How late its event loop came back, sample by sample."""
    cpu_ns: int = 0
    """Processor time of the thread that runs the event loop."""


async def run_load(client: Client, job: Job, keep: Callable[[Exchange], None]) -> Strain:
    """Send the job and give every exchange to `keep` as it finishes; returns when all have ended."""
    strain = Strain()
    start = asyncio.Event()
    bodies = iter(job.bodies)
    ends_ns = job.start_ns + int(job.seconds * NS) if job.seconds is not None else None
    tasks: set[asyncio.Task[None]] = set()

    def finished(received: Received) -> None:
        task = asyncio.create_task(_decode(client, received, keep))
        tasks.add(task)
        task.add_done_callback(kept)

    def kept(task: asyncio.Task[None]) -> None:
        """Forget a task that went well; what the others raised is raised when all have ended."""
        if not task.cancelled() and task.exception() is None:
            tasks.discard(task)

    gc.disable()
    places = [
        asyncio.create_task(_place(client, bodies, start, job.start_ns, ends_ns, finished))
        for _ in range(min(job.concurrency, len(job.bodies)))
    ]
    cpu_ns = time.thread_time_ns()
    lag = asyncio.create_task(_watch_lag(strain.lag_ns, start))
    try:
        await asyncio.sleep(max(0.0, (job.start_ns - time.perf_counter_ns()) / NS))
        start.set()
        await asyncio.gather(*places)
        strain.cpu_ns = time.thread_time_ns() - cpu_ns
        lag.cancel()
        await asyncio.gather(*tasks)
    finally:
        gc.enable()
        for task in (*places, lag, *tasks):
            task.cancel()
        await asyncio.gather(*places, lag, *tasks, return_exceptions=True)
    return strain


async def _place(
    client: Client,
    bodies: Iterator[Mapping[str, Any]],
    start: asyncio.Event,
    due_ns: int,
    ends_ns: int | None,
    finished: Callable[[Received], None],
) -> None:
    await start.wait()
    for body in bodies:
        received = await client.receive(body, due_ns=due_ns)
        due_ns = time.perf_counter_ns()
        finished(received)
        if ends_ns is not None and due_ns >= ends_ns:
            return


async def _decode(client: Client, received: Received, keep: Callable[[Exchange], None]) -> None:
    keep(await client.exchange(received))


async def _watch_lag(samples: list[int], start: asyncio.Event) -> None:
    """How much later than asked the loop wakes this task, for as long as it is let."""
    await start.wait()
    while True:
        before_ns = time.perf_counter_ns()
        await asyncio.sleep(LAG_PERIOD_S)
        samples.append(max(0, time.perf_counter_ns() - before_ns - int(LAG_PERIOD_S * NS)))


def peak_in_flight(spans: Iterable[tuple[int, int]]) -> int:
    """The most requests that were open at once; a span is (sent, ended) in nanoseconds.

    Counted from what went over the wire, since a counter around our own calls would not see a connection pool that
    lets fewer through.

    >>> peak_in_flight([(0, 5), (1, 3), (3, 4)])
    2
    """
    depth = peak = 0
    for _, change in sorted([(sent, 1) for sent, _ in spans] + [(ended, -1) for _, ended in spans]):
        depth += change
        peak = max(peak, depth)
    return peak

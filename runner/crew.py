"""Sends a job from this process, or shares it out over several for loads beyond one core. Merges their records.

Workers are processes of their own (`python -m runner.crew`) that speak lines over their pipes: a job in, an exchange
out as each finishes, then the strain. All read the same monotonic clock of the host, so a start time means the same
to each and their times merge as they are.
"""

import asyncio
import gc
import os
import sys
import time
from asyncio.subprocess import PIPE, Process
from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from typing import Self

import msgspec

from runner.client import Client, run
from runner.config import ServingConfig
from runner.exchange import Exchange
from runner.load import Job, Strain, run_load

KEPT_RAW = 4096
"""Of a reply's body a ladder keeps the beginning: its answers are not judged, and there are thousands of them."""
LONGEST_LINE = 256 << 20
READY_S = 60.0
OWN_LEAD_NS, SHARED_LEAD_NS = 50_000_000, 300_000_000
Keep = Callable[[int, Exchange], None]


class Crew:
    """Who sends: this process, or `workers` processes of their own. Opened with `async with`."""

    def __init__(self, serving: ServingConfig, client: Client, workers: int = 1) -> None:
        self._serving, self._client = serving, client
        self.workers = workers
        self._processes: list[Process] = []

    def start_ns(self) -> int:
        """A start far enough ahead for everybody to have read the job; garbage is collected first, not during it."""
        gc.collect()
        return time.perf_counter_ns() + (OWN_LEAD_NS if self.workers == 1 else SHARED_LEAD_NS)

    async def __aenter__(self) -> Self:
        if self.workers > 1:
            self._processes = [await self._hired() for _ in range(self.workers)]
            for process in self._processes:
                assert process.stdout is not None
                async with asyncio.timeout(READY_S):
                    await process.stdout.readline()
        return self

    async def __aexit__(self, *_: object) -> None:
        for process in self._processes:
            with suppress(ProcessLookupError):
                process.kill()
            await process.wait()
        self._processes = []

    async def run(self, job: Job, keep: Keep) -> list[Strain]:
        """Send the job; `keep` gets worker and exchange as each finishes. One strain for each process that sent."""
        if self.workers == 1:
            return [await run_load(self._client, job, lambda exchange: keep(0, exchange))]
        shares = [_share(job, number, self.workers) for number in range(self.workers)]
        return await asyncio.gather(
            *(self._delegated(number, share, keep) for number, share in enumerate(shares) if share.bodies)
        )

    async def _hired(self) -> Process:
        """A worker in a session of its own: Ctrl-C reaches it through us, after its records."""
        process = await asyncio.create_subprocess_exec(
            sys.executable,
            "-m",
            "runner.crew",
            stdin=PIPE,
            stdout=PIPE,
            env=module_environment(),
            limit=LONGEST_LINE,
            start_new_session=True,
        )
        assert process.stdin is not None
        process.stdin.write(msgspec.json.encode(self._serving) + b"\n")
        return process

    async def _delegated(self, number: int, job: Job, keep: Keep) -> Strain:
        process = self._processes[number]
        assert process.stdin is not None and process.stdout is not None
        process.stdin.write(msgspec.json.encode(job) + b"\n")
        await process.stdin.drain()
        while line := await process.stdout.readline():
            if line.startswith(b"E"):
                keep(number, msgspec.json.decode(line[1:], type=Exchange))
            else:
                return msgspec.json.decode(line[1:], type=Strain)
        raise RuntimeError(f"load worker {number} ended in the middle of a job")


def module_environment() -> dict[str, str]:
    """The environment in which a `python -m` process finds the packages that this one found."""
    return {**os.environ, "PYTHONPATH": os.pathsep.join(path for path in sys.path if path)}


def _share(job: Job, number: int, workers: int) -> Job:
    """Every n-th body and place. The places of all shares add up to the job's."""
    places = len(range(number, job.concurrency, workers))
    bodies = job.bodies[number::workers] if places else ()
    return replace(job, bodies=bodies, concurrency=places)


async def work() -> None:
    """Serve as a worker on standard input and output until the input ends."""
    reader = asyncio.StreamReader(limit=LONGEST_LINE)
    loop = asyncio.get_running_loop()
    await loop.connect_read_pipe(lambda: asyncio.StreamReaderProtocol(reader), sys.stdin)
    serving = msgspec.json.decode(await reader.readline(), type=ServingConfig)

    def say(kind: bytes, value: object) -> None:
        sys.stdout.buffer.write(kind + msgspec.json.encode(value) + b"\n")
        sys.stdout.buffer.flush()

    async with Client(serving, kept_raw=KEPT_RAW) as client:
        say(b"R", None)
        while line := await reader.readline():
            job = msgspec.json.decode(line, type=Job)
            say(b"S", await run_load(client, job, lambda exchange: say(b"E", exchange)))
            gc.collect()


if __name__ == "__main__":
    run(work())

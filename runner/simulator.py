"""A simulated engine over real HTTP, with the ground truth of every request. It says that it is one.

The step model runs in virtual time; a driver paces it against the clock, `speed` times faster. Steps that the process
was too slow for are caught up with, so that the rates hold and a chunk then brings several tokens.
"""

import asyncio
import contextlib
import threading
import time
from collections import deque
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass, field
from typing import Any, Self

from aiohttp import web

from itembank.bank import Bank
from itembank.errors import UserError, nearest
from runner.simulator_answers import Model
from runner.simulator_engine import Engine, Job, Preset
from runner.simulator_faults import Faults
from runner.simulator_http import application
from runner.simulator_presets import FAULTY, PRESETS

ENGINE = "triplicate-simulator"
KEPT_TRUTHS = 20_000
MOST_STEPS_AT_ONCE = 64


@dataclass(slots=True)
class Truth:
    """What really happened to one request, in nanoseconds of `time.perf_counter_ns`, which a host's processes share."""

    id: int
    received_ns: int
    admitted_ns: int | None = None
    first_ns: int | None = None
    """When its first token had been written."""
    last_ns: int | None = None
    tokens: int = 0
    in_flight: int = 0
    """Requests inside the server when it came, itself included."""
    fault: str | None = None


@dataclass(slots=True, eq=False)
class Task:
    """A job and what waits to be written for it."""

    job: Job
    truth: Truth
    due: int = 0
    """Tokens that are made and not yet written."""
    ready: asyncio.Event = field(default_factory=asyncio.Event)


class Simulator:
    """A server on loopback; use it with `async with`, or in a thread through `simulated`."""

    def __init__(
        self,
        preset: Preset,
        *,
        port: int = 0,
        speed: float = 1.0,
        bank: Bank | None = None,
        model: Model | None = None,
        faults: Mapping[str, float] | None = None,
        die_after: int | None = None,
        name: str = "simulated",
        host: str = "127.0.0.1",
        seed: int = 0,
    ) -> None:
        self.preset, self.port, self.host, self.speed, self.name = preset, port, host, speed, name
        self.model = model or Model(bank=bank, seed=seed)
        if faults is None and preset.name == "faulty":
            faults = FAULTY
        self.faults = Faults(faults or {}, seed)
        self.die_after = die_after
        self.dead = asyncio.Event()
        self.engine = Engine(preset, seed)
        self.truths: deque[Truth] = deque(maxlen=KEPT_TRUTHS)
        self.in_flight = self.peak_in_flight = self.requests = 0
        self._tasks: dict[Job, Task] = {}
        self._arrived = asyncio.Event()
        self._origin_ns = 0
        self._driver: asyncio.Task[None] | None = None
        self._runner: web.AppRunner | None = None

    @property
    def base_url(self) -> str:
        """Where it answers, with `/v1`."""
        return f"http://{self.host}:{self.port}/v1"

    async def __aenter__(self) -> Self:
        self._runner = web.AppRunner(application(self), access_log=None, handle_signals=False, shutdown_timeout=0.1)
        await self._runner.setup()
        site = web.TCPSite(self._runner, self.host, self.port, backlog=4096)
        try:
            await site.start()
        except OSError as error:
            await self._runner.cleanup()
            raise UserError(
                f"cannot listen on {self.host}:{self.port}: {error.strerror}; give another --port"
            ) from None
        self.port = self._runner.addresses[0][1]
        self._origin_ns = time.perf_counter_ns()
        self._driver = asyncio.create_task(self._drive())
        return self

    async def __aexit__(self, *_: object) -> None:
        if self._driver is not None:
            self._driver.cancel()
            await asyncio.gather(self._driver, return_exceptions=True)
        if self._runner is not None:
            await self._runner.cleanup()

    def now_s(self) -> float:
        """The virtual time."""
        return (time.perf_counter_ns() - self._origin_ns) / 1e9 * self.speed

    def begun(self) -> Truth:
        """A chat request has come."""
        self.requests += 1
        self.in_flight += 1
        self.peak_in_flight = max(self.peak_in_flight, self.in_flight)
        truth = Truth(self.requests, time.perf_counter_ns(), in_flight=self.in_flight, fault=self.faults.drawn())
        self.truths.append(truth)
        return truth

    def ended(self, truth: Truth) -> None:
        """A chat request is over, whichever way."""
        self.in_flight -= 1
        if self.die_after is not None and truth.id >= self.die_after:
            self.dead.set()

    def is_dead(self) -> bool:
        """Whether it has served as many requests as it was to live for."""
        return self.dead.is_set()

    def submit(self, job: Job, truth: Truth) -> Task:
        """Hand a request to the engine."""
        task = self._tasks[job] = Task(job, truth)
        self.engine.submit(job)
        self._arrived.set()
        return task

    def forget(self, task: Task) -> None:
        """A request has ended, or its client has gone."""
        self.engine.cancel(task.job)
        self._tasks.pop(task.job, None)

    async def _drive(self) -> None:
        while True:
            if not self.engine.running and not self.engine.waiting:
                self._arrived.clear()
                await self._arrived.wait()
            made = self.engine.step()
            wait_s = (self.engine.now_s - self.now_s()) / self.speed
            late = 0
            while wait_s <= 0 and made and late < MOST_STEPS_AT_ONCE:
                self._hand_out(made)
                made = self.engine.step()
                wait_s = (self.engine.now_s - self.now_s()) / self.speed
                late += 1
            await asyncio.sleep(max(wait_s, 0.0))
            self._hand_out(made)

    def _hand_out(self, made: list[tuple[Job, int]]) -> None:
        for job, tokens in made:
            task = self._tasks.get(job)
            if task is None:
                continue
            if task.truth.admitted_ns is None and job.admitted_s is not None:
                task.truth.admitted_ns = self._origin_ns + round(job.admitted_s / self.speed * 1e9)
            task.due += tokens
            task.ready.set()

    def described(self) -> dict[str, Any]:
        """What `/simulator` answers: that it is one, what it states of itself, and the truth behind it."""
        return {
            "engine": ENGINE,
            "simulated": True,
            "model": self.name,
            "preset": self.preset.name,
            "max_concurrent_sequences": self.preset.stated_cap,
            "speculative_tokens": self.preset.draft,
            "context_length": self.preset.context_tokens,
            "prefix_cache": self.preset.prefix_cache,
            "speed": self.speed,
            "truth": asdict(self.preset),
            "faults": dict(self.faults.shares),
            "quality": {"score": self.model.score, "flaky": self.model.flaky, "regress": self.model.regress},
            "peak_in_flight": self.peak_in_flight,
            "requests": self.requests,
        }


def preset_named(name: str) -> Preset:
    """The preset of that name. Raises UserError with the nearest one."""
    if name not in PRESETS:
        raise UserError(f"no preset {name!r}; {nearest(name, list(PRESETS))}")
    return PRESETS[name]


@contextlib.contextmanager
def simulated(preset: Preset | str, **options: Any) -> Iterator[Simulator]:
    """A simulator in a thread of its own, for as long as the block lasts; options as for Simulator."""
    chosen = preset_named(preset) if isinstance(preset, str) else preset
    ready: list[Simulator | BaseException] = []
    started, loop_end = threading.Event(), []

    async def serve() -> None:
        end = asyncio.Event()
        loop_end.append((asyncio.get_running_loop(), end))
        async with Simulator(chosen, **options) as server:
            ready.append(server)
            started.set()
            await end.wait()

    def main() -> None:
        try:
            asyncio.run(serve())
        except BaseException as error:  # noqa: BLE001 - raised again in the thread that waits for the start
            ready.append(error)
        finally:
            started.set()

    thread = threading.Thread(target=main, name="simulator", daemon=True)
    thread.start()
    started.wait()
    first = ready[0]
    if isinstance(first, BaseException):
        raise first
    try:
        yield first
    finally:
        loop, end = loop_end[0]
        loop.call_soon_threadsafe(end.set)
        thread.join(10.0)

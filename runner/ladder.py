"""Measures concurrency levels as raw records: warm-up, bursts, closed loops. Chooses no level and computes no figure.

Each request is on disk as it finishes, each burst's line when it has ended. What is there already is not measured
again, so that a resumed ladder goes on level by level.
"""

import secrets
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from itembank.errors import UserError
from runner.client import Client
from runner.crew import Crew
from runner.exchange import Exchange, Level, LevelExchange
from runner.gauges import Gauges
from runner.identity import metrics_page
from runner.load import NS, Job, Strain, peak_in_flight
from runner.progress import Progress
from runner.store import RunFolder

WARM_UP_TOKENS = 16
PROMPT = (
    "Describe how a large city plans, builds, finances, runs and repairs its water supply. Go through the whole system "
    "in order, from the rivers and reservoirs to the tap and the drain, name the people and the machines that each "
    "part needs, and say what happens when that part fails. Write at least three thousand words without headings."
)


@dataclass(frozen=True, slots=True, kw_only=True)
class LadderPlan:
    """What is measured, fixed before the first request."""

    levels: tuple[int, ...] = (1, 2, 4, 8, 16, 32, 64)
    rounds: int = 3
    """Bursts at each level."""
    max_tokens: int = 256
    prompts: str = "identical"
    """`identical`: one prompt for all; `salted`: a nonce at position 0 of each."""
    until_saturated: bool = False
    max_level: int = 512
    """Where `until_saturated` ends."""
    plateau_s: float = 60.0
    """Time limit of a closed loop."""
    workers: int = 1
    """Client processes."""


class Ladder:
    """A server and a run folder, ready to measure one level after the other."""

    def __init__(
        self,
        *,
        client: Client,
        crew: Crew,
        folder: RunFolder,
        plan: LadderPlan,
        body: Callable[[str, int], Mapping[str, Any]],
    ) -> None:
        self.folder, self.plan = folder, plan
        self.lost: str | None = None
        """Why the server is given up, once it no longer answers."""
        self._client, self._crew, self._body = client, crew, body
        self._gauges = Gauges(client, metrics_page(folder.record.identity_before))
        levels = list(folder.levels())
        self._done = {(level.phase, level.concurrency, level.round) for level in levels if not level.interrupted}
        used = [level.index for level in levels] + [row.level for row in folder.exchanges()]
        self._next = max(used, default=-1) + 1

    async def measure_level(self, phase: str, concurrency: int, *, again: bool = False) -> None:
        """A discarded warm-up, then the bursts of this level that are not on disk yet; all of them if `again`."""
        rounds = [r for r in range(1, self.plan.rounds + 1) if again or (phase, concurrency, r) not in self._done]
        if not rounds or self.lost:
            return
        with self._progress(phase, concurrency, len(rounds) * concurrency) as progress:
            await self._warm_up(concurrency)
            for number in rounds:
                await self._measure(phase, concurrency, number, concurrency, None, progress)
                if self.lost:
                    return

    async def measure_plateau(self, concurrency: int) -> None:
        """A closed loop of max(4 C, 32) requests or the plan's time, whichever ends first; METHOD.md."""
        if ("plateau", concurrency, 1) in self._done or self.lost:
            return
        requests = max(4 * concurrency, 32)
        with self._progress("plateau", concurrency, requests) as progress:
            await self._measure("plateau", concurrency, 1, requests, self.plan.plateau_s, progress)

    def _progress(self, phase: str, concurrency: int, total: int) -> Progress:
        plan = self.plan
        return Progress(f"{phase} {concurrency} ({plan.prompts}, up to {plan.max_tokens} tokens)", total)

    async def _warm_up(self, concurrency: int) -> None:
        """One burst that nobody keeps; it waits for its end, so that nothing of it runs on into the level."""
        bodies = self._bodies(concurrency, min(WARM_UP_TOKENS, self.plan.max_tokens))
        job = Job(bodies=bodies, concurrency=concurrency, start_ns=self._crew.start_ns())
        await self._crew.run(job, lambda worker, exchange: None)

    def _bodies(self, count: int, max_tokens: int) -> tuple[Mapping[str, Any], ...]:
        if self.plan.prompts == "identical":
            return (self._body(PROMPT, max_tokens),) * count
        return tuple(self._body(f"{secrets.token_hex(8)}\n{PROMPT}", max_tokens) for _ in range(count))

    async def _measure(
        self, phase: str, concurrency: int, number: int, requests: int, seconds: float | None, progress: Progress
    ) -> None:
        index, self._next = self._next, self._next + 1
        bodies = self._bodies(requests, self.plan.max_tokens)
        start_ns = self._crew.start_ns()
        kept = _Kept(self.folder, index, start_ns, progress)
        job = Job(bodies=bodies, concurrency=concurrency, start_ns=start_ns, seconds=seconds)
        strains: list[Strain] | None = None
        self._gauges.start()
        try:
            strains = await self._crew.run(job, kept.keep)
        finally:
            gauges = await self._gauges.stop()
            self.folder.append(
                Level(
                    phase=phase,
                    index=index,
                    concurrency=concurrency,
                    round=number,
                    prompts=self.plan.prompts,
                    max_tokens=self.plan.max_tokens,
                    start_ns=start_ns,
                    end_ns=max((ended for _, ended in kept.spans), default=time.perf_counter_ns()),
                    peak_in_flight=peak_in_flight(kept.spans),
                    lag_ns=tuple(lag for strain in strains or () for lag in strain.lag_ns),
                    cpu_ns=max((strain.cpu_ns for strain in strains or ()), default=0),
                    workers=self._crew.workers,
                    gauges=gauges,
                    interrupted=strains is None,
                )
            )
        self._done.add((phase, concurrency, number))
        if not kept.answered:
            await self._look(concurrency)

    async def _look(self, concurrency: int) -> None:
        """After a burst that brought no answer at all: ask once more, alone, and give the server up if that fails."""
        exchange = await self._client.send(self._body(PROMPT, 1))
        if exchange.failure is not None:
            self.lost = f"the server stopped answering at level {concurrency}: {exchange.failure.detail}"


class _Kept:
    """Where the exchanges of one burst go as they finish, and what is counted on the way."""

    def __init__(self, folder: RunFolder, index: int, start_ns: int, progress: Progress) -> None:
        self.spans: list[tuple[int, int]] = []
        self.answered = 0
        self._folder, self._index, self._start_ns, self._progress = folder, index, start_ns, progress
        self._tokens: int | None = 0

    def keep(self, worker: int, exchange: Exchange) -> None:
        """Write one request to disk."""
        self._folder.append(LevelExchange(level=self._index, worker=worker, exchange=exchange))
        self.spans.append((exchange.sent_ns if exchange.sent_ns is not None else exchange.done_ns, exchange.done_ns))
        self.answered += exchange.failure is None
        tokens = exchange.usage.completion_tokens if exchange.usage else None
        if exchange.failure is None:
            self._tokens = self._tokens + tokens if self._tokens is not None and tokens is not None else None
        elapsed_s = (exchange.done_ns - self._start_ns) / NS
        if self._tokens and elapsed_s > 0:
            self._progress.counts["tok/s"] = round(self._tokens / elapsed_s)
        self._progress.step("failed" if exchange.failure else "")


def parsed_levels(text: str) -> tuple[int, ...]:
    """Concurrency levels from `1,2,4`, ascending. Raises UserError naming what is no level.

    >>> parsed_levels("4, 1,2")
    (1, 2, 4)
    """
    found: list[int] = []
    for word in text.split(","):
        if not word.strip().isascii() or not word.strip().isdecimal() or not 1 <= int(word) <= 65_536:
            raise UserError(f"--levels: {word.strip()!r} is no concurrency; write whole numbers from 1, as in 1,2,4,8")
        found.append(int(word))
    if len(set(found)) < len(found):
        raise UserError("--levels: a level is named twice; each is measured once")
    return tuple(sorted(found))

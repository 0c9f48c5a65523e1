"""Asks the items of a bank, repeat after repeat, and judges each answer as it comes. Computes no score.

A repeat is one pass over all chosen items, never served from a cache. A pair (item, repeat) that is in the
folder is not asked again, so a killed run loses at most the requests in flight.
"""

import asyncio
import random
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import Any

from itembank.bank import Bank
from itembank.errors import UserError
from itembank.item import Item
from runner.client import Client
from runner.config import ServingConfig
from runner.dialect import chat_body
from runner.exchange import Exchange, Trial
from runner.failure import one_line
from runner.preflight import identify_again
from runner.progress import Progress
from runner.retry import MAX_RETRIES, is_lost, is_passing, is_refused, pause_s
from runner.sampling import order, request_seed, token_cap
from runner.store import RunFolder, utc_now
from scorers.judge import judge, verdict_row

WAIT_S = 300.0
POLL_S = 2.0
MOST_UNJUDGED = 64
MAX_RECOVERIES = 2
"""How often one item may take the server down before it counts as that item's error."""


class ServingLost(Exception):
    """The server stopped answering and did not come back; the run can be resumed."""


@dataclass(kw_only=True)
class QualityRun:
    """One serving being measured into one folder."""

    folder: RunFolder
    serving: ServingConfig
    bank: Bank
    client: Client
    model: str
    boot: int = 1
    wait_s: float = WAIT_S
    _judges: ThreadPoolExecutor = field(default_factory=lambda: ThreadPoolExecutor(1, "judge"))
    _unjudged: asyncio.Semaphore = field(default_factory=lambda: asyncio.Semaphore(MOST_UNJUDGED))
    _rng: random.Random = field(default_factory=random.Random)
    _present: set[tuple[str, int]] | None = None
    _served: str | None = None
    """The model that the first reply named."""
    _fingerprint: str | None = None
    _recovery: asyncio.Lock = field(default_factory=asyncio.Lock)

    async def ask_repeat(self, repeat: int, progress: Progress) -> None:
        """Ask every chosen item once, in the repeat's order, at the plan's concurrency.

        Raises ServingLost when the server is gone for longer than `wait_s` or refuses us.
        """
        plan = self.folder.record.plan
        if self._present is None:
            self._present = set()
            for trial in self.folder.outlines():
                self._present.add((trial.item_id, trial.repeat))
                self._served = self._served or trial.exchange.served_model
        todo = [i for i in order(tuple(plan["items"]), plan["seed"], repeat) if (i, repeat) not in self._present]
        queue = iter(todo)
        async with asyncio.TaskGroup() as group:
            for _ in range(min(plan["concurrency"], len(todo))):
                group.create_task(self._work(queue, repeat, progress, group))

    async def _work(self, queue: Iterator[str], repeat: int, progress: Progress, group: asyncio.TaskGroup) -> None:
        for item_id in queue:
            item = self.bank.by_id[item_id]
            at = utc_now()
            seed = request_seed(self.serving.sampling, item_id, repeat)
            exchange = await self._ask(item, seed)
            trial = Trial(
                item_id=item_id,
                item_digest=item.digest,
                repeat=repeat,
                seed=seed,
                boot=self.boot,
                at=at,
                exchange=exchange,
            )
            self.folder.append(trial)
            self._note_model(exchange.served_model)
            self._fingerprint = exchange.system_fingerprint or self._fingerprint
            await self._unjudged.acquire()
            group.create_task(self._judge(item, trial, progress))

    async def _ask(self, item: Item, seed: int | None) -> Exchange:
        sampling, plan = self.serving.sampling, self.folder.record.plan
        before = self.folder.record.identity_before
        body = chat_body(
            model=self.model,
            messages=item.messages,
            max_tokens=token_cap(sampling, item),
            sampling=sampling,
            seed=seed,
            tools=item.tools,
            stream=plan["stream"],
            engine=before.engine if before else None,
            fixed_length=False,
            extra_body=self.serving.extra_body,
        )
        retries = recoveries = 0
        while True:
            exchange = await self.client.send(body, stream=plan["stream"], retries=retries)
            failure = exchange.failure
            if failure is None:
                return exchange
            if is_passing(exchange) and retries < MAX_RETRIES:
                await asyncio.sleep(pause_s(retries, failure, self._rng))
                retries += 1
            elif is_refused(failure):
                raise ServingLost(f"{self.serving.name} refuses the request ({failure.status}: {failure.detail})")
            elif is_lost(failure) and recoveries < MAX_RECOVERIES:
                await self._recover()
                retries, recoveries = 0, recoveries + 1
            else:
                return exchange

    async def _recover(self) -> None:
        """Wait until the server answers again, and note when it is no longer the same."""
        async with self._recovery:
            until = time.monotonic() + self.wait_s
            while (await self.client.get("/v1/models", timeout_s=POLL_S)).status != 200:
                if time.monotonic() > until:
                    raise ServingLost(f"{self.serving.name} did not answer for {self.wait_s:.0f} s")
                await asyncio.sleep(POLL_S)
            await self.check_identity()

    async def check_identity(self) -> None:
        """Read the identity again; every fact that changed makes the run INVALID."""
        await identify_again(self.folder, self.serving, self.client, self._fingerprint)

    def _note_model(self, served: str | None) -> None:
        """A reply that names another model than the first one came from another system: that makes the run INVALID."""
        self._served = self._served or served
        if served and served != self._served:
            line = f"replies name another model: {one_line(str(self._served))} -> {one_line(served)}"
            if line not in self.folder.record.identity_changes:
                self.folder.update(identity_changes=(*self.folder.record.identity_changes, line))

    async def _judge(self, item: Item, trial: Trial, progress: Progress) -> None:
        """Judge in a thread and behind the next request, so that a slow scorer never delays one."""
        try:
            row = await asyncio.get_running_loop().run_in_executor(self._judges, judged_row, item, trial)
        finally:
            self._unjudged.release()
        if row is not None:
            self.folder.append_verdict(row)
        progress.step(str(row["outcome"]) if row else "error")

    def close(self) -> None:
        """End the judging thread."""
        self._judges.shutdown(wait=True)


def judged_row(item: Item, trial: Trial) -> dict[str, Any] | None:
    """The verdict line of a trial; None where there is nothing to judge."""
    if trial.exchange.response is None:
        return None
    return verdict_row(item, trial.repeat, judge(item, trial.exchange.response))


def judge_pending(folder: RunFolder, bank: Bank) -> None:
    """Judge the trials of an interrupted run whose verdict was not written any more."""
    judged = {(row["item"], row["repeat"]) for row in folder.verdicts()}
    for trial in folder.trials():
        item = bank.by_id.get(trial.item_id)
        if item is None or item.digest != trial.item_digest:
            raise UserError(f"{folder.path}: item {trial.item_id} is not the one that was asked; use that bank")
        if (trial.item_id, trial.repeat) not in judged and (row := judged_row(item, trial)):
            folder.append_verdict(row)

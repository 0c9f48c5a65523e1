"""Several quality passes over the same items, of one or two servings under several conditions, measured in turn.

Used where the condition is the question: the load effect and the speculative-decoding check. A set that was not
finished is found again by its plan. Decides nothing.
"""

import uuid
from collections.abc import Sequence
from contextlib import AsyncExitStack
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from itembank.bank import Bank
from runner.config import ServingConfig
from runner.find import run_folders
from runner.launch import launched
from runner.progress import Progress
from runner.quality import QualityRun, judge_pending
from runner.record import RunRecord
from runner.run import new_folder, open_side, quality_plan
from runner.sampling import interleaved
from runner.store import RunFolder, read_record, utc_now

LAUNCHED_BLOCKS = 2
"""Boots of each launched serving."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Condition:
    """How a pass asks."""

    concurrency: int
    stream: bool = True


@dataclass(kw_only=True)
class PassSet:
    """One serving and its folders, a folder for each condition."""

    serving: ServingConfig
    folders: list[RunFolder]


def pass_sets(
    kind: str, servings: Sequence[ServingConfig], conditions: Sequence[Condition], bank: Bank, repeats: int, out: Path
) -> list[PassSet]:
    """New folders for every serving and condition, or those of the newest set of the same plan if it is unfinished."""
    plans = [
        quality_plan(bank, repeats=repeats, concurrency=c.concurrency, stream=c.stream, check=kind) for c in conditions
    ]
    found = _unfinished(out, [serving.name for serving in servings], plans)
    if found:
        return [
            PassSet(serving=serving, folders=[RunFolder.resume(path) for path in paths])
            for serving, paths in zip(servings, found, strict=True)
        ]
    name = uuid.uuid4().hex[:16]
    return [
        PassSet(serving=s, folders=[new_folder(s, bank, {**plan, "set": name}, out) for plan in plans])
        for s in servings
    ]


def _unfinished(out: Path, names: Sequence[str], plans: Sequence[dict[str, Any]]) -> list[list[Path]] | None:
    """The folders of the newest whole set, by serving and plan; None where there is none or it is complete."""
    sets: dict[str, dict[tuple[str, int], tuple[Path, RunRecord]]] = {}
    for path in run_folders(out) if out.is_dir() else ():
        record = read_record(path)
        plan = {key: value for key, value in record.plan.items() if key != "set"}
        if "set" in record.plan and plan in plans:
            place = str(record.serving.get("name")), list(plans).index(plan)
            sets.setdefault(str(record.plan["set"]), {})[place] = path, record
    places = [[(name, number) for number in range(len(plans))] for name in names]
    whole = [found for found in sets.values() if set(found) == {place for row in places for place in row}]
    if not whole:
        return None
    newest = max(whole, key=lambda found: max(record.started_at for _, record in found.values()))
    if all(record.status == "complete" for _, record in newest.values()):
        return None
    return [[newest[place][0] for place in row] for row in places]


async def measure_passes(sets: Sequence[PassSet], bank: Bank, repeats: int, wait_s: float) -> None:
    """Ask every pass its repeats: the servings in turn, ABBA, and within one the conditions in turn.

    A launched serving gets two boots, each with whole repeats. Raises ServingLost when a server is gone for good.
    """
    for one in sets:
        for folder in one.folders:
            judge_pending(folder, bank)
    is_launched = any(one.serving.launch for one in sets)
    size = -(-repeats // LAUNCHED_BLOCKS) if is_launched else 1
    starts = range(1, repeats + 1, size)
    total = repeats * len(bank.items) * sum(len(one.folders) for one in sets)
    async with AsyncExitStack() as stack:
        held = {n: await _opened(stack, one, bank, wait_s) for n, one in enumerate(sets) if not one.serving.launch}
        with Progress(" ".join(one.serving.name for one in sets), total) as progress:
            for number, start in enumerate(starts, 1):
                block = range(start, min(start + size, repeats + 1))
                for place in interleaved(len(sets), number):
                    async with AsyncExitStack() as boot:
                        sides = held.get(place) or await _opened(boot, sets[place], bank, wait_s)
                        for repeat in block:
                            for turn in interleaved(len(sides), repeat):
                                await sides[turn].ask_repeat(repeat, progress)
                        for side in sides:
                            await side.check_identity()
    for one in sets:
        for folder in one.folders:
            folder.update(status="complete", ended_at=utc_now())


async def _opened(stack: AsyncExitStack, one: PassSet, bank: Bank, wait_s: float) -> list[QualityRun]:
    """A side for each folder, all on one server, which is started once where it is ours to start."""
    serving = one.serving
    if serving.launch:
        boot = len(one.folders[0].record.boots) + 1
        serving = await stack.enter_async_context(launched(serving, one.folders[0].path / f"server-{boot}.log"))
    serving = replace(serving, launch=None)
    sides = [await open_side(stack, folder, serving, bank) for folder in one.folders]
    for side in sides:
        side.wait_s = wait_s
    return sides

"""`triplicate run`: opens servings and folders, asks repeat after repeat, and closes everything whatever happens."""

import argparse
import sys
from collections.abc import Mapping
from contextlib import AsyncExitStack
from dataclasses import replace
from pathlib import Path
from typing import Any

import msgspec

from itembank.bank import Bank, load_bank
from itembank.errors import UserError
from runner.client import Client
from runner.client import run as run_async
from runner.config import ServingConfig, load_config, serving, stored_serving
from runner.environment import anchor, host, tool
from runner.failure import one_line
from runner.identity import identity_digest, read_identity
from runner.launch import launched
from runner.preflight import reachable_model, require_answer
from runner.progress import Progress
from runner.quality import QualityRun, ServingLost, judge_pending
from runner.record import RunRecord
from runner.redact import redacted_tree
from runner.sampling import interleaved
from runner.store import RunFolder, utc_now
from scorers.check import validate

COMPLETE, INCOMPLETE, INTERRUPTED = 0, 4, 130


def start_runs(args: argparse.Namespace) -> int:
    """Start a new run of each serving; those that are up already take turns, ABBA."""
    if not args.serving:
        raise UserError("name at least one serving, or --resume RUN; `triplicate run --help` shows the rest")
    for name, value in (("--repeats", args.repeats), ("--concurrency", args.concurrency)):
        if value < 1:
            raise UserError(f"{name} must be at least 1, not {value}")
    config = load_config(args.config)
    servings = [serving(config, name) for name in args.serving]
    if len({s.name for s in servings}) < len(servings):
        raise UserError("a serving is named twice; each is measured once")
    bank = chosen_bank(args.bank or config.bank.source, args.items)
    plan = quality_plan(bank, repeats=args.repeats, concurrency=args.concurrency, stream=not args.no_stream)
    groups = [[s for s in servings if not s.launch], *([s] for s in servings if s.launch)]
    status = COMPLETE
    for group in (g for g in groups if g):
        folders: list[RunFolder] = []
        status = max(status, guarded(_measure_new(group, bank, plan, args.out, args.wait, folders), folders))
    return status


def resume_run(args: argparse.Namespace) -> int:
    """Go on with an interrupted run: pairs that are in the folder are not asked again."""
    folder = RunFolder.resume(args.resume, repair=args.repair)
    with folder:
        record = folder.record
        if record.kind != "quality":
            raise UserError(f"{args.resume} is a {record.kind} run; resume it with `triplicate sweep --resume`")
        bank = recorded_bank(record, args.bank)
        known = {s.name: s for s in load_config(args.config).serving}
        chosen = stored_serving(record, known.get(str(record.serving["name"])))
        return guarded(_measure([folder], [chosen], bank, args.wait), [folder])


def chosen_bank(source: str, pattern: str | None) -> Bank:
    """The bank at `source`, validated against the scorers, and of it the items that match."""
    bank = load_bank(source)
    validate(bank)
    return bank.select(pattern) if pattern else bank


def recorded_bank(record: RunRecord, source: str | None = None) -> Bank:
    """The items that a record was made with. Raises UserError if the bank is no longer the same."""
    bank = load_bank(source or str(record.bank["name"]))
    bank = Bank(name=bank.name, items=tuple(i for i in bank.items if i.id in set(record.plan["items"])))
    if bank.digest != record.bank["digest"]:
        raise UserError(f"the bank {bank.name} is no longer the one of the record; give the same one with --bank")
    return bank


def quality_plan(bank: Bank, *, repeats: int, concurrency: int, stream: bool, **more: Any) -> dict[str, Any]:
    """What will be asked, fixed before the first request."""
    items = [item.id for item in bank.items]
    return {"repeats": repeats, "concurrency": concurrency, "stream": stream, "seed": 0, "items": items, **more}


def new_folder(chosen: ServingConfig, bank: Bank, plan: Mapping[str, Any], out: Path) -> RunFolder:
    """A run folder whose record says what will be asked of whom."""
    described = msgspec.to_builtins(replace(chosen))
    dimensions: dict[str, int] = {}
    for item in bank.items:
        dimensions[item.dimension] = dimensions.get(item.dimension, 0) + 1
    record = RunRecord(
        kind="quality",
        serving=redacted_tree({key: value for key, value in described.items() if key != "sampling"}),
        sampling=described["sampling"],
        plan=plan,
        bank={"name": bank.name, "digest": bank.digest, "items": len(bank.items), "dimensions": dimensions},
        started_at=utc_now(),
        anchor=anchor(),
        tool=tool(),
        host=host(),
    )
    return RunFolder.create(out, record)


async def open_side(stack: AsyncExitStack, folder: RunFolder, chosen: ServingConfig, bank: Bank) -> QualityRun:
    """A serving ready to be asked: launched if it is ours to launch, its identity read and compared."""
    boot = len(folder.record.boots) + 1
    if chosen.launch:
        chosen = await stack.enter_async_context(launched(chosen, folder.path / f"server-{boot}.log"))
    client = await stack.enter_async_context(Client(chosen))
    model = await reachable_model(client, chosen)
    side = QualityRun(folder=folder, serving=chosen, bank=bank, client=client, model=model, boot=boot)
    stack.callback(side.close)
    identity = await read_identity(chosen, client)
    entry = {
        "number": boot,
        "started_at": utc_now(),
        "identity": identity_digest(identity),
        "launched": bool(chosen.launch),
    }
    folder.update(boots=(*folder.record.boots, entry), identity_before=folder.record.identity_before or identity)
    return side


async def _measure_new(
    group: list[ServingConfig], bank: Bank, plan: Mapping[str, Any], out: Path, wait_s: float, folders: list[RunFolder]
) -> None:
    for chosen in group:
        if not chosen.launch:
            async with Client(chosen) as client:
                await require_answer(client, chosen)
    for chosen in group:
        folders.append(new_folder(chosen, bank, plan, out))
    await _measure(folders, group, bank, wait_s)


async def _measure(folders: list[RunFolder], group: list[ServingConfig], bank: Bank, wait_s: float) -> None:
    plan = folders[0].record.plan
    async with AsyncExitStack() as stack:
        sides = [await open_side(stack, folder, chosen, bank) for folder, chosen in zip(folders, group, strict=True)]
        total = plan["repeats"] * len(plan["items"]) * len(sides)
        with Progress(" ".join(side.serving.name for side in sides), total) as progress:
            for side in sides:
                side.wait_s = wait_s
                judge_pending(side.folder, bank)
            for repeat in range(1, plan["repeats"] + 1):
                for number in interleaved(len(sides), repeat):
                    await sides[number].ask_repeat(repeat, progress)
        for side in sides:
            await side.check_identity()
            side.folder.update(status="complete", ended_at=utc_now())


def guarded(measuring: Any, folders: list[RunFolder]) -> int:
    """Run to the end, an interruption or the loss of the server; say where the records are and what to do next.

    INCOMPLETE also where the end was reached and no verdict may stand on what was measured.
    """
    status = COMPLETE
    try:
        run_async(measuring)
    except* ServingLost as lost:
        sys.stderr.write(f"triplicate: {one_line(str(lost.exceptions[0]))}\n")
        status = INCOMPLETE
    except* KeyboardInterrupt:
        status = INTERRUPTED
    finally:
        invalid = _finish(folders, status)
    return max(status, INCOMPLETE) if invalid else status


def _finish(folders: list[RunFolder], status: int) -> bool:
    """Complete and close the folders; whether any of them holds what forbids a verdict."""
    problem: UserError | None = None
    invalid = False
    for folder in folders:
        unfinished = folder.record.status != "complete"
        try:
            if unfinished:
                folder.end("interrupted" if status == INTERRUPTED else "incomplete")
        except UserError as error:
            problem = error
        folder.close()
        sys.stdout.write(f"{folder.path}\n")
        for line in _spoiled(folder):
            sys.stderr.write(f"INVALID: {line}\n")
            invalid = True
        if unfinished:
            sys.stdout.write(f"resume with: triplicate run --resume {folder.path}\n")
        else:
            sys.stdout.write(f"next: triplicate report {folder.path}\n")
    if problem:
        raise problem
    return invalid


def _spoiled(folder: RunFolder) -> list[str]:
    """What forbids a verdict on a run that has come to its end, a line each."""
    found = [f"the server changed during the run: {one_line(change)}" for change in folder.record.identity_changes]
    if folder.record.status == "complete":
        failed = [trial.failure is not None for trial in folder.outlines()]
        found += [f"{sum(failed)} of {len(failed)} requests failed after all retries"] if any(failed) else []
    return found

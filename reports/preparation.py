"""Gets a decide ready: a new pair of folders whose plan has been printed, or an unfinished pair to go on with.

Nothing but a short pilot is sent here, and that only where no earlier run shows how long a request takes.
"""

import argparse
import sys
import tempfile
from collections.abc import Mapping
from contextlib import AsyncExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from itembank.bank import Bank
from itembank.errors import UserError
from reports.decision import LEAST_REPEATS, MARGIN, Rule, checked_looks, checked_margin, look_alpha
from reports.forecast import Pace, earlier_run, forecast_document, forecast_lines, pace_of
from reports.outcomes import load_outcomes
from reports.pair import Pair, new_pair_id, pair_of, pair_plan, rule_in, unfinished_pair
from reports.protocol import Party, Protocol
from reports.validity import invalid_reasons, record_differences
from runner.client import run as run_async
from runner.config import Config, ServingConfig, load_config, serving, stored_serving
from runner.find import is_run
from runner.progress import Progress
from runner.quality import ServingLost
from runner.run import chosen_bank, new_folder, open_side, quality_plan, recorded_bank
from runner.store import RunFolder

PILOT_ITEMS = 3


@dataclass(frozen=True, kw_only=True)
class Asked:
    """What the command line asks for, checked."""

    baseline: ServingConfig | None
    finished: RunFolder | None
    """The baseline where it was measured before; one of the two is None."""
    candidate: ServingConfig
    rule: Rule
    bank: Bank
    plan: Mapping[str, Any]

    @property
    def sides(self) -> dict[str, ServingConfig]:
        """The servings that are to be measured."""
        return ({"baseline": self.baseline} if self.baseline else {}) | {"candidate": self.candidate}


def prepared(arguments: argparse.Namespace) -> Protocol | list[str]:
    """The protocol to run; or why a finished baseline may not be compared, before anything is spent.

    Raises UserError for what the command line gets wrong and for servers that do not answer.
    """
    config = load_config(arguments.config)
    if arguments.resume:
        return resumed(pair_of(arguments.resume), config, arguments)
    if not arguments.baseline or not arguments.candidate:
        raise UserError("name the baseline and the candidate: triplicate decide BASELINE CANDIDATE")
    wanted = asked(arguments, config)
    if wanted.finished:
        reasons = _finished_faults(wanted, wanted.finished)
        if reasons:
            return reasons
    if not arguments.new:
        name = str(wanted.finished.path) if wanted.finished else wanted.sides["baseline"].name
        found = unfinished_pair(arguments.out, name, wanted.candidate.name, wanted.rule, wanted.plan)
        if found:
            sys.stderr.write(f"going on with the unfinished decide in {found.candidate}; --new starts another\n")
            return resumed(found, config, arguments)
    return started(wanted, arguments)


def asked(arguments: argparse.Namespace, config: Config) -> Asked:
    """The command line, checked before anything is sent. Raises UserError."""
    looks = checked_looks(parsed_looks(arguments.looks))
    margin = checked_margin(MARGIN if arguments.margin is None else arguments.margin)
    if arguments.concurrency < 1:
        raise UserError(f"--concurrency must be at least 1, not {arguments.concurrency}")
    if is_run(Path(arguments.candidate)):
        raise UserError("the candidate is a finished run; `triplicate compare` holds two finished runs together")
    is_finished = is_run(Path(arguments.baseline))
    baseline = None if is_finished else serving(config, arguments.baseline)
    candidate = serving(config, arguments.candidate)
    if baseline and baseline.name == candidate.name:
        raise UserError(f"baseline and candidate are both {candidate.name}; name two servings")
    bank = chosen_bank(arguments.bank or config.bank.source, arguments.items)
    stream = not arguments.no_stream
    return Asked(
        baseline=baseline,
        finished=RunFolder.read(Path(arguments.baseline)) if is_finished else None,
        candidate=candidate,
        rule=Rule(margin=margin, alpha=look_alpha(looks), looks=looks),
        bank=bank,
        plan=quality_plan(bank, repeats=looks[-1], concurrency=arguments.concurrency, stream=stream),
    )


def parsed_looks(text: str) -> tuple[int, ...]:
    """Numbers of repeats from `3,5,10`. Raises UserError."""
    try:
        return tuple(int(part) for part in text.split(","))
    except ValueError:
        raise UserError(f"--looks {text!r}: give whole numbers of repeats, such as 3,5,10") from None


def started(wanted: Asked, arguments: argparse.Namespace) -> Protocol:
    """A new pair: its cost is looked up or piloted and printed, and its plan is in the records before it is asked."""
    digest, concurrency = wanted.bank.digest, int(wanted.plan["concurrency"])
    earlier = {name: earlier_run(arguments.out, side.name, digest, concurrency) for name, side in wanted.sides.items()}
    paces = {name: pace_of(run, str(run.path)) if run else None for name, run in earlier.items()}
    if None in paces.values():
        paces |= _pilot(wanted, [name for name, pace in paces.items() if pace is None])
    noise = wanted.finished or earlier["baseline"]
    forecast = forecast_document(wanted.rule, len(wanted.bank.items), paces, noise)
    stream = sys.stderr if arguments.json else sys.stdout
    stream.write("\n".join(forecast_lines(forecast)) + "\n")
    stream.flush()
    pair, finished = new_pair_id(), wanted.finished.path if wanted.finished else None
    parties = []
    for name, side in wanted.sides.items():
        plan = {**wanted.plan, **pair_plan(wanted.rule, name, pair, finished), "forecast": forecast["looks"]}
        parties.append(Party(folder=new_folder(side, wanted.bank, plan, arguments.out), serving=side))
    return Protocol(
        parties=parties, finished=wanted.finished, bank=wanted.bank, rule=wanted.rule, wait_s=arguments.wait
    )


def resumed(pair: Pair, config: Config, arguments: argparse.Namespace) -> Protocol:
    """An unfinished pair, as its records describe it. Raises UserError if bank or sampling are no longer the same."""
    folders = [RunFolder.resume(pair.candidate)]
    if not pair.fixed_baseline:
        folders.insert(0, RunFolder.resume(pair.baseline))
    known = {side.name: side for side in config.serving}
    record = folders[-1].record
    return Protocol(
        parties=[
            Party(folder=f, serving=stored_serving(f.record, known.get(str(f.record.serving["name"])))) for f in folders
        ],
        finished=RunFolder.read(pair.baseline) if pair.fixed_baseline else None,
        bank=recorded_bank(record, arguments.bank),
        rule=rule_in(record.plan),
        wait_s=arguments.wait,
    )


def _finished_faults(wanted: Asked, finished: RunFolder) -> list[str]:
    """Why the finished baseline may not be the measure of a candidate. Raises UserError if it has too few repeats."""
    outcomes = load_outcomes(finished)
    if outcomes.repeats < LEAST_REPEATS:
        raise UserError(
            f"{finished.path} has {outcomes.repeats} repeats and a verdict takes {LEAST_REPEATS}; repeat before you "
            f"decide: `triplicate run {finished.record.serving.get('name')} --repeats {wanted.rule.looks[-1]}`"
        )
    own = invalid_reasons((finished.record, outcomes), (finished.record, outcomes))
    return list(dict.fromkeys(own)) + record_differences(finished.record, wanted.candidate, wanted.bank)


def _pilot(wanted: Asked, names: list[str]) -> dict[str, Pace | None]:
    """The paces of a pilot. Raises UserError where a server is lost in the middle of it: nothing is measured yet."""
    try:
        return run_async(_piloted(wanted, names))
    except* ServingLost as lost:
        problem = UserError(f"the pilot failed: {lost.exceptions[0]}; nothing was measured, look into the server's log")
    raise problem


async def _piloted(wanted: Asked, names: list[str]) -> dict[str, Pace | None]:
    """The pace of a few items, spread over the bank; None for a side that would have to be launched for it."""
    paces: dict[str, Pace | None] = {}
    items = wanted.bank.items[:: max(1, len(wanted.bank.items) // PILOT_ITEMS)][:PILOT_ITEMS]
    few = Bank(name=wanted.bank.name, items=items)
    plan = {**wanted.plan, "repeats": 1, "items": [item.id for item in items]}
    for name in names:
        side = wanted.sides[name]
        if side.launch:
            paces[name] = None
            continue
        with tempfile.TemporaryDirectory() as place, new_folder(side, few, plan, Path(place)) as folder:
            async with AsyncExitStack() as stack:
                opened = await open_side(stack, folder, side, few)
                with Progress(f"pilot {side.name}", len(items)) as progress:
                    await opened.ask_repeat(1, progress)
            paces[name] = pace_of(folder, "pilot")
    return paces

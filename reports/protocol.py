"""The loop of a decide: measure whole repeats in turn, look, and stop at the first look that decides.

Two servings that are both up are asked in turn, ABBA over the repeats. One that triplicate launches itself gets whole
repeats per boot and a new boot for each block, so that every side has seen two boots by the second look. Everything
that a look needs is in the folders, so a killed loop goes on where it was and sees the same.
"""

from collections.abc import Iterator
from contextlib import AsyncExitStack
from dataclasses import dataclass
from itertools import pairwise

from itembank.bank import Bank
from reports.decision import Rule, Verdict, decision
from reports.outcomes import load_outcomes
from reports.validity import invalid_reasons
from runner.config import ServingConfig
from runner.progress import Progress
from runner.quality import QualityRun, judge_pending
from runner.run import open_side
from runner.sampling import interleaved
from runner.store import RunFolder, utc_now


@dataclass(kw_only=True)
class Party:
    """A side that is measured."""

    folder: RunFolder
    serving: ServingConfig


@dataclass(kw_only=True)
class Protocol:
    """Everything that a decide needs to go on from any point."""

    parties: list[Party]
    """Baseline and candidate, or the candidate alone."""
    finished: RunFolder | None
    """The baseline's record where it was measured before."""
    bank: Bank
    rule: Rule
    wait_s: float

    @property
    def baseline(self) -> RunFolder:
        """The folder that the candidate is held against."""
        return self.finished or self.parties[0].folder

    @property
    def candidate(self) -> RunFolder:
        """The folder of the candidate."""
        return self.parties[-1].folder


async def measure_until_decided(protocol: Protocol) -> None:
    """Ask block after block until a look decides or shows that nothing valid can come of it; complete the records.

    Raises ServingLost when a server is gone for good.
    """
    for party in protocol.parties:
        judge_pending(party.folder, protocol.bank)
    async with AsyncExitStack() as stack:
        held = {n: await open_side(stack, p.folder, p.serving, protocol.bank) for n, p in _unlaunched(protocol)}
        pending, settled = enumerate(blocks(protocol.rule.looks), 1), False
        while not settled:
            number, block = next(pending)
            if not _is_measured(protocol, block[-1]):
                await _ask_block(protocol, held, block, number)
            settled = block[-1] in protocol.rule.looks and is_settled(protocol, block[-1])
    for party in protocol.parties:
        party.folder.update(status="complete", ended_at=utc_now())


def blocks(looks: tuple[int, ...]) -> list[list[int]]:
    """The repeats between two looks, as blocks; the first is split where there is one look, for the sake of two boots.

    >>> blocks((3, 5, 10))
    [[1, 2, 3], [4, 5], [6, 7, 8, 9, 10]]
    >>> blocks((4,))
    [[1, 2], [3, 4]]
    """
    edges = [0, *looks] if len(looks) > 1 else [0, (looks[0] + 1) // 2, looks[0]]
    return [list(range(start + 1, end + 1)) for start, end in pairwise(edges)]


def is_settled(protocol: Protocol, repeats: int) -> bool:
    """Whether the look at so many repeats decides, or something happened that no more repeats can mend."""
    outcomes = [load_outcomes(run, protocol.bank) for run in (protocol.baseline, protocol.candidate)]
    fixed = protocol.finished is not None
    seen = [side if fixed and place == 0 else side.first(repeats) for place, side in enumerate(outcomes)]
    if invalid_reasons((protocol.baseline.record, seen[0]), (protocol.candidate.record, seen[1])):
        return True
    found = decision(seen[0], seen[1], protocol.rule, fixed_baseline=fixed)
    return found.next_look is None or found.verdict is not Verdict.UNDECIDED


def _unlaunched(protocol: Protocol) -> Iterator[tuple[int, Party]]:
    return ((n, party) for n, party in enumerate(protocol.parties) if party.serving.launch is None)


def _is_measured(protocol: Protocol, repeats: int) -> bool:
    """Whether every party has answers for all repeats up to this one."""
    wanted = {(item.id, repeat) for item in protocol.bank.items for repeat in range(1, repeats + 1)}
    return all(wanted <= {(t.item_id, t.repeat) for t in party.folder.outlines()} for party in protocol.parties)


async def _ask_block(protocol: Protocol, held: dict[int, QualityRun], block: list[int], number: int) -> None:
    """One block of repeats of every party: in turn where all are up, else one boot after the other."""
    parties = protocol.parties
    total = len(block) * len(protocol.bank.items) * len(parties)
    label = f"repeats {block[0]} to {block[-1]}"
    with Progress(label, total) as progress:
        if len(held) == len(parties):
            for repeat in block:
                for place in interleaved(len(parties), repeat):
                    await _ask(protocol, held[place], repeat, progress)
        else:
            for place in interleaved(len(parties), number):
                async with AsyncExitStack() as boot:
                    party = parties[place]
                    side = held.get(place) or await open_side(boot, party.folder, party.serving, protocol.bank)
                    for repeat in block:
                        await _ask(protocol, side, repeat, progress)
                    await side.check_identity()
        for side in held.values():
            await side.check_identity()


async def _ask(protocol: Protocol, side: QualityRun, repeat: int, progress: Progress) -> None:
    side.wait_s = protocol.wait_s
    await side.ask_repeat(repeat, progress)

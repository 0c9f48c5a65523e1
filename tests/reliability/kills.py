"""Runs commands of triplicate in processes of their own that can be killed at any moment, and compares what is left.

The processes are forked from one that has imported everything (multiprocessing's forkserver), so that a kill costs a
fraction of a second and the moments fall into the measuring, not into the imports.
"""

import contextlib
import json
import multiprocessing
import os
import random
import signal
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from itembank.bank import load_bank
from runner.simulator import Simulator, simulated
from runner.simulator_answers import Answer, Model
from runner.store import RunFolder

LONGEST_S = 60.0
ROOT = Path(__file__).parents[2]
CONTEXT = multiprocessing.get_context("forkserver")
CONTEXT.set_forkserver_preload(
    ["tests.reliability.kills", "runner.run", "reports.decide", "reports.preparation", "reports.sweep", "reports.curve"]
)
ITEMS = [
    {
        "id": f"d-{n:02d}",
        "dimension": "d",
        "prompt": f"What is {n} + {n}? End with ANSWER: <number>",
        "max_tokens": 64,
        "scorer": "number",
        "expect": {"value": str(2 * n)},
        "accept": [f"ANSWER: {2 * n}", f"It is {2 * n}.\nANSWER: {2 * n}", f"ANSWER: {2 * n}.0"],
        "reject": ["ANSWER: 777", "ANSWER: 778", "ANSWER: none"],
    }
    for n in range(1, 9)
]


class Counted(Model):
    """A model that counts how often an item of the bank was asked; what triplicate asks beside them is not counted."""

    asked = 0

    def answer(self, messages: Any, max_tokens: int, filler_tokens: int) -> Answer:
        if any(messages == list(item.messages) for item in self._items.values()):
            self.asked += 1
        return Model.answer(self, messages, max_tokens, filler_tokens)


@contextlib.contextmanager
def served(bank: Path, seed: int = 1, speed: float = 60.0) -> Iterator[Simulator]:
    """A server whose answers depend on nothing but the item."""
    model = Counted(bank=load_bank(str(bank)), seed=seed, flaky=0.0, score=50.0)
    with simulated("batching", speed=speed, model=model) as server:
        yield server


def asked(*servers: Simulator) -> int:
    """How often items were asked."""
    return sum(server.model.asked for server in servers if isinstance(server.model, Counted))


def written_bank(folder: Path) -> Path:
    path = folder / "bank.jsonl"
    path.write_text("".join(json.dumps(item) + "\n" for item in ITEMS))
    return path


def command(words: list[str], place: str) -> None:
    """Run one command in this process, whose output goes into `place`/output.txt."""
    os.chdir(place)
    with Path("output.txt").open("ab") as output:
        os.dup2(output.fileno(), 1)
        os.dup2(output.fileno(), 2)
    signal.signal(signal.SIGINT, signal.default_int_handler)
    import triplicate

    sys.exit(triplicate.main(words))


def started(words: list[str], place: Path) -> multiprocessing.process.BaseProcess:
    process = CONTEXT.Process(target=command, args=(words, str(place)))
    process.start()
    return process


def ended(process: multiprocessing.process.BaseProcess) -> int:
    """The exit status; a process that hangs is killed and fails the test."""
    process.join(LONGEST_S)
    if process.exitcode is None:
        process.kill()
        process.join()
        raise AssertionError("the command hangs")
    return process.exitcode


@dataclass
class Toll:
    """What a campaign did and found."""

    kills: int = 0
    late: int = 0
    """Processes that had ended before their moment came; they are no kills."""
    resumed: int = 0
    """Records that were completed after kills and compared."""
    again: int = 0
    """Requests that were asked a second time."""


def killed_at_random(
    rng: random.Random, servers: list[Simulator], words: list[str], place: Path, total: int, toll: Toll
) -> None:
    """Start a command and SIGKILL it at a random moment between its start and its last request."""
    before = _progress(servers)
    at, more_s = rng.randrange(total), rng.random() * 0.03
    process = started(words, place)
    until = time.monotonic() + LONGEST_S
    while process.is_alive() and time.monotonic() < until:
        if _progress(servers) - before >= at:
            break
        time.sleep(0.001)
    time.sleep(more_s if at else more_s * 10)
    was_alive = process.is_alive()
    process.kill()
    process.join(LONGEST_S)
    toll.kills += was_alive
    toll.late += not was_alive


def _progress(servers: list[Simulator]) -> int:
    return asked(*servers) or sum(server.requests for server in servers)


def folders(out: Path) -> list[Path]:
    return sorted(path.parent for path in out.rglob("run.json"))


def pairs(path: Path) -> list[tuple[str, int]]:
    return sorted((trial.item_id, trial.repeat) for trial in RunFolder.read(path).trials())


def verdicts(path: Path) -> list[tuple[str, int, str]]:
    """The verdicts that count, one for each pair: a later line of the same pair replaces an earlier one."""
    return sorted((row["item"], row["repeat"], row["outcome"]) for row in RunFolder.read(path).verdicts())


def poll(condition: Callable[[], bool], limit_s: float = LONGEST_S) -> None:
    until = time.monotonic() + limit_s
    while not condition():
        assert time.monotonic() < until, "what was waited for did not come"
        time.sleep(0.002)

"""How long judging takes: 9,400 answers of every method but python and math, and how long the layer takes to import."""

import resource
import subprocess
import sys
import time

from itembank.bank import load_bank
from itembank.item import Item
from scorers.floor import response_of
from scorers.judge import judge_many
from scorers.response import Response

ANSWERS = 9_400
LIMIT_S = 20.0
IMPORT_LIMIT_S = 0.050
APART = ("python", "math")


def pairs() -> list[tuple[Item, Response]]:
    """The built-in items' own accepts and rejects behind 2,000 characters of working, over and over."""
    working = "First I look at what is asked, then at what is given; the two differ in one point only. " * 3
    found = [
        (item, response_of(f"<think>\n{working}\n</think>\n\n{entry}" if isinstance(entry, str) else entry))
        for item in load_bank().items
        if item.scorer not in APART
        for entry in (*item.accept, *item.reject)
    ]
    return [found[at % len(found)] for at in range(ANSWERS)]


def import_s(module: str) -> float:
    """The processor time that importing takes in a fresh interpreter, beyond an empty one; the least of five."""
    code = "import time; start = time.process_time(); import {}; print(time.process_time() - start)"
    command = [sys.executable, "-c", code.format(module)]
    runs = [subprocess.run(command, capture_output=True, check=True) for _ in range(5)]
    return min(float(run.stdout) for run in runs)


def main() -> int:
    """Print the figures; 1 if one is over its limit."""
    work = pairs()
    start = time.perf_counter()
    outcomes = [verdict.outcome for verdict in judge_many(work, workers=2)]
    spent_s = time.perf_counter() - start
    busy_s = sum(sum(resource.getrusage(who)[:2]) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    imported_s = import_s("scorers")
    judge_s = import_s("scorers.judge")
    print(f"judging   {len(outcomes)} answers of {len({item.scorer for item, _ in work})} methods in {spent_s:.1f} s")
    print(f"          with 2 processes, {1e3 * spent_s / len(outcomes):.2f} ms each; at most {LIMIT_S:g} s")
    print(f"          {busy_s:.1f} s of processor time, {1e3 * busy_s / len(outcomes):.2f} ms each")
    print(f"importing scorers {1e3 * imported_s:.1f} ms, at most {1e3 * IMPORT_LIMIT_S:g} ms")
    print(f"          scorers.judge {1e3 * judge_s:.1f} ms")
    return int(spent_s > LIMIT_S or imported_s > IMPORT_LIMIT_S)

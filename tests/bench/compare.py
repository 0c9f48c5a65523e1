"""A whole `compare`: two run folders of 94 items x 10 repeats, from the command line to the exit status."""

import random
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from tests.reports.conftest import bank_items, write_run

ROUNDS = 3
LIMIT_S = 1.0
ANSWER = "A thought that goes on for some time before it ends. " * 40


def main() -> int:
    """Print the best of three; 1 if it is over a second."""
    rng = random.Random(1)
    items = bank_items()
    with tempfile.TemporaryDirectory() as place:
        paths = []
        for name in ("incumbent", "candidate"):
            rows = ["".join(rng.choice("pppf") if n % 7 == 0 else "p" for _ in range(10)) for n in range(len(items))]
            run = write_run(Path(place), name, rows, items=items, texts=lambda item, repeat: f"{ANSWER}{item} {repeat}")
            paths.append(str(run.path))
        command = [sys.executable, "triplicate.py", "compare", *paths, "--json"]
        times = []
        for _ in range(ROUNDS):
            started = time.perf_counter()
            subprocess.run(command, check=False, stdout=subprocess.DEVNULL)
            times.append(time.perf_counter() - started)
    print(f"compare of 94 items x 10 + 10 repeats: {min(times):.2f} s (best of {ROUNDS}; limit {LIMIT_S:g} s)")
    return 1 if min(times) > LIMIT_S else 0

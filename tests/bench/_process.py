"""A simulator in a process of its own, so that its work is not the client's."""

import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

ROOT = Path(__file__).parent.parent.parent


@contextmanager
def simulator(*arguments: str) -> Iterator[str]:
    """`triplicate simulate` with these arguments for as long as the block lasts; gives its base URL."""
    command = [sys.executable, "triplicate.py", "simulate", *arguments]
    process = subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    try:
        yield process.stdout.readline().split(" at ")[1].split(" ")[0]
    finally:
        process.terminate()
        process.wait(10)
        process.stdout.close()

"""Runs model-written Python in a process that can reach next to nothing, and returns what its calls came to.

Stopped by the kernel: reading and writing outside a scratch folder and the interpreter's own library, /proc, the
environment, the network, signals to and tracing of other processes, more than `TASKS` tasks, CPU, memory, file size and
wall time. Whatever the code leaves behind is ended before `run` returns. Bubblewrap does this where it is installed and
works, else nono (Landlock and seccomp; Seatbelt on macOS).

Not stopped: filling the disk of the temporary folder until the time is up; `TASKS` times the memory limit; and, under
nono, unix sockets that the user may open are refused by a hook in the interpreter, not by the kernel.
"""

import functools
import marshal
import os
import secrets
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from scorers import cell as cells
from scorers import confine, harness

TASKS = 32
"""The most processes and threads that an answer may have at a time."""
RECORD_BYTES = 8 << 20
"""How much of a record of results is read."""


class NoSandboxError(Exception):
    """Nothing here can confine a process; the text is the remedy."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """What one run may use."""

    cpu_seconds: float = 5.0
    memory_mb: int = 512

    @property
    def wall_s(self) -> float:
        """The time after which a run is ended, in seconds."""
        return 2 * self.cpu_seconds + 2


@dataclass(frozen=True, slots=True, kw_only=True)
class Run:
    """What came of one run."""

    outcomes: tuple[tuple[tuple[Any, ...], bytes], ...]
    """The import's first, then one a call: the head that the harness wrote (`("returned",)`, `("raised", names, text)`,
    ...) and the encoded value; fewer than calls where the process ended early."""
    complete: bool
    """The harness reached its end."""
    late: bool
    """A time limit ended it."""
    near: bool
    """It used 80 % or more of a time limit, so a busy machine may have decided it."""


def run(code: str, entry: str, calls: Sequence[bytes], limits: Limits) -> Run:
    """Call `entry` of the code once for each encoded `(args, kwargs)`; near a limit, once again alone.

    Raises NoSandboxError where nothing can confine the process.
    """
    with cells.turn(alone=False):
        first = attempt(code, entry, calls, limits)
    if not first.near:
        return first
    with cells.turn(alone=True):
        return attempt(code, entry, calls, limits)


def attempt(code: str, entry: str, calls: Sequence[bytes], limits: Limits) -> Run:
    """One run in a fresh scratch folder, which is gone afterwards, as is every process that it started."""
    means = confine.means()
    if means is None:
        raise NoSandboxError(confine.REMEDY)
    sentinel = secrets.token_hex(16)
    with cells.scratch_folder() as folder:
        cell = cells.Cell.fresh(folder)
        job = {
            "code": code,
            "entry": entry,
            "calls": list(calls),
            "sentinel": sentinel,
            "cpu_ms": int(limits.cpu_seconds * 1000),
            "memory_bytes": limits.memory_mb << 20,
            "mark": cell.mark,
            "tasks": TASKS if cell.uid or means is confine.bubblewrapped else TASKS + cells.own_tasks(),
        }
        (folder / "harness").write_bytes(compiled_harness())
        (folder / "job").write_bytes(harness.encode(job, limit=1 << 30))
        record = os.open(folder / "result", os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o600)
        try:
            cell.hand_over()
            started, newest = time.monotonic(), cells.newest_process()
            try:
                status = means(cell, child_command(), limits.wall_s)
            finally:
                wall_s = time.monotonic() - started
                wrapped = wall_s > 1 or cells.newest_process() < newest
                cell.clear(0 if wrapped else newest)
            data = os.pread(record, RECORD_BYTES, 0)
        finally:
            os.close(record)
    return read_record(data, sentinel, len(calls), limits, wall_s, status)


def read_record(data: bytes, sentinel: str, calls: int, limits: Limits, wall_s: float, status: int) -> Run:
    """What the child wrote down, which may be forged or cut anywhere, and how it ended."""
    outcomes: list[tuple[tuple[Any, ...], bytes]] = []
    end: Any = None
    at = 0
    try:
        while at < len(data):
            head, at = harness.decode(data, at, list, list)
            if head[0] == "end":
                end = head
                break
            start = at
            _, at = harness.decode(data, at, list, list)
            outcomes.append((head, data[start:at]))
    except (ValueError, TypeError, IndexError, KeyError):
        end = None
    complete = isinstance(end, tuple) and end[1:2] == (sentinel,)
    cpu_s = end[2] if complete and len(end) == 3 and isinstance(end[2], float) else 0.0
    late = not complete and (wall_s >= limits.wall_s or (status in (-24, -9) and wall_s >= limits.cpu_seconds))
    near = late or cpu_s >= 0.8 * limits.cpu_seconds or wall_s >= 0.8 * limits.wall_s
    return Run(outcomes=tuple(outcomes[: calls + 1]), complete=complete, late=late, near=near)


@functools.cache
def child_command() -> tuple[str, ...]:
    """The child's command line: this interpreter, without site packages, and the harness, which lies in the folder."""
    start = "import marshal; exec(marshal.loads(open('harness', 'rb').read()))"
    return (confine.interpreter(), "-s", "-S", "-P", "-B", "-c", start)


@functools.cache
def compiled_harness() -> bytes:
    """The harness as code that the child can run at once; compiling it there would double its start."""
    return marshal.dumps(compile(Path(harness.__file__).read_text("utf-8"), "harness", "exec"))

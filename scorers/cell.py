"""The place and the identity of one sandboxed run, its turn among others, and the end of whatever it leaves behind.

As root each run has a user of its own, who owns all its processes. Otherwise they are known by a mark in a limit that
they inherit and that only they themselves would change. Confines nothing.
"""

import os
import secrets
import shutil
import signal
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from scorers.harness import FILE_BYTES

PROC = Path("/proc")
FIRST_UID = 1 << 30


@dataclass(frozen=True, slots=True, kw_only=True)
class Cell:
    """The identity of one run: its folder, and how its processes are told from all others."""

    folder: Path
    uid: int | None
    """The run's own user; None where we are not root."""
    mark: int
    """What a run adds to its limit on file size."""

    @classmethod
    def fresh(cls, folder: Path) -> "Cell":
        """An identity that nobody else has."""
        own = FIRST_UID + secrets.randbelow(1 << 29) if os.getuid() == 0 else None
        return cls(folder=folder, uid=own, mark=1 + secrets.randbelow(1 << 20))

    def hand_over(self) -> None:
        """Give the folder and what is in it to the run's own user."""
        if self.uid is not None:
            for path in (self.folder, *self.folder.iterdir()):
                os.chown(path, self.uid, self.uid)

    def owns(self, pid: int) -> bool:
        """Whether a process belongs to this run and still lives; a zombie does not."""
        try:
            status = dict(line.split(b":", 1) for line in _proc(f"{pid}/status").splitlines())
            if status[b"State"].split()[0] in b"ZX":
                return False
            if self.uid is not None:
                return str(self.uid).encode() in status[b"Uid"].split()
            limit = _proc(f"{pid}/limits").split(b"\nMax file size", 1)[1].split(b"\n", 1)[0]
        except (OSError, IndexError, KeyError, ValueError):
            return False
        return str(FILE_BYTES + self.mark).encode() in limit.split()

    def clear(self, newest: int) -> None:
        """End every process of this run with an id above `newest`, even one that hid in a session of its own."""
        deadline = time.monotonic() + 5
        while time.monotonic() < deadline:
            left = [pid for pid in processes() if pid > newest and self.owns(pid)]
            if not left:
                return
            for pid in left:
                with suppress(OSError):
                    os.kill(pid, signal.SIGKILL)


def _proc(name: str) -> bytes:
    return (PROC / name).read_bytes()


def newest_process() -> int:
    """The id that the system gave out last; 0 where it does not say."""
    try:
        return int(_proc("loadavg").split()[-1])
    except OSError:
        return 0


def processes() -> list[int]:
    """The ids of all processes that can be seen; none without /proc."""
    try:
        return [int(path.name) for path in PROC.iterdir() if path.name.isdigit()]
    except OSError:
        return []


def own_tasks() -> int:
    """How many tasks our own user has now."""
    count = 0
    for pid in processes():
        try:
            if (PROC / str(pid)).stat().st_uid == os.getuid():
                count += len(list((PROC / str(pid) / "task").iterdir()))
        except OSError:
            continue
    return count


@contextmanager
def scratch_folder() -> Iterator[Path]:
    """A new folder of its own, removed afterwards whatever was put into it."""
    folder = Path(tempfile.mkdtemp(prefix="triplicate-"))
    try:
        yield folder
    finally:
        with suppress(RecursionError):
            shutil.rmtree(folder, ignore_errors=True)
        if folder.exists():
            for command in (["chmod", "-R", "u+rwx"], ["rm", "-rf"]):
                subprocess.run([*command, "--", str(folder)], check=False, stderr=subprocess.DEVNULL)


@contextmanager
def turn(*, alone: bool) -> Iterator[None]:
    """Hold a place among the runs of this user, or all places; a run that waits to be alone lets nobody pass."""
    import fcntl

    folder = Path(tempfile.gettempdir())
    names = [folder / f"triplicate-{os.getuid()}-{name}.lock" for name in ("gate", "runs")]
    flags = os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC
    gate, runs = (os.open(name, flags, 0o600) for name in names)
    try:
        fcntl.flock(gate, fcntl.LOCK_EX)
        fcntl.flock(runs, fcntl.LOCK_EX if alone else fcntl.LOCK_SH)
        fcntl.flock(gate, fcntl.LOCK_UN)
        yield
    finally:
        os.close(gate)
        os.close(runs)

"""Confines one command with bubblewrap or nono. Knows nothing of what runs in it and ends nothing afterwards.

As root the command runs as the cell's own user (`setpriv`), because the kernel exempts root from the limit on tasks.
Nono forks and waits for threads of its own, which can wait for ever in a process that has other threads (seen beside
pyarrow's allocator), so it is called in small processes that do nothing else and that the kernel ends at a limit.
"""

import functools
import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Callable, Sequence
from pathlib import Path

from scorers.cell import Cell, scratch_folder
from scorers.processes import Died, Pool, TimeUp

LINUX = sys.platform == "linux"
REMEDY = (
    "nothing here can confine model-written code: install bubblewrap, or use Linux 6.7 or newer with Landlock"
    " (as root also util-linux's setpriv)"
)
ENVIRONMENT = {"PYTHONHASHSEED": "0", "PYTHONUTF8": "1", "MALLOC_ARENA_MAX": "2"}
Means = Callable[[Cell, Sequence[str], float], int]
SPARE_S = 5.0
"""How long past a command's time limit nono may take to end it."""
NONO = Pool("scorers.confine:under_nono", cpu_s=0, wall_s=0)


@functools.cache
def interpreter() -> str:
    """The real path of this Python, past virtual environments."""
    return os.path.realpath(getattr(sys, "_base_executable", None) or sys.executable)


@functools.cache
def library() -> tuple[str, ...]:
    """The folders and files that the interpreter itself must read; sorted, real, none inside another."""
    wanted = ["/lib", "/lib64", "/usr/lib", "/usr/lib64", "/usr/share/zoneinfo", "/etc/ld.so.cache", "/System/Library"]
    wanted += [str(Path(os.__file__).parent), f"{sys.base_prefix}/lib", interpreter()]
    real = sorted({os.path.realpath(path) for path in wanted if Path(path).exists()})
    return tuple(p for p in real if not any(p.startswith(q + os.sep) for q in real))


def as_user(uid: int | None) -> list[str]:
    """The words that make a command run as that user without any privilege; none where there is no user.

    Where only root can reach the interpreter, the one right to read is kept; Landlock or the mounts bound it.
    """
    setpriv = shutil.which("setpriv")
    if uid is None or setpriv is None:
        return []
    keep = "" if reachable() else ",+dac_read_search"
    sets = [f"--{name}=-all{keep}" for name in ("inh-caps", "ambient-caps", "bounding-set")]
    groups = [f"--reuid={uid}", f"--regid={uid}", "--clear-groups"]
    return [os.path.realpath(setpriv), *groups, *sets, "--no-new-privs", "--pdeathsig=KILL"]


@functools.cache
def reachable() -> bool:
    """Whether every user can reach the interpreter and its library."""
    places = {place for path in library() for place in (Path(path), *Path(path).parents)}
    return all(place.stat().st_mode & 0o5 == 0o5 or not place.is_dir() for place in places)


def confined_by_nono(cell: Cell, command: Sequence[str], wall_s: float) -> int:
    """Run the command under nono; its exit status, negative for a signal, -9 where the time was up."""
    prefix = as_user(cell.uid)
    readable = (*library(), *prefix[:1])
    try:
        status, fault = NONO.ask((str(cell.folder), readable, (*prefix, *command), wall_s))
    except TimeUp:
        return -9
    if fault:
        raise RuntimeError(fault)
    return int(status)


def under_nono(request: tuple[str, tuple[str, ...], tuple[str, ...], float]) -> tuple[int, str]:
    """The exit status of a command and nothing, or 0 and why nono did not run it; called in a process of its own."""
    folder, readable, command, wall_s = request
    signal.setitimer(signal.ITIMER_REAL, wall_s + SPARE_S)
    try:
        import nono_py

        caps = nono_py.CapabilitySet()
        for path in readable:
            (caps.allow_path if Path(path).is_dir() else caps.allow_file)(path, nono_py.AccessMode.READ)
        for path in ("/dev/null", "/dev/urandom"):
            caps.allow_file(path, nono_py.AccessMode.READ_WRITE)
        caps.allow_path(folder, nono_py.AccessMode.READ_WRITE)
        caps.block_network()
        ended = nono_py.sandboxed_exec(
            caps,
            list(command),
            cwd=folder,
            timeout_secs=wall_s,
            env=[*ENVIRONMENT.items(), ("HOME", folder), ("TMPDIR", folder)],
            enforcement_mode="seccomp" if LINUX else "auto",
        )
    except (ImportError, OSError, RuntimeError, ValueError) as error:
        return 0, f"{type(error).__name__}: {error}"[:500]
    return int(ended.exit_code), ""


def bubblewrapped(cell: Cell, command: Sequence[str], wall_s: float) -> int:
    """Run the command under bubblewrap; its exit status, negative for a signal, -9 where the time was up."""
    words = [str(shutil.which("bwrap")), "--die-with-parent", "--new-session", "--clearenv", "--dev", "/dev"]
    words += ["--unshare-ipc", "--unshare-pid", "--unshare-net", "--unshare-uts", "--unshare-cgroup-try"]
    prefix = as_user(cell.uid)
    if prefix:
        words += [word for cap in ("SETUID", "SETGID", "SETPCAP") for word in ("--cap-add", f"CAP_{cap}")]
        words += [] if reachable() else ["--cap-add", "CAP_DAC_READ_SEARCH"]
    else:
        words += ["--unshare-user"]
    for path in (*library(), *prefix[:1]):
        words += ["--ro-bind", path, path]
    linked = [path for path in ("/lib", "/lib64") if Path(path).is_symlink()]
    words += [word for path in linked for word in ("--symlink", str(Path(path).readlink()), path)]
    words += ["--bind", str(cell.folder), str(cell.folder), "--chdir", str(cell.folder)]
    for name, value in {**ENVIRONMENT, "HOME": str(cell.folder), "TMPDIR": str(cell.folder)}.items():
        words += ["--setenv", name, value]
    silent = subprocess.DEVNULL
    with subprocess.Popen([*words, "--", *prefix, *command], stdin=silent, stdout=silent, stderr=silent) as process:
        try:
            status = process.wait(wall_s)
        except subprocess.TimeoutExpired:
            return -9
        finally:
            process.kill()
    return 128 - status if status > 128 else status


@functools.cache
def means() -> Means | None:
    """What confines a process here: bubblewrap, else nono, else None; each must have proved it once."""
    if os.getuid() == 0 and shutil.which("setpriv") is None:
        return None
    if shutil.which("bwrap") and proved(bubblewrapped):
        return bubblewrapped
    return confined_by_nono if proved(confined_by_nono) else None


def proved(candidate: Means) -> bool:
    """Whether a process so confined starts, may write its folder and may not read ours."""
    test = "import os\ntry: os.listdir(%r)\nexcept OSError: open('proof', 'x')"
    with scratch_folder() as ours, scratch_folder() as folder:
        cell = Cell.fresh(folder)
        cell.hand_over()
        try:
            candidate(cell, (interpreter(), "-s", "-S", "-P", "-B", "-c", test % str(ours)), 10.0)
        except (Died, OSError, RuntimeError):
            return False
        return (folder / "proof").exists()

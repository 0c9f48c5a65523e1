"""Processes that judge and can be killed: the hard limit of every scorer, from whatever thread it is asked for.

A thread cannot be stopped and a signal reaches the main thread only, so a scorer runs in a process of its own, which
the kernel ends by its own timers when a judgement takes too long, even inside one call of C code and even after its
parent is gone. A process serves many judgements, one at a time; one that ended is replaced. Judges nothing itself.
"""

import atexit
import contextlib
import importlib
import io
import os
import pickle
import resource
import signal
import struct
import subprocess
import sys
import threading
import weakref
from collections.abc import Callable
from pathlib import Path
from typing import IO, Any

CPU_S = 5.0
"""Processor time of one judgement."""
WALL_S = 30.0
"""Time by the clock of one judgement, on a machine that may be busy."""
MEMORY_BYTES = 4 << 30
ROOT = str(Path(__file__).parent.parent)
"""Where this package is found even if the parent's folder has changed."""
_LENGTH = struct.Struct(">I")
PLAIN = {("fractions", "Fraction"), ("decimal", "Decimal"), ("datetime", "date"), ("datetime", "datetime")}


class TimeUp(Exception):
    """A judgement took longer than its limit; its process is gone."""


class Died(Exception):
    """A process ended in the middle of a judgement for another reason."""


class Worker:
    """One process that calls `target`, given as `module:function`, for every request; not to be shared by threads."""

    def __init__(self, target: str, cpu_s: float = CPU_S, wall_s: float = WALL_S) -> None:
        code = f"import sys; sys.path[:] = {[ROOT, *sys.path]!r}; from scorers import processes; processes.main()"
        self._process = subprocess.Popen(
            [sys.executable, "-c", code, target, str(cpu_s), str(wall_s)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            start_new_session=True,
        )
        assert self._process.stdin is not None and self._process.stdout is not None
        self._in, self._out = self._process.stdin, self._process.stdout

    def ask(self, request: Any) -> Any:
        """What the function makes of `request`. Raises TimeUp or Died, and the process is then gone."""
        try:
            _send(self._in, request)
            return _receive(self._out)
        except (EOFError, BrokenPipeError, pickle.UnpicklingError):
            status = self.close()
        except BaseException:
            self.close()
            raise
        if status in (-signal.SIGALRM, -signal.SIGPROF):
            raise TimeUp
        raise Died(f"the scorer's process ended with status {status}")

    def alive(self) -> bool:
        """Whether the process still runs."""
        return self._process.poll() is None

    def close(self) -> int:
        """End the process; its exit status, negative for a signal."""
        self._process.kill()
        for stream in (self._in, self._out):
            with contextlib.suppress(BrokenPipeError):
                stream.close()
        return self._process.wait()


POOLS: "weakref.WeakSet[Pool]" = weakref.WeakSet()
"""Every pool there is."""


class Pool:
    """Idle workers of one target; as many run as threads ask at once, and a forked child starts its own."""

    def __init__(self, target: str, cpu_s: float = CPU_S, wall_s: float = WALL_S) -> None:
        self._target, self._cpu_s, self._wall_s = target, cpu_s, wall_s
        self._lock = threading.Lock()
        self._idle: list[Worker] = []
        self._owner = os.getpid()
        POOLS.add(self)

    def ask(self, request: Any) -> Any:
        """What the target makes of `request`, in a worker that no other thread uses. Raises TimeUp or Died."""
        worker = self._taken()
        answer = worker.ask(request)
        with self._lock:
            self._idle.append(worker)
        return answer

    def close(self) -> None:
        """End the idle workers; later requests start new ones."""
        with self._lock:
            idle, self._idle = self._idle, []
        if self._owner == os.getpid():
            for worker in idle:
                worker.close()

    def _taken(self) -> Worker:
        with self._lock:
            if self._owner != os.getpid():
                self._owner, self._idle = os.getpid(), []
            while self._idle:
                worker = self._idle.pop()
                if worker.alive():
                    return worker
                worker.close()
        return Worker(self._target, self._cpu_s, self._wall_s)


@atexit.register
def close_idle() -> None:
    """End the idle workers of every pool; later requests start new ones."""
    for pool in list(POOLS):
        pool.close()


def main() -> None:
    """Serve requests from standard input until it ends; the whole life of a worker."""
    target, cpu_s, wall_s = sys.argv[1:]
    module, function = target.split(":")
    for ending in (signal.SIGALRM, signal.SIGPROF):
        signal.signal(ending, signal.SIG_DFL)
    signal.pthread_sigmask(signal.SIG_UNBLOCK, (signal.SIGALRM, signal.SIGPROF))
    with contextlib.suppress(ValueError, OSError):
        resource.setrlimit(resource.RLIMIT_AS, (MEMORY_BYTES, MEMORY_BYTES))
    source, sink = sys.stdin.buffer, sys.stdout.buffer
    sys.stdout = sys.stderr
    try:
        serve(getattr(importlib.import_module(module), function), source, sink, float(cpu_s), float(wall_s))
    except BrokenPipeError:
        os._exit(0)  # whoever asked has been killed, and nobody is left to hear of it


def serve(
    function: Callable[[Any], Any], source: IO[bytes], sink: IO[bytes], cpu_s: float = 0.0, wall_s: float = 0.0
) -> None:
    """Answer every request of `source` on `sink` until it ends, each under the kernel's timers; 0 is no limit."""
    while True:
        try:
            request = _receive(source)
        except EOFError:
            return
        signal.setitimer(signal.ITIMER_PROF, cpu_s)
        signal.setitimer(signal.ITIMER_REAL, wall_s)
        answer = function(request)
        signal.setitimer(signal.ITIMER_PROF, 0.0)
        signal.setitimer(signal.ITIMER_REAL, 0.0)
        _send(sink, answer)


class _Plain(pickle.Unpickler):
    """Reads nothing but data and triplicate's own classes: what a worker writes could have been put into its mouth."""

    def find_class(self, module: str, name: str) -> Any:
        """A class of triplicate's own, or one that only holds data. Raises UnpicklingError for everything else."""
        if module.split(".")[0] in ("itembank", "scorers") or (module, name) in PLAIN:
            found = super().find_class(module, name)
            if isinstance(found, type):
                return found
        raise pickle.UnpicklingError(f"{module}.{name} is no data")


def _send(sink: IO[bytes], value: Any) -> None:
    data = pickle.dumps(value, pickle.HIGHEST_PROTOCOL)
    sink.write(_LENGTH.pack(len(data)) + data)
    sink.flush()


def _receive(source: IO[bytes]) -> Any:
    """The next value. Raises EOFError where the other side is gone."""
    header = source.read(_LENGTH.size)
    if len(header) < _LENGTH.size:
        raise EOFError
    size = _LENGTH.unpack(header)[0]
    data = source.read(size)
    if len(data) < size:
        raise EOFError
    return _Plain(io.BytesIO(data)).load()

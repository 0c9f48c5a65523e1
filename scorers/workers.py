"""A pool of warm, killable processes that compare mathematics, because a thread that hangs in sympy cannot be stopped.

A worker is a fresh interpreter, never a fork, so it is safe from any thread. It ends when its input does, and so
outlives no parent, however that one died. A process that was forked from another has a pool of its own.
"""

import atexit
import os
import pickle
import select
import struct
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import IO, Any

LIMIT_S = 2.0
START_S = 60.0
MOST_IDLE = 4
MEMORY_BYTES = 2 << 30
READY = "ready"


class Worker:
    """One process and the two pipes to it."""

    def __init__(self) -> None:
        program = "import sys; sys.path.insert(0, sys.argv[1]); from scorers.workers import serve; serve()"
        root = str(Path(__file__).parent.parent)
        self.process = subprocess.Popen(
            [sys.executable, "-c", program, root], stdin=subprocess.PIPE, stdout=subprocess.PIPE, bufsize=0
        )
        self.ready = False

    def answers(self, question: Any) -> Iterator[Any]:
        """The answers to a question as they come. Raises TimeoutError when the limit is over, EOFError if it died."""
        if not self.ready:
            self._receive(time.monotonic() + START_S)
            self.ready = True
        deadline = time.monotonic() + LIMIT_S
        assert self.process.stdin is not None
        send(self.process.stdin, question)
        while True:
            answer = self._receive(deadline)
            if answer is None:
                return
            yield answer

    def _receive(self, deadline: float) -> Any:
        assert self.process.stdout is not None
        return receive(self.process.stdout, deadline)

    def stop(self) -> None:
        """End the process at once."""
        self.process.kill()
        for pipe in (self.process.stdin, self.process.stdout):
            if pipe is not None:
                pipe.close()
        self.process.wait()


class Pool:
    """Workers that have nothing to do, for any thread to take one."""

    def __init__(self) -> None:
        self.idle: list[Worker] = []
        self.lock = threading.Lock()
        self.process = os.getpid()

    def ask(self, question: Any) -> list[Any]:
        """All answers to a question, or those that came within the limit; then the worker is replaced.

        Raises TimeoutError if none came.
        """
        with self.lock:
            worker = self.idle.pop() if self.idle else None
        worker = worker or Worker()
        found: list[Any] = []
        try:
            for answer in worker.answers(question):
                found.append(answer)
        except (TimeoutError, EOFError, OSError) as error:
            worker.stop()
            if not found:
                raise TimeoutError(f"no answer within {LIMIT_S:g} s") from error
            return found
        except BaseException:
            worker.stop()
            raise
        self._keep(worker)
        return found

    def _keep(self, worker: Worker) -> None:
        with self.lock:
            if len(self.idle) < MOST_IDLE:
                self.idle.append(worker)
                return
        worker.stop()

    def close(self) -> None:
        """End all workers that have nothing to do."""
        with self.lock:
            idle, self.idle = self.idle, []
        for worker in idle:
            worker.stop()


_pool = Pool()
_inherited: list[Pool] = []


def ask(question: Any) -> list[Any]:
    """All answers to a question; see `Pool.ask`."""
    return _pool.ask(question)


def renew() -> None:
    """Leave the workers to the process that this one was forked from, and start without any."""
    global _pool
    for worker in _pool.idle:
        for pipe in (worker.process.stdin, worker.process.stdout):
            if pipe is not None:
                pipe.close()
    _inherited.append(_pool)
    _pool = Pool()


os.register_at_fork(after_in_child=renew)
atexit.register(lambda: _pool.close())


def send(pipe: IO[bytes], message: Any) -> None:
    """Write one message."""
    data = pickle.dumps(message)
    data = struct.pack(">I", len(data)) + data
    while data:
        data = data[pipe.write(data) :]


def receive(pipe: IO[bytes], deadline: float | None = None) -> Any:
    """Read one message. Raises TimeoutError at the deadline and EOFError where the pipe ends."""
    size = struct.unpack(">I", _read(pipe, 4, deadline))[0]
    return pickle.loads(_read(pipe, size, deadline))


def _read(pipe: IO[bytes], size: int, deadline: float | None) -> bytes:
    data = b""
    while len(data) < size:
        if deadline is not None and not select.select([pipe], [], [], max(0.0, deadline - time.monotonic()))[0]:
            raise TimeoutError
        piece = pipe.read(size - len(data))
        if not piece:
            raise EOFError
        data += piece
    return data


def serve() -> None:
    """The worker's whole life: answer questions until the input ends."""
    import sympy

    from scorers.mathworker import answers

    assert sympy
    limit_memory()
    output = os.fdopen(os.dup(1), "wb", buffering=0)
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
    send(output, READY)
    with open(0, "rb", buffering=0, closefd=False) as questions:
        while True:
            try:
                question = receive(questions)
            except EOFError:
                return
            for answer in answers(*question):
                send(output, answer)
            send(output, None)


def limit_memory() -> None:
    """Keep this process below a size at which it would harm others."""
    import resource

    resource.setrlimit(resource.RLIMIT_AS, (MEMORY_BYTES, MEMORY_BYTES))

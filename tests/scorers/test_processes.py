import io
import signal
import threading
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path
from pickle import PicklingError, UnpicklingError

import psutil
import pytest

from scorers import processes
from scorers.processes import Died, Pool, TimeUp, Worker

TARGETS = """
import os, re, signal, sys

def echo(value):
    return value, os.getpid()

def spin(value):
    while value:
        pass
    return value

def backtrack(value):
    return re.match("(a+)+$", "a" * value + "b") is None

def stop(value):
    signal.pause() if value else None
    return value

def leave(value):
    sys.exit(value)

def unpicklable(value):
    return lambda: value

def grow(value):
    try:
        return len(bytearray(value << 30))
    except MemoryError:
        return "refused"
"""


@pytest.fixture(autouse=True)
def targets(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "worker_targets.py").write_text(TARGETS)
    monkeypatch.syspath_prepend(str(tmp_path))


def children() -> list[psutil.Process]:
    return [child for child in psutil.Process().children() if child.status() != psutil.STATUS_ZOMBIE]


def test_one_process_serves_many_requests() -> None:
    worker = Worker("worker_targets:echo")
    first, second = worker.ask("a"), worker.ask(b"b" * 200_000)
    assert (first[0], second[0]) == ("a", b"b" * 200_000)
    assert first[1] == second[1]
    assert worker.alive()
    assert worker.close() == -signal.SIGKILL
    assert not worker.alive()


@pytest.mark.parametrize(("target", "request_"), [("spin", 1), ("backtrack", 40)])
def test_processor_time_is_limited_inside_python_and_inside_c(target: str, request_: int) -> None:
    worker = Worker(f"worker_targets:{target}", cpu_s=0.2)
    with pytest.raises(TimeUp):
        worker.ask(request_)
    assert not worker.alive()


def test_the_clock_is_limited_too() -> None:
    worker = Worker("worker_targets:stop", wall_s=0.2)
    assert worker.ask(0) == 0
    with pytest.raises(TimeUp):
        worker.ask(1)


def test_the_limit_is_for_one_request() -> None:
    worker = Worker("worker_targets:spin", cpu_s=0.5)
    assert [worker.ask(0) for _ in range(50)] == [0] * 50
    worker.close()


def test_a_process_that_ends_is_told_from_one_that_is_late() -> None:
    for target in ("leave", "unpicklable", "absent"):
        with pytest.raises(Died, match="status"):
            Worker(f"worker_targets:{target}").ask(3)


def test_a_request_that_cannot_be_sent_ends_the_process() -> None:
    worker = Worker("worker_targets:echo")
    with pytest.raises((AttributeError, TypeError, PicklingError), match=r"pickle|local"):
        worker.ask(lambda: 0)
    assert not worker.alive()


@pytest.mark.skipif(not hasattr(processes.resource, "RLIMIT_AS"), reason="no limit of address space here")
def test_memory_is_limited() -> None:
    worker = Worker("worker_targets:grow")
    assert worker.ask(64) == "refused"
    worker.close()


def test_threads_never_share_a_worker() -> None:
    before = len(children())
    pool = Pool("worker_targets:echo")
    with ThreadPoolExecutor(4) as threads:
        answers = list(threads.map(pool.ask, range(200)))
    assert [value for value, _ in answers] == list(range(200))
    assert 1 <= len({process for _, process in answers}) <= 4
    pool.close()
    assert len(children()) == before


def test_a_lost_worker_is_replaced() -> None:
    pool = Pool("worker_targets:echo")
    _, process = pool.ask(1)
    psutil.Process(process).kill()
    with suppress(psutil.NoSuchProcess):
        psutil.Process(process).wait(10)
    answers = [pool.ask(2)]
    assert answers[0][0] == 2 and answers[0][1] != process
    pool.close()


def test_a_forked_child_leaves_its_parents_workers_alone() -> None:
    pool = Pool("worker_targets:echo")
    _, process = pool.ask(1)
    (idle,) = pool._idle
    pool._owner = -1
    pool.close()
    assert idle.alive()
    pool._idle = [idle]
    assert pool.ask(1)[1] != process
    assert idle.alive()
    idle.close()
    pool.close()


def test_serving_ends_with_its_input() -> None:
    for cut in (b"", b"\0\0", b"\0\0\0\x09abc"):
        sink = io.BytesIO()
        processes.serve(lambda value: value + 1, io.BytesIO(cut), sink)
        assert sink.getvalue() == b""
    source, sink = io.BytesIO(), io.BytesIO()
    for value in (1, 2):
        processes._send(source, value)
    source.seek(0)
    processes.serve(lambda value: value + 1, source, sink)
    sink.seek(0)
    assert [processes._receive(sink), processes._receive(sink)] == [2, 3]


def test_a_worker_sets_its_own_limits_and_then_serves(monkeypatch: pytest.MonkeyPatch) -> None:
    done: list[object] = []
    monkeypatch.setattr(processes.sys, "argv", ["-c", "worker_targets:echo", "1", "2"])
    monkeypatch.setattr(processes.sys, "stdin", io.TextIOWrapper(io.BytesIO()))
    monkeypatch.setattr(processes.sys, "stdout", io.TextIOWrapper(io.BytesIO()))
    monkeypatch.setattr(processes.resource, "setrlimit", lambda *limits: done.append(limits))
    monkeypatch.setattr(processes.signal, "signal", lambda *handler: done.append(handler))
    monkeypatch.setattr(processes.signal, "pthread_sigmask", lambda *mask: done.append(mask))
    processes.main()
    assert (signal.SIGALRM, signal.SIG_DFL) in done and (signal.SIGPROF, signal.SIG_DFL) in done
    assert (signal.SIG_UNBLOCK, (signal.SIGALRM, signal.SIGPROF)) in done
    assert len(done) == 4


def test_asking_works_from_any_thread() -> None:
    pool, found = Pool("worker_targets:spin", cpu_s=0.2), []

    def ask() -> None:
        try:
            pool.ask(1)
        except TimeUp:
            found.append(True)

    thread = threading.Thread(target=ask)
    thread.start()
    thread.join(30)
    assert found == [True]


def test_a_worker_whose_asker_is_gone_ends_without_a_word(monkeypatch: pytest.MonkeyPatch) -> None:
    ended: list[int] = []

    def broken(*_: object) -> None:
        raise BrokenPipeError

    monkeypatch.setattr(processes.sys, "argv", ["-c", "worker_targets:echo", "1", "2"])
    monkeypatch.setattr(processes.sys, "stdin", io.TextIOWrapper(io.BytesIO()))
    monkeypatch.setattr(processes.sys, "stdout", io.TextIOWrapper(io.BytesIO()))
    monkeypatch.setattr(processes.resource, "setrlimit", lambda *_: None)
    monkeypatch.setattr(processes.signal, "signal", lambda *_: None)
    monkeypatch.setattr(processes.signal, "pthread_sigmask", lambda *_: None)
    monkeypatch.setattr(processes, "serve", broken)
    monkeypatch.setattr(processes.os, "_exit", ended.append)
    processes.main()
    assert ended == [0]


@pytest.mark.parametrize("forged", [b"cscorers.processes\nclose_idle\n.", b"cos\nsystem\n."])
def test_nothing_but_data_is_taken_from_a_worker(forged: bytes) -> None:
    with pytest.raises(UnpicklingError, match="is no data"):
        processes._receive(io.BytesIO(len(forged).to_bytes(4, "big") + forged))

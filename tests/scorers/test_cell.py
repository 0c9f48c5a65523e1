"""Turns, folders and leftovers."""

import os
import resource
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from scorers import cell
from scorers.cell import Cell, scratch_folder, turn
from scorers.harness import FILE_BYTES


def sleeper(mark: int) -> subprocess.Popen[bytes]:
    def limit() -> None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (FILE_BYTES, FILE_BYTES + mark))

    return subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"], preexec_fn=limit)


def test_a_process_is_known_by_its_mark_and_ended(tmp_path: Path) -> None:
    mine, other = sleeper(77), sleeper(78)
    try:
        here = Cell(folder=tmp_path, uid=None, mark=77)
        assert here.owns(mine.pid) and not here.owns(other.pid) and not here.owns(os.getpid())
        here.clear(max(mine.pid, other.pid))
        assert mine.poll() is None
        here.clear(0)
        assert mine.wait(5) == -9
        assert other.poll() is None
    finally:
        for process in (mine, other):
            process.kill()
            process.wait()


def test_a_zombie_and_a_process_that_is_gone_belong_to_nobody(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    here = Cell(folder=tmp_path, uid=os.getuid(), mark=1)
    assert here.owns(os.getpid())
    assert not here.owns(1 << 30)
    with subprocess.Popen(["true"]) as process:
        os.waitid(os.P_PID, process.pid, os.WEXITED | os.WNOWAIT)
        assert not here.owns(process.pid)


def test_clearing_ends_after_a_time_even_if_processes_do_not(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    clock = iter([0.0, 1.0, 9.0])
    monkeypatch.setattr(cell.time, "monotonic", lambda: next(clock))
    monkeypatch.setattr(cell, "processes", lambda: [5])
    monkeypatch.setattr(Cell, "owns", lambda self, pid: True)
    monkeypatch.setattr(os, "kill", lambda pid, signal: (_ for _ in ()).throw(ProcessLookupError))
    Cell(folder=tmp_path, uid=None, mark=1).clear(0)


def test_without_proc_nothing_is_seen(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert cell.own_tasks() >= 1
    assert cell.newest_process() > 0
    monkeypatch.setattr(cell, "PROC", tmp_path / "none")
    assert cell.processes() == []
    assert cell.newest_process() == 0
    assert cell.own_tasks() == 0
    (tmp_path / "none" / "5").mkdir(parents=True)
    assert cell.own_tasks() == 0


def test_only_root_gives_runs_a_user_of_their_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "job").touch()
    given: list[tuple[Path, int]] = []
    monkeypatch.setattr(os, "chown", lambda path, uid, gid: given.append((path, uid)))
    monkeypatch.setattr(os, "getuid", lambda: 1000)
    plain = Cell.fresh(tmp_path)
    plain.hand_over()
    assert plain.uid is None and not given
    monkeypatch.setattr(os, "getuid", lambda: 0)
    own = Cell.fresh(tmp_path)
    own.hand_over()
    assert own.uid is not None and own.uid >= cell.FIRST_UID
    assert given == [(tmp_path, own.uid), (tmp_path / "job", own.uid)]


def test_a_folder_that_resists_is_removed_all_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    def give_up(*_: object, **__: object) -> None:
        raise RecursionError

    monkeypatch.setattr(cell.shutil, "rmtree", give_up)
    with scratch_folder() as folder:
        (folder / "locked").mkdir(mode=0)
    assert not folder.exists()


def test_a_run_alone_waits_for_the_others_and_lets_nobody_pass() -> None:
    order: list[str] = []
    inside, waiting = threading.Event(), threading.Event()

    def alone() -> None:
        waiting.set()
        with turn(alone=True):
            order.append("alone")

    def late() -> None:
        with turn(alone=False):
            order.append("late")

    with turn(alone=False), turn(alone=False):
        inside.set()
        first = threading.Thread(target=alone)
        first.start()
        waiting.wait()
        while not locked_gate():
            continue
        second = threading.Thread(target=late)
        second.start()
        assert order == []
    first.join()
    second.join()
    assert order == ["alone", "late"]


def locked_gate() -> bool:
    """Whether somebody holds the gate, as only a run that waits to be alone does for long."""
    import fcntl
    import tempfile

    path = Path(tempfile.gettempdir()) / f"triplicate-{os.getuid()}-gate.lock"
    with path.open() as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return True
    return False


def test_only_our_own_tasks_are_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    nobody = 1 << 29
    monkeypatch.setattr(cell.os, "getuid", lambda: nobody)
    assert cell.own_tasks() == 0

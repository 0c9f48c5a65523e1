"""The keeper's own steps, inside this process; what it does as a process of its own, test_launch.py shows."""

import io
import json
import os
import subprocess
import sys
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import psutil
import pytest

from runner import keeper

CODE = "import signal, time; signal.signal(signal.SIGTERM, {}); print('HF_TOKEN=hunter22x', flush=True); time.sleep(60)"


class Pipe:
    """Standard input: one order, and then nothing until something has come true."""

    def __init__(self, order: Any, until: Callable[[], bool]) -> None:
        self.order, self.until = order, until

    def readline(self) -> bytes:
        return json.dumps(self.order).encode() + b"\n"

    def read(self) -> bytes:
        end = time.monotonic() + 20
        while not self.until() and time.monotonic() < end:
            time.sleep(0.01)
        return b""


@pytest.fixture
def said(monkeypatch: pytest.MonkeyPatch) -> list[dict[str, Any]]:
    """What the keeper says; this process keeps its signals and its other children."""
    words: list[dict[str, Any]] = []

    def left() -> list[psutil.Process]:
        found = []
        for pid in (word["pid"] for word in words if "pid" in word):
            with suppress(psutil.NoSuchProcess):
                found.append(psutil.Process(pid))
        return [process for process in found if process.status() != psutil.STATUS_ZOMBIE]

    monkeypatch.setattr(keeper, "_say", words.append)
    monkeypatch.setattr(keeper, "_left", left)
    monkeypatch.setattr(keeper, "_prctl", lambda *_: None)
    monkeypatch.setattr("runner.keeper.signal.signal", lambda *_: None)
    return words


@pytest.mark.parametrize("reaction", ["signal.SIG_DFL", "signal.SIG_IGN"])
def test_an_order_is_carried_out(
    said: list[dict[str, Any]], reaction: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    log = tmp_path / "server.log"
    order = {
        "command": [sys.executable, "-c", CODE.format(reaction)],
        "env": {},
        "cwd": None,
        "log": str(log),
        "grace_s": 0.2,
        "secrets": [],
    }
    pipe = Pipe(order, lambda: log.exists() and log.stat().st_size > 0)
    monkeypatch.setattr(sys, "stdin", SimpleNamespace(buffer=pipe))
    keeper.main()
    assert log.read_text() == "HF_TOKEN=***\n"
    assert not psutil.pid_exists(said[0]["pid"]), "ended and reaped"


def test_what_cannot_be_started_is_said(said: list[dict[str, Any]], monkeypatch: pytest.MonkeyPatch) -> None:
    order = {"command": ["no-such-engine"], "env": {}, "cwd": None, "log": "x", "grace_s": 1, "secrets": []}
    monkeypatch.setattr(sys, "stdin", SimpleNamespace(buffer=Pipe(order, lambda: True)))
    keeper.main()
    assert said == [{"error": "no-such-engine: No such file or directory"}]


@pytest.mark.parametrize(
    ("code", "status"), [("import sys; sys.exit(7)", 7), ("import os; os.kill(os.getpid(), 9)", -9)]
)
def test_the_end_of_a_server_is_said(said: list[dict[str, Any]], code: str, status: int) -> None:
    with subprocess.Popen([sys.executable, "-c", code]) as server:
        keeper._report_end(server.pid, SimpleNamespace(join=lambda _: None))  # type: ignore[arg-type]
    assert said == [{"exited": status}]


def test_a_log_is_cut_at_its_limit(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(keeper, "LARGEST_LOG", 10)
    keeper._log(io.BytesIO(b"12345678\nabcdefgh\nmore\n"), tmp_path / "log", frozenset())
    assert (tmp_path / "log").read_bytes() == b"12345678\n(the log is cut here)\n"


def test_nobody_to_talk_to_is_no_error(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    keeper._say({"pid": 1})
    assert json.loads(capsys.readouterr().out) == {"pid": 1}
    read, write = os.pipe()
    os.close(read)
    with os.fdopen(write, "w") as broken:
        monkeypatch.setattr(sys, "stdout", broken)
        keeper._say({"pid": 1})
        monkeypatch.undo()
        os.dup2(os.open(os.devnull, os.O_WRONLY), broken.fileno())


def test_only_living_descendants_are_left() -> None:
    with subprocess.Popen([sys.executable, "-c", "import time; time.sleep(60)"]) as child:
        assert child.pid in {process.pid for process in keeper._left()}
        child.kill()
        os.waitid(os.P_PID, child.pid, os.WEXITED | os.WNOWAIT)
        assert child.pid not in {process.pid for process in keeper._left()}
    keeper._prctl(0x7FFFFFFF, 0)


def test_a_server_that_was_waited_for_already_is_no_fault(capsys: pytest.CaptureFixture[str]) -> None:
    with subprocess.Popen([sys.executable, "-c", ""]) as server:
        server.wait()
    keeper._report_end(server.pid, SimpleNamespace(join=lambda _: None))  # type: ignore[arg-type]
    assert capsys.readouterr().out == ""

"""`triplicate sweep` from its arguments to its last line, on simulated servers in processes of their own."""

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

import reports.void
import triplicate
from reports.sweep import saturated
from runner.store import RunFolder

ROOT = Path(__file__).parent.parent.parent


@pytest.fixture(autouse=True)
def any_machine(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """These tests are about what is read, not about how busy the machine is that runs them."""
    monkeypatch.setattr(reports.void, "LAG_S", 60.0)
    monkeypatch.setattr(reports.void, "SKEW_S", 60.0)
    monkeypatch.setattr(reports.void, "CPU_SHARE", 60.0)
    monkeypatch.chdir(tmp_path)


@contextmanager
def server(*arguments: str) -> Iterator[str]:
    """The base URL of a simulator in a process of its own."""
    process = subprocess.Popen(
        [sys.executable, "triplicate.py", "simulate", *arguments], cwd=ROOT, stdout=subprocess.PIPE, text=True
    )
    try:
        assert process.stdout is not None
        yield process.stdout.readline().split(" at ")[1].split(" ")[0]
    finally:
        process.terminate()
        process.wait(10)
        assert process.stdout is not None
        process.stdout.close()


def swept(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, str, str]:
    status = triplicate.main(["sweep", *arguments])
    out, err = capsys.readouterr()
    return status, out, err


def test_a_capped_server(capsys: pytest.CaptureFixture[str]) -> None:
    with server("capped", "--speed", "4") as url:
        status, out, err = swept(capsys, url, "--levels", "1,2,4,8", "--max-tokens", "64", "--rounds", "2", "--json")
    document = json.loads(out)
    assert status == 0
    assert (document["signature"], document["k"], document["peak"]["label"]) == ("CAPPED", 4, "ceiling")
    assert document["cap"]["found"]["value"] == 4 and document["cap"]["measured"]["value"] == 4
    assert [row["peak_in_flight"] for row in document["levels"]] == [1, 2, 4, 8]
    assert [row["void"] for row in document["levels"]] == [None] * 4
    assert {row["mean_tokens"] for row in document["levels"]} == {64}
    assert [row["concurrency"] for row in document["plateau"]] == [4, 8]
    assert [row["concurrency"] for row in document["confirm"]] == [4, 5] and document["control"]["concurrency"] == 1
    assert document["confirmed"] is True and document["simulated"] is True
    assert "this client sustains" in err and "next: triplicate report" in err


def test_people_get_a_table(capsys: pytest.CaptureFixture[str]) -> None:
    with server("queueing", "--speed", "20") as url:
        status, out, _ = swept(
            capsys, url, "--levels", "1,4", "--max-tokens", "32", "--rounds", "1", "--plateau-s", "0"
        )
    lines = out.splitlines()
    assert status == 0 and max(map(len, lines[:-2])) <= 80
    assert lines[0].startswith("SIMULATED") and "QUEUES: one request at a time" in out
    assert "cap: intended unknown, found 1, measured 1" in out
    assert "closed loop" not in out and lines[-1].startswith("next: triplicate report runs")


def test_two_servers_are_compared(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    options = ["--levels", "1,4", "--max-tokens", "32", "--rounds", "1", "--plateau-s", "0"]
    with server("queueing", "--speed", "4") as slow, server("batching", "--speed", "4") as fast:
        config = tmp_path / "triplicate.toml"
        sides = (("slow", slow, 2), ("fast", fast, 1))
        config.write_text(
            "".join(f'[[serving]]\nname = "{name}"\nbase_url = "{url}"\ngpus = {gpus}\n' for name, url, gpus in sides)
        )
        status, out, _ = swept(capsys, "slow", "fast", *options, "--json")
        again, text, _ = swept(capsys, "slow", "fast", *options)
    document = json.loads(out)
    (ratio,) = document["ratios"]
    assert status == again == 0 and [one["serving"] for one in document["sweeps"]] == ["slow", "fast"]
    assert ratio["signatures"]["baseline"] == "QUEUES" and ratio["peaks"]["bound"] == "floor"
    assert ratio["per_gpu"]["ratio"] == pytest.approx(2 * ratio["peaks"]["ratio"])
    assert "fast over slow" in text and "per GPU" in text and "a floor: the candidate was not saturated" in text


def test_a_server_that_dies(capsys: pytest.CaptureFixture[str]) -> None:
    """2 preflight requests, 2 for each of levels 1 to 4 with one burst each: 2 + 2 * (1 + 2) = 8, then 5 of level 4."""
    with server("batching", "--speed", "4", "--die-after", "13") as url:
        status, out, err = swept(capsys, url, "--levels", "1,2,4,8", "--max-tokens", "32", "--rounds", "1", "--json")
    document = json.loads(out)
    assert status == 4
    assert [row["void"] is None for row in document["levels"]] == [True, True, False, False]
    assert document["status"] == "incomplete" and "resume with: triplicate sweep --resume" in err


def test_until_saturated(capsys: pytest.CaptureFixture[str]) -> None:
    with server("queueing", "--speed", "20") as url:
        options = ["--levels", "1,2", "--until-saturated", "--max-tokens", "32", "--rounds", "1", "--plateau-s", "0"]
        status, out, _ = swept(capsys, url, *options, "--json")
        limited, other, _ = swept(capsys, url, *options, "--max-level", "2", "--json")
    assert status == limited == 0
    assert [row["concurrency"] for row in json.loads(out)["levels"]] == [1, 2, 4]
    assert [row["concurrency"] for row in json.loads(other)["levels"]] == [1, 2]


def row(tok_s: float | None, void: str | None = None) -> dict[str, Any]:
    return {"tok_s": tok_s, "void": void}


def test_what_saturated_means() -> None:
    assert saturated([row(100), row(106), row(112)])
    assert not saturated([row(100), row(108), row(112)])
    assert not saturated([row(100), row(101)])
    assert not saturated([row(100), row(None), row(101)])
    assert saturated([row(100), row(None, "lag")])


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["http://127.0.0.1:9/v1"], "start the server or correct base_url"),
        (["--levels", "0,-1,x", "http://127.0.0.1:9/v1"], "--levels: '0' is no concurrency"),
        (["--rounds", "0", "http://127.0.0.1:9/v1"], "--rounds must lie between 1 and 100"),
        (["--max-tokens", "-5", "http://127.0.0.1:9/v1"], "--max-tokens must lie"),
        (["--plateau-s", "-1", "http://127.0.0.1:9/v1"], "--plateau-s must lie"),
        (["http://127.0.0.1:9/v1", "http://127.0.0.1:9/v1"], "named twice"),
        (["nosuch"], "no serving 'nosuch'"),
        ([], "name at least one serving"),
        (["--resume", "nowhere"], "no run folder"),
    ],
)
def test_bad_input_is_one_line(capsys: pytest.CaptureFixture[str], arguments: list[str], said: str) -> None:
    status, out, err = swept(capsys, *arguments)
    assert status == 2 and out == "" and said in err and err.count("\n") == 1
    assert not Path("runs").exists()


def test_ctrl_c_keeps_what_was_measured_and_resume_ends_it(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    options = ["--levels", "1,2,4", "--max-tokens", "200", "--rounds", "1", "--plateau-s", "0"]
    with server("queueing", "--speed", "2") as url:
        command = [sys.executable, str(ROOT / "triplicate.py"), "sweep", url, *options]
        process = subprocess.Popen(command, cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        end = time.monotonic() + 60
        while time.monotonic() < end and len(_lines(tmp_path, "levels.jsonl")) < 2:
            time.sleep(0.02)
        os.kill(process.pid, signal.SIGINT)
        out, err = process.communicate(timeout=60)
        assert process.returncode == 130, err
        resume = out.splitlines()[-1].removeprefix("resume with: triplicate ").split(" ")
        assert "Traceback" not in err and resume[:2] == ["sweep", "--resume"]
        folder = RunFolder.read(Path(resume[2]))
        before = [(one.phase, one.concurrency, one.interrupted) for one in folder.levels()]
        assert folder.record.status == "interrupted" and before[:2] == [("ladder", 1, False), ("ladder", 2, False)]
        status, text, _ = swept(capsys, *resume[1:], "--json")
    document = json.loads(text)
    assert status == 0 and document["status"] == "complete" and document["signature"] == "QUEUES"
    after = [(one.phase, one.concurrency) for one in RunFolder.read(Path(resume[2])).levels() if not one.interrupted]
    assert after.count(("ladder", 1)) == after.count(("ladder", 2)) == after.count(("ladder", 4)) == 1


def _lines(root: Path, name: str) -> list[str]:
    return [line for path in root.glob(f"runs/*/*/{name}") for line in path.read_text().splitlines()]

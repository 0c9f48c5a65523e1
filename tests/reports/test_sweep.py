"""`triplicate sweep` from its arguments to its last line, on simulated servers in processes of their own."""

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import reports.curve
import reports.sweep
import reports.void
import runner.client
import runner.measuring
import triplicate
from itembank.errors import UserError
from reports.sweep import saturated
from runner.store import RunFolder
from tests.bench._process import ROOT
from tests.bench._process import simulator as server
from tests.reports.test_sweep_wording import document


async def ceiling() -> dict[str, Any]:
    return {"events_per_s": 10**9, "cpu_us_per_event": 70.0, "streams": 64, "failed": 0}


@pytest.fixture(autouse=True)
def any_machine(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """These tests are about what is read, not about how busy the machine is that runs them."""
    monkeypatch.setattr(reports.void, "LAG_S", 60.0)
    monkeypatch.setattr(reports.void, "SKEW_S", 60.0)
    monkeypatch.setattr(reports.void, "CPU_SHARE", 60.0)
    monkeypatch.setattr(runner.measuring, "client_ceiling", ceiling)
    monkeypatch.chdir(tmp_path)


def swept(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, str, str]:
    status = triplicate.main(["sweep", *arguments])
    out, err = capsys.readouterr()
    return status, out, err


@pytest.mark.long
def test_a_capped_server(capsys: pytest.CaptureFixture[str]) -> None:
    with server("capped", "--speed", "4") as url:
        status, out, err = swept(capsys, url, "--levels", "1,2,4,8", "--max-tokens", "64", "--rounds", "2", "--json")
    found = json.loads(out)
    assert status == 0
    assert (found["signature"], found["k"], found["peak"]["label"]) == ("CAPPED", 4, "ceiling")
    assert found["cap"]["found"]["value"] == 4 and found["cap"]["measured"]["value"] == 4
    assert [row["peak_in_flight"] for row in found["levels"]] == [1, 2, 4, 8]
    assert [row["void"] for row in found["levels"]] == [None] * 4
    assert {row["mean_tokens"] for row in found["levels"]} == {64}
    assert [row["concurrency"] for row in found["plateau"]] == [4, 8]
    assert [row["concurrency"] for row in found["confirm"]] == [4, 5] and found["control"]["concurrency"] == 1
    assert found["confirmed"] is True and found["simulated"] is True
    assert "this client sustains" in err and "next: triplicate report" in err


@pytest.mark.long
def test_a_cap_that_is_declared_and_not_real_is_shown_by_sweep_and_by_probe(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    options = ["--levels", "1,4,8,16", "--max-tokens", "64", "--rounds", "2", "--plateau-s", "0", "--json"]
    with server("batching", "--speed", "4", "--cap", "9", "--declared-cap", "32") as url:
        (tmp_path / "triplicate.toml").write_text(
            f'[[serving]]\nname = "incumbent"\nbase_url = "{url}"\n[serving.intended]\nmax_concurrent_sequences = 32\n'
        )
        status, out, _ = swept(capsys, "incumbent", *options)
        ladder = json.loads(out)
        assert triplicate.main(["probe", "incumbent", "--json"]) == 0
        probed = json.loads(capsys.readouterr().out)
    assert (status, ladder["signature"], ladder["k"]) == (0, "CAPPED", 9)
    for found in (ladder, probed):
        assert {name: found["cap"][name]["value"] for name in ("intended", "found", "measured")} == {
            "intended": 32,
            "found": 32,
            "measured": 9,
        }
    assert probed["differs"] == [{"name": "max_concurrent_sequences", "intended": 32, "found": 32, "measured": 9}]


def test_people_get_a_table(capsys: pytest.CaptureFixture[str]) -> None:
    with server("queueing", "--speed", "2") as url:
        status, out, _ = swept(
            capsys, url, "--levels", "1,4", "--max-tokens", "32", "--rounds", "1", "--plateau-s", "0"
        )
    lines = out.splitlines()
    assert status == 0 and max(map(len, lines[:-2])) <= 80
    assert lines[0].startswith("SIMULATED") and "QUEUES: one request at a time" in out
    assert "cap: intended unknown, found 1, measured 1" in out
    assert "closed loop" not in out and lines[-1].startswith("next: triplicate report runs")


@pytest.mark.long
def test_two_servers_are_compared(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    options = ["--levels", "1,4", "--max-tokens", "32", "--rounds", "1", "--plateau-s", "0"]
    with server("queueing", "--speed", "4") as slow, server("batching", "--speed", "4") as fast:
        config = tmp_path / "triplicate.toml"
        sides = (("slow", slow, 2), ("fast", fast, 1))
        config.write_text(
            "".join(f'[[serving]]\nname = "{name}"\nbase_url = "{url}"\ngpus = {gpus}\n' for name, url, gpus in sides)
        )
        status, out, _ = swept(capsys, "slow", "fast", *options, "--json")
        both = json.loads(out)
        for one in both["sweeps"]:
            assert swept(capsys, "--resume", one["run"])[0] == 0, "nothing is left to do, and that is fine"
    (ratio,) = both["ratios"]
    assert status == 0 and [one["serving"] for one in both["sweeps"]] == ["slow", "fast"]
    assert ratio["signatures"]["baseline"] == "QUEUES" and ratio["peaks"]["bound"] == "floor"
    assert ratio["per_gpu"]["ratio"] == pytest.approx(2 * ratio["peaks"]["ratio"])


def test_two_documents_are_printed_with_their_ratio(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def started(arguments: Any, paths: list[Path]) -> int:
        paths.extend(Path(name) for name in ("one", "two"))
        return 0

    one = document(serving="one", gpus=2, status="complete", identity_changes=[])
    monkeypatch.setattr(reports.sweep, "_started", started)
    monkeypatch.setattr(reports.sweep, "_read", lambda path: path)
    monkeypatch.setattr(reports.sweep, "_point", lambda paths, as_json: None)
    monkeypatch.setattr(reports.curve, "curve_document", lambda path: one | {"serving": path.name})
    status, out, _ = swept(capsys, "one", "two")
    assert status == 0 and "two over one: ratio" in out and "per GPU 1.0x" in out


@pytest.mark.long
def test_a_level_on_a_busy_machine_is_measured_once_more(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(reports.void, "LAG_S", 0.0)
    monkeypatch.setattr(reports.void, "LAG_SHARE", 0.0)
    with server("batching", "--speed", "2") as url:
        options = ["--levels", "1,2", "--max-tokens", "32", "--rounds", "1", "--plateau-s", "0", "--json"]
        status, out, err = swept(capsys, url, *options)
    found = json.loads(out)
    assert status == 4 and found["signature"] == "VOID" and "ladder 1 again: the client's event loop lagged" in err
    levels = [(one.phase, one.concurrency) for one in RunFolder.read(Path(found["run"])).levels()]
    assert levels.count(("ladder", 1)) == levels.count(("ladder", 2)) == 2


def test_an_interruption_before_the_first_level(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupted(measuring: Any) -> int:
        measuring.close()
        raise KeyboardInterrupt

    monkeypatch.setattr(runner.client, "run", interrupted)
    assert swept(capsys, "http://127.0.0.1:9/v1") == (130, "", "")


def test_an_interruption_in_the_first_level(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, make_folder: Callable[..., RunFolder]
) -> None:
    def started(arguments: Any, paths: list[Path]) -> int:
        paths.append(make_folder(kind="ladder").path)
        return 130

    monkeypatch.setattr(reports.sweep, "_started", started)
    assert swept(capsys, "s")[:2] == (130, "")


def test_a_server_that_changed_makes_the_run_invalid(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, make_folder: Callable[..., RunFolder]
) -> None:
    stored = Path(__file__).parents[1] / "data/runs/v1/incumbent/20261129T151000-ladder"
    folder = make_folder(kind="ladder", status="complete", identity_changes=("model: a -> b",))
    for name in ("levels.jsonl", "exchanges.jsonl"):
        (folder.path / name).write_bytes((stored / name).read_bytes())

    def started(arguments: Any, paths: list[Path]) -> int:
        paths.append(folder.path)
        return 0

    monkeypatch.setattr(reports.sweep, "_started", started)
    status, out, _ = swept(capsys, "s", "--json")
    found = json.loads(out)
    assert status == 4 and found["signature"] != "VOID" and found["identity_changes"] == ["model: a -> b"]
    status, out, _ = swept(capsys, "s")
    assert status == 4 and "INVALID: the server changed during the run: model: a -> b" in out


@pytest.mark.long
def test_a_server_that_dies(capsys: pytest.CaptureFixture[str]) -> None:
    """2 preflight requests, a warm-up and a burst at 1 and at 2: 8. It dies in the warm-up of 4."""
    with server("batching", "--speed", "4", "--die-after", "11") as url:
        status, out, err = swept(capsys, url, "--levels", "1,2,4,8", "--max-tokens", "32", "--rounds", "1", "--json")
    found = json.loads(out)
    assert status == 4
    assert [row["void"] is None for row in found["levels"]] == [True, True, False, False]
    assert found["status"] == "incomplete" and "resume with: triplicate sweep --resume" in err


@pytest.mark.long
def test_until_saturated(capsys: pytest.CaptureFixture[str]) -> None:
    with server("queueing", "--speed", "3") as url:
        options = ["--levels", "1,2", "--until-saturated", "--max-tokens", "32", "--rounds", "1", "--plateau-s", "0"]
        status, out, _ = swept(capsys, url, *options, "--json")
        limited, other, _ = swept(capsys, url, *options, "--max-level", "2", "--json")
    rows = json.loads(out)["levels"]
    assert status == limited == 0 and saturated(rows)
    assert [row["concurrency"] for row in rows][:3] == [1, 2, 4]
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


@pytest.mark.long
def test_ctrl_c_keeps_what_was_measured_and_resume_ends_it(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    options = ["--levels", "1,2,4", "--max-tokens", "200", "--rounds", "1", "--plateau-s", "0"]
    with server("queueing", "--speed", "2") as url:
        command = [sys.executable, str(ROOT / "triplicate.py"), "sweep", url, *options]
        process = subprocess.Popen(command, cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        end = time.monotonic() + 120
        while time.monotonic() < end and len(_lines(tmp_path, "levels.jsonl")) < 2:
            time.sleep(0.02)
        os.kill(process.pid, signal.SIGINT)
        out, err = process.communicate(timeout=120)
        assert process.returncode == 130, err
        resume = out.splitlines()[-1].removeprefix("resume with: triplicate ").split(" ")
        assert "Traceback" not in err and resume[:2] == ["sweep", "--resume"]
        folder = RunFolder.read(Path(resume[2]))
        before = [(one.phase, one.concurrency, one.interrupted) for one in folder.levels()]
        assert folder.record.status == "interrupted" and before[:2] == [("ladder", 1, False), ("ladder", 2, False)]
        status, text, _ = swept(capsys, *resume[1:], "--json")
    found = json.loads(text)
    assert status == 0 and found["status"] == "complete" and found["signature"] == "QUEUES"
    after = [(one.phase, one.concurrency) for one in RunFolder.read(Path(resume[2])).levels() if not one.interrupted]
    assert after.count(("ladder", 1)) == after.count(("ladder", 2)) == after.count(("ladder", 4)) == 1


def _lines(root: Path, name: str) -> list[str]:
    return [line for path in root.glob(f"runs/*/*/{name}") for line in path.read_text().splitlines()]


def test_what_fails_in_the_middle_says_how_to_go_on(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    async def measured(*words: Any) -> int:
        *_, note = words
        note(tmp_path / "begun")
        raise UserError("cannot write")

    monkeypatch.setattr(reports.sweep, "_measure", measured)
    assert triplicate.main(["sweep", "http://127.0.0.1:1/v1"]) == 2
    assert f"resume with: triplicate sweep --resume {tmp_path / 'begun'}" in capsys.readouterr().err

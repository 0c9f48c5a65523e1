import asyncio
import json
import signal
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path

import pytest

import triplicate
from itembank.bank import Bank, load_bank
from runner import quality
from runner.client import Client
from runner.exchange import FailureKind
from runner.progress import Progress
from runner.quality import QualityRun, ServingLost
from runner.run import new_folder, quality_plan
from runner.simulator import simulated
from runner.store import RunFolder, read_record
from tests.runner.scripted import DONE, ROLE, Scripted, delta, head, usage, whole

ROOT = Path(__file__).parents[2]
ITEMS = [
    {
        "id": f"d-{n:02d}",
        "dimension": "d",
        "prompt": f"What is {n} + {n}? End with ANSWER: <number>",
        "max_tokens": 64,
        "scorer": "number",
        "expect": {"value": str(2 * n)},
        "accept": [f"ANSWER: {2 * n}"],
        "reject": ["ANSWER: 777"],
    }
    for n in range(1, 13)
]


@pytest.fixture
def bank_file(tmp_path: Path) -> Path:
    path = tmp_path / "bank.jsonl"
    path.write_text("".join(json.dumps(item) + "\n" for item in ITEMS))
    return path


@pytest.fixture
def bank(bank_file: Path) -> Bank:
    return load_bank(str(bank_file))


def answer(text: str) -> list:
    return [head() + ROLE + delta(text) + delta(finish="stop") + usage(4) + DONE]


def asked_once(bank: Bank, server: Scripted, tmp_path: Path, **fields) -> RunFolder:
    """Ask one repeat of the first item only, by hand, and return the folder."""

    async def main() -> RunFolder:
        async with server:
            serving = server.serving()
            one = Bank(name=bank.name, items=bank.items[:1])
            folder = new_folder(serving, one, quality_plan(one, repeats=1, concurrency=1, stream=True), tmp_path / "r")
            async with Client(serving, connect_timeout_s=0.5) as client:
                side = QualityRun(folder=folder, serving=serving, bank=one, client=client, model="m", **fields)
                try:
                    with Progress("t", 1) as progress:
                        await side.ask_repeat(1, progress)
                finally:
                    side.close()
                    folder.close()
            return folder

    return asyncio.run(main())


def run(*arguments: str) -> int:
    return triplicate.main(list(arguments))


def pairs(folder: Path) -> list[tuple[str, int]]:
    return sorted((trial.item_id, trial.repeat) for trial in RunFolder.read(folder).trials())


def folders(out: Path) -> list[Path]:
    return sorted(path.parent for path in out.rglob("run.json"))


def test_every_item_is_asked_in_every_repeat_and_judged(bank, bank_file, tmp_path):
    out = tmp_path / "runs"
    with simulated("batching", speed=200, bank=bank) as server:
        assert run("run", server.base_url, "--bank", str(bank_file), "--repeats", "3", "--out", str(out)) == 0
    (path,) = folders(out)
    assert pairs(path) == sorted((item["id"], repeat) for item in ITEMS for repeat in (1, 2, 3))
    rows = list(RunFolder.read(path).verdicts())
    assert len(rows) == 36 and {row["outcome"] for row in rows} == {"pass", "fail"}
    record = read_record(path)
    assert record.status == "complete" and record.identity_changes == ()
    assert record.identity_before.engine == record.identity_after.engine == "triplicate-simulator"
    orders = [[t.item_id for t in RunFolder.read(path).trials() if t.repeat == repeat] for repeat in (1, 2, 3)]
    assert orders[0] != orders[1] != orders[2]


def test_two_servings_take_turns_abba(bank, bank_file, tmp_path):
    out, config = tmp_path / "runs", tmp_path / "triplicate.toml"
    with simulated("batching", speed=200, bank=bank) as a, simulated("batching", speed=200, bank=bank) as b:
        config.write_text(
            "".join(f'[[serving]]\nname = "{n}"\nbase_url = "{s.base_url}"\n' for n, s in (("a", a), ("b", b)))
        )
        common = ("--bank", str(bank_file), "--repeats", "2", "--out", str(out), "--config", str(config))
        assert run("run", "a", "b", *common) == 0
    trials = [(t.at, p.parent.name, t.repeat) for p in folders(out) for t in RunFolder.read(p).trials()]
    turns = [(name, repeat) for _, name, repeat in sorted(trials)]
    assert list(dict.fromkeys(turns)) == [("a", 1), ("b", 1), ("b", 2), ("a", 2)]


def test_concurrency_is_kept(bank, bank_file, tmp_path):
    with simulated("batching", bank=bank) as server:
        common = ("--bank", str(bank_file), "--repeats", "1", "--out", str(tmp_path / "runs"))
        assert run("run", server.base_url, "--concurrency", "6", *common) == 0
        assert server.peak_in_flight == 6


def test_an_answer_in_one_piece(bank, bank_file, tmp_path):
    out = tmp_path / "runs"
    with simulated("batching", speed=200, bank=bank) as server:
        common = ("--bank", str(bank_file), "--repeats", "1", "--no-stream", "--out", str(out))
        assert run("run", server.base_url, *common) == 0
    trials = list(RunFolder.read(folders(out)[0]).trials())
    assert {trial.exchange.stream for trial in trials} == {False}
    assert all(trial.exchange.usage.completion_tokens for trial in trials)


def test_a_passing_fault_is_asked_again_and_counted(bank, tmp_path, monkeypatch):
    monkeypatch.setattr(quality, "pause_s", lambda *_: 0.0)
    server = Scripted([whole(b'{"error": {"message": "busy"}}', 503), whole(b"{}", 429), answer("ANSWER: 2")])
    (trial,) = asked_once(bank, server, tmp_path).trials()
    assert trial.exchange.retries == 2 and trial.exchange.response.text == "ANSWER: 2"


def test_a_run_with_failed_requests_does_not_end_well(bank, bank_file, tmp_path, capsys):
    with simulated("faulty", speed=200, bank=bank, faults={"400": 0.3}) as server:
        asked = ("run", server.base_url, "--bank", str(bank_file), "--repeats", "1", "--out", str(tmp_path / "runs"))
        assert run(*asked) == 4
    (path,) = folders(tmp_path / "runs")
    failed = [trial.exchange.failure is not None for trial in RunFolder.read(path).trials()]
    assert len(failed) == 12 and any(failed) and read_record(path).status == "complete"
    assert f"INVALID: {sum(failed)} of 12 requests failed after all retries" in capsys.readouterr().err


def test_a_fault_that_stays_is_an_error_and_no_verdict(bank, tmp_path, monkeypatch):
    monkeypatch.setattr(quality, "pause_s", lambda *_: 0.0)
    folder = asked_once(bank, Scripted([whole(b"{}", 503)]), tmp_path)
    (trial,) = folder.trials()
    assert trial.exchange.failure.kind is FailureKind.HTTP_STATUS and trial.exchange.retries == 3
    assert list(folder.verdicts()) == []


def test_a_stream_that_breaks_is_not_asked_again(bank, tmp_path):
    server = Scripted([[head() + ROLE + delta("ANSWER: 2"), "abort"], answer("ANSWER: 2")])
    (trial,) = asked_once(bank, server, tmp_path).trials()
    assert trial.exchange.failure.kind is FailureKind.CUT_STREAM and trial.exchange.retries == 0
    assert len(server.requests) == 1


def test_a_bad_request_is_that_items_error(bank, tmp_path):
    server = Scripted([whole(b'{"error": {"message": "context too long"}}', 400)])
    (trial,) = asked_once(bank, server, tmp_path).trials()
    assert trial.exchange.failure.status == 400 and trial.exchange.retries == 0


def test_a_refusal_stops_the_run(bank, tmp_path):
    with pytest.raises(ExceptionGroup) as caught:
        asked_once(bank, Scripted([whole(b'{"error": {"message": "bad key"}}', 401)]), tmp_path)
    assert caught.group_contains(ServingLost, match="refuses the request")


def test_a_server_that_never_returns_ends_the_run(bank, tmp_path, monkeypatch):
    monkeypatch.setattr(quality, "pause_s", lambda *_: 0.0)
    monkeypatch.setattr(quality, "POLL_S", 0.05)
    with pytest.raises(ExceptionGroup) as caught:
        asked_once(bank, Scripted([["abort"]]), tmp_path, wait_s=0.2)
    assert caught.group_contains(ServingLost, match="did not answer for 0 s")


def test_an_item_that_takes_the_server_down_each_time_is_its_own_error(bank, tmp_path, monkeypatch):
    monkeypatch.setattr(quality, "pause_s", lambda *_: 0.0)
    server = Scripted([["abort"]])
    recovered: list[int] = []

    async def recover(self):
        recovered.append(1)

    monkeypatch.setattr(QualityRun, "_recover", recover)
    (trial,) = asked_once(bank, server, tmp_path).trials()
    assert trial.exchange.failure.kind is FailureKind.CONNECT
    assert len(recovered) == quality.MAX_RECOVERIES and len(server.requests) == 4 * (quality.MAX_RECOVERIES + 1)


def test_a_server_that_comes_back_is_waited_for_and_read_again(bank, bank_file, tmp_path, monkeypatch):
    monkeypatch.setattr(quality, "pause_s", lambda *_: 0.0)
    monkeypatch.setattr(quality, "POLL_S", 0.05)
    out = tmp_path / "runs"
    command = [sys.executable, "triplicate.py", "simulate", "batching", "--bank", str(bank_file), "--speed", "100"]
    mortal = [*command, "--die-after", "5", "--cap", "5"]
    first = subprocess.Popen(mortal, cwd=ROOT, stdout=subprocess.PIPE, text=True)
    url = next(word for line in first.stdout for word in line.split() if word.startswith("http://"))
    port = url.split(":")[2].split("/")[0]
    asking = [sys.executable, "triplicate.py", "run", f"http://127.0.0.1:{port}/v1", "--bank", str(bank_file)]
    asking += ["--repeats", "1", "--out", str(out)]
    runner = subprocess.Popen(asking, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    first.wait(30)
    first.stdout.close()
    second = subprocess.Popen([*command, "--port", port, "--cap", "7"], cwd=ROOT, stdout=subprocess.DEVNULL)
    try:
        _, err_text = runner.communicate(timeout=60)
    finally:
        second.terminate()
        second.wait(10)
    assert runner.returncode == 4, err_text
    assert b"INVALID: the server changed during the run: max_concurrent_sequences" in err_text
    (path,) = folders(out)
    assert pairs(path) == sorted((item["id"], 1) for item in ITEMS)
    assert all(trial.exchange.failure is None for trial in RunFolder.read(path).trials())
    record = read_record(path)
    assert any("max_concurrent_sequences" in line for line in record.identity_changes)
    assert record.notes == ("the server was restarted while it was measured",)
    assert record.identity_after.value("system_fingerprint") == "triplicate-simulator"


def test_an_interrupt_keeps_what_there_is_and_resume_completes_it(bank, bank_file, tmp_path):
    out = tmp_path / "runs"
    with simulated("batching", speed=3, bank=bank) as server:
        command = [sys.executable, "triplicate.py", "run", server.base_url, "--bank", str(bank_file)]
        process = subprocess.Popen(
            [*command, "--out", str(out)], cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
        )
        until = time.monotonic() + 30
        while server.requests < 8 and time.monotonic() < until:
            time.sleep(0.01)
        process.send_signal(signal.SIGINT)
        text, errors = process.communicate(timeout=30)
        assert process.returncode == 130, errors
        (path,) = folders(out)
        assert f"resume with: triplicate run --resume {path}" in text
        assert "Traceback" not in errors
        before = pairs(path)
        assert 0 < len(before) < 36 and read_record(path).status == "interrupted"
        assert run("run", "--resume", str(path)) == 0
    after = list(RunFolder.read(path).trials())
    assert sorted((t.item_id, t.repeat) for t in after) == sorted((i["id"], r) for i in ITEMS for r in (1, 2, 3))
    assert len(list(RunFolder.read(path).verdicts())) == 36
    assert {t.boot for t in after} == {1, 2}


def test_rescore_judges_again_without_a_server(bank, bank_file, tmp_path, capsys):
    out = tmp_path / "runs"
    with simulated("batching", speed=200, bank=bank) as server:
        run("run", server.base_url, "--bank", str(bank_file), "--repeats", "1", "--out", str(out))
    (path,) = folders(out)
    with RunFolder.resume(path) as folder:
        rows = list(folder.verdicts())
        spoiled = [{**row, "outcome": "fail" if row["outcome"] == "pass" else "pass"} for row in rows[:2]]
        folder.replace_verdicts(spoiled + rows[2:-1])
    capsys.readouterr()
    assert run("rescore", str(path)) == 0
    assert "12 verdicts, 3 changed" in capsys.readouterr().out
    assert sorted(r["item"] for r in RunFolder.read(path).verdicts()) == sorted(item["id"] for item in ITEMS)


def test_verdicts_lost_by_a_kill_are_judged_on_resume(bank, bank_file, tmp_path):
    out = tmp_path / "runs"
    with simulated("batching", speed=200, bank=bank) as server:
        run("run", server.base_url, "--bank", str(bank_file), "--repeats", "1", "--out", str(out))
        (path,) = folders(out)
        with RunFolder.resume(path) as folder:
            folder.replace_verdicts(list(folder.verdicts())[:5])
            folder.update(status="running")
        assert run("run", "--resume", str(path)) == 0
    assert len(list(RunFolder.read(path).verdicts())) == 12


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((), "name at least one serving"),
        (("http://127.0.0.1:9/v1", "--repeats", "0"), "--repeats must be at least 1"),
        (("http://127.0.0.1:9/v1",), "cannot reach http://127.0.0.1:9/v1"),
        (("nobody",), "no serving 'nobody'"),
        (("http://127.0.0.1:9/v1", "http://127.0.0.1:9/v1"), "named twice"),
        (("--resume", "nowhere"), "is no run folder"),
        (("http://127.0.0.1:9/v1", "--items", "zzz-*"), "no item"),
    ],
)
def test_bad_input_is_one_line_and_nothing_is_lost(arguments, message, bank_file, tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert run("run", *arguments, "--bank", str(bank_file)) == 2
    error = capsys.readouterr().err
    assert error.count("\n") == 1
    assert message in error
    assert not (tmp_path / "runs").exists()


def test_resume_refuses_another_bank_or_sampling(bank, bank_file, tmp_path, capsys):
    out = tmp_path / "runs"
    with simulated("batching", speed=200, bank=bank) as server:
        run("run", server.base_url, "--bank", str(bank_file), "--repeats", "1", "--out", str(out))
    (path,) = folders(out)
    bank_file.write_text("".join(json.dumps({**item, "max_tokens": 32}) + "\n" for item in ITEMS))
    capsys.readouterr()
    assert run("run", "--resume", str(path)) == 2
    assert "no longer the one of the record" in capsys.readouterr().err


def test_seeds_are_sent_and_recorded_above_zero(bank, bank_file, tmp_path):
    out, config = tmp_path / "runs", tmp_path / "triplicate.toml"
    with simulated("batching", speed=200, bank=bank) as server:
        config.write_text(
            f'[[serving]]\nname = "a"\nbase_url = "{server.base_url}"\n[serving.sampling]\ntemperature = 0.7\n'
        )
        arguments = ("--bank", str(bank_file), "--repeats", "2", "--out", str(out), "--config", str(config))
        assert run("run", "a", *arguments) == 0
    trials = list(RunFolder.read(folders(out)[0]).trials())
    assert len({trial.seed for trial in trials}) == 24
    assert all(trial.exchange.request["seed"] == trial.seed for trial in trials)


def test_the_stored_serving_is_the_configurations_own(bank, tmp_path):
    from itembank.errors import UserError
    from runner.config import Sampling, ServingConfig, stored_serving

    serving = ServingConfig(name="a", base_url="http://h/v1", sampling=Sampling(temperature=0.5))
    folder = new_folder(serving, bank, quality_plan(bank, repeats=1, concurrency=1, stream=True), tmp_path / "r")
    folder.close()
    assert stored_serving(folder.record, None) == serving
    assert stored_serving(folder.record, replace(serving, gpus=2)).gpus == 2
    with pytest.raises(UserError, match="sampling differs"):
        stored_serving(folder.record, replace(serving, sampling=Sampling()))

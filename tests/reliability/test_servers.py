"""Servers that die, stall, lie and change: whatever they do is an error beside the score, never a pass or a fail."""

import asyncio
import gzip
import time
from pathlib import Path

import pytest

from itembank.bank import Bank, load_bank
from runner import client as client_module
from runner import quality
from runner.client import Client
from runner.exchange import Trial
from runner.progress import Progress
from runner.quality import QualityRun, ServingLost
from runner.run import new_folder, quality_plan
from runner.store import RunFolder
from tests.reliability.kills import written_bank
from tests.runner.scripted import DONE, GOOD, ROLE, Scripted, Step, delta, event, head, usage, whole

SAID = "ANSWER: 2"
"""What d-01 accepts, so that a fault which lets a part of it through would be a pass."""
RIGHT = ROLE + delta(SAID) + delta(finish="stop") + usage(4) + DONE
PACKED = gzip.compress(RIGHT)
FAULTS: dict[str, list[Step]] = {
    "closed without a word": [],
    "reset": ["abort"],
    "reset in the middle": [head() + ROLE + delta(SAID), 0.02, "abort"],
    "cut after the answer": [head() + ROLE + delta(SAID)],
    "cut within an event": [head() + ROLE + delta(SAID) + b'data: {"choi'],
    "done without finish": [head() + ROLE + delta(SAID) + DONE],
    "error event": [head() + ROLE + delta(SAID) + event({"error": {"message": "died", "code": 500}})],
    "503": whole(b'{"error": {"message": "busy"}}', 503),
    "500": whole(b"oops", 500, "text/plain"),
    "429 with Retry-After": whole(b'{"error": "slow down"}', 429, retry_after="0"),
    "400": whole(b'{"error": {"message": "context too long"}}', 400),
    "web page with 200": whole(b"<!doctype html><title>Login</title>ANSWER: 2", 200, "text/html"),
    "web page with 502": whole(b"<html><title>Bad gateway</title></html>", 502, "text/html"),
    "no json": [head() + ROLE + delta(SAID) + b"data: {nope}\n\n" + delta(finish="stop") + DONE],
    "truncated gzip": [head(content_encoding="gzip") + PACKED[:-12]],
    "damaged gzip": [head(content_encoding="gzip") + PACKED[:30] + b"\xff" * 8 + PACKED[38:]],
    "longer than it says": whole(b'{"choices": [{"message": {"content": "ANSWER: 2"}, "finish_reason"', 200),
    "shorter than it says": [head(content_length="5000") + ROLE + delta(SAID)],
    "no http": [b"SSH-2.0-OpenSSH_9.6\r\n"],
    "stall before the reply": ["hang"],
    "stall in the middle": [head() + ROLE + delta(SAID), "hang"],
    "endless": [head(), *[delta("x" * 4000) * 20] * 20],
    "one enormous event": [head() + b"data: " + b"x" * 400_000],
    "invalid utf-8 as an event": [head() + b"data: \xff\xfe\xfd\n\n" + DONE],
    "empty": [head()],
    "a number": whole(b"42"),
}


def measured(bank: Bank, replies: list[list[Step]], tmp_path: Path, repeats: int = 1, **options) -> RunFolder:
    """Ask the whole bank; the first fault is met at the second request."""

    async def main() -> RunFolder:
        async with Scripted(replies) as server:
            serving = server.serving()
            plan = quality_plan(bank, repeats=repeats, concurrency=1, stream=True)
            folder = new_folder(serving, bank, plan, tmp_path / "runs")
            async with Client(serving, connect_timeout_s=0.5, idle_timeout_s=0.3, max_bytes=200_000) as client:
                side = QualityRun(folder=folder, serving=serving, bank=bank, client=client, model="m", **options)
                try:
                    with Progress("t", len(bank.items)) as progress:
                        for repeat in range(1, repeats + 1):
                            await side.ask_repeat(repeat, progress)
                finally:
                    side.close()
                    folder.close()
            return folder

    return asyncio.run(asyncio.wait_for(main(), 60))


@pytest.fixture
def bank(tmp_path: Path) -> Bank:
    whole_bank = load_bank(str(written_bank(tmp_path)))
    return Bank(name=whole_bank.name, items=whole_bank.items[:2])


@pytest.fixture(autouse=True)
def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(quality, "pause_s", lambda *_: 0.0)
    monkeypatch.setattr(quality, "POLL_S", 0.05)


def faulty_trials(folder: RunFolder) -> list[Trial]:
    return [trial for trial in folder.trials() if trial.exchange.failure is not None]


@pytest.mark.parametrize("fault", FAULTS)
def test_a_fault_is_never_a_pass_and_never_a_fail(
    fault: str, bank: Bank, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def stay(self: QualityRun) -> None:
        """The server is there again."""

    monkeypatch.setattr(QualityRun, "_recover", stay)
    folder = measured(bank, [FAULTS[fault]], tmp_path)
    trials = list(folder.trials())
    assert [trial.exchange.failure is not None for trial in trials] == [True, True]
    assert all(trial.exchange.response is None for trial in trials)
    assert list(folder.verdicts()) == []
    assert all(trial.exchange.retries <= 3 for trial in trials)
    assert all(trial.exchange.failure.detail.isprintable() for trial in trials if trial.exchange.failure)


@pytest.mark.parametrize("fault", FAULTS)
def test_what_comes_after_a_fault_is_judged_as_ever(
    fault: str, bank: Bank, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def stay(self: QualityRun) -> None:
        """The server is there again."""

    monkeypatch.setattr(QualityRun, "_recover", stay)
    one = Bank(name=bank.name, items=bank.items[:1])
    folder = measured(one, [FAULTS[fault], [head() + RIGHT]], tmp_path, repeats=2)
    outcomes = [row["outcome"] for row in folder.verdicts()]
    failed = len(faulty_trials(folder))
    assert outcomes == ["pass"] * (2 - failed) and failed <= 1


def test_a_refusal_halfway_ends_the_run_and_keeps_what_there_is(bank: Bank, tmp_path: Path) -> None:
    refusal = whole(b'{"error": {"message": "key revoked"}}', 401)
    with pytest.raises(ExceptionGroup) as caught:
        measured(bank, [[head() + RIGHT], refusal], tmp_path)
    assert caught.group_contains(ServingLost, match="401: key revoked")
    (path,) = (path.parent for path in (tmp_path / "runs").rglob("run.json"))
    kept = list(RunFolder.read(path).trials())
    assert len(kept) == 1 and kept[0].exchange.failure is None


def test_a_bad_request_for_one_item_is_that_items_alone(bank: Bank, tmp_path: Path) -> None:
    folder = measured(bank, [FAULTS["400"], [head() + RIGHT]], tmp_path)
    assert [trial.exchange.failure is None for trial in folder.trials()] == [False, True]
    assert len(list(folder.verdicts())) == 1


def test_a_model_that_changes_between_replies_makes_the_run_invalid(bank: Bank, tmp_path: Path) -> None:
    def named(name: str) -> list[Step]:
        chunk = {"index": 0, "delta": {"content": SAID}, "finish_reason": "stop"}
        return [head() + event({"model": name, "choices": [chunk]}) + DONE]

    folder = measured(bank, [named("big"), named("big\x1b[31m-quantised")], tmp_path)
    (change,) = folder.record.identity_changes
    assert change.startswith("replies name another model: big -> big") and change.isprintable()
    assert "quantised" in change


def test_bytes_one_by_one_are_no_fault(bank: Bank, tmp_path: Path) -> None:
    one = Bank(name=bank.name, items=bank.items[:1])
    trickle: list[Step] = [head(), *(step for byte in RIGHT for step in (bytes([byte]), 0.0005))]
    folder = measured(one, [trickle], tmp_path)
    assert [row["outcome"] for row in folder.verdicts()] == ["pass"]


def test_retries_are_counted_on_the_trial_and_stop_at_three(bank: Bank, tmp_path: Path) -> None:
    one = Bank(name=bank.name, items=bank.items[:1])
    folder = measured(one, [*[FAULTS["503"]] * 3, [head() + RIGHT]], tmp_path)
    (trial,) = folder.trials()
    assert trial.exchange.failure is None and trial.exchange.retries == 3
    folder = measured(one, [*[FAULTS["503"]] * 4, [head() + RIGHT]], tmp_path / "more")
    (trial,) = folder.trials()
    assert trial.exchange.failure is not None and trial.exchange.failure.status == 503
    assert trial.exchange.retries == 3


def test_nothing_is_asked_again_once_an_answer_has_begun(bank: Bank, tmp_path: Path) -> None:
    one = Bank(name=bank.name, items=bank.items[:1])
    folder = measured(one, [FAULTS["reset in the middle"], [head() + RIGHT]], tmp_path)
    (trial,) = folder.trials()
    assert trial.exchange.failure is not None and trial.exchange.retries == 0


@pytest.mark.parametrize("step_s", [3600.0, -3600.0])
def test_a_wall_clock_that_is_set_does_not_change_a_duration(
    step_s: float, bank: Bank, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    one = Bank(name=bank.name, items=bank.items[:1])
    real, calls = time.time, [0]

    def stepping() -> float:
        calls[0] += 1
        return real() + step_s * calls[0]

    monkeypatch.setattr(time, "time", stepping)
    monkeypatch.setattr(time, "time_ns", lambda: int(stepping() * 1e9))
    began = time.perf_counter_ns()
    folder = measured(one, [[head(), 0.05, GOOD[:60], 0.05, GOOD[60:]]], tmp_path)
    took_ns = time.perf_counter_ns() - began
    (trial,) = folder.trials()
    exchange = trial.exchange
    assert exchange.failure is None
    assert exchange.sent_ns is not None
    times = [exchange.due_ns, exchange.sent_ns, *exchange.read_ns, exchange.done_ns]
    assert times == sorted(times)
    assert 90_000_000 <= exchange.done_ns - exchange.sent_ns <= took_ns
    assert began <= exchange.due_ns <= exchange.done_ns <= time.perf_counter_ns()


def test_the_clock_of_the_client_is_monotonic() -> None:
    assert Client.__init__.__kwdefaults__["clock_ns"] is time.perf_counter_ns
    assert "time.time" not in Path(client_module.__file__).read_text("utf-8")

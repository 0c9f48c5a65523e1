"""Making a serving ready: the record around a ladder, and everything that stops before a level is spent."""

import asyncio
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import runner.measuring
from itembank.errors import UserError
from runner.client import run
from runner.config import Launch, ServingConfig
from runner.ladder import Ladder, LadderPlan
from runner.measuring import measuring, new_folder, recorded_plan
from runner.record import RunRecord
from runner.simulator import Simulator, simulated
from runner.store import RunFolder
from tests.conftest import make_record
from tests.runner.scripted import Scripted, Step, delta, head, whole

PLAN = LadderPlan(levels=(1, 2), rounds=1, max_tokens=24)


@pytest.fixture(autouse=True)
def quick_selftest(monkeypatch: pytest.MonkeyPatch) -> None:
    async def ceiling() -> dict[str, Any]:
        return {"events_per_s": 9999, "cpu_us_per_event": 70.0, "streams": 64, "failed": 0}

    monkeypatch.setattr(runner.measuring, "client_ceiling", ceiling)


def measured(serving: ServingConfig, out: Path, act: Callable[[Ladder], Any] | None = None, **options: Any) -> Path:
    async def main() -> Path:
        async with measuring(serving, options.pop("plan", PLAN), out=out, **options) as ladder:
            await (act or (lambda ladder: ladder.measure_level("ladder", 1)))(ladder)
            return ladder.folder.path

    return run(main())


def at(server: Simulator, **fields: Any) -> ServingConfig:
    return ServingConfig(name="s", base_url=server.base_url, **fields)


def test_the_record_of_a_ladder(tmp_path: Path) -> None:
    with simulated("capped", speed=20) as server:
        path = measured(at(server, gpus=2, intended={"max_concurrent_sequences": 4}), tmp_path)
    record = RunFolder.read(path).record
    assert (record.kind, record.status) == ("ladder", "complete")
    assert record.plan["levels"] == [1, 2] and record.plan["prompts"] == "identical"
    assert record.serving["gpus"] == 2 and record.host["client"]["events_per_s"] == 9999
    for identity in (record.identity_before, record.identity_after):
        assert identity is not None and identity.engine == "triplicate-simulator"
        assert identity.value("max_concurrent_sequences") == 4
    assert record.identity_changes == () and record.boots[0]["number"] == 1
    assert recorded_plan(record, path) == PLAN


def test_the_engine_is_told_the_length(tmp_path: Path) -> None:
    with simulated("batching", speed=20) as server:
        path = measured(at(server), tmp_path)
    body = next(RunFolder.read(path).exchanges()).exchange.request
    assert body["ignore_eos"] is True and body["max_tokens"] == 24 and body["temperature"] == 0.0


@pytest.mark.long
def test_resuming_adds_a_boot_and_keeps_the_first_identity(tmp_path: Path) -> None:
    with simulated("batching", speed=20) as server:
        path = measured(at(server), tmp_path)
        with RunFolder.resume(path) as folder:
            measured(at(server), tmp_path, lambda ladder: ladder.measure_level("ladder", 2), folder=folder)
    record = RunFolder.read(path).record
    assert [boot["number"] for boot in record.boots] == [1, 2] and record.status == "complete"
    assert [level.concurrency for level in RunFolder.read(path).levels()] == [1, 2]


def test_a_change_of_the_server_is_in_the_record(tmp_path: Path) -> None:
    with simulated("capped", speed=20) as server:

        async def act(ladder: Ladder) -> None:
            server.name = "another"

        path = measured(at(server, model="simulated"), tmp_path, act)
    assert any("model" in change for change in RunFolder.read(path).record.identity_changes)


def test_a_lost_server_leaves_an_incomplete_run(tmp_path: Path) -> None:
    with simulated("batching", speed=20, die_after=4) as server:

        async def act(ladder: Ladder) -> None:
            for concurrency in (1, 2, 4):
                await ladder.measure_level("ladder", concurrency)

        path = measured(at(server), tmp_path, act)
    record = RunFolder.read(path).record
    assert record.status == "incomplete" and "stopped answering" in record.notes[-1] and record.ended_at


def test_an_interruption_is_in_the_record(tmp_path: Path) -> None:
    async def main(server: Simulator) -> None:
        async with measuring(at(server), PLAN, out=tmp_path):
            raise asyncio.CancelledError

    with simulated("batching", speed=20) as server, pytest.raises(asyncio.CancelledError):
        run(main(server))
    (path,) = tmp_path.glob("*/*")
    assert RunFolder.read(path).record.status == "interrupted"


@pytest.mark.parametrize(
    ("replies", "said"),
    [
        ([whole(b"{}", 404)], "usually ends in /v1"),
        ([whole(b'{"error":{"message":"no key"}}', 401)], "api_key_env"),
        ([whole(b"<!DOCTYPE html><title>Sign in</title>", kind="text/html")], "HTML page"),
        ([whole(b'{"error":{"message":"model m does not exist"}}', 404)], "one that the server lists"),
        ([[head() + delta("x")]], "breaks its answer off"),
        ([["abort"]], "cannot reach"),
    ],
    ids=["wrong path", "no key", "html", "unknown model", "cut", "reset"],
)
def test_what_stops_at_the_first_token(tmp_path: Path, replies: list[list[Step]], said: str) -> None:
    async def main() -> None:
        async with Scripted(replies) as server, measuring(server.serving(), PLAN, out=tmp_path):
            raise AssertionError("never ready")

    with pytest.raises(UserError, match=said) as caught:
        run(main())
    assert "\n" not in str(caught.value) and not list(tmp_path.iterdir()), "nothing was spent"


def test_a_token_limit_that_the_server_refuses(tmp_path: Path) -> None:
    """The single token is answered; the plan's 70,000 do not fit the context."""
    with simulated("batching", speed=20) as server:
        serving = ServingConfig(name="s", base_url=server.base_url)
        plan = LadderPlan(max_tokens=70_000)
        with pytest.raises(UserError, match="max_tokens"):
            measured(serving, tmp_path, plan=plan)
    assert not list(tmp_path.iterdir())


def test_nobody_listens(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="start the server or correct base_url"):
        measured(ServingConfig(name="s", base_url="http://127.0.0.1:9/v1", model="m"), tmp_path)


def test_a_launch_that_fails_leaves_an_incomplete_run(tmp_path: Path) -> None:
    serving = ServingConfig(name="s", launch=Launch(command=("/no/such/server", "{port}")))
    with pytest.raises(UserError, match="cannot be run"):
        measured(serving, tmp_path)
    (path,) = tmp_path.glob("*/*")
    assert RunFolder.read(path).record.status == "incomplete"


def test_only_a_ladder_can_be_resumed_as_one(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="triplicate run --resume"):
        recorded_plan(make_record(kind="quality"), tmp_path)
    broken: RunRecord = make_record(kind="ladder", plan={"levels": "many"})
    with pytest.raises(UserError, match="plan cannot be read"):
        recorded_plan(broken, tmp_path)


def test_no_secret_reaches_the_record(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SOME_KEY", "sk-verysecretvalue123")
    serving = ServingConfig(
        name="s", base_url="http://127.0.0.1:9/v1", api_key_env="SOME_KEY", extra_body={"api_key": "sk-otherone12345"}
    )
    with new_folder(serving, PLAN, tmp_path) as folder:
        text = (folder.path / "run.json").read_text()
    assert "verysecret" not in text and "otherone" not in text

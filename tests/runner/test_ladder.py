"""Levels as they come to lie on disk."""

import asyncio
from collections.abc import Callable, Coroutine, Mapping
from typing import Any

import pytest

from itembank.errors import UserError
from runner.client import Client, run
from runner.config import ServingConfig
from runner.crew import Crew
from runner.exchange import LevelExchange
from runner.ladder import PROMPT, Ladder, LadderPlan, parsed_levels
from runner.simulator import Simulator, simulated
from runner.store import RunFolder
from tests.reports.ladders import made_exchange

Make = Callable[..., RunFolder]
PLAN = LadderPlan(levels=(1, 2), rounds=2, max_tokens=24, plateau_s=5.0)


def body(prompt: str, max_tokens: int) -> Mapping[str, Any]:
    messages = [{"role": "user", "content": prompt}]
    options = {"ignore_eos": True, "stream_options": {"include_usage": True}}
    return {"model": "simulated", "messages": messages, "max_tokens": max_tokens, **options}


def on(
    server: Simulator, folder: RunFolder, plan: LadderPlan, act: Callable[[Ladder], Coroutine[Any, Any, None]]
) -> Ladder:
    async def main() -> Ladder:
        serving = ServingConfig(name="s", base_url=server.base_url)
        async with Client(serving) as client, Crew(serving, client, plan.workers) as crew:
            ladder = Ladder(client=client, crew=crew, folder=folder, plan=plan, body=body)
            await act(ladder)
            return ladder

    return run(main())


def test_bursts_are_kept_and_the_warm_up_is_not(make_folder: Make) -> None:
    folder = make_folder(kind="ladder")
    with simulated("batching", speed=1) as server:
        on(server, folder, PLAN, lambda ladder: ladder.measure_level("ladder", 4))
        assert server.requests == 3 * 4 and server.peak_in_flight == 4
    levels, exchanges = list(folder.levels()), list(folder.exchanges())
    assert [(one.phase, one.concurrency, one.round, one.index) for one in levels] == [
        ("ladder", 4, 1, 0),
        ("ladder", 4, 2, 1),
    ]
    assert [row.level for row in exchanges] == [0] * 4 + [1] * 4
    assert all(one.exchange.usage and one.exchange.usage.completion_tokens == 24 for one in exchanges)
    for level in levels:
        ends = [row.exchange.done_ns for row in exchanges if row.level == level.index]
        assert level.peak_in_flight == 4 and level.end_ns == max(ends) and not level.interrupted
        assert level.lag_ns and level.cpu_ns > 0 and level.gauges and level.workers == 1


def test_a_plateau_is_a_closed_loop(make_folder: Make) -> None:
    folder = make_folder(kind="ladder")
    with simulated("batching", speed=2) as server:

        async def act(ladder: Ladder) -> None:
            await ladder.measure_plateau(2)
            await ladder.measure_plateau(2)

        on(server, folder, PLAN, act)
        assert server.requests == 32 and server.peak_in_flight == 2
    assert [(one.phase, one.concurrency) for one in folder.levels()] == [("plateau", 2)]


def test_what_is_on_disk_is_not_measured_again(make_folder: Make) -> None:
    folder = make_folder(kind="ladder")
    folder.append(LevelExchange(level=6, exchange=made_exchange()))
    with simulated("batching", speed=20) as server:
        on(server, folder, PLAN, lambda ladder: ladder.measure_level("ladder", 2))
        on(server, folder, PLAN, lambda ladder: ladder.measure_level("ladder", 2))
        assert server.requests == 3 * 2
        on(server, folder, PLAN, lambda ladder: ladder.measure_level("ladder", 2, again=True))
    assert [(one.round, one.index) for one in folder.levels()] == [(1, 7), (2, 8), (1, 9), (2, 10)]


def test_salted_prompts_differ_from_their_first_character_on(make_folder: Make) -> None:
    folder = make_folder(kind="ladder")
    plan = LadderPlan(levels=(1,), rounds=2, max_tokens=2, prompts="salted")
    with simulated("batching", speed=20) as server:
        on(server, folder, plan, lambda ladder: ladder.measure_level("ladder", 8))
    prompts = [row.exchange.request["messages"][0]["content"] for row in folder.exchanges()]
    assert len({prompt[:16] for prompt in prompts}) == 16 and all(PROMPT in prompt for prompt in prompts)


def test_a_server_that_dies_is_given_up(make_folder: Make) -> None:
    """12 requests: the warm-up and the first burst of level 4, and half of the second."""
    folder = make_folder(kind="ladder")
    with simulated("batching", speed=20, die_after=10) as server:

        async def act(ladder: Ladder) -> None:
            for concurrency in (4, 8, 16):
                await ladder.measure_level("ladder", concurrency)
                await ladder.measure_plateau(concurrency)

        ladder = on(server, folder, PLAN, act)
    assert ladder.lost is not None and "stopped answering" in ladder.lost
    assert max(one.concurrency for one in folder.levels()) <= 8


def test_one_bad_burst_is_no_death(make_folder: Make) -> None:
    folder = make_folder(kind="ladder")
    with simulated("batching", speed=20, faults={"503": 1.0}) as server:

        async def act(ladder: Ladder) -> None:
            server.faults.shares = {}
            await ladder._warm_up(1)
            server.faults.shares = {"503": 1.0}
            await ladder.measure_level("ladder", 1)

        ladder = on(server, folder, PLAN, act)
    assert ladder.lost is not None and [row.exchange.status for row in folder.exchanges()] == [503]


def test_a_burst_that_is_broken_off_says_so(make_folder: Make) -> None:
    folder = make_folder(kind="ladder")
    with simulated("queueing", speed=0.2) as server:

        async def act(ladder: Ladder) -> None:
            task = asyncio.create_task(ladder.measure_plateau(4))
            while server.in_flight < 4:
                await asyncio.sleep(0.01)
            task.cancel()
            with pytest.raises(asyncio.CancelledError):
                await task

        on(server, folder, PLAN, act)
    assert [one.interrupted for one in folder.levels()] == [True]


@pytest.mark.long
def test_two_workers_share_a_level(make_folder: Make) -> None:
    folder = make_folder(kind="ladder")
    plan = LadderPlan(levels=(5,), rounds=1, max_tokens=24, workers=2, prompts="salted")
    with simulated("batching", speed=0.5) as server:

        async def act(ladder: Ladder) -> None:
            await ladder.measure_level("ladder", 5)
            await ladder.measure_level("control", 1)

        on(server, folder, plan, act)
    five, one = folder.levels()
    assert (five.peak_in_flight, five.workers, one.peak_in_flight) == (5, 2, 1)
    rows = list(folder.exchanges())
    assert sorted(row.worker for row in rows) == [0, 0, 0, 0, 1, 1] and rows[-1].level == one.index
    assert len({row.exchange.request["messages"][0]["content"] for row in rows}) == 6
    assert len({row.exchange.due_ns for row in rows[:5]}) == 1, "one start for all"


def test_a_worker_that_dies_is_no_silence(make_folder: Make) -> None:
    folder = make_folder(kind="ladder")
    plan = LadderPlan(levels=(2,), rounds=1, max_tokens=24, workers=2)
    with simulated("batching", speed=5) as server:

        async def act(ladder: Ladder) -> None:
            ladder._crew._processes[1].kill()
            await ladder._crew._processes[1].wait()
            with pytest.raises((RuntimeError, BrokenPipeError, ConnectionResetError)):
                await ladder.measure_plateau(2)

        on(server, folder, plan, act)


@pytest.mark.parametrize("text", ["0", "-1", "x", "", "1,,2", "1.5", "1,0,x", "0,-1,x", "99999999", "²"])
def test_levels_that_are_none(text: str) -> None:
    with pytest.raises(UserError, match="--levels"):
        parsed_levels(text)


def test_levels() -> None:
    assert parsed_levels("64, 1,8") == (1, 8, 64)
    with pytest.raises(UserError, match="twice"):
        parsed_levels("1,2,1")

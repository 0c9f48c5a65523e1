"""The simulated engine over real sockets."""

import asyncio

from runner.client import Client, run
from runner.config import ServingConfig
from runner.exchange import Exchange
from runner.simulator import Simulator, simulated

BODY = {
    "model": "simulated",
    "messages": [{"role": "user", "content": "Write a long story about the sea."}],
    "max_tokens": 64,
    "stream_options": {"include_usage": True},
}


def burst(server: Simulator, count: int, **body: object) -> list[Exchange]:
    async def main() -> list[Exchange]:
        async with Client(ServingConfig(name="s", base_url=server.base_url)) as client:
            return await asyncio.gather(*(client.send({**BODY, **body}) for _ in range(count)))

    return run(main())


def test_a_burst_is_answered_in_full() -> None:
    with simulated("batching", speed=20) as server:
        exchanges = burst(server, 8)
    assert [e.failure for e in exchanges] == [None] * 8
    assert {e.usage.completion_tokens for e in exchanges if e.usage} == {64}
    assert server.peak_in_flight == 8

"""The two `python -m` ends of a ladder's pipes, run inside this process."""

import asyncio
import io
import os
import sys
import time
from typing import Any

import msgspec
import pytest

import runner.crew
import runner.selftest
from runner.client import Client, run
from runner.config import ServingConfig
from runner.exchange import Exchange
from runner.load import Job, Strain
from runner.simulator import simulated

BODY = {"model": "simulated", "messages": [{"role": "user", "content": "Go on."}], "max_tokens": 4}


class Pipes:
    """Standard input as a pipe that the test writes into, standard output as bytes."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        reading, writing = os.pipe()
        self.input = os.fdopen(writing, "wb")
        self.stdin = os.fdopen(reading)
        self.output = io.BytesIO()
        monkeypatch.setattr(sys, "stdin", self.stdin)
        monkeypatch.setattr(sys, "stdout", io.TextIOWrapper(self.output, write_through=True))

    def close(self) -> None:
        self.input.close()
        self.stdin.close()


def test_a_worker_answers_each_job_with_exchanges_and_its_strain(monkeypatch: pytest.MonkeyPatch) -> None:
    pipes = Pipes(monkeypatch)
    with simulated("batching", speed=10) as server:
        job = Job(bodies=(BODY,) * 3, concurrency=3, start_ns=time.perf_counter_ns())
        lines = (ServingConfig(name="s", base_url=server.base_url), job, job)
        pipes.input.write(b"".join(msgspec.json.encode(line) + b"\n" for line in lines))
        pipes.input.close()
        asyncio.run(runner.crew.work())
    pipes.close()
    said = pipes.output.getvalue().splitlines()
    assert [line[:1] for line in said] == [b"R", *[b"E"] * 3, b"S", *[b"E"] * 3, b"S"]
    exchange = msgspec.json.decode(said[1][1:], type=Exchange)
    assert exchange.failure is None and exchange.token_ns
    assert msgspec.json.decode(said[4][1:], type=Strain).cpu_ns > 0


def test_the_instant_server_streams_what_it_promises(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(runner.selftest, "PACE_S", 0.001)

    async def main() -> tuple[Exchange, Exchange]:
        ports: list[int] = []
        end = asyncio.Event()
        serving = asyncio.create_task(runner.selftest.serve(end.is_set, ports.append))
        async with asyncio.timeout(20):
            while not ports:
                await asyncio.sleep(0.005)
            url = f"http://127.0.0.1:{ports[0]}/v1"
            async with Client(ServingConfig(name="s", base_url=url, model="none")) as client:
                found = await client.send(BODY), await client.send({**BODY, "messages": ["x" * 200_000]})
            end.set()
            await serving
        return found

    for exchange in run(main()):
        assert exchange.failure is None and exchange.events == runner.selftest.EVENTS
        assert exchange.usage is not None and exchange.usage.completion_tokens == runner.selftest.EVENTS
        assert exchange.response is not None and exchange.response.finish_reason == "length"


def test_a_client_that_leaves_is_forgotten() -> None:
    streams: dict[Any, int] = {}
    connection = runner.selftest._Instant(streams)
    connection.data_received(b"POST / HTTP/1.1\r\ncontent-length: 2\r\n\r\n{}")
    connection.write(b"x")
    assert streams == {}, "no way back, no stream"
    streams[connection] = 3
    connection.connection_lost(None)
    assert streams == {}

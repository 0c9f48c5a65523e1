"""The client against servers that stream, stall, lie and break."""

from typing import Any

from runner.client import Client, run
from runner.exchange import Exchange, FailureKind
from tests.runner.scripted import DONE, GOOD, ROLE, Scripted, Step, delta, head, usage

BODY = {"model": "m", "messages": [{"role": "user", "content": "hi"}], "max_tokens": 16}


async def answered(*steps: Step, stream: bool = True, body: dict[str, Any] = BODY, **options: Any) -> Exchange:
    async with Scripted([list(steps)]) as server, Client(server.serving(), **options) as client:
        return await client.send(body, stream=stream)


def ask(*steps: Step, **options: Any) -> Exchange:
    return run(answered(*steps, **options))


def failed(exchange: Exchange, kind: FailureKind, *words: str) -> None:
    assert exchange.response is None
    assert exchange.failure is not None
    assert exchange.failure.kind is kind, exchange.failure
    for word in words:
        assert word in exchange.failure.detail


def test_a_complete_stream() -> None:
    exchange = ask(
        head(server="mock"),
        0.005,
        ROLE,
        0.02,
        delta("Hello"),
        0.02,
        delta(" there"),
        0.02,
        delta(finish="stop") + usage(2) + DONE,
    )
    assert exchange.failure is None
    assert exchange.response is not None
    assert exchange.response.text == "Hello there"
    assert exchange.response.finish_reason == "stop"
    assert exchange.response.completion_tokens == 2
    assert exchange.response.token_cap == 16
    assert exchange.headers["server"] == "mock"
    assert len(exchange.read_ns) == 4
    assert exchange.token_ns == exchange.read_ns[1:3]
    assert exchange.events == 2
    assert exchange.due_ns <= exchange.sent_ns <= exchange.read_ns[0] <= exchange.done_ns  # type: ignore[operator]
    assert exchange.request["stream"] is True
    assert exchange.raw.encode() == GOOD

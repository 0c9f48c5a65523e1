"""Reads are timed where they come off the network, however late the task is that takes them."""

import time
from collections import deque
from collections.abc import AsyncIterator
from typing import Any

import aiohttp
import httpx
import pytest

from runner import client as client_module
from runner import connection
from runner.client import Client, run
from runner.connection import Body, Connector, Passage
from runner.exchange import Exchange
from tests.runner.scripted import DONE, GOOD, ROLE, Scripted, Step, delta, head, whole

BODY = {"model": "m", "messages": [{"role": "user", "content": "hi"}]}
LATE_NS = 30_000_000
GAP = 0.02
FRAMES = (delta("Hello"), delta(" there"), delta(finish="stop") + DONE)


class Clock:
    """A clock that a test can set forward, as if the event loop had been held up."""

    def __init__(self) -> None:
        self.ahead_ns = 0

    def __call__(self) -> int:
        return time.perf_counter_ns() + self.ahead_ns


def paced(*parts: bytes) -> list[Step]:
    steps: list[Step] = [head()]
    for part in parts:
        steps += [GAP, part]
    return steps


def chunked(*parts: bytes, **headers: str) -> list[Step]:
    body = b"".join(b"%x\r\n%s\r\n" % (len(part), part) for part in parts) + b"0\r\n\r\n"
    return [head(transfer_encoding="chunked", **headers) + body]


def answers(clock: Clock, *replies: list[Step], keep: bool = False) -> list[Exchange]:
    async def main() -> list[Exchange]:
        async with Scripted(list(replies), keep=keep) as server, Client(server.serving(), clock_ns=clock) as client:
            return [await client.send(BODY) for _ in replies]

    return run(main())


def text_of(exchange: Exchange) -> str:
    assert exchange.failure is None and exchange.response is not None, exchange.failure
    return exchange.response.text


def test_a_loop_held_up_after_a_read_changes_no_time(monkeypatch: pytest.MonkeyPatch) -> None:
    clock, came = Clock(), []
    receive = connection._Timed.data_received

    def held_up(self: Any, data: bytes) -> None:
        receive(self, data)
        came.append(clock())
        clock.ahead_ns += LATE_NS

    monkeypatch.setattr(connection._Timed, "data_received", held_up)
    (exchange,) = answers(clock, paced(*FRAMES))
    assert text_of(exchange) == "Hello there"
    reads = came[-3:]
    assert len(exchange.read_ns) == 3 and exchange.token_ns == exchange.read_ns[:2]
    for stamp, read in zip(exchange.read_ns, reads, strict=True):
        assert read - LATE_NS < stamp <= read, "the read's time, not the task's, which is 30 ms later"


def test_reads_that_a_late_task_gets_as_one_keep_their_times(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every read comes as two halves, 30 ms apart, before the task has its turn."""
    clock = Clock()
    receive = connection._Timed.data_received

    def halved(self: Any, data: bytes) -> None:
        cut = data.find(delta(" there")) if delta(" there") in data else len(data) // 2
        receive(self, data[:cut])
        clock.ahead_ns += LATE_NS
        receive(self, data[cut:])

    monkeypatch.setattr(connection._Timed, "data_received", halved)
    (exchange,) = answers(clock, paced(b"".join(FRAMES)))
    assert text_of(exchange) == "Hello there"
    assert len(exchange.read_ns) == 2 and exchange.token_ns == exchange.read_ns
    assert exchange.read_ns[1] - exchange.read_ns[0] >= LATE_NS


@pytest.mark.parametrize("headers", [{}, {"connection": "close"}])
def test_a_reply_in_one_read_with_its_head(headers: dict[str, str]) -> None:
    (exchange,) = answers(Clock(), chunked(*FRAMES, **headers))
    assert text_of(exchange) == "Hello there"
    assert len(exchange.read_ns) == 1
    assert exchange.sent_ns is not None and exchange.sent_ns <= exchange.read_ns[0] <= exchange.done_ns


def test_the_end_of_a_body_that_closes_its_connection_is_timed(monkeypatch: pytest.MonkeyPatch) -> None:
    clock = Clock()
    receive = connection._Timed.data_received

    def held_up(self: Any, data: bytes) -> None:
        receive(self, data)
        clock.ahead_ns += LATE_NS

    monkeypatch.setattr(connection._Timed, "data_received", held_up)
    first, last = FRAMES[0], FRAMES[1] + delta(finish="stop")
    size = str(len(first + last))
    (exchange,) = answers(clock, [head(content_length=size, connection="close"), GAP, first, GAP, last])
    assert len(exchange.read_ns) == 2 and exchange.token_ns == exchange.read_ns
    assert exchange.done_ns - exchange.read_ns[-1] >= LATE_NS, "the task ran after the loop was held up"


def test_every_request_over_a_kept_connection_has_its_own_times() -> None:
    exchanges = answers(Clock(), chunked(*FRAMES), whole(GOOD, kind="text/event-stream"), chunked(*FRAMES), keep=True)
    assert [text_of(exchange) for exchange in exchanges] == ["Hello there"] * 3
    for exchange in exchanges:
        assert exchange.sent_ns is not None and len(exchange.read_ns) == 1
        assert exchange.due_ns <= exchange.sent_ns <= exchange.read_ns[0] <= exchange.done_ns


def test_a_head_that_comes_in_two_reads_is_no_read_of_the_body() -> None:
    (reply,) = chunked(*FRAMES)
    assert isinstance(reply, bytes)
    _, exchange = answers(Clock(), chunked(*FRAMES), [reply[:20], GAP, reply[20:]], keep=True)
    assert text_of(exchange) == "Hello there" and len(exchange.read_ns) == 1
    assert exchange.sent_ns is not None and exchange.read_ns[0] - exchange.sent_ns > GAP * 1e9 / 2


def test_an_aiohttp_without_these_inner_names(monkeypatch: pytest.MonkeyPatch) -> None:
    def plain(_: Clock, **options: Any) -> aiohttp.TCPConnector:
        return aiohttp.TCPConnector(**options)

    monkeypatch.setattr(client_module, "Connector", plain)
    (exchange,) = answers(Clock(), paced(ROLE, *FRAMES))
    assert text_of(exchange) == "Hello there"
    assert len(exchange.read_ns) == 4 and exchange.token_ns == exchange.read_ns[1:3]


class Pieces(httpx.AsyncByteStream):
    """A body that comes in these pieces."""

    def __init__(self, *pieces: bytes) -> None:
        self.pieces = pieces

    async def __aiter__(self) -> AsyncIterator[bytes]:
        for piece in self.pieces:
            yield piece


async def taken(passage: Passage, *pieces: bytes) -> list[list[tuple[bytes, int]]]:
    body = Body(httpx.Response(200, stream=Pieces(*pieces)), passage, lambda: 99)
    calls = []
    while reads := await body.read():
        calls.append(list(reads))
    return calls


def test_pieces_are_cut_where_the_reads_ended() -> None:
    passage = Passage(reads=deque([(10, 1), (20, 2)]))
    assert run(taken(passage, b"a" * 7, b"b" * 7, b"c" * 6)) == [
        [(b"a" * 7, 1)],
        [(b"b" * 3, 1), (b"b" * 4, 2)],
        [(b"c" * 6, 2)],
    ]


def test_bytes_whose_read_is_unknown_have_the_time_of_the_task() -> None:
    assert run(taken(Passage(), b"abc")) == [[(b"abc", 99)]]
    assert run(taken(Passage(reads=deque([(2, 1)])), b"abc")) == [[(b"ab", 1), (b"c", 99)]]


def test_a_body_larger_than_the_buffer_is_held_back_and_comes_whole(monkeypatch: pytest.MonkeyPatch) -> None:
    body = bytes(range(256)) * 4096
    paused: list[int] = []
    pause = connection._Timed.pause_reading

    def counted(self: Any) -> None:
        paused.append(1)
        pause(self)

    monkeypatch.setattr(connection._Timed, "pause_reading", counted)

    async def main() -> bytes:
        async with (
            Scripted([whole(body)]) as server,
            aiohttp.ClientSession(connector=Connector(time.perf_counter_ns), read_bufsize=1024) as session,
            session.get(server.base_url) as reply,
        ):
            return b"".join([piece async for piece in reply.content.iter_any()])

    assert run(main()) == body
    assert paused

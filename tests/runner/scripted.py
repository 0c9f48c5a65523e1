"""A server that plays back bytes: whatever a broken or hostile server could write, at the pace that a test asks for."""

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import Any, Self

import msgspec

from runner.config import ServingConfig

Step = bytes | float | str | Callable[[], Awaitable[None]]
"""Bytes to write, seconds to wait, `hang` (until the test ends), `abort` (RST), or something to await."""


@dataclass
class Request:
    method: str
    path: str
    headers: dict[str, str]
    body: bytes
    connection: int

    def json(self) -> Any:
        return msgspec.json.decode(self.body)


@dataclass
class Scripted:
    """Plays the replies in order, the last one for ever; `keep` leaves connections open after a reply."""

    replies: list[list[Step]]
    keep: bool = False
    requests: list[Request] = field(default_factory=list)
    in_flight: int = 0
    peak: int = 0
    connections: int = 0
    host: str = "127.0.0.1"
    port: int = 0

    async def __aenter__(self) -> Self:
        self._ended = asyncio.Event()
        self._tasks: set[asyncio.Task[None]] = set()
        self._server = await asyncio.start_server(self._connection, self.host, 0, backlog=2048)
        self.port = self._server.sockets[0].getsockname()[1]
        return self

    async def __aexit__(self, *_: object) -> None:
        self._ended.set()
        self._server.close()
        for task in list(self._tasks):
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    @property
    def base_url(self) -> str:
        return f"http://{self.host}:{self.port}/v1"

    def serving(self, **fields: Any) -> ServingConfig:
        return ServingConfig(name="scripted", base_url=self.base_url, **{"model": "m", **fields})

    async def _connection(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        self._tasks.add(task)
        self.connections += 1
        number = self.connections
        try:
            while await self._one(reader, writer, number) and self.keep:
                pass
        except (ConnectionError, asyncio.IncompleteReadError, asyncio.CancelledError):
            pass
        finally:
            self._tasks.discard(task)
            writer.close()

    async def _one(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, connection: int) -> bool:
        head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1")
        first, *lines = head.split("\r\n")[:-2]
        headers = {k.lower(): v.strip() for k, _, v in (line.partition(":") for line in lines)}
        body = await reader.readexactly(int(headers.get("content-length", "0")))
        method, path, _ = first.split(" ")
        self.requests.append(Request(method, path, headers, body, connection))
        self.in_flight += 1
        self.peak = max(self.peak, self.in_flight)
        try:
            for step in self.replies[min(len(self.requests), len(self.replies)) - 1]:
                await self._play(step, writer)
                if step == "abort":
                    return False
        finally:
            self.in_flight -= 1
        return True

    async def _play(self, step: Step, writer: asyncio.StreamWriter) -> None:
        if isinstance(step, bytes):
            writer.write(step)
            await writer.drain()
        elif isinstance(step, float):
            await asyncio.sleep(step)
        elif step == "hang":
            await self._ended.wait()
        elif step == "abort":
            writer.transport.abort()
        elif callable(step):
            await step()


def head(status: int = 200, kind: str = "text/event-stream", reason: str = "X", **headers: str) -> bytes:
    """A reply head; without a length the body ends with the connection."""
    lines = [f"HTTP/1.1 {status} {reason}", f"Content-Type: {kind}"]
    lines += [f"{name.replace('_', '-')}: {value}" for name, value in headers.items()]
    return ("\r\n".join(lines) + "\r\n\r\n").encode("latin-1")


def whole(body: bytes, status: int = 200, kind: str = "application/json", **headers: str) -> list[Step]:
    return [head(status, kind, content_length=str(len(body)), **headers) + body]


def event(value: Any) -> bytes:
    return b"data: " + msgspec.json.encode(value) + b"\n\n"


def delta(content: str | None = None, finish: str | None = None, **fields: Any) -> bytes:
    inner = {**({} if content is None else {"content": content}), **fields}
    return event({"choices": [{"index": 0, "delta": inner, "finish_reason": finish}]})


def usage(completion: int, prompt: int = 5) -> bytes:
    return event({"choices": [], "usage": {"prompt_tokens": prompt, "completion_tokens": completion}})


DONE = b"data: [DONE]\n\n"
ROLE = delta("", role="assistant")
GOOD = ROLE + delta("Hello") + delta(" there") + delta(finish="stop") + usage(2) + DONE

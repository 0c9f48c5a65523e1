"""What this client itself can sustain, measured against a server that answers at once. Says nothing of any engine.

The server is a process of its own (`python -m runner.selftest`), so that its work does not count as the client's. It
writes one event to every open stream at a fixed pace, because events that arrive together cost the client far less
than events that arrive one by one, as an engine sends them.
"""

import asyncio
import sys
import time
from asyncio.subprocess import PIPE
from collections.abc import Callable, Mapping
from contextlib import suppress
from typing import Any, cast

from runner.client import Client, run
from runner.config import ServingConfig
from runner.crew import module_environment
from runner.exchange import Exchange
from runner.load import NS, Job, run_load

STREAMS = 64
EVENTS = 40
PACE_S = 0.0125
CPU_SHARE = 0.70
"""The share of a core up to which a level is valid."""
TIME_LIMIT_S = 20.0
EVENT = b'data: {"choices":[{"index":0,"delta":{"content":" token"},"finish_reason":null}]}\n\n'
LAST = (
    b'data: {"choices":[{"index":0,"delta":{},"finish_reason":"length"}]}\n\n'
    b'data: {"choices":[],"usage":{"prompt_tokens":1,"completion_tokens":%d}}\n\ndata: [DONE]\n\n' % EVENTS
)
HEAD = b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n"


async def client_ceiling() -> Mapping[str, Any]:
    """Events a second that one process of this client can take in at 70 % of a core, with how that was measured.

    Half a second at 64 streams. Raises TimeoutError if loopback itself does not work.
    """
    async with asyncio.timeout(TIME_LIMIT_S):
        process = await asyncio.create_subprocess_exec(
            sys.executable, "-m", "runner.selftest", stdin=PIPE, stdout=PIPE, env=module_environment()
        )
        try:
            assert process.stdout is not None
            port = int(await process.stdout.readline())
            serving = ServingConfig(name="self-test", base_url=f"http://127.0.0.1:{port}/v1", model="none")
            async with Client(serving) as client:
                await _sent(client)
                exchanges, cpu_ns = await _sent(client)
        finally:
            with suppress(ProcessLookupError):
                process.kill()
            await process.wait()
    events = sum(exchange.events for exchange in exchanges)
    cost_ns = cpu_ns / max(events, 1)
    return {
        "events_per_s": round(CPU_SHARE * NS / max(cost_ns, 1.0)),
        "cpu_us_per_event": round(cost_ns / 1000, 2),
        "streams": STREAMS,
        "failed": sum(exchange.failure is not None for exchange in exchanges),
    }


async def _sent(client: Client) -> tuple[list[Exchange], int]:
    kept: list[Exchange] = []
    bodies = ({"model": "none", "messages": [], "max_tokens": EVENTS},) * STREAMS
    job = Job(bodies=bodies, concurrency=STREAMS, start_ns=time.perf_counter_ns())
    strain = await run_load(client, job, kept.append)
    return kept, strain.cpu_ns


class _Instant(asyncio.Protocol):
    """One connection of the instant server."""

    def __init__(self, streams: dict["_Instant", int]) -> None:
        self._streams = streams
        self._buffer = b""
        self.transport: asyncio.Transport | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Keep the way back."""
        self.transport = cast(asyncio.Transport, transport)

    def data_received(self, data: bytes) -> None:
        """Begin to answer as soon as a whole request is there."""
        self._buffer += data
        head, separator, body = self._buffer.partition(b"\r\n\r\n")
        lengths = [line.split(b":")[1] for line in head.lower().split(b"\r\n") if line.startswith(b"content-length:")]
        if separator and lengths and len(body) >= int(lengths[0]) and self.transport is not None:
            self._buffer = b""
            self.transport.write(HEAD)
            self._streams[self] = 0

    def write(self, data: bytes) -> None:
        """Send a piece of the answer."""
        if self.transport is not None:
            self.transport.write(data)

    def connection_lost(self, exc: Exception | None) -> None:
        """Forget the stream."""
        self._streams.pop(self, None)


def _chunk(data: bytes) -> bytes:
    return b"%x\r\n%s\r\n" % (len(data), data)


async def serve(ended: Callable[[], bool], say: Callable[[int], None]) -> None:
    """Serve on a free loopback port, which is given to `say`, until `ended` says so."""
    streams: dict[_Instant, int] = {}
    server = await asyncio.get_running_loop().create_server(lambda: _Instant(streams), "127.0.0.1", 0, backlog=1024)
    say(server.sockets[0].getsockname()[1])
    event, last = _chunk(EVENT), _chunk(LAST) + _chunk(b"")
    while not ended():
        await asyncio.sleep(PACE_S)
        for stream, written in list(streams.items()):
            stream.write(event if written < EVENTS else last)
            if written < EVENTS:
                streams[stream] = written + 1
            else:
                del streams[stream]
    server.close()


async def _main() -> None:
    """The server as a process: its port on standard output, its end with standard input's."""
    reading = asyncio.get_running_loop().run_in_executor(None, sys.stdin.buffer.read)

    def say(port: int) -> None:
        sys.stdout.write(f"{port}\n")
        sys.stdout.flush()

    await serve(reading.done, say)


if __name__ == "__main__":
    run(_main())

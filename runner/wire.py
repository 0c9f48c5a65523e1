"""Reads one reply off the network, with a time for every read and a limit on everything. Understands only its end.

Nothing is decoded while other streams run: the bytes are kept, and `Taken` says where each read ended.
"""

import asyncio
import zlib
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass, field
from enum import StrEnum

from runner.sse import is_done, is_finished

DONE_GRACE_S = 0.25
"""How long a server may hold a stream open after `[DONE]`; leaving at once would throw the connection away."""
FINISH_GRACE_S = 10.0
"""The same after a finish_reason, where usage and `[DONE]` may still come."""
_OVERLAP = 40
"""Bytes of the read before that are looked at again, for a mark that two reads share."""


class End(StrEnum):
    """How the reading of a body ended."""

    EOF = "eof"
    HELD_OPEN = "held_open"
    TOO_LONG = "too_long"


@dataclass(slots=True)
class Taken:
    """A body as it came."""

    chunks: list[bytes] = field(default_factory=list)
    read_ns: list[int] = field(default_factory=list)
    """One time for each network read."""
    size: int = 0
    done_ns: int | None = None
    """When `[DONE]` came."""
    finished: bool = False
    """A finish_reason was seen."""
    compressed: "_Inflation | None" = None
    _torn: bytes = b""
    """The end of the read before, where it did not end with a line."""

    @property
    def body(self) -> bytes:
        """All of it."""
        return b"".join(self.chunks)

    def add(self, chunk: bytes, now_ns: int, limit: int) -> bool:
        """Take one read; False once there are more than `limit` bytes."""
        if self.compressed is not None:
            chunk = self.compressed.inflated(chunk, limit - self.size + 1)
        self.chunks.append(chunk)
        self.read_ns.append(now_ns)
        self.size += len(chunk)
        window = self._torn + chunk if self._torn else chunk
        self._torn = b"" if chunk.endswith(b"\n") else window[-_OVERLAP:]
        if is_done(window) and self.done_ns is None:
            self.done_ns = now_ns
        elif is_finished(window):
            self.finished = True
        return self.size <= limit


class _Inflation:
    """Undoes gzip or deflate piece by piece, for proxies that compress although asked not to."""

    def __init__(self) -> None:
        self._engine = zlib.decompressobj(wbits=47)

    def inflated(self, chunk: bytes, limit: int) -> bytes:
        """The plain bytes, at most `limit` of them. Raises zlib.error on damaged data."""
        return self._engine.decompress(chunk, max(limit, 1))

    @property
    def complete(self) -> bool:
        """Whether the end of the compressed data came."""
        return self._engine.eof


def taking(encoding: str) -> Taken:
    """An empty body to fill, for a Content-Encoding. Raises ValueError if nothing here can undo it."""
    if encoding in ("", "identity"):
        return Taken()
    if encoding in ("gzip", "x-gzip", "deflate"):
        return Taken(compressed=_Inflation())
    raise ValueError(f"the reply is compressed ({encoding[:20]}) although that was ruled out")


async def take(
    stream: AsyncIterator[bytes], taken: Taken, *, clock_ns: Callable[[], int], limit: int, sse: bool = True
) -> End:
    """Read to the end, past `[DONE]` for a short grace only; what came stays in `taken` even if this raises."""
    async for chunk in stream:
        if not taken.add(chunk, clock_ns(), limit):
            return End.TOO_LONG
        if sse and (taken.done_ns is not None or taken.finished):
            break
    else:
        return End.EOF
    return await _drain(stream, taken, clock_ns, limit)


async def _drain(stream: AsyncIterator[bytes], taken: Taken, clock_ns: Callable[[], int], limit: int) -> End:
    now_s = asyncio.get_running_loop().time
    ends_s = now_s() + FINISH_GRACE_S
    done = False
    while True:
        if taken.done_ns is not None and not done:
            done, ends_s = True, now_s() + DONE_GRACE_S
        try:
            async with asyncio.timeout_at(ends_s):
                chunk = await anext(stream)
        except StopAsyncIteration:
            return End.EOF
        except TimeoutError:
            return End.HELD_OPEN
        if not taken.add(chunk, clock_ns(), limit):
            return End.TOO_LONG

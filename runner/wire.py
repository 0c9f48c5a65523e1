"""Reads one reply off the network, with a time for every read and a limit on everything. Understands only its end.

Nothing is decoded while other streams run: the bytes are kept, and `Taken` says where each read ended.
"""

import asyncio
import ssl
import sys
import zlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Protocol

from runner.failure import one_line
from runner.sse import is_done, is_finished

DONE_GRACE_S = 0.25
"""How long a server may hold a stream open after `[DONE]`; leaving at once would throw the connection away."""
FINISH_GRACE_S = 10.0
"""The same after a finish_reason, where usage and `[DONE]` may still come."""
_UNVERIFIED: set[str] = set()
"""Addresses whose missing check has been said."""
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


class Source(Protocol):
    """Where the bytes of a body come from."""

    async def read(self) -> Sequence[tuple[bytes, int]]:
        """What came since the last call, one part with its time in ns for each network read; empty at the end."""


async def take(source: Source, taken: Taken, *, limit: int, sse: bool = True) -> End:
    """Read to the end, past `[DONE]` for a short grace only; what came stays in `taken` even if this raises."""
    while reads := await source.read():
        for part, at_ns in reads:
            if not taken.add(part, at_ns, limit):
                return End.TOO_LONG
        if sse and (taken.done_ns is not None or taken.finished):
            return await _drain(source, taken, limit)
    return End.EOF


async def _drain(source: Source, taken: Taken, limit: int) -> End:
    now_s = asyncio.get_running_loop().time
    ends_s = now_s() + FINISH_GRACE_S
    done = False
    while True:
        if taken.done_ns is not None and not done:
            done, ends_s = True, now_s() + DONE_GRACE_S
        try:
            async with asyncio.timeout_at(ends_s):
                reads = await source.read()
        except TimeoutError:
            return End.HELD_OPEN
        if not reads:
            return End.EOF
        for part, at_ns in reads:
            if not taken.add(part, at_ns, limit):
                return End.TOO_LONG


class Reading(Protocol):
    """What has a body that is being read."""

    taken: Taken


class Patience:
    """Ends what has brought no byte for too long; one clock for all is cheaper than a timer for every read."""

    def __init__(self, idle_s: float, clock_ns: Callable[[], int]) -> None:
        self.idle_s = idle_s
        self._clock_ns = clock_ns
        self.open: dict[asyncio.Timeout, tuple[int, Reading]] = {}

    def begin(self, timeout: asyncio.Timeout, reading: Reading) -> None:
        """Watch what runs under that timeout."""
        self.open[timeout] = (self._clock_ns(), reading)

    def end(self, timeout: asyncio.Timeout) -> None:
        """It has ended by itself."""
        self.open.pop(timeout, None)

    async def watch(self) -> None:
        """Look after all of them until cancelled."""
        loop = asyncio.get_running_loop()
        while True:
            await asyncio.sleep(min(1.0, self.idle_s / 8))
            oldest_ns = self._clock_ns() - round(self.idle_s * 1e9)
            for timeout, (start_ns, reading) in self.open.items():
                last_ns = reading.taken.read_ns[-1] if reading.taken.read_ns else start_ns
                if last_ns < oldest_ns and not timeout.expired():
                    timeout.reschedule(loop.time())


def tls(base_url: str, verify: bool) -> ssl.SSLContext | bool:
    """How the connections to an address are secured; True stands for a plain one, which has nothing to check."""
    if not base_url.lower().startswith("https:"):
        return True
    context = ssl.create_default_context()
    if not verify:
        if base_url not in _UNVERIFIED:
            _UNVERIFIED.add(base_url)
            shown = one_line(base_url)
            sys.stderr.write(f"verify_tls = false: anybody on the way can read and change what {shown} is sent\n")
        context.check_hostname = False
        context.verify_mode = ssl.CERT_NONE
    return context

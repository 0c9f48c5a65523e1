"""Times the reads of a reply where its bytes come off the network. Understands no byte of it and sends nothing.

When the chunks of many streams come at the same moment, a stream's task gets its turn after the work for all streams
before it: 3 ms at 64 streams in step. So the connection itself keeps the time of each read, beside how much of the
body had come by then, and the bytes that a task takes later are cut where the reads ended. This rests on a few inner
names of aiohttp; on a version without them the time is taken where the task gets the bytes, as it was before.
"""

import asyncio
from collections import deque
from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextvars import ContextVar
from dataclasses import dataclass, field
from functools import partial
from typing import Any, cast

import aiohttp
import httpx
from aiohttp.client_proto import ResponseHandler


@dataclass(slots=True)
class Passage:
    """What a connection tells of one request while it goes out and its reply comes in."""

    sent_ns: int | None = None
    reused: bool = False
    reads: deque[tuple[int, int]] = field(default_factory=deque)
    """Reads not yet taken: bytes of the body so far, and when they came."""
    came: int = 0
    """Bytes of the body so far."""


PASSAGE: ContextVar[Passage] = ContextVar("passage")
"""The request that the running task sends."""


class _Timed(ResponseHandler):
    """aiohttp's end of a connection, with a time for every read.

    A subclass and no wrapper, because event loops look up `data_received` once, when they connect.
    """

    _payload: aiohttp.StreamReader | None = None  # the body that came last; stays None where aiohttp keeps none

    def __init__(self, loop: asyncio.AbstractEventLoop, clock_ns: Callable[[], int]) -> None:
        super().__init__(loop=loop)
        self._clock_ns = clock_ns
        self._passage: Passage | None = None
        self._body_before: aiohttp.StreamReader | None = None

    def set_response_params(self, **params: Any) -> None:
        """The connection is given to a request: called by the task that sends it."""
        self._passage, self._body_before = PASSAGE.get(None), self._payload
        super().set_response_params(**params)

    def data_received(self, data: bytes) -> None:
        """Bytes came."""
        now_ns = self._clock_ns()
        body = self._payload
        super().data_received(data)
        if self._payload is not None:  # None again if these bytes end the body and the connection
            body = self._payload
        passage = self._passage
        if passage is None or body is None or body is self._body_before:
            return
        came = body.total_bytes
        if came > passage.came:
            passage.came = came
            passage.reads.append((came, now_ns))

    def resume_reading(self, *given: Any, **named: Any) -> None:
        """Go on reading; aiohttp asks for it after every chunk, and it costs a pass through its parser each time."""
        if getattr(self, "_reading_paused", True):
            super().resume_reading(*given, **named)


class Connector(aiohttp.TCPConnector):
    """Connections whose reads are timed by a clock."""

    def __init__(self, clock_ns: Callable[[], int], **options: Any) -> None:
        super().__init__(**options)
        self._factory = cast("partial[ResponseHandler]", partial(_Timed, loop=self._loop, clock_ns=clock_ns))


class ChatRequest(httpx.Request):
    """A POST of which all is ready to go out. httpx's own would copy and parse what is the same for all requests.

    Its headers are a plain mapping, which aiohttp copies at once; nothing in between looks at them.
    """

    def __init__(self, url: httpx.URL, headers: Mapping[str, str], content: bytes, timeout: Mapping[str, Any]) -> None:
        self.method, self.url, self.extensions = "POST", url, {"timeout": timeout}
        self.headers = cast(httpx.Headers, headers)
        self._content = content
        self.stream = httpx.ByteStream(content)


class Body:
    """The bytes of one reply with their times, as they come."""

    def __init__(self, response: httpx.Response, passage: Passage, clock_ns: Callable[[], int]) -> None:
        self._passage, self._clock_ns = passage, clock_ns
        self._size = 0
        inner = getattr(response.stream, "_aiohttp_response", None)
        self._taken: Callable[[], Awaitable[bytes]]
        if inner is not None:  # two generators less for every chunk
            self._taken = inner.content.readany
        else:
            chunks = aiter(cast(httpx.AsyncByteStream, response.stream))
            self._taken = lambda: anext(chunks, b"")

    async def read(self) -> Sequence[tuple[bytes, int]]:
        """What came since the last call, one part with its time in ns for each network read; empty at the end."""
        chunk = await self._taken()
        self._size += len(chunk)
        reads = self._passage.reads
        if len(reads) == 1 and reads[0][0] == self._size:
            return ((chunk, reads.popleft()[1]),)
        return self._cut(chunk)

    def _cut(self, chunk: bytes) -> list[tuple[bytes, int]]:
        parts = []
        reads, before, start = self._passage.reads, self._size - len(chunk), 0
        while reads and reads[0][0] <= self._size:
            came, at_ns = reads.popleft()
            parts.append((chunk[start : came - before], at_ns))
            start = came - before
        if start < len(chunk):
            parts.append((chunk[start:], reads[0][1] if reads else self._clock_ns()))
        return parts

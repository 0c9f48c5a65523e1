"""Sends chat requests and keeps all that comes back. Only this file and runner/connection.py know HTTP.

httpx over the aiohttp transport: stock httpx costs a multiple of the CPU per streamed chunk, and a slow client fakes
the very curve that a ladder looks for. No connection limit, no proxy from the environment, no total time limit, no
redirect, no retry: whatever goes wrong becomes the exchange's Failure.
"""

import asyncio
import time
import zlib
from collections.abc import Callable, Mapping
from typing import Any, Self
from urllib.parse import urljoin, urlsplit

import aiohttp
import httpx
from httpx_aiohttp import AiohttpTransport

from itembank.errors import UserError
from runner.config import ServingConfig
from runner.connection import PASSAGE, Body, ChatRequest, Connector, Passage
from runner.dialect import encoded, unstreamed
from runner.exchange import Exchange, Failure, FailureKind
from runner.failure import advice, failure, of_status
from runner.loop import run as run
from runner.models import only_model
from runner.redact import secret_values
from runner.reply import KEPT_RAW, Received, Reply, exchange_of, kept_headers
from runner.wire import End, Patience, take, taking, tls

MAX_BYTES = 64 << 20
KEEPALIVE_S = 4.0
"""Below the 5 s after which common servers hang up: a connection that both sides still hold is never a dead one."""
STALE_S = 0.1
"""A connection that was used before and breaks within this time of sending had been closed before: it is sent anew."""


class Client:
    """One server, as many requests at a time as are sent. Opened with `async with`."""

    def __init__(
        self,
        serving: ServingConfig,
        *,
        connect_timeout_s: float = 10.0,
        idle_timeout_s: float = 600.0,
        max_bytes: int = MAX_BYTES,
        kept_raw: int = KEPT_RAW,
        clock_ns: Callable[[], int] = time.perf_counter_ns,
    ) -> None:
        self.serving = serving
        self.base_url = serving.base_url.rstrip("/")
        self.idle_timeout_s = idle_timeout_s
        self._max_bytes, self._kept_raw, self._clock_ns = max_bytes, kept_raw, clock_ns
        key = serving.api_key
        self._secrets = secret_values(("key",), {"key": key or ""})
        self._timeout = {"connect": connect_timeout_s, "read": None, "write": None, "pool": None}
        headers = {"accept-encoding": "identity", "user-agent": "triplicate"}
        if key:
            headers["authorization"] = f"Bearer {key}"
        self._headers = httpx.Headers(headers)
        self._chat_url = httpx.URL(f"{self.base_url}/chat/completions")
        host = self._chat_url.netloc.decode("ascii")
        self._chat_headers = {"host": host, **headers, "content-type": "application/json"}
        """Parsed once: httpx takes a tenth of a millisecond to parse an address, and bursts wait for it."""
        self._transport: AiohttpTransport | None = None
        self._turn = asyncio.Lock()
        self._patience = Patience(idle_timeout_s, clock_ns)
        self._watch: asyncio.Task[None] | None = None

    async def __aenter__(self) -> Self:
        trace = aiohttp.TraceConfig()
        trace.on_request_chunk_sent.append(self._note_sent)
        trace.on_connection_reuseconn.append(self._note_reused)
        session = aiohttp.ClientSession(
            connector=Connector(
                self._clock_ns,
                limit=0,
                ttl_dns_cache=300,
                keepalive_timeout=KEEPALIVE_S,
                ssl=tls(self.serving.base_url, self.serving.verify_tls),
            ),
            cookie_jar=aiohttp.DummyCookieJar(),
            trust_env=False,
            read_bufsize=1 << 20,
            trace_configs=[trace],
        )
        self._transport = AiohttpTransport(client=session, verify=False, trust_env=False)  # TLS is the session's
        self._watch = asyncio.create_task(self._patience.watch())
        return self

    async def __aexit__(self, *_: object) -> None:
        if self._watch is not None:
            self._watch.cancel()
            await asyncio.gather(self._watch, return_exceptions=True)
        if self._transport is not None:
            await self._transport.aclose()
        self._watch = self._transport = None

    async def send(
        self, body: Mapping[str, Any], *, stream: bool = True, due_ns: int | None = None, retries: int = 0
    ) -> Exchange:
        """Ask for one chat completion; whatever the server does wrong is the exchange's failure.

        `due_ns` is when it was meant to start; `retries` is recorded, nothing is retried here.
        """
        return await self.exchange(await self.receive(body, stream=stream, due_ns=due_ns, retries=retries))

    async def receive(
        self, body: Mapping[str, Any], *, stream: bool = True, due_ns: int | None = None, retries: int = 0
    ) -> Received:
        """The first half of `send`: returns as soon as the reply has ended, before anything is decoded."""
        payload = {**body, "stream": True} if stream else unstreamed(body)
        request = ChatRequest(self._chat_url, self._chat_headers, encoded(payload), self._timeout)
        due_ns = self._clock_ns() if due_ns is None else due_ns
        received = Received(request=payload, stream=stream, due_ns=due_ns, retries=retries)
        await self._fetch(request, received, self._max_bytes)
        return received

    async def exchange(self, received: Received) -> Exchange:
        """The second half of `send`: decodes a reply, in slices that leave room for other streams."""
        return await exchange_of(received, secrets=self._secrets, kept_raw=self._kept_raw, turn=self._turn)

    async def get(self, path: str, *, timeout_s: float = 5.0, max_bytes: int = 4 << 20) -> Reply:
        """Ask for a page of the same server; redirects are not followed.

        A path without a leading slash is relative to the base URL without its `/v1`.
        """
        root = self.base_url.removesuffix("/v1") + "/"
        url = urljoin(root, path)
        if urlsplit(url)[:2] != urlsplit(root)[:2]:
            raise ValueError(f"{path!r} is on another server")
        request = httpx.Request("GET", url, headers=self._headers, extensions={"timeout": self._timeout})
        received = Received(request={}, stream=False, due_ns=self._clock_ns())
        await self._fetch(request, received, max_bytes, within_s=timeout_s)
        body, status = received.taken.body, received.status
        problem = received.broke
        if status is not None and status >= 300:
            problem = of_status(status, received.headers, body, secrets=self._secrets)
        elif received.end is End.TOO_LONG:
            problem = failure(FailureKind.PROTOCOL, f"the page is longer than {max_bytes} bytes", secrets=self._secrets)
        return Reply(status=status, headers=received.headers, body=body, failure=problem)

    async def model(self) -> str:
        """The model to ask for: the configured one or, for `auto`, the only one that the server lists.

        Raises UserError saying what to do if the server cannot be asked or lists none or several.
        """
        if self.serving.model != "auto":
            return self.serving.model
        reply = await self.get(f"{self.base_url}/models", timeout_s=30.0)
        if reply.failure is not None:
            raise UserError(advice(reply.failure, self.serving))
        return only_model(reply, self.serving)

    async def _fetch(
        self, request: httpx.Request, received: Received, limit: int, *, within_s: float | None = None
    ) -> None:
        """Send one request and read its reply to the end, within a time or as long as bytes come; notes what breaks."""
        if self._transport is None:
            raise RuntimeError("the client is not open")
        response: httpx.Response | None = None
        try:
            async with asyncio.timeout(within_s) as timeout:
                if within_s is None:
                    self._patience.begin(timeout, received)
                response = await self._sent(self._transport, request, received)
                received.status, received.headers = (
                    response.status_code,
                    kept_headers(response.headers.raw, self._secrets),
                )
                received.taken = taking(received.headers.get("content-encoding", "").strip().lower())
                body = Body(response, PASSAGE.get(), self._clock_ns)
                sse = received.stream and response.status_code == 200
                received.end = await take(body, received.taken, limit=limit, sse=sse)
        except Exception as error:  # noqa: BLE001 - the boundary to a server that may do anything
            received.broke = self._broken(error, received, within_s)
        finally:
            received.done_ns = self._clock_ns()
            self._patience.end(timeout)
            if response is not None:
                await response.aclose()

    async def _sent(self, transport: AiohttpTransport, request: httpx.Request, received: Received) -> httpx.Response:
        """The head of the reply; a request that met a connection already closed by the server is sent once more."""
        try:
            return await self._sent_once(transport, request, received)
        except httpx.TransportError:
            age_ns = self._clock_ns() - (received.sent_ns or 0)
            if not PASSAGE.get().reused or age_ns > STALE_S * 1e9:
                raise
        return await self._sent_once(transport, request, received)

    async def _sent_once(
        self, transport: AiohttpTransport, request: httpx.Request, received: Received
    ) -> httpx.Response:
        passage = Passage()
        PASSAGE.set(passage)
        try:
            return await transport.handle_async_request(request)
        finally:
            received.sent_ns = passage.sent_ns

    def _broken(self, error: Exception, received: Received, within_s: float | None) -> Failure:
        cause = error.__cause__ if isinstance(error, httpx.TransportError) and error.__cause__ else error
        kind, detail = _fault(cause, begun=received.status is not None)
        if kind is FailureKind.TIMEOUT:
            idle = f"no byte for {self.idle_timeout_s:g} s"
            detail = idle if within_s is None else f"no complete reply within {within_s:g} s"
        if received.status is not None:
            detail += f" (after {received.taken.size} bytes)"
        return failure(kind, detail, secrets=self._secrets, status=received.status)

    async def _note_sent(self, *_: object) -> None:
        PASSAGE.get().sent_ns = self._clock_ns()

    async def _note_reused(self, *_: object) -> None:
        PASSAGE.get().reused = True


def _fault(error: BaseException, *, begun: bool) -> tuple[FailureKind, str]:
    """What broke; before the head of the reply every broken connection is a CONNECT, afterwards a cut stream."""
    text = str(error) or type(error).__name__
    if isinstance(error, aiohttp.ConnectionTimeoutError):
        return FailureKind.CONNECT, "no connection within the time limit"
    if isinstance(error, TimeoutError):
        return FailureKind.TIMEOUT, text
    if isinstance(error, aiohttp.ClientPayloadError | aiohttp.ClientConnectionError | OSError):
        return FailureKind.CUT_STREAM if begun else FailureKind.CONNECT, text
    if isinstance(error, aiohttp.ClientResponseError):
        return FailureKind.PROTOCOL, f"the reply is no sound HTTP: {error.message}"
    if isinstance(error, zlib.error):
        return FailureKind.CUT_STREAM, f"the compressed reply is damaged: {error}"
    return FailureKind.PROTOCOL, f"{type(error).__name__}: {text}"

"""Makes an Exchange of a reply that has been read: decodes its events, decides whether it is complete.

HTTP 200 and `[DONE]` are not success: a reply without a finish_reason was cut off. Judges no content and sends nothing.
"""

import asyncio
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

import msgspec

from runner.assemble import Assembly, decoded, sound
from runner.dialect import recorded
from runner.exchange import Exchange, Failure, FailureKind
from runner.failure import failure, is_html, of_status
from runner.redact import HIDDEN, redacted, redacted_header
from runner.sse import DONE, Event, events
from runner.wire import End, Taken
from scorers.response import Response

KEPT_RAW = 1 << 20
"""Bytes of a body that are kept in the record."""
KEPT_REFUSAL = 8 << 10
"""The same for the body of an error reply."""
SLICE = 32
"""Events that are decoded before other streams get their turn: about 0.2 ms."""
_HEADERS = (
    "server via location retry-after content-type content-encoding transfer-encoding x-request-id x-powered-by "
    "x-served-by x-backend x-accel-buffering openai-version openai-processing-ms process-start-time-unix "
    "x-generation-id x-compute-type x-litellm-version x-litellm-call-id x-litellm-model-id x-litellm-model-api-base "
    "x-litellm-attempted-retries x-litellm-attempted-fallbacks x-litellm-cache-key"
)
HEADERS = frozenset(_HEADERS.split())
_RAW_NAMES = frozenset(name.encode() for name in HEADERS)


@dataclass(frozen=True, slots=True, kw_only=True)
class Reply:
    """What a GET brought."""

    status: int | None = None
    """None when no reply came."""
    headers: Mapping[str, str]
    """Names in lower case."""
    body: bytes = b""
    failure: Failure | None = None
    """Why there is no usable reply; also set for a status of 300 and above."""

    def json(self) -> Any:
        """The JSON value of a body with status 200; None if it is none."""
        try:
            return msgspec.json.decode(self.body) if self.status == 200 else None
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
            return None


@dataclass(slots=True)
class Received:
    """One request and its reply as bytes, not yet understood."""

    request: Mapping[str, Any]
    stream: bool
    due_ns: int
    retries: int = 0
    taken: Taken = field(default_factory=Taken)
    status: int | None = None
    headers: Mapping[str, str] = field(default_factory=dict)
    end: End | None = None
    """None where the reading broke."""
    broke: Failure | None = None
    """What the transport says went wrong."""
    sent_ns: int | None = None
    done_ns: int = 0


@dataclass(slots=True)
class _Reading:
    """The events of a body as far as they could be understood."""

    assembly: Assembly = field(default_factory=Assembly)
    token_ns: list[int] = field(default_factory=list)
    content_events: int = 0
    seen: int = 0
    done: bool = False
    wrong: str = ""
    """Why an event could not be understood."""
    torn: bool = False
    """It was the last one, and cut off."""


def kept_headers(headers: Iterable[tuple[bytes, bytes]], secrets: Collection[str] = ()) -> dict[str, str]:
    """The few reply headers that tell which server or proxy answered, names in lower case."""
    kept = {
        name.decode(): _without(value.decode("latin-1"), secrets)[:200]
        for name, value in ((raw_name.lower(), value) for raw_name, value in headers)
        if name in _RAW_NAMES
    }
    if "location" in kept:
        kept["location"] = redacted(kept["location"])
    return kept


def _without(text: str, secrets: Collection[str]) -> str:
    for secret in secrets:
        text = text.replace(secret, HIDDEN)
    return text


async def exchange_of(received: Received, *, secrets: Collection[str], kept_raw: int, turn: asyncio.Lock) -> Exchange:
    """The Exchange of a reply; `turn` lets one reply at a time be decoded, slice by slice."""
    body = received.taken.body
    reading = _Reading()
    async with turn:
        if body and received.status is not None and 200 <= received.status < 300 and not is_html(body):
            await _read(reading, body, received.taken)
    assembly = reading.assembly
    problem = _problem(received, reading, body, secrets)
    taken = received.taken
    waited = received.end is End.HELD_OPEN or received.broke is not None
    done_ns = taken.done_ns or (taken.read_ns[-1] if waited else None) if problem is None else None
    return Exchange(
        request=recorded(received.request),
        response=None if problem else _response(assembly, received.request),
        failure=problem,
        status=received.status,
        headers={name: redacted_header(value, frozenset(secrets)) for name, value in received.headers.items()},
        raw=_raw(body[:kept_raw], secrets, refused=problem is not None and problem.kind is FailureKind.HTTP_STATUS),
        stream=received.stream,
        due_ns=received.due_ns,
        sent_ns=received.sent_ns,
        read_ns=tuple(received.taken.read_ns),
        token_ns=tuple(reading.token_ns),
        done_ns=done_ns or received.done_ns,
        events=reading.content_events,
        usage=assembly.usage,
        retries=received.retries,
        system_fingerprint=sound(assembly.fingerprint) if assembly.fingerprint else None,
        served_model=sound(assembly.model) if assembly.model else None,
    )


def _raw(body: bytes, secrets: Collection[str], *, refused: bool) -> str:
    """The body as text; an answer loses our own secrets only, so that it stays what the model wrote."""
    if refused:
        return redacted(body[:KEPT_REFUSAL].decode("utf-8", "backslashreplace"), secrets)
    return _without(body.decode("utf-8", "backslashreplace"), secrets)


async def _read(reading: _Reading, body: bytes, taken: Taken) -> None:
    if body[:256].lstrip().startswith(b"{"):
        _read_whole(reading, body)
        return
    reads = iter(zip(taken.chunks, taken.read_ns, strict=True))
    read_end = at_ns = 0
    for event in events(body):
        reading.seen += 1
        if reading.seen % SLICE == 0:
            await asyncio.sleep(0)
        while read_end < event.end:
            chunk, at_ns = next(reads)
            read_end += len(chunk)
        brought = _add(reading, event, torn=event.end == len(body) and not body.endswith(b"\n"))
        if reading.wrong:
            return
        if brought:
            reading.content_events += 1
            if not reading.token_ns or reading.token_ns[-1] != at_ns:
                reading.token_ns.append(at_ns)


def _add(reading: _Reading, event: Event, *, torn: bool) -> bool:
    if event.data.strip() == DONE:
        reading.done = True
        return False
    try:
        value = decoded(event.data)
    except ValueError:
        if event.name == b"error":
            value = {"error": event.data.decode("utf-8", "replace")}
        else:
            reading.wrong = f"event {reading.seen} is not JSON: {event.data[:120].decode('utf-8', 'replace')}"
            reading.torn = torn
            return False
    if not isinstance(value, Mapping):
        reading.wrong = f"event {reading.seen} is no JSON object: {event.data[:120].decode('utf-8', 'replace')}"
        return False
    return reading.assembly.add({"error": value, **value} if event.name == b"error" else value)


def _read_whole(reading: _Reading, body: bytes) -> None:
    """A body that is one JSON document: the answer to a request without stream, or of a server that cannot stream."""
    reading.seen = 1
    try:
        value = decoded(body)
    except ValueError:
        reading.wrong, reading.torn = "the JSON of the reply is broken", not body.rstrip().endswith(b"}")
        return
    reading.content_events = int(isinstance(value, Mapping) and reading.assembly.add(value))


def _problem(received: Received, reading: _Reading, body: bytes, secrets: Collection[str]) -> Failure | None:
    """Why there is no answer; None for a complete one."""
    assembly, status = reading.assembly, received.status
    silent = received.broke is not None and received.broke.kind is FailureKind.TIMEOUT
    complete = assembly.finish_reason is not None and (reading.done or silent)
    if status is not None and not 200 <= status < 300:
        return of_status(status, received.headers, body, secrets=secrets)
    if received.broke is not None and not complete:
        return received.broke
    kind, detail = _fault(received, reading, body)
    if assembly.error is not None:
        said = assembly.error_status or status
        text = f"error within the stream: {assembly.error or 'no message'}"
        return failure(FailureKind.CUT_STREAM, text, secrets=secrets, status=said)
    return failure(kind, detail, secrets=secrets, status=status) if kind else None


def _fault(received: Received, reading: _Reading, body: bytes) -> tuple[FailureKind | None, str]:
    assembly = reading.assembly
    cut, broken = FailureKind.CUT_STREAM, FailureKind.PROTOCOL
    if received.end is End.TOO_LONG:
        return broken, f"the reply is longer than {received.taken.size} bytes; reading was stopped"
    if received.taken.compressed is not None and not received.taken.compressed.complete:
        return cut, "the compressed reply ends early"
    if not body:
        return cut, "the reply is empty"
    if is_html(body):
        return broken, "the reply is an HTML page"
    if reading.wrong:
        return (cut if reading.torn else broken), reading.wrong
    if not assembly.choices and not reading.done:
        start = body[:80].decode("utf-8", "replace")
        return broken, f"the reply holds no choices: {start}"
    if assembly.finish_reason is None:
        ending = "ended with [DONE] but" if reading.done else "ended"
        return cut, f"the stream {ending} without a finish_reason after {reading.content_events} content events"
    return None, ""


def _response(assembly: Assembly, request: Mapping[str, Any]) -> Response:
    cap = request.get("max_tokens", request.get("max_completion_tokens"))
    return Response(
        text=sound("".join(assembly.text)),
        reasoning=sound("".join(assembly.reasoning)) if assembly.reasoning else None,
        tool_calls=assembly.tool_calls(),
        finish_reason=sound(assembly.finish_reason or ""),
        completion_tokens=assembly.usage.completion_tokens if assembly.usage else None,
        token_cap=cap if isinstance(cap, int) else None,
    )

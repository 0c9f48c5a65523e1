"""What went over the wire for one request, with every timestamp. Derives nothing from them.

Times are integer nanoseconds of the monotonic clock of the process that sent the request; a
record's anchor ties them to the wall clock.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

from scorers.response import Response


class FailureKind(StrEnum):
    """Where an exchange broke."""

    CONNECT = "connect"
    TIMEOUT = "timeout"
    HTTP_STATUS = "http_status"
    PROTOCOL = "protocol"
    CUT_STREAM = "cut_stream"


@dataclass(frozen=True, slots=True, kw_only=True)
class Failure:
    """Why there is no response. Says nothing about the model."""

    kind: FailureKind
    status: int | None = None
    """The HTTP status, where one came."""
    detail: str = ""
    """One line, secrets removed, at most 500 characters."""
    retry_after_s: float | None = None
    """What the server asked for in Retry-After."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Usage:
    """Token counts by the server; None where it did not say, never 0 for unknown."""

    prompt_tokens: int | None = None
    completion_tokens: int | None = None
    reasoning_tokens: int | None = None
    cached_tokens: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Exchange:
    """One request and what came back."""

    request: Mapping[str, Any]
    """The JSON body that was sent."""
    response: Response | None = None
    """None when there is a failure."""
    failure: Failure | None = None
    status: int | None = None
    """The HTTP status; 200 does not mean success."""
    headers: Mapping[str, str] = field(default_factory=dict)
    """The few reply headers that identify the engine or the backend."""
    raw: str = ""
    """The reply's body, secrets removed, bytes that are not UTF-8 as escapes; cut at a stated limit."""
    stream: bool = True
    due_ns: int
    """When the request was meant to start."""
    sent_ns: int | None = None
    """When its bytes had been written; None if it never got that far."""
    read_ns: tuple[int, ...] = ()
    """One time for each network read of the body."""
    token_ns: tuple[int, ...] = ()
    """The reads that brought text, reasoning or tool-call content, in order; the first is the first token."""
    done_ns: int
    """When the exchange ended, whichever way."""
    events: int = 0
    """Content events; never a count of tokens."""
    usage: Usage | None = None
    retries: int = 0
    """Attempts before this one."""
    system_fingerprint: str | None = None
    served_model: str | None = None
    """The model name in the reply."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Trial:
    """One item asked once: a line of trials.jsonl."""

    item_id: str
    item_digest: str
    repeat: int
    """From 1."""
    seed: int | None = None
    """What was sent; None at temperature 0."""
    boot: int = 1
    """Which start of the server answered."""
    at: str
    """Wall time of the start, UTC, ISO 8601."""
    exchange: Exchange


@dataclass(frozen=True, slots=True, kw_only=True)
class Outline:
    """What a line of trials.jsonl says without its transcript; reading no more costs a tenth of reading a Trial."""

    item_id: str
    item_digest: str
    repeat: int
    boot: int = 1
    exchange: "Ending"

    @property
    def failure(self) -> str | None:
        """The kind of failure; None where there is a response."""
        return str(self.exchange.failure.kind) if self.exchange.failure else None


@dataclass(frozen=True, slots=True, kw_only=True)
class Ending:
    """How and when an exchange ended."""

    failure: Failure | None = None
    due_ns: int
    sent_ns: int | None = None
    done_ns: int
    usage: Usage | None = None
    served_model: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """What a line of trials.jsonl says of the response, without the request and the reply as it came in."""

    item_id: str
    repeat: int
    exchange: "Answered"


@dataclass(frozen=True, slots=True, kw_only=True)
class Answered:
    """What an exchange brought."""

    response: Response | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Level:
    """One concurrency level of a ladder, as measured: a line of levels.jsonl."""

    phase: str
    """`ladder`, `plateau`, `confirm` or `control`."""
    index: int
    """Position in the order of measuring, from 0; its exchanges carry it."""
    concurrency: int
    round: int
    """Burst within the level, from 1."""
    prompts: str
    """`identical` or `salted`."""
    max_tokens: int
    start_ns: int
    end_ns: int
    peak_in_flight: int
    lag_ns: tuple[int, ...] = ()
    """Event-loop lag samples of the client while the level ran."""
    cpu_ns: int = 0
    """Processor time of the event loop's thread, in the busiest client process."""
    workers: int = 1
    gauges: tuple[Mapping[str, float], ...] = ()
    """What the server's own metrics said, sampled during the level; absent names are absent."""
    interrupted: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class LevelExchange:
    """One request of a ladder: a line of exchanges.jsonl."""

    level: int
    """The `index` of its Level."""
    worker: int = 0
    exchange: Exchange

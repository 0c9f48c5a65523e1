"""Ladder records made by hand: levels and exchanges whose times are stated, as a run folder holds them."""

from collections.abc import Sequence
from typing import Any

from reports.overlap import Served
from runner.exchange import Exchange, Failure, FailureKind, Level, Usage
from scorers.response import Response

MS = 1_000_000


def made_exchange(
    sent_ms: float = 0.0,
    first_ms: float | None = 10.0,
    last_ms: float = 100.0,
    tokens: int | None = 10,
    finish: str = "length",
    due_ms: float | None = None,
    **changes: Any,
) -> Exchange:
    """A completed exchange; `first_ms` None means that it was not streamed."""
    times = tuple(int(t * MS) for t in (first_ms, last_ms) if t is not None)
    fields: dict[str, Any] = {
        "request": {"model": "m"},
        "response": Response(text="x", finish_reason=finish, completion_tokens=tokens),
        "status": 200,
        "stream": first_ms is not None,
        "due_ns": int((sent_ms if due_ms is None else due_ms) * MS),
        "sent_ns": int(sent_ms * MS),
        "read_ns": times,
        "token_ns": times if first_ms is not None else (),
        "done_ns": int(last_ms * MS),
        "events": tokens or 10,
        "usage": None if tokens is None else Usage(completion_tokens=tokens),
    }
    return Exchange(**(fields | changes))


def failed_exchange(kind: FailureKind = FailureKind.CONNECT, status: int | None = None, **changes: Any) -> Exchange:
    fields = {"response": None, "usage": None, "token_ns": (), "read_ns": (), "events": 0}
    return made_exchange(failure=Failure(kind=kind, status=status, detail="gone"), **(fields | changes))


def made_level(concurrency: int = 1, **changes: Any) -> Level:
    fields: dict[str, Any] = {
        "phase": "ladder",
        "index": 0,
        "concurrency": concurrency,
        "round": 1,
        "prompts": "identical",
        "max_tokens": 10,
        "start_ns": 0,
        "end_ns": 1000 * MS,
        "peak_in_flight": concurrency,
    }
    return Level(**(fields | changes))


def staircase(concurrency: int, k: int, service_s: float = 1.0, tokens: int = 101) -> list[Served]:
    """A burst on a server that takes k at a time, each for `service_s`, with a first token after 1 % of it."""
    waves = [(index // k) * service_s * 1.01 for index in range(concurrency)]
    return [
        Served(
            sent_s=0.0,
            first_s=wave + 0.01 * service_s,
            last_s=wave + 1.01 * service_s,
            end_s=wave + 1.01 * service_s,
            tokens=tokens,
        )
        for wave in waves
    ]


def rows_of(levels: Sequence[tuple[int, float]], **fields: Any) -> list[dict[str, Any]]:
    """Levels of a sweep document from (concurrency, tok/s)."""
    return [{"concurrency": c, "tok_s": x, "mean_tokens": 256.0, "prompts": "identical", **fields} for c, x in levels]

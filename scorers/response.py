"""All that a scorer may look at: one model response. Carries no time, no server and no repeat."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolCall:
    """A function call that the model made."""

    name: str
    """The function's name, as the model wrote it."""
    arguments: str
    """JSON text, as the model wrote it; it may be malformed."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Response:
    """What a model answered, assembled from its stream."""

    text: str
    """The visible content; empty where the server sent none."""
    reasoning: str | None = None
    """What the server reported apart from the content as the model's thinking."""
    tool_calls: tuple[ToolCall, ...] = ()
    """In the order in which the model made them."""
    finish_reason: str | None = "stop"
    """The server's word; None where it sent none."""
    completion_tokens: int | None = None
    """Generated tokens by the server's own count; None where it did not say."""
    token_cap: int | None = None
    """The `max_tokens` that was sent; None where none was."""


def response_from_row(row: Mapping[str, Any], token_cap: int | None = None) -> Response:
    """One line of a responses file as a Response.

    A missing `finish_reason` means `stop`; `text: null` is empty; arguments given as an object become JSON text.
    """
    import json

    calls = []
    for call in row.get("tool_calls") or ():
        arguments = call.get("arguments", "")
        text = arguments if isinstance(arguments, str) else json.dumps(arguments, ensure_ascii=False)
        calls.append(ToolCall(name=str(call.get("name", "")), arguments=text))
    return Response(
        text=row.get("text") or "",
        reasoning=row.get("reasoning"),
        tool_calls=tuple(calls),
        finish_reason=row.get("finish_reason", "stop"),
        completion_tokens=row.get("completion_tokens"),
        token_cap=token_cap,
    )

"""Puts the events of one reply together: text, reasoning, tool calls, usage, end. Keeps no clock and judges nothing.

Everything here comes from a server that may be broken or hostile: a field of the wrong type counts as absent.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import msgspec

from runner.exchange import Usage
from scorers.response import ToolCall


@dataclass(slots=True)
class Assembly:
    """What a reply amounts to so far."""

    text: list[str] = field(default_factory=list)
    reasoning: list[str] = field(default_factory=list)
    calls: list["_Call"] = field(default_factory=list)
    finish_reason: str | None = None
    usage: Usage | None = None
    model: str | None = None
    fingerprint: str | None = None
    error: str | None = None
    """The message of an error event, where one came."""
    error_status: int | None = None
    choices: int = 0
    """Events that carried a choice, whatever was in it."""

    def add(self, event: Mapping[str, Any]) -> bool:
        """Take one chunk, or one whole completion; True if it brought text, reasoning or part of a tool call."""
        if event.get("error") or event.get("object") == "error":
            self._add_error(event)
            return False
        if self.model is None or self.fingerprint is None:
            self.model = self.model or _text(event.get("model")) or None
            self.fingerprint = self.fingerprint or _text(event.get("system_fingerprint")) or None
        if event.get("usage") is not None:
            self._add_usage(event["usage"])
        choice = _choice(event.get("choices"))
        if choice is None:
            return False
        self.choices += 1
        if choice.get("finish_reason") is not None:
            self.finish_reason = _text(choice["finish_reason"]) or self.finish_reason
        if "usage" in choice:
            self._add_usage(choice["usage"])
        delta = choice.get("delta", choice.get("message", choice))
        return isinstance(delta, dict) and self._add_delta(delta)

    def _add_delta(self, delta: Mapping[str, Any]) -> bool:
        content = delta.get("content")
        text = content if type(content) is str else _content(content)
        if len(delta) == 1 and text:
            self.text.append(text)
            return True
        text += _text(delta.get("refusal")) + _text(delta.get("text"))
        reasoning = _text(delta.get("reasoning_content")) or _text(delta.get("reasoning"))
        if text:
            self.text.append(text)
        if reasoning:
            self.reasoning.append(reasoning)
        found = False
        calls = delta.get("tool_calls")
        for part in calls if isinstance(calls, list) else ():
            found |= isinstance(part, Mapping) and self._add_call(part)
        legacy = delta.get("function_call")
        if isinstance(legacy, Mapping):
            found |= self._add_call({"index": 0, "function": legacy})
        return bool(text or reasoning or found)

    def _add_call(self, part: Mapping[str, Any]) -> bool:
        function = part.get("function")
        function = function if isinstance(function, Mapping) else {}
        name, arguments = _text(function.get("name")), _arguments(function.get("arguments"))
        call_id = _text(part.get("id"))
        if not (name or arguments or call_id):
            return False
        call = self._call(part.get("index"), call_id, name)
        if name and name != call.name:
            call.name += name
        call.arguments.append(arguments)
        return bool(name or arguments)

    def _call(self, index: Any, call_id: str, name: str) -> "_Call":
        """The call that a part belongs to: the last of its index, unless its id says that a new one begins."""
        known = [call for call in self.calls if call.index == index]
        if index is None:
            known = [] if name else self.calls
        if known and (not call_id or not known[-1].id or known[-1].id == call_id):
            known[-1].id = known[-1].id or call_id
            return known[-1]
        self.calls.append(_Call(index, call_id))
        return self.calls[-1]

    def _add_usage(self, usage: Any) -> None:
        if not isinstance(usage, Mapping):
            return
        before = self.usage or Usage()
        prompt_details = _mapping(usage.get("prompt_tokens_details"))
        completion_details = _mapping(usage.get("completion_tokens_details"))
        self.usage = Usage(
            prompt_tokens=_first(_count(usage.get("prompt_tokens")), before.prompt_tokens),
            completion_tokens=_first(_count(usage.get("completion_tokens")), before.completion_tokens),
            reasoning_tokens=_first(
                _count(completion_details.get("reasoning_tokens")),
                _count(usage.get("reasoning_tokens")),
                before.reasoning_tokens,
            ),
            cached_tokens=_first(
                _count(prompt_details.get("cached_tokens")),
                _count(usage.get("prompt_cache_hit_tokens")),
                before.cached_tokens,
            ),
        )

    def _add_error(self, event: Mapping[str, Any]) -> None:
        if self.error is None:
            self.error = message_of(event)
            error = event.get("error")
            code = _count((error if isinstance(error, Mapping) else event).get("code"))
            self.error_status = code if code is not None and 400 <= code < 600 else None

    def tool_calls(self) -> tuple[ToolCall, ...]:
        """The calls in the order in which they began."""
        return tuple(ToolCall(name=sound(call.name), arguments=sound("".join(call.arguments))) for call in self.calls)


@dataclass(slots=True)
class _Call:
    index: Any
    id: str
    name: str = ""
    arguments: list[str] = field(default_factory=list)


def decoded(data: bytes) -> Any:
    """The JSON value of an event; half a surrogate pair, NaN and bytes that are not UTF-8 are let through.

    Raises ValueError if it is no JSON even then.
    """
    try:
        return msgspec.json.decode(data)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        try:
            return json.loads(data.decode("utf-8", "replace"))
        except RecursionError:
            raise ValueError("nested too deeply") from None


def sound(text: str) -> str:
    r"""The text with surrogate pairs joined and a lone half replaced by U+FFFD, so that it can be stored.

    >>> sound("a\ud83d\ude00b\ud83d") == "a\U0001F600b\ufffd"
    True
    """
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:
        return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
    return text


def message_of(reply: Any, depth: int = 4) -> str:
    """The message in an error reply: nested, flat, FastAPI's `detail` or a bare text; empty where there is none."""
    if isinstance(reply, str):
        return sound(reply)
    if isinstance(reply, list):
        return "; ".join(filter(None, (message_of(entry, depth - 1) for entry in reply[:5] if depth)))
    if not isinstance(reply, Mapping) or not depth:
        return ""
    for key in ("error", "message", "detail", "msg", "error_message"):
        found = message_of(reply.get(key), depth - 1)
        if found:
            return found
    return ""


def _choice(choices: Any) -> Mapping[str, Any] | None:
    """The first choice; with more than one, the others are none of ours."""
    for choice in choices if isinstance(choices, list) else ():
        if isinstance(choice, dict) and choice.get("index", 0) in (0, None):
            return choice
    return None


def _content(content: Any) -> str:
    if isinstance(content, list):
        return "".join(_text(part.get("text")) for part in content if isinstance(part, Mapping))
    return _text(content)


def _arguments(arguments: Any) -> str:
    if isinstance(arguments, Mapping):
        return json.dumps(arguments, ensure_ascii=False)
    return _text(arguments)


def _text(value: Any) -> str:
    return value if isinstance(value, str) else ""


def _mapping(value: Any) -> Mapping[str, Any]:
    return value if isinstance(value, Mapping) else {}


def _count(value: Any) -> int | None:
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    return value if isinstance(value, int) and not isinstance(value, bool) and 0 <= value < 1 << 53 else None


def _first(*values: int | None) -> int | None:
    return next((value for value in values if value is not None), None)

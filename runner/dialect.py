"""Builds request bodies: each engine is sent only the fields that it takes. Sends nothing.

A body is plain OpenAI where the engine is unknown. Sources: the engines' own request schemas; TensorRT-LLM refuses
a body with a field that it does not know, Ollama ignores `max_completion_tokens`, and only some can be told to go on
until the token cap.
"""

import json
from collections.abc import Mapping, Sequence
from typing import Any

import msgspec

from runner.config import Sampling
from runner.redact import redacted_tree

FIXED_LENGTH: Mapping[str, tuple[str, ...]] = {
    "vllm": ("ignore_eos", "min_tokens"),
    "sglang": ("ignore_eos", "min_tokens"),
    "tensorrt_llm": ("ignore_eos", "min_tokens"),
    "nim": ("ignore_eos", "min_tokens"),
    "llama_cpp": ("ignore_eos",),
    "lmdeploy": ("ignore_eos", "min_new_tokens"),
    "triplicate-simulator": ("ignore_eos",),
}
"""The fields by which an engine is told to write exactly `max_tokens` tokens; an engine not named takes none."""


def chat_body(
    *,
    model: str,
    messages: Sequence[Mapping[str, Any]],
    max_tokens: int,
    sampling: Sampling,
    seed: int | None = None,
    tools: Sequence[Mapping[str, Any]] = (),
    stream: bool = True,
    engine: str | None = None,
    fixed_length: bool = False,
    extra_body: Mapping[str, Any] | None = None,
) -> dict[str, Any]:
    """The JSON body of one chat request; `extra_body` is the user's word and wins over everything."""
    body: dict[str, Any] = {
        "model": model,
        "messages": list(messages),
        "max_tokens": max_tokens,
        "temperature": sampling.temperature,
    }
    if sampling.top_p is not None:
        body["top_p"] = sampling.top_p
    if seed is not None:
        body["seed"] = seed
    if tools:
        body["tools"] = list(tools)
    if stream:
        body |= {"stream": True, "stream_options": {"include_usage": True}}
    if fixed_length:
        lengths = {"ignore_eos": True, "min_tokens": max_tokens, "min_new_tokens": max_tokens}
        body |= {name: lengths[name] for name in FIXED_LENGTH.get(engine or "", ())}
    if "max_completion_tokens" in (extra_body or {}):
        del body["max_tokens"]
    return body | dict(extra_body or {})


def recorded(body: Mapping[str, Any]) -> dict[str, Any]:
    """The body for a record: without the keys that `extra_body` may hand to a gateway; questions stay whole."""
    whole = ("messages", "tools")
    return {name: value if name in whole else redacted_tree({name: value})[name] for name, value in body.items()}


def encoded(payload: Mapping[str, Any]) -> bytes:
    """The body as JSON; text that is no Unicode goes as escapes."""
    try:
        return msgspec.json.encode(payload)
    except UnicodeEncodeError:
        return json.dumps(payload).encode("ascii")


def unstreamed(body: Mapping[str, Any]) -> dict[str, Any]:
    """The same request for an answer in one piece; `stream_options` is an error then."""
    return {key: value for key, value in body.items() if key not in ("stream", "stream_options")}

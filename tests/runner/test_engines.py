"""Raw replies of real engines, played back byte for byte, and read by a second, naive reader as the reference."""

import json
from http.client import HTTPResponse
from io import BytesIO
from pathlib import Path
from typing import Any

import pytest

from runner.client import Client, run
from runner.exchange import Exchange, FailureKind
from tests.runner.scripted import Scripted, Step, whole

DATA = Path(__file__).parent.parent / "data" / "engines"
BODY = {"model": "m", "messages": [{"role": "user", "content": "capital of France?"}], "max_tokens": 16}
STREAMS = sorted(path.name for path in DATA.glob("*-stream*.http.raw"))
INTERRUPTED = sorted(path.name for path in DATA.glob("*interrupted*.http.raw"))
ERRORS = sorted(path.name for path in DATA.glob("*-err-*.txt"))


def replayed(steps: list[Step], stream: bool = True) -> Exchange:
    async def main() -> Exchange:
        async with Scripted([steps]) as server, Client(server.serving()) as client:
            return await client.send(BODY, stream=stream)

    return run(main())


class _Socket:
    def __init__(self, raw: bytes) -> None:
        self.raw = raw

    def makefile(self, *_: Any) -> BytesIO:
        return BytesIO(self.raw)


def naive_events(raw: bytes) -> list[dict[str, Any]]:
    """The JSON events by the standard library's HTTP reader and a plain split."""
    reply = HTTPResponse(_Socket(raw))  # type: ignore[arg-type]
    reply.begin()
    lines = reply.read().decode().split("\n")
    return [json.loads(line[6:]) for line in lines if line.startswith("data: {")]


def naive_text(rows: list[dict[str, Any]]) -> str:
    choices = [choice for row in rows for choice in row["choices"]]
    return "".join(choice.get("text") or choice.get("delta", {}).get("content") or "" for choice in choices)


@pytest.mark.parametrize("name", STREAMS)
@pytest.mark.parametrize("piece", [0, 7], ids=["whole", "trickled"])
def test_streams(name: str, piece: int) -> None:
    raw = (DATA / name).read_bytes()
    steps: list[Step] = [raw] if not piece else [raw[start : start + piece] for start in range(0, len(raw), piece)]
    exchange = replayed(steps)
    rows = naive_events(raw)
    assert exchange.failure is None
    assert exchange.response is not None
    assert exchange.response.text == naive_text(rows) != ""
    finishes = [choice.get("finish_reason") for row in rows for choice in row["choices"] if choice.get("finish_reason")]
    assert exchange.response.finish_reason == finishes[-1]
    usages = [row["usage"] for row in rows if row.get("usage")]
    if usages:
        assert exchange.usage is not None
        assert exchange.usage.completion_tokens == usages[-1]["completion_tokens"]
        assert exchange.usage.prompt_tokens == usages[-1]["prompt_tokens"]
    else:
        assert exchange.usage is None
    with_content = [row for row in rows if naive_text([row])]
    assert exchange.events == len(with_content)
    assert exchange.served_model == rows[0]["model"]
    assert exchange.headers["content-type"].startswith("text/event-stream")


@pytest.mark.parametrize("name", INTERRUPTED)
def test_two_hundred_and_done_without_a_finish_reason_is_no_success(name: str) -> None:
    raw = (DATA / name).read_bytes()
    exchange = replayed([raw])
    if b'"finish_reason": "length"' in raw:
        assert exchange.failure is None
        return
    assert b"[DONE]" in raw
    assert exchange.status == 200
    assert exchange.response is None
    assert exchange.failure is not None
    assert exchange.failure.kind is FailureKind.CUT_STREAM
    assert exchange.events > 0


def test_both_kinds_of_interruption_are_there() -> None:
    finished = [b'"finish_reason": "length"' in (DATA / name).read_bytes() for name in INTERRUPTED]
    assert sorted(finished) == [False, False, True]


@pytest.mark.parametrize("name", sorted(path.name for path in DATA.glob("*-chat-nonstream.json")))
def test_answers_in_one_piece(name: str) -> None:
    body = (DATA / name).read_bytes()
    exchange = replayed(whole(body), stream=False)
    assert exchange.response is not None
    assert exchange.response.text == "The capital of France is Paris."
    assert exchange.response.finish_reason == "stop"
    assert exchange.usage is not None
    assert exchange.usage.completion_tokens == json.loads(body)["usage"]["completion_tokens"]
    assert exchange.response.reasoning is None
    assert exchange.response.tool_calls == ()
    assert exchange.token_ns == ()


SAID = {
    "llamacpppython-err-bad-json": "Internal Server Error",
    "llamacpppython-err-bad-temp": "1 validation error: {'type': 'float_parsing'",
    "llamacpppython-err-too-long": "maximum context length is 1024 tokens",
    "llamaserver-err-bad-json": "parse error at line 1, column 2",
    "llamaserver-err-bad-temp": "type must be number, but is string",
    "llamaserver-err-neg-max": "Value must be between -1",
    "llamaserver-err-no-messages": "'messages' is required",
    "llamaserver-err-too-long": "request (9031 tokens) exceeds the available context size (1024 tokens)",
    "transformersserve-err-bad-json": "JSON decode error",
    "transformersserve-err-bad-temp": "Internal Server Error",
    "transformersserve-err-no-messages": "Internal Server Error",
    "vllm-err-bad-json": "JSON decode error",
    "vllm-err-bad-temp": "unable to parse string as a number",
    "vllm-err-neg-max": "max_tokens must be at least 1, got -5",
    "vllm-err-no-messages": "Field required",
    "vllm-err-too-long": "maximum context length is 1024 tokens",
    "vllm-err-wrong-model": "The model `nope` does not exist",
    "xllamacpp-err-bad-json": "parse error at line 1, column 2",
    "xllamacpp-err-bad-temp": "type must be number, but is string",
    "xllamacpp-err-neg-max": "Value must be between -1",
    "xllamacpp-err-no-messages": "'messages' is required",
    "xllamacpp-err-too-long": "request (9031 tokens) exceeds the available context size (1024 tokens)",
}


@pytest.mark.parametrize("name", ERRORS)
def test_error_replies(name: str) -> None:
    first, _, body = (DATA / name).read_bytes().partition(b"\n")
    status = int(first.split()[1])
    exchange = replayed(whole(body, status=status), stream=False)
    if status == 200:
        assert name.removesuffix(".txt") not in SAID
        assert exchange.failure is None, "an engine that accepts a bad request is no failure of the wire"
        return
    assert exchange.failure is not None
    assert exchange.failure.kind is FailureKind.HTTP_STATUS
    assert exchange.failure.status == status
    assert SAID[name.removesuffix(".txt")] in exchange.failure.detail

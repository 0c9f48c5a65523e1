"""The client against servers that stream, stall, lie and break."""

import asyncio
import gzip
import json
import shutil
import ssl
import subprocess
import zlib
from pathlib import Path
from typing import Any

import pytest

from itembank.errors import UserError
from runner.client import Client, run
from runner.config import ServingConfig
from runner.exchange import Exchange, FailureKind, Usage
from tests.runner.scripted import DONE, GOOD, ROLE, Scripted, Step, delta, event, head, usage, whole

BODY = {"model": "m", "messages": [{"role": "user", "content": "hi"}], "max_tokens": 16}
GAP = 0.02
"""Seconds between two writes, so that they arrive as two reads."""


async def answered(*steps: Step, stream: bool = True, body: dict[str, Any] = BODY, **options: Any) -> Exchange:
    async with Scripted([list(steps)]) as server, Client(server.serving(), **options) as client:
        return await client.send(body, stream=stream)


def ask(*steps: Step, **options: Any) -> Exchange:
    return run(answered(*steps, **options))


def streamed(*parts: bytes, **options: Any) -> Exchange:
    """The exchange for a stream of these parts, each of them one read."""
    steps: list[Step] = [head()]
    for part in parts:
        steps += [GAP, part]
    return ask(*steps, **options)


def text_of(exchange: Exchange) -> str:
    assert exchange.failure is None, exchange.failure
    assert exchange.response is not None
    return exchange.response.text


def failed(exchange: Exchange, kind: FailureKind, *words: str) -> None:
    assert exchange.response is None
    assert exchange.failure is not None
    assert exchange.failure.kind is kind, exchange.failure
    for word in words:
        assert word in exchange.failure.detail
    assert "\n" not in exchange.failure.detail
    assert len(exchange.failure.detail) <= 500


class TestStream:
    def test_a_complete_stream_with_its_times(self) -> None:
        exchange = streamed(ROLE, delta("Hello"), delta(" there"), delta(finish="stop") + usage(2) + DONE)
        assert text_of(exchange) == "Hello there"
        assert exchange.response is not None
        assert exchange.response.finish_reason == "stop"
        assert exchange.response.completion_tokens == 2
        assert exchange.response.token_cap == 16
        assert exchange.usage == Usage(prompt_tokens=5, completion_tokens=2)
        assert len(exchange.read_ns) == 4
        assert exchange.token_ns == exchange.read_ns[1:3]
        assert exchange.events == 2
        assert exchange.due_ns <= exchange.sent_ns <= exchange.read_ns[0] <= exchange.done_ns  # type: ignore[operator]
        assert list(exchange.read_ns) == sorted(exchange.read_ns)
        assert exchange.request == {**BODY, "stream": True}
        assert exchange.raw.encode() == GOOD
        assert exchange.status == 200

    def test_a_given_due_time_and_the_retries_are_kept(self) -> None:
        async def main() -> Exchange:
            async with Scripted([[head() + GOOD]]) as server, Client(server.serving()) as client:
                return await client.send(BODY, due_ns=12, retries=2)

        exchange = run(main())
        assert (exchange.due_ns, exchange.retries) == (12, 2)
        assert exchange.sent_ns is not None
        assert exchange.sent_ns > 12

    def test_the_role_chunk_is_no_first_token(self) -> None:
        exchange = streamed(ROLE, delta(role="assistant"), delta("x"), delta(finish="stop") + DONE)
        assert exchange.token_ns == (exchange.read_ns[2],)

    def test_usage_only_chunks_are_no_tokens(self) -> None:
        exchange = streamed(usage(0), delta("x"), usage(1), delta(finish="stop") + DONE)
        assert exchange.token_ns == (exchange.read_ns[1],)
        assert exchange.events == 1

    def test_several_tokens_in_a_chunk_are_counted_by_usage_alone(self) -> None:
        exchange = streamed(delta("a b c"), delta(" d e f"), delta(finish="length") + usage(6) + DONE)
        assert exchange.usage is not None
        assert exchange.usage.completion_tokens == 6
        assert exchange.events == 2

    def test_several_events_in_one_read_share_its_time(self) -> None:
        exchange = streamed(delta("a") + delta("b"), delta("c") + delta(finish="stop") + DONE)
        assert exchange.token_ns == exchange.read_ns
        assert exchange.events == 3

    def test_an_event_torn_over_two_reads_has_the_time_of_its_end(self) -> None:
        whole_event = delta("Grüße")
        cut = whole_event.index(b"\xc3") + 1
        exchange = streamed(whole_event[:cut], whole_event[cut:], delta(finish="stop") + DONE)
        assert text_of(exchange) == "Grüße"
        assert exchange.token_ns == (exchange.read_ns[1],)

    @pytest.mark.parametrize(
        "form",
        [
            pytest.param(lambda s: s.replace(b"\n", b"\r\n"), id="crlf"),
            pytest.param(lambda s: s.replace(b"data: ", b"data:"), id="no space"),
            pytest.param(
                lambda s: s.replace(b"data: {", b": ping\n\nid: 7\nevent: message\nretry: 9\ndata: {"), id="id"
            ),
            pytest.param(lambda s: s.rstrip(b"\n"), id="no last line end"),
            pytest.param(lambda s: b"\xef\xbb\xbf" + s, id="byte order mark"),
            pytest.param(lambda s: s.replace(b'{"choices":', b'{\ndata: "choices":'), id="two data lines"),
            pytest.param(lambda s: b"\n\n\n" + s.replace(b"\n\n", b"\n\n\n\n"), id="more blank lines"),
            pytest.param(lambda s: s.replace(DONE, b""), id="no [DONE]"),
            pytest.param(lambda s: s.replace(b"data: {", b": keep-alive\r\n\r\ndata: {"), id="mixed line ends"),
        ],
    )
    def test_every_form_of_an_event_stream(self, form: Any) -> None:
        exchange = streamed(form(GOOD))
        assert text_of(exchange) == "Hello there"
        assert exchange.events == 2
        assert exchange.usage == Usage(prompt_tokens=5, completion_tokens=2)

    def test_line_ends_of_unicode_do_not_cut_an_event(self) -> None:
        text = "a\u2028b\u2029c\u0085d\x0ce\x0bf\x1cg"
        raw = b'data: {"choices":[{"index":0,"delta":{"content":"' + text.encode() + b'"}}]}\n\n'
        exchange = streamed(raw.replace(b"\x0c", b"\\f").replace(b"\x0b", b"\\u000b").replace(b"\x1c", b"\\u001c"))
        failed(exchange, FailureKind.CUT_STREAM, "without a finish_reason")
        exchange = streamed(
            raw.replace(b"\x0c", b"\\f").replace(b"\x0b", b"\\u000b").replace(b"\x1c", b"\\u001c")
            + delta(finish="stop")
            + DONE
        )
        assert text_of(exchange) == text

    def test_an_event_of_a_megabyte(self) -> None:
        assert text_of(streamed(delta("x" * (1 << 20)) + delta(finish="stop") + DONE)) == "x" * (1 << 20)

    def test_done_inside_a_text_does_not_end_the_stream(self) -> None:
        exchange = streamed(delta('data: [DONE]\n\n "finish_reason": "stop"'), delta("!"), delta(finish="stop") + DONE)
        assert text_of(exchange) == 'data: [DONE]\n\n "finish_reason": "stop"!'

    def test_null_fields(self) -> None:
        rows = [
            {"choices": [{"index": 0, "delta": {"role": "assistant", "content": None, "tool_calls": None}}]},
            {"choices": None, "usage": None},
            {"choices": [{"delta": None}]},
            {"choices": [{"index": 0, "delta": {"content": "x", "reasoning": None, "refusal": None}}], "usage": None},
            {"choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}], "error": None},
        ]
        assert text_of(streamed(b"".join(map(event, rows)) + DONE)) == "x"

    @pytest.mark.parametrize("key", ["reasoning", "reasoning_content"])
    def test_a_stream_of_reasoning_alone(self, key: str) -> None:
        exchange = streamed(delta(**{key: "hm"}), delta(**{key: "m"}), delta(finish="stop") + usage(2) + DONE)
        assert text_of(exchange) == ""
        assert exchange.response is not None
        assert exchange.response.reasoning == "hmm"
        assert exchange.token_ns == exchange.read_ns[:2]

    def test_reasoning_under_both_keys_is_taken_once(self) -> None:
        exchange = streamed(delta(reasoning="a", reasoning_content="a") + delta("b", finish="stop") + DONE)
        assert exchange.response is not None
        assert exchange.response.reasoning == "a"

    def test_a_server_that_cannot_stream_is_read_all_the_same(self) -> None:
        reply = {
            "choices": [{"message": {"content": "one"}, "finish_reason": "stop"}],
            "usage": {"completion_tokens": 1},
        }
        exchange = ask(*whole(json.dumps(reply).encode()))
        assert text_of(exchange) == "one"
        assert exchange.token_ns == ()

    def test_fingerprint_and_served_model(self) -> None:
        row = {"model": "nope", "system_fingerprint": "fp_1", "choices": [{"delta": {"content": "x"}}]}
        exchange = streamed(event(row) + delta(finish="stop") + DONE)
        assert (exchange.served_model, exchange.system_fingerprint) == ("nope", "fp_1")


class TestUsage:
    def test_in_the_chunk_of_the_last_choice(self) -> None:
        last = {"choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}], "usage": {"completion_tokens": 7}}
        assert streamed(delta("x") + event(last) + DONE).usage == Usage(completion_tokens=7)

    def test_cumulative_on_every_chunk_the_last_wins(self) -> None:
        rows = [
            {"choices": [{"delta": {"content": "x"}}], "usage": {"prompt_tokens": 3, "completion_tokens": n}}
            for n in (1, 2, 3)
        ]
        exchange = streamed(b"".join(map(event, rows)) + delta(finish="stop") + DONE)
        assert exchange.usage == Usage(prompt_tokens=3, completion_tokens=3)

    def test_a_partial_one_erases_nothing(self) -> None:
        later = {"choices": [], "usage": {"completion_tokens_details": {"reasoning_tokens": 4}, "prompt_tokens": None}}
        exchange = streamed(delta("x") + delta(finish="stop") + usage(9, prompt=6) + event(later) + DONE)
        assert exchange.usage == Usage(prompt_tokens=6, completion_tokens=9, reasoning_tokens=4)

    def test_after_done(self) -> None:
        exchange = streamed(delta("x", finish="stop"), DONE, usage(1))
        assert exchange.usage == Usage(prompt_tokens=5, completion_tokens=1)

    def test_absent_is_unknown(self) -> None:
        exchange = streamed(delta("x", finish="stop") + DONE)
        assert exchange.usage is None
        assert exchange.response is not None
        assert exchange.response.completion_tokens is None

    def test_cached_tokens(self) -> None:
        row = {"choices": [], "usage": {"prompt_tokens": 45, "prompt_tokens_details": {"cached_tokens": 44}}}
        assert streamed(delta("x", finish="stop") + event(row) + DONE).usage == Usage(
            prompt_tokens=45, cached_tokens=44
        )

    @pytest.mark.parametrize("bad", [-1, True, "7", 1.5, [], {}, 1e300])
    def test_what_is_no_count_is_absent(self, bad: Any) -> None:
        row = {"choices": [], "usage": {"prompt_tokens": 5, "completion_tokens": bad}}
        assert streamed(delta("x", finish="stop") + event(row) + DONE).usage == Usage(prompt_tokens=5)


class TestToolCalls:
    def call(self, index: int | None, name: str | None, arguments: Any, **more: Any) -> bytes:
        function = {key: value for key, value in (("name", name), ("arguments", arguments)) if value is not None}
        part = {"function": function, **({} if index is None else {"index": index}), **more}
        return delta(tool_calls=[part])

    def calls(self, *parts: bytes) -> list[tuple[str, str]]:
        exchange = streamed(b"".join(parts) + delta(finish="tool_calls") + DONE)
        assert exchange.response is not None, exchange.failure
        return [(call.name, call.arguments) for call in exchange.response.tool_calls]

    def test_deltas_are_put_together(self) -> None:
        parts = [self.call(0, "f", "", id="a"), self.call(0, None, '{"x"'), self.call(0, None, ": 1}")]
        assert self.calls(*parts) == [("f", '{"x": 1}')]

    def test_two_calls_in_turn(self) -> None:
        parts = [
            self.call(0, "f", "{", id="a"),
            self.call(1, "g", "[", id="b"),
            self.call(0, None, "}"),
            self.call(1, None, "]"),
        ]
        assert self.calls(*parts) == [("f", "{}"), ("g", "[]")]

    def test_one_index_but_two_ids_are_two_calls(self) -> None:
        assert self.calls(self.call(0, "f", "{}", id="a"), self.call(0, "f", "{}", id="b")) == [
            ("f", "{}"),
            ("f", "{}"),
        ]

    def test_without_an_index_a_name_begins_a_call(self) -> None:
        parts = [self.call(None, "f", "{"), self.call(None, None, "}"), self.call(None, "g", "{}")]
        assert self.calls(*parts) == [("f", "{}"), ("g", "{}")]

    def test_a_name_that_is_repeated_is_one_name(self) -> None:
        assert self.calls(self.call(0, "f", "{", id="a"), self.call(0, "f", "}")) == [("f", "{}")]

    def test_arguments_as_an_object(self) -> None:
        assert self.calls(self.call(0, "f", {"x": "ü"})) == [("f", '{"x": "ü"}')]

    def test_the_old_function_call(self) -> None:
        assert self.calls(delta(function_call={"name": "f", "arguments": "{}"})) == [("f", "{}")]

    def test_they_count_as_tokens(self) -> None:
        exchange = streamed(ROLE, self.call(0, "f", ""), self.call(0, None, "{}"), delta(finish="tool_calls") + DONE)
        assert exchange.token_ns == exchange.read_ns[1:3]

    def test_in_one_piece(self) -> None:
        message = {"content": None, "tool_calls": [{"id": "a", "function": {"name": "f", "arguments": "{}"}}]}
        reply = {"choices": [{"message": message, "finish_reason": "tool_calls"}]}
        exchange = ask(*whole(json.dumps(reply).encode()), stream=False)
        assert exchange.response is not None
        assert [call.name for call in exchange.response.tool_calls] == ["f"]


class TestBroken:
    def test_an_error_event_after_200(self) -> None:
        exchange = streamed(delta("x"), event({"error": {"message": "out of memory", "code": 503}}) + DONE)
        failed(exchange, FailureKind.CUT_STREAM, "out of memory")
        assert exchange.failure is not None
        assert exchange.failure.status == 503
        assert exchange.status == 200

    @pytest.mark.parametrize(
        "row",
        [
            b'data: {"error": "the engine died"}\n\n',
            b'data: {"object": "error", "message": "the engine died", "code": 500}\n\n',
            b'event: error\ndata: {"message": "the engine died"}\n\n',
            b"event: error\ndata: the engine died\n\n",
            b'{"error": {"message": "the engine died"}}\n',
        ],
    )
    def test_every_form_of_an_error_within_a_stream(self, row: bytes) -> None:
        failed(streamed(delta("x") + row), FailureKind.CUT_STREAM, "the engine died")

    def test_no_finish_reason_is_a_failure_even_with_done(self) -> None:
        exchange = streamed(delta("x"), delta("y"), DONE)
        failed(exchange, FailureKind.CUT_STREAM, "[DONE]", "2 content events")
        assert exchange.token_ns == exchange.read_ns[:2]
        assert "x" in exchange.raw

    @pytest.mark.parametrize("stream", [True, False])
    def test_an_empty_body(self, stream: bool) -> None:
        failed(ask(*whole(b""), stream=stream), FailureKind.CUT_STREAM, "empty")

    def test_done_alone(self) -> None:
        failed(streamed(DONE), FailureKind.CUT_STREAM, "without a finish_reason")

    def test_an_event_that_is_no_json(self) -> None:
        failed(streamed(delta("x") + b"data: {oops\n\n" + delta(finish="stop")), FailureKind.PROTOCOL, "oops")

    @pytest.mark.parametrize("value", [b"7", b'"text"', b"[1]", b"null"])
    def test_an_event_that_is_no_object(self, value: bytes) -> None:
        failed(streamed(b"data: " + value + b"\n\n" + DONE), FailureKind.PROTOCOL, "no JSON object")

    def test_a_stream_that_ends_within_an_event(self) -> None:
        exchange = streamed(delta("x") + delta("yyyyy")[:40])
        failed(exchange, FailureKind.CUT_STREAM)
        assert exchange.events == 1

    @pytest.mark.parametrize("body", [b'{"choices": [{"mess', b'{"choices": [}]}'])
    def test_a_broken_document(self, body: bytes) -> None:
        kind = FailureKind.PROTOCOL if body.endswith(b"}") else FailureKind.CUT_STREAM
        failed(ask(*whole(body), stream=False), kind, "JSON")

    def test_a_document_without_choices(self) -> None:
        failed(ask(*whole(b'{"status": "ok"}'), stream=False), FailureKind.PROTOCOL, "no choices", "ok")

    def test_a_web_page_with_200(self) -> None:
        page = b"<!DOCTYPE html><html><title>Sign in</title>"
        failed(ask(*whole(page, kind="text/html")), FailureKind.PROTOCOL, "HTML")

    def test_plain_text_with_200(self) -> None:
        failed(ask(*whole(b"hello", kind="text/plain")), FailureKind.PROTOCOL, "no choices")

    def test_a_reset_in_the_middle_keeps_what_came(self) -> None:
        exchange = ask(head(), GAP, delta("x"), GAP, "abort")
        failed(exchange, FailureKind.CUT_STREAM, "after")
        assert len(exchange.read_ns) == 1
        assert exchange.token_ns == exchange.read_ns
        assert "x" in exchange.raw

    def test_a_missing_last_chunk_after_a_full_answer_is_no_failure(self) -> None:
        body = b"%x\r\n%s\r\n" % (len(GOOD), GOOD)
        assert text_of(ask(head(transfer_encoding="chunked") + body, GAP, "abort")) == "Hello there"

    def test_a_missing_last_chunk_without_done_is_one(self) -> None:
        part = delta("x", finish="stop")
        body = b"%x\r\n%s\r\n" % (len(part), part)
        failed(ask(head(transfer_encoding="chunked") + body, GAP, "abort"), FailureKind.CUT_STREAM)

    def test_a_length_that_is_too_long(self) -> None:
        failed(ask(head(kind="application/json", content_length="999") + b"{}"), FailureKind.CUT_STREAM)

    def test_a_length_that_is_too_short(self) -> None:
        reply = b'{"choices": [{"message": {"content": "x"}, "finish_reason": "stop"}]}'
        exchange = ask(head(kind="application/json", content_length="20") + reply)
        assert exchange.failure is not None
        assert exchange.failure.kind in (FailureKind.PROTOCOL, FailureKind.CUT_STREAM)

    def test_a_chunk_size_that_is_no_number(self) -> None:
        exchange = ask(head(transfer_encoding="chunked") + b"zz\r\nboo\r\n")
        assert exchange.failure is not None
        assert exchange.failure.kind in (FailureKind.PROTOCOL, FailureKind.CUT_STREAM)

    def test_what_is_no_http(self) -> None:
        failed(ask(b"SSH-2.0-OpenSSH_9.6\r\n\r\n"), FailureKind.PROTOCOL)

    def test_a_connection_closed_before_the_reply(self) -> None:
        failed(ask("abort"), FailureKind.CONNECT)
        failed(ask(b""), FailureKind.CONNECT)

    def test_nobody_listens(self) -> None:
        async def main() -> Exchange:
            async with Scripted([]) as server:
                serving = server.serving()
            async with Client(serving) as client:
                return await client.send(BODY)

        exchange = run(main())
        failed(exchange, FailureKind.CONNECT)
        assert exchange.sent_ns is None
        assert exchange.status is None

    def test_a_host_that_does_not_exist(self) -> None:
        async def main() -> Exchange:
            async with Client(ServingConfig(name="x", base_url="http://no-such-host.invalid/v1")) as client:
                return await client.send(BODY)

        failed(run(main()), FailureKind.CONNECT)

    def test_invalid_utf8_becomes_a_replacement_character(self) -> None:
        bad = b'data: {"choices":[{"index":0,"delta":{"content":"a\xffb"}}]}\n\n'
        exchange = streamed(bad + delta(finish="stop") + DONE)
        assert text_of(exchange) == "a\ufffdb"
        exchange.raw.encode("utf-8")
        assert "\\xff" in exchange.raw

    def test_half_a_surrogate_pair_can_be_stored_and_two_halves_meet(self) -> None:
        first = b'data: {"choices":[{"index":0,"delta":{"content":"\\ud83d"}}]}\n\n'
        second = b'data: {"choices":[{"index":0,"delta":{"content":"\\ude00 \\udead"}}]}\n\n'
        assert text_of(streamed(first, second, delta(finish="stop") + DONE)) == "\U0001f600 \ufffd"

    def test_a_number_that_json_forbids(self) -> None:
        row = b'data: {"choices":[{"index":0,"delta":{"content":"x"},"logprobs":{"l":[-Infinity,NaN,1e999]}}]}\n\n'
        assert text_of(streamed(row + delta(finish="stop") + DONE)) == "x"

    def test_a_json_nested_without_end(self) -> None:
        failed(streamed(b"data: " + b'{"a":' * 50_000 + b"\n\n" + DONE), FailureKind.PROTOCOL)

    def test_a_request_that_is_no_unicode_still_goes(self) -> None:
        body = {**BODY, "messages": [{"role": "user", "content": "half \ud83d"}]}
        assert text_of(ask(head() + GOOD, body=body)) == "Hello there"


class TestCompressed:
    @pytest.mark.parametrize(("encoding", "packed"), [("gzip", gzip.compress(GOOD)), ("deflate", zlib.compress(GOOD))])
    def test_is_undone(self, encoding: str, packed: bytes) -> None:
        exchange = ask(head(content_encoding=encoding), GAP, packed[:30], GAP, packed[30:])
        assert text_of(exchange) == "Hello there"
        assert len(exchange.read_ns) == 2

    def test_cut_short(self) -> None:
        failed(ask(head(content_encoding="gzip") + gzip.compress(GOOD)[:-20]), FailureKind.CUT_STREAM, "compressed")

    def test_damaged(self) -> None:
        failed(ask(head(content_encoding="gzip") + b"not gzip at all"), FailureKind.CUT_STREAM, "damaged")

    def test_a_bomb_is_stopped(self) -> None:
        bomb = gzip.compress(b"\0" * (8 << 20))
        failed(ask(head(content_encoding="gzip") + bomb, max_bytes=1 << 20), FailureKind.PROTOCOL, "longer than")

    def test_an_unknown_one(self) -> None:
        failed(ask(head(content_encoding="br") + b"xx"), FailureKind.PROTOCOL, "br")


class TestStatus:
    @pytest.mark.parametrize(
        ("body", "said"),
        [
            (b'{"error": {"message": "no such model", "code": 404}}', "no such model"),
            (b'{"error": "no such model"}', "no such model"),
            (b'{"object": "error", "message": "no such model"}', "no such model"),
            (b'{"detail": "no such model"}', "no such model"),
            (b'{"detail": [{"msg": "no such model"}, {"msg": "and no key"}]}', "no such model; and no key"),
            (b'data: {"error": {"message": "no such model"}}\n\n', "no such model"),
            (b"no such\r\nmodel", "no such model"),
            (b"<html><head><title>no such model</title></head>", "no such model"),
            (b"<html>", "HTML"),
            (b"", "no message"),
            (b'{"a": 1}', '{"a": 1}'),
            (b'{"error": {"error": {"error": {"error": {"error": {}}}}}}', "error"),
        ],
    )
    def test_the_message_of_the_server(self, body: bytes, said: str) -> None:
        exchange = ask(*whole(body, status=404))
        failed(exchange, FailureKind.HTTP_STATUS, said)
        assert exchange.failure is not None
        assert exchange.failure.status == exchange.status == 404

    @pytest.mark.parametrize(
        ("value", "seconds"),
        [
            ("3", 3.0),
            ("2.5", 2.5),
            ("-4", 0.0),
            ("nan", None),
            ("soon", None),
            ("inf", 86_400.0),
            ("Wed, 21 Oct 2015 07:28:00 GMT", 0.0),
            ("Wed, 21 Oct 9915 07:28:00 GMT", 86_400.0),
        ],
    )
    def test_retry_after(self, value: str, seconds: float | None) -> None:
        exchange = ask(*whole(b"{}", status=429, retry_after=value))
        assert exchange.failure is not None
        assert exchange.failure.retry_after_s == seconds

    def test_a_redirect_is_not_followed_and_the_key_stays_here(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setenv("KEY", "secret-key-1")

        async def main() -> tuple[Exchange, Any, int]:
            async with Scripted([whole(b"{}")]) as other:
                away = whole(b"", status=307, location=f"{other.base_url}/chat/completions")
                async with Scripted([away]) as server, Client(server.serving(api_key_env="KEY")) as client:
                    exchange, reply = await client.send(BODY), await client.get("/metrics")
                    assert server.requests[0].headers["authorization"] == "Bearer secret-key-1"
                return exchange, reply, len(other.requests)

        exchange, reply, asked = run(main())
        failed(exchange, FailureKind.HTTP_STATUS, "redirect to http://127.0.0.1")
        assert reply.status == 307
        assert asked == 0

    def test_a_hundred_refusals_exhaust_no_pool(self) -> None:
        async def main() -> tuple[list[Exchange], Exchange, int]:
            async with (
                Scripted([*[whole(b"{}", status=500)] * 100, [head() + GOOD]], keep=False) as server,
                Client(server.serving()) as client,
            ):
                refused = await asyncio.gather(*(client.send(BODY) for _ in range(100)))
                return refused, await client.send(BODY), server.in_flight

        refused, last, in_flight = run(main())
        assert {e.failure.status for e in refused if e.failure} == {500}
        assert text_of(last) == "Hello there"
        assert in_flight == 0


class TestTime:
    def test_a_stall_ends_by_the_idle_limit(self) -> None:
        exchange = ask(head(), GAP, delta("x"), "hang", idle_timeout_s=0.8)
        failed(exchange, FailureKind.TIMEOUT, "no byte for 0.8 s", "after")
        assert exchange.token_ns == exchange.read_ns

    def test_a_server_that_never_answers(self) -> None:
        exchange = ask("hang", idle_timeout_s=0.2)
        failed(exchange, FailureKind.TIMEOUT)
        assert exchange.status is None
        assert exchange.sent_ns is not None

    def test_a_slow_stream_outlives_the_idle_limit(self) -> None:
        parts: list[Step] = [head()]
        for part in (GOOD[start : start + 10] for start in range(0, len(GOOD), 10)):
            parts += [0.03, part]
        exchange = ask(*parts, idle_timeout_s=0.8)
        assert text_of(exchange) == "Hello there"
        assert exchange.done_ns - exchange.due_ns > 8e8

    def test_a_stall_after_the_last_event_is_no_failure(self) -> None:
        assert text_of(ask(head(), GAP, delta("x", finish="stop"), "hang", idle_timeout_s=0.8)) == "x"

    def test_a_stream_held_open_after_done_ends_soon_and_its_time_is_that_of_done(self) -> None:
        exchange = ask(head(), GAP, GOOD, "hang")
        assert text_of(exchange) == "Hello there"
        assert exchange.done_ns == exchange.read_ns[-1]

    def test_done_torn_over_two_reads(self) -> None:
        exchange = ask(head(), GAP, GOOD[:-9], GAP, GOOD[-9:], "hang")
        assert text_of(exchange) == "Hello there"

    def test_bytes_without_end_after_done_are_not_waited_for(self) -> None:
        steps: list[Step] = [head(), GOOD]
        for _ in range(200):
            steps += [0.05, b": ping\n\n"]
        exchange = ask(*steps)
        assert text_of(exchange) == "Hello there"
        assert len(exchange.read_ns) < 30

    def test_connecting_is_limited(self) -> None:
        async def main() -> Exchange:
            import socket

            full = socket.socket()
            full.bind(("127.0.0.1", 0))
            full.listen(0)
            held = [socket.socket() for _ in range(4)]
            for one in held:
                one.setblocking(False)
                one.connect_ex(full.getsockname())
            url = f"http://127.0.0.1:{full.getsockname()[1]}/v1"
            try:
                serving = ServingConfig(name="x", base_url=url)
                async with Client(serving, connect_timeout_s=0.2, idle_timeout_s=0.6) as client:
                    return await client.send(BODY)
            finally:
                for one in (full, *held):
                    one.close()

        exchange = run(main())
        assert exchange.failure is not None
        assert exchange.failure.kind in (FailureKind.CONNECT, FailureKind.TIMEOUT)


class TestSize:
    def test_an_endless_stream_is_stopped(self) -> None:
        part = delta("x" * 1000) * 50
        exchange = ask(head(), *[part] * 200, max_bytes=1 << 20)
        failed(exchange, FailureKind.PROTOCOL, "longer than")
        assert len(exchange.raw) <= 1 << 20

    def test_an_event_of_100_megabytes_is_stopped(self) -> None:
        megabyte = b"x" * (1 << 20)
        exchange = ask(head() + b'data: {"choices":[{"delta":{"content":"', *[megabyte] * 100, max_bytes=4 << 20)
        failed(exchange, FailureKind.PROTOCOL, "longer than")

    def test_the_record_keeps_a_limited_part(self) -> None:
        exchange = streamed(delta("x" * 5000, finish="stop") + DONE, kept_raw=100)
        assert len(exchange.raw) == 100
        assert len(text_of(exchange)) == 5000

    def test_a_large_error_page_makes_a_short_line(self) -> None:
        failed(ask(*whole(b"word " * 100_000, status=500)), FailureKind.HTTP_STATUS, "word")


class TestWire:
    def test_what_is_sent(self, monkeypatch: pytest.MonkeyPatch) -> None:
        for name in ("HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy"):
            monkeypatch.setenv(name, "http://127.0.0.1:9")

        async def main() -> Any:
            async with Scripted([[head() + GOOD]]) as server, Client(server.serving()) as client:
                await client.send(BODY)
                return server.requests[0]

        request = run(main())
        assert (request.method, request.path) == ("POST", "/v1/chat/completions")
        assert request.headers["accept-encoding"] == "identity"
        assert request.headers["content-type"] == "application/json"
        assert "authorization" not in request.headers
        assert "cookie" not in request.headers
        assert request.json() == {**BODY, "stream": True}

    def test_without_a_stream_no_stream_options_go(self) -> None:
        reply = whole(b'{"choices": [{"message": {"content": "x"}, "finish_reason": "stop"}]}')

        async def main() -> Any:
            async with Scripted([reply]) as server, Client(server.serving()) as client:
                exchange = await client.send({**BODY, "stream": True, "stream_options": {"a": 1}}, stream=False)
                return server.requests[0].json(), exchange

        sent, exchange = run(main())
        assert sent == exchange.request == BODY
        assert text_of(exchange) == "x"

    def test_the_connection_is_used_again_after_a_full_stream(self) -> None:
        body = b"%x\r\n%s\r\n0\r\n\r\n" % (len(GOOD), GOOD)

        async def main() -> int:
            async with (
                Scripted([[head(transfer_encoding="chunked") + body]], keep=True) as server,
                Client(server.serving()) as client,
            ):
                for _ in range(5):
                    text_of(await client.send(BODY))
                return server.connections

        assert run(main()) == 1

    def test_a_connection_that_the_server_closed_unannounced_is_no_failure(self) -> None:
        async def main() -> tuple[list[Exchange], int]:
            async with (
                Scripted([whole(GOOD, kind="text/event-stream")], keep=False) as server,
                Client(server.serving()) as client,
            ):
                return [await client.send(BODY) for _ in range(20)], len(server.requests)

        exchanges, asked = run(main())
        assert {text_of(exchange) for exchange in exchanges} == {"Hello there"}
        assert asked == 20

    @pytest.mark.parametrize("count", [200, 1000])
    def test_no_pool_limits_the_streams(self, count: int) -> None:
        async def main() -> tuple[int, list[Exchange]]:
            together = asyncio.Event()

            async def all_here() -> None:
                if server.in_flight >= count:
                    together.set()
                await together.wait()

            async with Scripted([[all_here, head() + GOOD]]) as server, Client(server.serving()) as client:
                exchanges = await asyncio.gather(*(client.send(BODY) for _ in range(count)))
                return server.peak, exchanges

        peak, exchanges = run(main())
        assert peak == count
        assert {text_of(exchange) for exchange in exchanges} == {"Hello there"}

    def test_prompts_of_400_kilobytes(self) -> None:
        body = {**BODY, "messages": [{"role": "user", "content": "x" * 400_000}]}

        async def main() -> list[int]:
            async with Scripted([[head() + GOOD]]) as server, Client(server.serving()) as client:
                for exchange in await asyncio.gather(*(client.send(body) for _ in range(32))):
                    text_of(exchange)
                return [len(request.body) for request in server.requests]

        assert min(run(main())) > 400_000

    def test_a_request_outside_the_block_is_a_bug(self) -> None:
        async def main() -> None:
            await Client(ServingConfig(name="x", base_url="http://127.0.0.1:1/v1")).send(BODY)

        with pytest.raises(RuntimeError, match="not open"):
            run(main())

    def test_cancelling_closes_the_connection(self) -> None:
        async def main() -> int:
            async with Scripted([[head(), delta("x"), "hang"]]) as server, Client(server.serving()) as client:
                task = asyncio.create_task(client.send(BODY))
                while not server.requests:
                    await asyncio.sleep(0)
                task.cancel()
                with pytest.raises(asyncio.CancelledError):
                    await task
                return len(client._patience.open)

        assert run(main()) == 0


class TestSecrets:
    KEY = "abc/DEF+very-secret"

    def test_a_server_that_echoes_the_key(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setenv("KEY", self.KEY)
        echo = json.dumps({"error": {"message": f"wrong key {self.KEY}"}}).encode()
        leaks = [
            whole(echo, status=401, x_request_id=self.KEY),
            [head(server=self.KEY) + delta(self.KEY) + event({"error": f"Bearer {self.KEY}"})],
        ]

        async def main() -> list[Exchange]:
            async with Scripted(leaks) as server, Client(server.serving(api_key_env="KEY")) as client:
                return [await client.send(BODY), await client.send(BODY)]

        for exchange in run(main()):
            assert exchange.failure is not None
            assert self.KEY not in repr(exchange)
            assert "***" in exchange.failure.detail

    def test_other_keys_are_removed_too(self) -> None:
        text = "Authorization: Bearer abcdef, key sk-proj-1234567890abcdef, token hf_ABCDEFGHIJKLMNOPQR"
        exchange = ask(*whole(json.dumps({"error": text}).encode(), status=401))
        assert exchange.failure is not None
        for secret in ("abcdef,", "1234567890", "ABCDEFGH"):
            assert secret not in repr(exchange)

    @pytest.mark.parametrize("key", ["none", "EMPTY", "null"])
    def test_a_word_that_is_no_secret_stays(self, key: str, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setenv("KEY", key)

        async def main() -> Exchange:
            async with Scripted([[head() + GOOD]]) as server, Client(server.serving(api_key_env="KEY")) as client:
                exchange = await client.send(BODY)
                assert server.requests[0].headers["authorization"] == f"Bearer {key}"
                return exchange

        assert run(main()).raw.encode() == GOOD

    def test_terminal_escapes_do_not_reach_a_line(self) -> None:
        exchange = ask(*whole(b"\x1b]0;owned\x07\x1b[31mred\xe2\x80\xae", status=500))
        assert exchange.failure is not None
        assert exchange.failure.detail == "]0;owned [31mred"


class TestGet:
    def got(self, *steps: Step, path: str = "/metrics", **options: Any) -> tuple[Any, Any]:
        async def main() -> tuple[Any, Any]:
            async with Scripted([list(steps)]) as server, Client(server.serving()) as client:
                return await client.get(path, **options), server.requests

        return run(main())

    def test_a_page(self) -> None:
        reply, requests = self.got(*whole(b'{"a": 1}', server="mock"))
        assert (reply.status, reply.json(), reply.headers["server"], reply.failure) == (200, {"a": 1}, "mock", None)
        assert (requests[0].method, requests[0].path) == ("GET", "/metrics")

    @pytest.mark.parametrize(
        ("path", "asked"), [("props", "/props"), ("/props", "/props"), ("v1/models", "/v1/models")]
    )
    def test_paths(self, path: str, asked: str) -> None:
        assert self.got(*whole(b"{}"), path=path)[1][0].path == asked

    @pytest.mark.parametrize("path", ["//evil.example/x", "http://evil.example/", "https:x"])
    def test_another_server_is_never_asked(self, path: str) -> None:
        with pytest.raises(ValueError, match="another server"):
            self.got(*whole(b"{}"), path=path)

    def test_a_missing_page(self) -> None:
        reply, _ = self.got(*whole(b"not here", status=404))
        assert (reply.status, reply.json(), reply.body) == (404, None, b"not here")
        assert reply.failure.kind is FailureKind.HTTP_STATUS

    def test_no_json(self) -> None:
        assert self.got(*whole(b"# HELP"))[0].json() is None

    def test_a_trickle_is_given_up(self) -> None:
        steps: list[Step] = [head()]
        for _ in range(100):
            steps += [0.05, b"x"]
        reply, _ = self.got(*steps, timeout_s=0.3)
        assert reply.failure.kind is FailureKind.TIMEOUT
        assert "0.3 s" in reply.failure.detail

    def test_a_page_that_is_too_long(self) -> None:
        reply, _ = self.got(*whole(b"x" * 10_000), max_bytes=100)
        assert reply.failure.kind is FailureKind.PROTOCOL


class TestModel:
    def model(self, *steps: Step, **fields: Any) -> str:
        async def main() -> str:
            async with (
                Scripted([list(steps)]) as server,
                Client(server.serving(**{"model": "auto", **fields})) as client,
            ):
                return await client.model()

        return run(main())

    def test_the_only_one(self) -> None:
        assert self.model(*whole(b'{"data": [{"id": "qwen"}]}')) == "qwen"

    def test_a_configured_one_is_not_looked_up(self) -> None:
        assert self.model("abort", model="mine") == "mine"

    @pytest.mark.parametrize(
        ("steps", "words"),
        [
            (whole(b'{"data": [{"id": "a"}, {"id": "b"}]}'), ["2 models (a, b)", "model ="]),
            (whole(b'{"data": []}'), ["lists no model"]),
            (whole(b'{"data": [{"id": 7}, 8]}'), ["lists no model"]),
            (whole(b'{"data": 3}'), ["no list of models", "/v1"]),
            (whole(b"[]"), ["no list of models"]),
            (whole(b"<html><title>x</title>"), ["HTML", "/v1"]),
            (whole(b"\xff"), ["no list of models"]),
            (whole(b'{"error": "no key"}', status=401), ["401", "no key", "api_key_env"]),
            (whole(b"{}", status=404), ["404", "/v1"]),
            (whole(b"{}", status=400), ["400", "extra_body"]),
            (whole(b'{"error": "loading model"}', status=503), ["503", "loading model", "again"]),
            (
                whole(b"", status=301, location="https://other.example/"),
                ["redirect to https://other.example/", "base_url"],
            ),
            (["abort"], ["cannot reach", "start the server"]),
            ([b"garbage\r\n\r\n"], ["OpenAI-compatible"]),
            ([head(content_length="50") + b"{"], ["breaks its answer off"]),
        ],
    )
    def test_each_trouble_is_one_line_that_helps(self, steps: list[Step], words: list[str]) -> None:
        with pytest.raises(UserError) as caught:
            self.model(*steps)
        for word in words:
            assert word in str(caught.value)
        assert "\n" not in str(caught.value)

    def test_a_key_that_is_refused_names_its_variable(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setenv("MY_KEY", "x1y2z3")
        with pytest.raises(UserError, match="check the key in MY_KEY"):
            self.model(*whole(b"{}", status=403), api_key_env="MY_KEY")


@pytest.fixture(scope="module")
def certificate(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A certificate for 127.0.0.1 that nobody vouches for, with its key."""
    if shutil.which("openssl") is None:
        pytest.skip("needs openssl to make a certificate")
    path: Path = tmp_path_factory.mktemp("tls") / "both.pem"
    command = (
        "openssl req -x509 -newkey rsa:2048 -nodes -days 2 -subj /CN=127.0.0.1 -addext subjectAltName=IP:127.0.0.1"
    )
    subprocess.run([*command.split(), "-keyout", path, "-out", f"{path}.crt"], check=True, capture_output=True)
    path.write_bytes(path.read_bytes() + Path(f"{path}.crt").read_bytes())
    return path


class TestTls:
    def asked(self, certificate: Path, **fields: Any) -> Exchange:
        async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            await reader.readuntil(b"\r\n\r\n")
            writer.write(head() + GOOD)
            await writer.drain()
            writer.close()

        async def main() -> Exchange:
            context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
            context.load_cert_chain(certificate)
            async with await asyncio.start_server(serve, "127.0.0.1", 0, ssl=context) as server:
                port = server.sockets[0].getsockname()[1]
                serving = ServingConfig(name="x", base_url=f"https://127.0.0.1:{port}/v1", **fields)
                async with Client(serving) as client:
                    return await client.send(BODY)

        return run(main())

    def test_an_unknown_certificate_is_refused(self, certificate: Path) -> None:
        failed(self.asked(certificate), FailureKind.CONNECT, "certificate")

    def test_unless_that_is_allowed(self, certificate: Path) -> None:
        assert text_of(self.asked(certificate, verify_tls=False)) == "Hello there"

    def test_https_to_a_plain_server(self) -> None:
        async def main() -> Exchange:
            async with Scripted([[head() + GOOD]]) as server:
                serving = ServingConfig(name="x", base_url=server.base_url.replace("http:", "https:"))
                async with Client(serving, connect_timeout_s=0.3) as client:
                    return await client.send(BODY)

        failed(run(main()), FailureKind.CONNECT, "no connection")


def test_run_works_without_uvloop(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(__import__("sys").modules, "uvloop", None)
    assert text_of(ask(head() + GOOD)) == "Hello there"

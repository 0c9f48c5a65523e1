"""One simulated chat completion: writes what the engine makes, token by token, and the fault that was drawn for it."""

import asyncio
import itertools
import time
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import msgspec
from aiohttp import web

from runner.simulator_answers import Answer, Piece, spoiled
from runner.simulator_engine import Job, token_count
from runner.simulator_faults import UNDER_LOAD

if TYPE_CHECKING:
    from runner.simulator import Simulator, Task, Truth

DONE = b"data: [DONE]\n\n"
SLOW_S = 0.1
STALL_S = 3600.0
_encode = msgspec.json.encode


class Chat:
    """One chat request from its body to its last byte."""

    def __init__(self, server: "Simulator", request: web.Request, body: dict[str, Any], truth: "Truth") -> None:
        self.server, self.request, self.body, self.truth = server, request, body, truth
        self.fault = truth.fault
        self.id = f"chatcmpl-{truth.id}"
        self.max_tokens: int = body.get("max_tokens") or body.get("max_completion_tokens") or 256
        prompt = _prompt(body.get("messages"))
        self.prompt_tokens = token_count(prompt)
        self.cached_tokens = min(server.engine.cached(prompt), self.prompt_tokens)
        free = server.engine.length(self.max_tokens)
        self.answer: Answer = server.model.answer(body["messages"], self.max_tokens, free)
        self._sent = 0

    async def run(self) -> web.StreamResponse:
        """Let the engine generate and write what it makes."""
        job = Job(
            self.server.now_s(), self.prompt_tokens, max(1, len(self.answer.pieces)), cached_tokens=self.cached_tokens
        )
        task = self.server.submit(job, self.truth)
        try:
            if self.fault in UNDER_LOAD:
                await task.ready.wait()
                if job.batch > 1:
                    self.answer = spoiled(self.answer, self.fault or "")
            return await (self._stream(task) if self.body.get("stream") else self._whole(task))
        finally:
            self.server.forget(task)

    async def _stream(self, task: "Task") -> web.StreamResponse:
        headers = {"Content-Type": "text/event-stream; charset=utf-8", "Cache-Control": "no-store"}
        response = web.StreamResponse(headers=headers)
        response.enable_chunked_encoding()
        held: list[bytes] | None = [] if self.fault == "buffered" else None
        await response.prepare(self.request)
        first = self._event({"role": "assistant", "content": ""})
        await self._write(response, held, first)
        half = len(self.answer.pieces) // 2
        while self._sent < len(self.answer.pieces):
            await task.ready.wait()
            task.ready.clear()
            due, task.due = task.due, 0
            await self._write(response, held, self._chunk(due if task.job.made < task.job.length else 1 << 30))
            now_ns = time.perf_counter_ns()
            self.truth.first_ns = self.truth.first_ns or now_ns
            self.truth.last_ns, self.truth.tokens = now_ns, self._sent
            if self.fault == "slow":
                await asyncio.sleep(SLOW_S)
            if self._sent > half and self.fault and await self._spoil(response):
                return response
        await self._write(response, held, self._ending())
        if held:
            await response.write(b"".join(held))
        await response.write_eof()
        return response

    async def _write(self, response: web.StreamResponse, held: list[bytes] | None, data: bytes) -> None:
        if held is not None:
            held.append(data)
        elif data:
            await response.write(data)

    async def _spoil(self, response: web.StreamResponse) -> bool:
        """Do what the fault asks for in the middle of a stream; True if that ends it."""
        if self.fault == "cut":
            abort(self.request)
            return True
        if self.fault == "no-finish":
            await response.write(DONE)
            await response.write_eof()
            return True
        if self.fault == "error-event":
            await response.write(_event({"error": {"message": "the engine has died", "type": "server", "code": 500}}))
            await response.write_eof()
            return True
        if self.fault == "stall":
            await asyncio.sleep(STALL_S)
        if self.fault == "malformed":
            self.fault = None
            await response.write(b'data: {"choices":[{"index":0,"delta":{"content":"bro\n\n')
        return False

    def _chunk(self, count: int) -> bytes:
        """The events for the next `count` tokens: one for each stretch of the same kind."""
        pieces = self.answer.pieces[self._sent : self._sent + count]
        self._sent += len(pieces)
        out, start = [], 0
        for end in range(1, len(pieces) + 1):
            if end == len(pieces) or (pieces[end].kind, pieces[end].call) != (pieces[start].kind, pieces[start].call):
                out.append(self._event(_delta(pieces[start:end])))
                start = end
        return b"".join(out)

    def _event(self, delta: dict[str, Any], finish: str | None = None) -> bytes:
        return _event(self._frame("chat.completion.chunk", {"delta": delta, "finish_reason": finish}))

    def _frame(self, kind: str, choice: dict[str, Any]) -> dict[str, Any]:
        return {
            "id": self.id,
            "object": kind,
            "created": 0,
            "model": self.server.name,
            "system_fingerprint": "triplicate-simulator",
            "choices": [{"index": 0, **choice}],
        }

    def _ending(self) -> bytes:
        last = self._event({}, self.answer.finish_reason)
        options = self.body.get("stream_options")
        if not (isinstance(options, dict) and options.get("include_usage")) or self.fault == "no-usage":
            return last + DONE
        usage = self._frame("chat.completion.chunk", {}) | {"choices": [], "usage": self._usage()}
        return last + _event(usage) + DONE

    def _usage(self) -> dict[str, Any]:
        made = max(1, len(self.answer.pieces))
        return {
            "prompt_tokens": self.prompt_tokens,
            "completion_tokens": made,
            "total_tokens": self.prompt_tokens + made,
            "prompt_tokens_details": {"cached_tokens": self.cached_tokens},
        }

    async def _whole(self, task: "Task") -> web.StreamResponse:
        while task.job.made < task.job.length:
            await task.ready.wait()
            task.ready.clear()
        self.truth.first_ns = self.truth.last_ns = time.perf_counter_ns()
        self.truth.tokens = len(self.answer.pieces)
        if self.fault in ("cut", "error-event"):
            abort(self.request)
        if self.fault == "stall":
            await asyncio.sleep(STALL_S)
        message: dict[str, Any] = {"role": "assistant", "content": _joined(self.answer.pieces, "content")}
        reasoning = _joined(self.answer.pieces, "reasoning_content")
        if reasoning:
            message["reasoning_content"] = reasoning
        calls = _calls(self.answer.pieces)
        if calls:
            message["tool_calls"] = calls
        finish = None if self.fault == "no-finish" else self.answer.finish_reason
        reply = self._frame("chat.completion", {"message": message, "finish_reason": finish})
        if self.fault != "no-usage":
            reply["usage"] = self._usage()
        data = _encode(reply)
        return web.Response(body=data[:-9] if self.fault == "malformed" else data, content_type="application/json")


def abort(request: web.Request) -> None:
    """Break the connection as a dying process does."""
    if request.transport is not None:
        request.transport.abort()


def _event(value: dict[str, Any]) -> bytes:
    return b"data: " + _encode(value) + b"\n\n"


def _delta(pieces: Sequence[Piece]) -> dict[str, Any]:
    first, text = pieces[0], "".join(piece.text for piece in pieces)
    if first.kind != "call":
        return {first.kind: text}
    call: dict[str, Any] = {"index": first.call, "function": {"arguments": text}}
    if first.name:
        call |= {"id": f"call_{first.call}", "type": "function", "function": {"name": first.name, "arguments": text}}
    return {"tool_calls": [call]}


def _joined(pieces: Sequence[Piece], kind: str) -> str:
    return "".join(piece.text for piece in pieces if piece.kind == kind)


def _calls(pieces: Sequence[Piece]) -> list[dict[str, Any]]:
    calls = []
    for _, group in itertools.groupby(
        (piece for piece in pieces if piece.kind == "call"), key=lambda piece: piece.call
    ):
        calls.append(_delta(list(group))["tool_calls"][0])
    return calls


def _prompt(messages: Any) -> str:
    return "\n".join(str(message.get("content") or "") for message in messages if isinstance(message, dict))

"""The HTTP face of the simulator: its routes, the refusals, its metrics and the description of itself."""

import asyncio
from collections.abc import Mapping
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

import msgspec
from aiohttp import web

from runner.simulator_chat import Chat, abort
from runner.simulator_engine import token_count
from runner.simulator_faults import STATUSES

if TYPE_CHECKING:
    from runner.simulator import Simulator

PAGE = "<!DOCTYPE html><html><head><title>Gateway</title></head><body>Sign in</body></html>"


class Routes:
    """What the simulator answers on each path."""

    def __init__(self, server: "Simulator") -> None:
        self.server = server

    async def chat(self, request: web.Request) -> web.StreamResponse:
        """POST /v1/chat/completions."""
        server = self.server
        truth = server.begun()
        try:
            if server.is_dead():
                abort(request)
                return web.Response(status=503)
            body = await request.read()
            spoiled = await self._refused(request, truth.fault)
            if spoiled is not None:
                return spoiled
            try:
                question = msgspec.json.decode(body)
            except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
                return _error(400, f"the body is not JSON: {error}")
            wrong = self._wrong(question)
            return wrong if wrong is not None else await Chat(server, request, question, truth).run()
        except ConnectionResetError:
            return web.Response(status=499)
        finally:
            server.ended(truth)

    async def _refused(self, request: web.Request, fault: str | None) -> web.Response | None:
        if fault in STATUSES:
            headers = {"Retry-After": "1"} if fault in ("429", "503") else {}
            return _error(int(fault), STATUSES[fault], headers)
        if fault == "html":
            return web.Response(text=PAGE, content_type="text/html")
        if fault == "empty":
            return web.Response(content_type="text/event-stream")
        if fault == "drop":
            abort(request)
            await asyncio.sleep(0)
            return web.Response(status=503)
        return None

    def _wrong(self, body: Any) -> web.Response | None:
        """The refusal of a body that a real engine would refuse too; None for a good one."""
        if not isinstance(body, dict) or not isinstance(body.get("messages"), list) or not body["messages"]:
            return _error(400, "messages must be a list that is not empty")
        if body.get("model") != self.server.name:
            return _error(404, f"the model {str(body.get('model'))[:80]!r} does not exist; there is {self.server.name}")
        cap = body.get("max_tokens", body.get("max_completion_tokens", 1))
        if not isinstance(cap, int) or isinstance(cap, bool) or cap < 1:
            return _error(400, f"max_tokens must be at least 1, got {str(cap)[:40]}")
        context = self.server.preset.context_tokens
        asked = cap + token_count(str(body["messages"]))
        if asked > context:
            return _error(400, f"this model's context is {context} tokens; {asked} were asked for")
        return None

    async def models(self, _: web.Request) -> web.Response:
        """GET /v1/models."""
        row = {
            "id": self.server.name,
            "object": "model",
            "created": 0,
            "owned_by": "triplicate-simulator",
            "max_model_len": self.server.preset.context_tokens,
        }
        return _json({"object": "list", "data": [row]})

    async def health(self, _: web.Request) -> web.Response:
        """GET /health."""
        return _json({"status": "ok"})

    async def simulator(self, _: web.Request) -> web.Response:
        """GET /simulator."""
        return _json(self.server.described())

    async def truths(self, _: web.Request) -> web.Response:
        """GET /simulator/requests: the ground truth of the latest requests."""
        return _json([asdict(truth) for truth in self.server.truths])

    async def metrics(self, _: web.Request) -> web.Response:
        """GET /metrics, in the text form of Prometheus."""
        engine, counters = self.server.engine, self.server.engine.counters
        gauges = {"requests_running": len(engine.running), "requests_waiting": len(engine.waiting)}
        totals = {
            "prompt_tokens_total": counters.prompt_tokens,
            "cached_tokens_total": counters.cached_tokens,
            "generation_tokens_total": counters.generated_tokens,
            "steps_total": counters.steps,
        }
        if self.server.preset.draft:
            totals["draft_tokens_total"] = counters.drafted_tokens
            totals["accepted_tokens_total"] = counters.accepted_tokens
        lines = []
        for kind, group in (("gauge", gauges), ("counter", totals)):
            for name, value in group.items():
                lines += [f"# TYPE simulator:{name} {kind}", f"simulator:{name} {value}"]
        return web.Response(text="\n".join(lines) + "\n", content_type="text/plain")


def _json(value: Any) -> web.Response:
    return web.Response(body=msgspec.json.encode(value), content_type="application/json")


def _error(status: int, message: str, headers: Mapping[str, str] | None = None) -> web.Response:
    body = {"error": {"message": message, "type": "simulated", "code": status}}
    return web.Response(
        status=status, body=msgspec.json.encode(body), content_type="application/json", headers=dict(headers or {})
    )


def application(server: "Simulator") -> web.Application:
    """The routes of one simulator."""
    routes = Routes(server)
    app = web.Application(client_max_size=64 << 20)
    app.router.add_post("/v1/chat/completions", routes.chat)
    app.router.add_get("/v1/models", routes.models)
    app.router.add_get("/health", routes.health)
    app.router.add_get("/metrics", routes.metrics)
    app.router.add_get("/simulator", routes.simulator)
    app.router.add_get("/simulator/requests", routes.truths)
    return app

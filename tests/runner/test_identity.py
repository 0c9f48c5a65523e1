"""What a server is: read within the deadline, compared fact by fact, free of secrets."""

import asyncio
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import msgspec
import pytest
from aiohttp import web

from runner.client import Client
from runner.config import ServingConfig
from runner.identity import (
    changes,
    difference,
    disagreements,
    identity_digest,
    metrics_page,
    read_identity,
    was_restarted,
    with_fingerprint,
)
from runner.probes import llama_cpp, sglang, tensorrt_llm, vllm
from runner.probes._recorded import Recorded
from runner.record import Fact, Identity
from tests.runner.replayed import Replayed, site_of
from tests.runner.scripted import Scripted, head, whole

SECRET = "hunter22xyzzy"


def made(**values: Any) -> Identity:
    return Identity(
        engine=values.get("engine"),
        facts=tuple(Fact(name=name, value=value, source="GET /x") for name, value in values.items()),
    )


def identity_of(client: Any, **fields: Any) -> Identity:
    serving = ServingConfig(name="x", **{"base_url": "http://engine.example/v1", **fields})
    return asyncio.run(read_identity(serving, client))


@asynccontextmanager
async def served(replies: dict[str, Any], headers: dict[str, str], asked: list[str]) -> AsyncIterator[str]:
    """A real server with these pages; yields its base URL."""

    async def page(request: web.Request) -> web.Response:
        asked.append(str(request.rel_url))
        body = replies.get(str(request.rel_url))
        if body is None:
            return web.json_response({"detail": "Not Found"}, status=404)
        text = body if isinstance(body, str) else msgspec.json.encode(body).decode()
        return web.Response(text=text, headers=headers)

    app = web.Application()
    app.router.add_get("/{path:.*}", page)
    runner = web.AppRunner(app)
    await runner.setup()
    site = web.TCPSite(runner, "127.0.0.1", 0)
    await site.start()
    try:
        yield f"http://127.0.0.1:{runner.addresses[0][1]}/v1"
    finally:
        await runner.cleanup()


async def over_http(recorded: Recorded, asked: list[str]) -> Identity:
    async with served(dict(recorded.replies), dict(recorded.headers), asked) as base_url:
        serving = ServingConfig(name="x", base_url=base_url, model="auto")
        async with Client(serving) as client:
            return await read_identity(serving, client)


@pytest.mark.parametrize(
    ("recorded", "forbidden"),
    [(sglang.RECORDED[0], "/health"), (tensorrt_llm.RECORDED[0], "/metrics"), (llama_cpp.RECORDED[0], "/health")],
)
def test_over_a_real_socket(recorded: Recorded, forbidden: str) -> None:
    asked: list[str] = []
    identity = asyncio.run(over_http(recorded, asked))
    read = {name: identity.value(name) for name in recorded.facts}
    assert read == dict(recorded.facts)
    assert identity.engine == recorded.facts["engine"]
    assert identity.version == recorded.facts["version"]
    assert forbidden not in asked
    assert "in-clear" not in repr(identity)
    assert identity.read_at


def test_the_first_source_is_the_resolved_one_and_a_contradiction_is_noted() -> None:
    info = {"vllm_config": {"scheduler_config": {"max_num_seqs": 9}}}
    card = {"id": "m", "owned_by": "vllm", "max_model_len": 1024}
    replies = {
        "/v1/models": {"data": [card]},
        "/version": {"version": "1"},
        "/server_info?config_format=json": {
            "vllm_config": {**info["vllm_config"], "model_config": {"max_model_len": 512}}
        },
    }
    identity = identity_of(Replayed(replies))
    assert identity.value("max_concurrent_sequences") == 9
    assert identity.value("context_length") == 512
    assert [fact.value for fact in identity.facts if fact.name == "context_length"] == [512, 1024]
    assert any("context_length" in note and "512" in note and "1024" in note for note in identity.notes)


def test_an_unknown_server_still_tells_its_model() -> None:
    identity = identity_of(Replayed({"/v1/models": {"data": [{"id": "m", "owned_by": "me too", "max_model_len": 64}]}}))
    assert (identity.engine, identity.version) == (None, None)
    assert (identity.value("model"), identity.value("context_length")) == ("m", 64)
    assert "could not be told" in identity.notes[0]


@pytest.mark.parametrize(
    ("models", "words"),
    [
        ((401, "no"), "api_key_env"),
        ((500, "broken"), "HTTP 500"),
        ({"data": [{"id": "a"}, {"id": "b"}]}, "name it"),
        ("not json", "name it"),
    ],
)
def test_why_the_model_list_says_nothing(models: Any, words: str) -> None:
    assert any(words in note for note in identity_of(Replayed({"/v1/models": models})).notes)


def test_a_refused_key_is_named_by_its_variable(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MY_SERVER", SECRET)
    identity = identity_of(Replayed({"/v1/models": (403, SECRET)}), api_key_env="MY_SERVER")
    assert any("the key in MY_SERVER was refused" in note for note in identity.notes)
    assert SECRET not in repr(identity)


def test_a_named_model_among_several() -> None:
    replies = {"/v1/models": {"data": [{"id": "a", "max_model_len": 1}, {"id": "b", "max_model_len": 2}]}}
    assert identity_of(Replayed(replies), model="b").value("context_length") == 2
    assert identity_of(Replayed(replies), model="c").value("model") is None


def test_the_base_path_of_a_gateway_is_kept() -> None:
    client = Replayed({"/llm/v1/models": {"data": [{"id": "m"}]}})
    assert identity_of(client, base_url="http://engine.example/llm/v1").value("model") == "m"
    assert all(path.startswith("/llm/") for path in client.asked)


def test_a_slow_page_costs_only_its_own_facts() -> None:
    recorded = llama_cpp.RECORDED[0]
    client = Replayed(
        recorded.replies, recorded.headers, slow=frozenset({"/slots", "/metrics", "/api/version", "/info"})
    )
    identity = asyncio.run(
        read_identity(ServingConfig(name="x", base_url="http://engine.example/v1"), client, deadline_s=1.5)
    )
    assert identity.value("max_concurrent_sequences") == 4
    assert identity.value("speculative_decoding") is None


def test_a_server_that_never_answers_ends_within_the_deadline() -> None:
    class Silent:
        async def get(self, path: str, *, timeout_s: float, max_bytes: int) -> Any:
            await asyncio.sleep(600)

    started = time.monotonic()
    serving = ServingConfig(name="x", base_url="http://engine.example/v1")
    identity = asyncio.run(read_identity(serving, Silent(), deadline_s=1.0))
    assert time.monotonic() - started < 1.5
    assert "no answer to GET /v1/models" in " ".join(identity.notes)


HOSTILE = {
    "hangs": [["hang"]],
    "half a head": [[b"HTTP/1.1 200 OK\r\nContent-Le", "hang"]],
    "no end": [[head(200, "application/json"), *[b" " * 65536] * 200, "hang"]],
    "drips": [[head(200, "application/json"), *[part for _ in range(200) for part in (b" ", 0.05)]]],
    "cuts": [[head(200, "application/json", content_length="100") + b"{", "abort"]],
    "garbage": [[b"\x00\xff" * 500]],
    "deep": [whole(b"[" * 200_000)],
    "deep object": [whole(b'{"data":' * 100_000)],
    "wrong types": [whole(b'{"data": [1, [2], {"id": 3, "owned_by": {}}], "total_slots": "many", "build_info": []}')],
    "no text": [whole(b"\xff\xfe\x00")],
    "huge numbers": [
        whole(b'{"total_slots": 1e400, "build_info": "x", "data": [{"max_model_len": 99999999999999999999}]}')
    ],
    "redirects": [whole(b"", 302, location="http://127.0.0.1:1/")],
}


@pytest.mark.parametrize("replies", HOSTILE.values(), ids=HOSTILE)
def test_a_hostile_server_costs_the_deadline_at_most(replies: Any, request: pytest.FixtureRequest) -> None:
    deadline_s = 5.0 if request.node.callspec.id == "hangs" else 1.5

    async def main() -> tuple[Identity, float]:
        async with Scripted(replies) as server:
            serving = server.serving(model="auto")
            async with Client(serving) as client:
                started = time.monotonic()
                return await read_identity(serving, client, deadline_s=deadline_s), time.monotonic() - started

    identity, seconds = asyncio.run(main())
    assert seconds < min(deadline_s + 1.0, 5.0), "a second of grace for a busy machine"
    assert identity.engine is None


def test_a_dead_server_is_noted_at_once() -> None:
    async def main() -> Identity:
        serving = ServingConfig(name="x", base_url="http://127.0.0.1:9/v1")
        async with Client(serving) as client:
            return await read_identity(serving, client)

    started = time.monotonic()
    identity = asyncio.run(main())
    assert time.monotonic() - started < 3.0
    assert identity.facts == ()


def test_terminal_escapes_do_not_get_into_an_identity() -> None:
    recorded = llama_cpp.RECORDED[0]
    props = {**recorded.replies["/props"], "model_path": "a\x1b[2Jb.gguf", "build_info": "b1\x07\u202e"}
    identity = identity_of(Replayed({**recorded.replies, "/props": props}, recorded.headers))
    text = "".join(str(fact.value) for fact in identity.facts)
    assert text.isprintable()


def test_changes_are_facts_that_both_know() -> None:
    before = made(engine="vllm", max_concurrent_sequences=32, pid=1, dtype="half", process_started_at="a")
    after = made(engine="vllm", max_concurrent_sequences=9, pid=2, kv_cache_dtype="fp8", process_started_at="b")
    assert difference(before, after) == ["max_concurrent_sequences: 32 -> 9"]
    assert [(c.name, c.before, c.after) for c in changes(before, after)] == [("max_concurrent_sequences", 32, 9)]
    assert difference(before, before) == []
    assert difference(None, after) == difference(before, None) == []
    assert was_restarted(before, after)
    assert not was_restarted(before, before)
    assert not was_restarted(before, made())
    assert not was_restarted(None, after)


def test_the_digest_is_the_configurations_own() -> None:
    first = made(engine="vllm", max_concurrent_sequences=9, pid=1)
    assert identity_digest(first) == identity_digest(made(engine="vllm", max_concurrent_sequences=9, pid=2))
    assert identity_digest(first) != identity_digest(made(engine="vllm", max_concurrent_sequences=32, pid=1))


def test_what_was_intended_is_held_against_what_was_found() -> None:
    found = made(max_concurrent_sequences=9, context_length=65536, speculative_decoding=True)
    intended = {
        "max_concurrent_sequences": 32,
        "context_length": "64K",
        "speculative_tokens": 0,
        "dtype": "half",
        "unheard_of": 1,
    }
    assert [str(each) for each in disagreements(intended, found)] == [
        "max_concurrent_sequences: 32 -> 9",
        "speculative_decoding: False -> True",
    ]
    assert disagreements({"speculative_tokens": 3}, made(speculative_tokens=3)) == []
    assert [str(each) for each in disagreements({"context_length": "much"}, found)] == ["context_length: much -> 65536"]


def test_the_fingerprint_of_replies_becomes_a_fact() -> None:
    known = with_fingerprint(made(engine="vllm"), "vllm-0.32.0-tp2-abc")
    assert known.value("system_fingerprint") == "vllm-0.32.0-tp2-abc"
    assert with_fingerprint(known, "other") is known
    assert with_fingerprint(made(), None) == made()


def test_defaults_are_inferred_only_behind_a_command_line(monkeypatch: pytest.MonkeyPatch) -> None:
    from runner.facts import Findings, facts
    from runner.probes import gpu, process

    async def seen(_: Any) -> Findings:
        return Findings(facts=facts("/proc/7/cmdline", {"engine": "vllm", "command": "vllm serve m"}))

    async def card(_: Any) -> Findings:
        return Findings(facts=facts("NVML", {"gpu_memory_bytes": 80 << 30, "gpu_model": "NVIDIA H100"}))

    client = Replayed(vllm.RECORDED[0].replies)
    assert identity_of(client).value("max_concurrent_sequences") is None
    monkeypatch.setattr(process, "probe", seen)
    assert identity_of(client).value("max_concurrent_sequences") is None, "the default depends on the GPU"
    monkeypatch.setattr(gpu, "probe", card)
    fact = identity_of(client).fact("max_concurrent_sequences")
    assert fact is not None
    assert (fact.value, fact.source.partition(":")[0]) == (1024, "inferred")
    resolved = identity_of(Replayed(vllm.RECORDED[1].replies)).fact("max_concurrent_sequences")
    assert resolved is not None
    assert resolved.value == 18


@pytest.mark.parametrize(
    ("engine", "page"),
    [
        ("vllm", "/metrics"),
        ("tensorrt_llm", "/prometheus/metrics"),
        ("nim", "/v1/metrics"),
        ("ollama", None),
        (None, "/metrics"),
        ("unheard_of", "/metrics"),
    ],
)
def test_only_a_harmless_page_is_sampled(engine: str | None, page: str | None) -> None:
    assert metrics_page(Identity(engine=engine)) == page
    assert metrics_page(None) == "/metrics"


@pytest.mark.parametrize(
    ("host", "is_local"),
    [("127.0.0.1", True), ("127.1.2.3", True), ("localhost", True), ("[::1]", True), ("engine.example", False)],
)
def test_whose_machine_it_is(host: str, is_local: bool) -> None:
    assert site_of(Replayed({}), base_url=f"http://{host}:8000/v1").is_local() == is_local


def test_the_machines_own_name_is_local(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("socket.gethostname", lambda: "GPU-box")
    assert site_of(Replayed({}), base_url="http://gpu-box:8000/v1").is_local()

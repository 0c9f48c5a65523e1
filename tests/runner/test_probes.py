"""Each probe recognises the replies of its own engine and of no other, and asks for nothing that disturbs a server."""

import asyncio
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import runner.probes
from itembank import plugins
from runner.facts import FACTS, Findings
from runner.metrics import COUNTERS
from runner.probes._recorded import Recorded
from tests.runner.replayed import Replayed, replayed, site_of

DATA = Path(__file__).parent.parent / "data" / "engines"
PROBES = {name: plugins.load(runner.probes, name) for name in plugins.names(runner.probes)}
RECORDED = [(name, recorded) for name, module in PROBES.items() for recorded in module.RECORDED]
NAMES = [f"{name}-{index}" for index, (name, _) in enumerate(RECORDED)]


def found_by(module: ModuleType, client: Replayed, **fields: Any) -> Findings | None:
    async def main() -> Findings | None:
        result: Findings | None = await module.probe(site_of(client, **fields))
        return result

    return asyncio.run(main())


def named(findings: Findings | None) -> str | None:
    """The engine or gateway that a probe named."""
    facts = findings.facts if findings else ()
    return next((fact.value for fact in facts if fact.name in ("engine", "gateway")), None)


def values(findings: Findings) -> dict[str, Any]:
    chosen: dict[str, Any] = {}
    for fact in findings.facts:
        chosen.setdefault(fact.name, fact.value)
    return chosen


@pytest.mark.parametrize("module", PROBES.values(), ids=PROBES)
def test_a_probe_keeps_the_contract(module: ModuleType) -> None:
    assert asyncio.iscoroutinefunction(module.probe)
    assert module.RECORDED or module.__name__.endswith((".process", ".gpu")), "an engine's probe carries its evidence"
    assert all(recorded.origin.startswith(("real: ", "built: ")) for recorded in module.RECORDED)
    assert set(getattr(module, "COUNTERS", {})) <= set(COUNTERS)
    for table in ("FLAGS", "ENVIRONMENT"):
        assert set(getattr(module, table, {}).values()) <= set(FACTS)


@pytest.mark.parametrize(("name", "recorded"), RECORDED, ids=NAMES)
def test_a_probe_reads_its_recorded_replies(name: str, recorded: Recorded) -> None:
    findings = found_by(PROBES[name], replayed(recorded))
    assert findings is not None
    read = values(findings)
    assert {key: read.get(key) for key in recorded.facts} == dict(recorded.facts)
    assert all(fact.source for fact in findings.facts)
    assert {key: findings.counters.get(key) for key in recorded.counters} == dict(recorded.counters)


@pytest.mark.parametrize(("owner", "recorded"), RECORDED, ids=NAMES)
@pytest.mark.parametrize("probe", PROBES)
def test_a_probe_recognises_no_other_engine(probe: str, owner: str, recorded: Recorded) -> None:
    findings = found_by(PROBES[probe], replayed(recorded))
    assert (named(findings) is not None) == (probe == owner)


@pytest.mark.parametrize("probe", PROBES)
@pytest.mark.parametrize("which", ["transformersserve"])
def test_nobody_recognises_an_engine_without_a_probe(probe: str, which: str) -> None:
    assert named(found_by(PROBES[probe], real(which))) is None


@pytest.mark.parametrize(("owner", "recorded"), RECORDED, ids=NAMES)
def test_one_sign_alone_names_no_engine(owner: str, recorded: Recorded) -> None:
    """Any single page of a recording, without its headers, is not enough, except a page with two signs in it."""
    two_signs = {"llama_cpp": "/props", "tgi": "/info", "lm_studio": "/api/", "llama_cpp_python": "/v1/models"}
    for path, body in recorded.replies.items():
        if path.startswith(two_signs.get(owner, "nothing")):
            continue
        if owner == "nim" and path == "/v1/version":
            continue
        assert named(found_by(PROBES[owner], Replayed({path: body}))) is None, path


def real(prefix: str, **headers: str) -> Replayed:
    """The whole pages of a real engine, as they came."""
    replies: dict[str, Any] = {}
    for path in sorted(DATA.glob(f"{prefix}-GET-*")):
        text = path.read_text("utf-8")
        name = path.stem.partition("-GET-")[2].replace("v1-models", "v1/models")
        is_missing = '"Not Found"' in text[:40] or "not_found_error" in text[:100]
        replies[f"/{name}"] = (404 if is_missing else 200, text)
    return Replayed(replies, headers)


def test_real_pages_of_vllm() -> None:
    findings = found_by(PROBES["vllm"], real("vllm", server="uvicorn"))
    assert findings is not None
    read = values(findings)
    assert read["engine"] == "vllm"
    assert read["version"] == "0.32.0"
    assert read["context_length"] == 1024
    assert (read["prefix_caching"], read["kv_cache_dtype"], read["kv_cache_tokens"]) == (True, "auto", 46592)
    assert read["speculative_decoding"] is False
    assert "max_concurrent_sequences" not in read
    assert findings.counters["prefix_queries"] == 564
    assert findings.counters["finished"] == 15
    assert "drafts" not in findings.counters, "absent is absent"


@pytest.mark.parametrize("which", ["llamaserver", "xllamacpp"])
def test_real_pages_of_llama_cpp(which: str) -> None:
    findings = found_by(PROBES["llama_cpp"], real(which, server="llama.cpp"))
    assert findings is not None
    read = values(findings)
    assert (read["engine"], read["max_concurrent_sequences"], read["context_length"]) == ("llama_cpp", 4, 1024)
    assert (read["quantization"], read["model"]) == ("Q4_1", "smollm2.gguf")
    assert read["speculative_decoding"] is False
    assert findings.counters["prefix_hits"] == 372


FORBIDDEN = {
    "sglang": ["/health", "/health_generate", "/generate"],
    "tensorrt_llm": ["/metrics"],
    "gateway": ["/health", "/metrics"],
    "ollama": ["/api/show", "/api/generate", "/metrics"],
    "lm_studio": ["/metrics"],
    "tgi": ["/health"],
    "llama_cpp_python": ["/metrics"],
}


@pytest.mark.parametrize(("owner", "recorded"), RECORDED, ids=NAMES)
def test_no_page_that_changes_a_server_is_asked_for(owner: str, recorded: Recorded) -> None:
    client = replayed(recorded)

    async def main() -> None:
        site = site_of(client)
        await asyncio.gather(*(module.probe(site) for module in PROBES.values()))

    asyncio.run(main())
    assert len(client.asked) == len(set(client.asked)), "each page once"
    assert not set(FORBIDDEN.get(owner, ["/health"])) & set(client.asked)
    assert not [path for path in client.asked if "model=" in path and "autoload=false" not in path]


def test_a_router_is_not_asked_about_a_model_that_is_not_loaded() -> None:
    recorded = PROBES["llama_cpp"].RECORDED[1]
    client = replayed(recorded)
    findings = found_by(PROBES["llama_cpp"], client, model="a")
    assert findings is not None
    assert not [path for path in client.asked if "model=" in path]
    assert "not loaded" in findings.notes[0]


def test_sglang_secrets_do_not_get_past_the_site() -> None:
    recorded = PROBES["sglang"].RECORDED[0]

    async def main() -> str:
        site = site_of(replayed(recorded))
        return repr((await site.get("/server_info")).value)

    text = asyncio.run(main())
    assert "in-clear" not in text
    assert "'tp_size': 2" in text


@pytest.mark.parametrize(
    ("gpu", "expected"),
    [
        ({"gpu_memory_bytes": 180 << 30, "gpu_model": "NVIDIA B200"}, (1024, 16384)),
        ({"gpu_memory_bytes": 80 << 30, "gpu_model": "NVIDIA H100 80GB HBM3"}, (1024, 8192)),
        ({"gpu_memory_bytes": 80 << 30, "gpu_model": "NVIDIA A100-SXM4-80GB"}, (256, 2048)),
        ({"gpu_memory_bytes": 119 << 30, "gpu_model": "NVIDIA GB10"}, (256, 2048)),
        ({"gpu_memory_bytes": 24 << 30, "gpu_model": "NVIDIA L4"}, (256, 2048)),
        ({"gpu_memory_bytes": 24 << 30, "gpu_model": "NVIDIA L4", "max_batched_tokens": 128}, (128, 128)),
    ],
)
def test_vllm_defaults_by_hardware(gpu: dict[str, Any], expected: tuple[int, int]) -> None:
    found = PROBES["vllm"].inferred(gpu)
    assert (found["max_concurrent_sequences"], found["max_batched_tokens"]) == expected
    assert PROBES["vllm"].inferred({}) == {}


@pytest.mark.parametrize(
    ("gpu", "cap"), [("NVIDIA A100-SXM4-80GB", 384), ("NVIDIA H200", 1024), ("NVIDIA L4", 128), (None, None)]
)
def test_lmdeploy_defaults_by_hardware(gpu: str | None, cap: int | None) -> None:
    assert PROBES["lmdeploy"].inferred({"gpu_model": gpu}).get("max_concurrent_sequences") == cap


FLAGS: list[tuple[str, dict[str, str], dict[str, Any]]] = [
    (
        "vllm",
        {"speculative-config": '{"method": "ngram", "num_speculative_tokens": 3}'},
        {"speculative_decoding": True, "speculative_method": "ngram", "speculative_tokens": 3},
    ),
    ("vllm", {"speculative-config.method": "eagle"}, {"speculative_method": "eagle"}),
    ("vllm", {"max-num-seqs": "9", "dp": "2"}, {"max_concurrent_sequences": 18}),
    ("vllm", {"speculative-config": "{broken"}, {}),
    ("sglang", {"disable-radix-cache": "true"}, {"prefix_caching": False}),
    ("sglang", {"chunked-prefill-size": "-1"}, {"chunked_prefill": False}),
    ("sglang", {"enable-deterministic-inference": "true"}, {"deterministic": True}),
    ("sglang", {"speculative-algorithm": "EAGLE"}, {"speculative_decoding": True}),
    ("llama_cpp", {"spec-type": "none"}, {"speculative_decoding": False, "speculative_tokens": 0}),
    ("llama_cpp", {"md": "draft.gguf"}, {"speculative_decoding": True}),
    ("llama_cpp", {"spec-synth-len": "4"}, {"speculative_method": "synthetic: acceptance is faked"}),
    ("tgi", {"speculate": "0"}, {"speculative_decoding": False}),
    ("tgi", {"speculate": "3"}, {"speculative_decoding": True}),
    ("tgi", {}, {}),
    ("tensorrt_llm", {"speculative-config": '{"decoding_type": "MTP"}'}, {"speculative_method": "MTP"}),
    ("tensorrt_llm", {"speculative-config": "[1]"}, {}),
    ("tensorrt_llm", {"speculative-config": "{"}, {}),
    ("lmdeploy", {"speculative-algorithm": "eagle"}, {"speculative_decoding": True}),
    ("llama_cpp_python", {"draft-model": "prompt-lookup-decoding"}, {"speculative_decoding": True}),
]


@pytest.mark.parametrize(("name", "flags", "expected"), FLAGS)
def test_options_that_are_not_one_value(name: str, flags: dict[str, str], expected: dict[str, Any]) -> None:
    found = PROBES[name].from_flags(flags)
    assert {key: found.get(key) for key in expected} == expected


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
    max_leaves=8,
)


def mutated(value: Any, data: st.DataObject) -> Any:
    """The value with parts of it replaced by anything."""
    if data.draw(st.integers(0, 5)) == 0:
        return data.draw(JSON)
    if isinstance(value, dict):
        return {key: mutated(inner, data) for key, inner in value.items()}
    return [mutated(inner, data) for inner in value] if isinstance(value, list) else value


@pytest.mark.long
@settings(max_examples=150, deadline=None)
@given(st.data())
def test_hostile_replies_break_no_probe(data: st.DataObject) -> None:
    name, recorded = data.draw(st.sampled_from(RECORDED))
    replies = {path: mutated(body, data) for path, body in recorded.replies.items()}
    findings = found_by(PROBES[name], Replayed(replies, recorded.headers))
    for fact in findings.facts if findings else ():
        assert isinstance(fact.value, FACTS[fact.name][0])


@pytest.mark.parametrize(("name", "recorded"), RECORDED, ids=NAMES)
def test_an_engine_has_the_name_of_its_probe(name: str, recorded: Recorded) -> None:
    """Other parts of triplicate know engines by these names."""
    expected = {"gateway": None, "simulated": "triplicate-simulator"}.get(name, name)
    assert recorded.facts.get("engine") == expected


def read(name: str, replies: dict[str, Any], headers: dict[str, str] | None = None, **fields: Any) -> dict[str, Any]:
    findings = found_by(PROBES[name], Replayed(replies, headers), **fields)
    return {**values(findings), "notes": " ".join(findings.notes)} if findings else {}


def list_of(owner: str, **card: Any) -> dict[str, Any]:
    return {"/v1/models": {"data": [{"id": "m", "owned_by": owner, **card}]}}


def test_hosted_interfaces_are_named_by_their_host_and_a_second_sign() -> None:
    rows = list_of("openai")
    assert read("gateway", rows, base_url="https://openrouter.ai/v1")["gateway"] == "openrouter"
    assert read("gateway", rows, base_url="https://api.openai.com/v1")["gateway"] == "openai"
    assert read("gateway", {}, base_url="https://api.openai.com/v1") == {}
    assert read("gateway", {}, base_url="https://openrouter.ai/v1") == {}
    assert read("gateway", rows, {"x-litellm-call-id": "1"}) == {}
    both = {"x-litellm-call-id": "1", "x-litellm-version": "2"}
    assert "unreadable" in read("gateway", rows, both)["notes"]


def test_llama_cpp_behind_a_key_is_named_and_no_more() -> None:
    replies = {"/props": (401, "no"), **list_of("llamacpp")}
    found = read("llama_cpp", replies, {"server": "llama.cpp"})
    assert found["engine"] == "llama_cpp"
    assert "wants the server's key" in found["notes"]


def test_llama_cpp_that_drafts() -> None:
    recorded = PROBES["llama_cpp"].RECORDED[0]
    slots = {"/slots": [{"speculative": True}]}
    assert read("llama_cpp", {**recorded.replies, **slots}, dict(recorded.headers))["speculative_decoding"] is True


def test_llama_cpp_python_by_its_description() -> None:
    openapi = {"/openapi.json": {"info": {"title": "🦙 llama.cpp Python API", "version": "0.3.36"}}}
    assert read("llama_cpp_python", {**list_of("me"), **openapi})["version"] == "0.3.36"
    assert read("llama_cpp_python", list_of("me")) == {}
    assert PROBES["llama_cpp_python"].inferred({})["context_length"] == 2048


def test_models_that_are_named_or_not_loaded() -> None:
    ollama = dict(PROBES["ollama"].RECORDED[0].replies)
    assert read("ollama", ollama, model="qwen3:8b")["model"] == "qwen3:8b"
    assert "not loaded" in read("ollama", ollama, model="other")["notes"]
    row = {**ollama["/api/ps"]["models"][0], "size_vram": 5000}
    assert "1000 of 6000 bytes" in read("ollama", {**ollama, "/api/ps": {"models": [row]}})["notes"]
    assert PROBES["ollama"].inferred({})["max_concurrent_sequences"] == 1
    studio = dict(PROBES["lm_studio"].RECORDED[0].replies)
    assert read("lm_studio", studio, model="qwen3-4b")["context_length"] == 8192
    assert "model" not in read("lm_studio", studio, model="other")


def test_one_page_of_an_engine_is_not_enough() -> None:
    assert read("vllm", list_of("vllm")) == {}
    assert read("tensorrt_llm", list_of("tensorrt_llm")) == {}
    assert read("lmdeploy", list_of("lmdeploy")) == {}
    assert read("nim", {"/v1/version": {"release": "1"}}) == {}


def test_lmdeploy_sizes_that_are_no_json() -> None:
    metrics = {"/metrics": "lmdeploy:num_requests_running 1\n", "/distserve/engine_info": '"{broken"'}
    assert read("lmdeploy", {**list_of("lmdeploy"), **metrics})["engine"] == "lmdeploy"


def test_sglang_caps_in_other_places() -> None:
    server = {
        "internal_states": [{"effective_max_running_requests_per_dp": 8}],
        "dp_size": 4,
        "speculative_algorithm": None,
    }
    replies = {**list_of("sglang"), "/server_info": server}
    found = read("sglang", replies)
    assert (found["max_concurrent_sequences"], found["speculative_decoding"]) == (32, False)
    unowned = read("sglang", {"/server_info": server})
    assert unowned == {}
    loads = {"/v1/loads?include=core,memory,spec,queues": {"loads": [{"max_running_requests": 7}]}}
    assert read("sglang", {**list_of("sglang"), **loads})["max_concurrent_sequences"] == 7


def test_tensorrt_llm_without_drafting() -> None:
    page = {"/prometheus/metrics": 'trtllm_speculative_config_info{spec_enabled="False"} 1\n'}
    assert read("tensorrt_llm", {**list_of("tensorrt_llm"), **page})["speculative_tokens"] == 0


def test_a_simulator_that_does_not_state_its_drafting() -> None:
    page = {"/simulator": {"simulated": True}}
    assert "speculative_decoding" not in read("simulated", {**list_of("triplicate-simulator"), **page})
    assert read("simulated", list_of("triplicate-simulator")) == {}

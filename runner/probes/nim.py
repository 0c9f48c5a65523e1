"""Reads NVIDIA NIM: release and metrics. What its inner engine says of itself, that engine's own probe reads."""

from typing import Any

from runner import metrics
from runner.facts import Findings, facts
from runner.probes._recorded import Recorded
from runner.site import Answer, Site

ENGINE = "nim"
METRICS = "/v1/metrics"
COUNTERS = {
    "running": ("num_requests_running", "vllm:num_requests_running"),
    "waiting": ("num_requests_waiting", "vllm:num_requests_waiting"),
    "kv_cache_usage": ("gpu_cache_usage_perc", "vllm:kv_cache_usage_perc"),
    "prompt_tokens": ("prompt_tokens_total", "vllm:prompt_tokens_total"),
    "generation_tokens": ("generation_tokens_total", "vllm:generation_tokens_total"),
    "finished": ("request_finish_total", "vllm:request_success_total"),
}
INNER = {"vllm": "vllm", "sglang": "sglang", "tensorrt_llm": "tensorrt_llm"}


async def probe(site: Site) -> Findings | None:
    """The facts of a NIM container, or None if it is none: its version and metadata pages must agree."""
    version = await site.get("/v1/version")
    if not isinstance(version.at("release"), str):
        return None
    metadata = await site.get("/v1/metadata")
    if not isinstance(metadata.value, dict) and not isinstance(version.at("api"), str):
        return None
    page, card = await site.get(METRICS), await site.card()
    found = facts(f"{version.source}, {metadata.source}", {"engine": ENGINE})
    found += facts(version.source, {"version": version.at("release")})
    found += facts("GET /v1/models", _of_list(card, await site.owner()))
    found += facts(f"GET {METRICS}", _of_metrics(page))
    note = "its environment and manifest are not the truth about the engine inside; read that engine's command line"
    return Findings(facts=found, counters=metrics.counters(page.text, COUNTERS), notes=(note,))


def _of_list(card: Any, owner: str | None) -> dict[str, Any]:
    return {
        "inner_engine": INNER.get(owner or ""),
        "model": card.get("root") or card.get("id"),
        "context_length": card.get("max_model_len"),
    }


def _of_metrics(page: Answer) -> dict[str, Any]:
    cache = metrics.info(page.text, "vllm:cache_config_info")
    return {
        "max_concurrent_sequences": metrics.value(page.text, "num_request_max"),
        "kv_cache_dtype": cache.get("cache_dtype"),
        "prefix_caching": cache.get("enable_prefix_caching"),
    }


RECORDED = (
    Recorded(
        origin="built: to the documented shapes of NIM for LLMs 1.x",
        replies={
            "/v1/models": {"object": "list", "data": [{"id": "org/m", "owned_by": "system", "max_model_len": 8192}]},
            "/v1/version": {"release": "1.8.3", "api": "1.0.0"},
            "/v1/metadata": {"version": "1.8.3", "modelInfo": [{"shortName": "m"}]},
            "/v1/metrics": "num_requests_running 3\nnum_requests_waiting 0\nnum_request_max 256\n"
            "gpu_cache_usage_perc 0.25\nprompt_tokens_total 100\n",
        },
        facts={
            "engine": "nim",
            "version": "1.8.3",
            "model": "org/m",
            "context_length": 8192,
            "max_concurrent_sequences": 256,
            "inner_engine": None,
        },
        counters={"running": 3, "waiting": 0, "kv_cache_usage": 0.25, "prompt_tokens": 100},
    ),
    Recorded(
        origin="built: to the documented shapes of NIM for LLMs 2.x around vLLM",
        replies={
            "/v1/models": {"object": "list", "data": [{"id": "m", "owned_by": "vllm", "root": "org/m"}]},
            "/v1/version": {"release": "2.1.6", "api": "2.0.0"},
            "/v1/metadata": {"version": "2.1.6"},
            "/v1/metrics": 'vllm:num_requests_running{engine="0"} 1\n'
            'vllm:cache_config_info{cache_dtype="fp8",enable_prefix_caching="True"} 1\n',
        },
        facts={
            "engine": "nim",
            "version": "2.1.6",
            "inner_engine": "vllm",
            "kv_cache_dtype": "fp8",
            "prefix_caching": True,
            "max_concurrent_sequences": None,
        },
        counters={"running": 1},
    ),
)

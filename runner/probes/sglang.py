"""Reads SGLang: /server_info with its scheduler's own state, /v1/loads, and metrics where they are on.

Never asks for /health, which runs a generation. /server_info holds keys in clear; the site takes them out unseen.
"""

from collections.abc import Mapping
from typing import Any

from runner import metrics
from runner.facts import Findings, facts, speculation_off
from runner.probes._recorded import Recorded
from runner.site import Answer, Site

ENGINE = "sglang"
METRICS = "/metrics"
COUNTERS = {
    "running": ("sglang:num_running_reqs",),
    "waiting": ("sglang:num_queue_reqs",),
    "kv_cache_usage": ("sglang:token_usage",),
    "prompt_tokens": ("sglang:prompt_tokens_total",),
    "generation_tokens": ("sglang:generation_tokens_total",),
    "drafts": ("sglang:spec_verify_calls_total",),
    "prefix_hits": ("sglang:cached_tokens_total",),
    "preemptions": ("sglang:num_retracted_requests_total",),
    "finished": ("sglang:num_requests_total",),
}
PROGRAMS = ("sglang.launch_server", "sglang serve")
FLAGS = {
    "max-running-requests": "max_concurrent_sequences",
    "max-queued-requests": "max_queued_requests",
    "context-length": "context_length",
    "chunked-prefill-size": "max_batched_tokens",
    "tp-size": "tensor_parallel_size",
    "tp": "tensor_parallel_size",
    "tensor-parallel-size": "tensor_parallel_size",
    "pp-size": "pipeline_parallel_size",
    "dp-size": "data_parallel_size",
    "dp": "data_parallel_size",
    "ep-size": "expert_parallel_size",
    "quantization": "quantization",
    "dtype": "dtype",
    "kv-cache-dtype": "kv_cache_dtype",
    "model-path": "model",
    "model": "model",
    "revision": "model_revision",
    "speculative-algorithm": "speculative_method",
    "speculative-num-draft-tokens": "speculative_tokens",
    "speculative-draft-model-path": "speculative_model",
}
CONFIG_FLAGS = ("config",)


async def probe(site: Site) -> Findings | None:
    """The facts of an SGLang server, or None if it is none: its model list and a page of its own must agree."""
    server = await site.get("/server_info")
    states = server.rows("internal_states")
    loads = await site.get("/v1/loads?include=core,memory,spec,queues") if await site.owner() == ENGINE else None
    signs = [await site.owner() == ENGINE, bool(states), bool(loads and loads.rows("loads"))]
    if sum(signs) < 2:
        return None
    page = await site.get(METRICS) if server.at("enable_metrics") is not False else Answer(path=METRICS)
    found = facts("GET /v1/models owned_by, GET /server_info", {"engine": ENGINE})
    found += facts(server.source, _configuration(server))
    found += facts(f"{server.source} internal_states", _state(server, states))
    counted: dict[str, float] = {}
    if loads is not None:
        found += facts("GET /v1/loads", _of_loads(loads))
        counted = _counted(loads)
    return Findings(facts=found, counters={**metrics.counters(page.text, COUNTERS), **counted})


def from_flags(flags: Mapping[str, str]) -> dict[str, Any]:
    """What several options mean together."""
    found: dict[str, Any] = {}
    if "disable-radix-cache" in flags:
        found["prefix_caching"] = False
    if "enable-deterministic-inference" in flags:
        found["deterministic"] = True
    if flags.get("chunked-prefill-size") == "-1":
        found |= {"chunked_prefill": False, "max_batched_tokens": None}
    if "speculative-algorithm" in flags:
        found["speculative_decoding"] = True
    return found


def _configuration(server: Answer) -> dict[str, Any]:
    chunk, disabled = server.at("chunked_prefill_size"), server.at("disable_radix_cache")
    is_chunked = chunk > 0 if isinstance(chunk, int) else None
    values = {
        "version": server.at("version"),
        "model": server.at("model_path"),
        "model_revision": server.at("revision"),
        "context_length": server.at("context_length"),
        "max_queued_requests": server.at("max_queued_requests"),
        "max_batched_tokens": chunk if is_chunked else server.at("max_prefill_tokens"),
        "tensor_parallel_size": server.at("tp_size"),
        "pipeline_parallel_size": server.at("pp_size"),
        "data_parallel_size": server.at("dp_size"),
        "expert_parallel_size": server.at("ep_size"),
        "quantization": server.at("quantization") or ("none" if server.status == 200 else None),
        "dtype": server.at("dtype"),
        "kv_cache_dtype": server.at("kv_cache_dtype"),
        "kv_cache_tokens": server.at("max_total_num_tokens"),
        "prefix_caching": not disabled if isinstance(disabled, bool) else None,
        "chunked_prefill": is_chunked,
        "deterministic": server.at("enable_deterministic_inference"),
    }
    method = server.at("speculative_algorithm")
    if isinstance(method, str) and method:
        return values | {
            "speculative_decoding": True,
            "speculative_method": method,
            "speculative_tokens": server.at("speculative_num_draft_tokens"),
            "speculative_model": server.at("speculative_draft_model_path"),
        }
    return values | (speculation_off() if server.status == 200 else {})


def _state(server: Answer, states: list[dict[str, Any]]) -> dict[str, Any]:
    """The cap that the scheduler really has: per replica there, over all replicas here."""
    caps = [state.get("effective_max_running_requests_per_dp") for state in states]
    numbers = [cap for cap in caps if isinstance(cap, int)]
    replicas = server.at("dp_size")
    if numbers and isinstance(replicas, int) and len(numbers) < replicas:
        return {"max_concurrent_sequences": numbers[0] * replicas}
    return {"max_concurrent_sequences": sum(numbers) if numbers else server.at("max_running_requests")}


def _of_loads(loads: Answer) -> dict[str, Any]:
    caps = [row.get("max_running_requests") for row in loads.rows("loads")]
    numbers = [cap for cap in caps if isinstance(cap, int)]
    return {
        "version": loads.at("version"),
        "gpu_count": loads.at("num_accelerators"),
        "max_concurrent_sequences": sum(numbers) if numbers else None,
    }


def _counted(loads: Answer) -> dict[str, float]:
    fields = {"running": "num_running_reqs", "waiting": "num_waiting_reqs", "kv_cache_usage": "token_usage"}
    found: dict[str, float] = {}
    for name, key in fields.items():
        values = [row[key] for row in loads.rows("loads") if isinstance(row.get(key), int | float)]
        if values:
            found[name] = float(max(values) if name in metrics.LARGEST_OF else sum(values))
    return found


RECORDED = (
    Recorded(
        origin="built: to the shapes of SGLang 0.5.23",
        replies={
            "/v1/models": {
                "object": "list",
                "data": [{"id": "org/m", "owned_by": "sglang", "root": "org/m", "max_model_len": 32768}],
            },
            "/server_info": {
                "model_path": "org/m",
                "served_model_name": "org/m",
                "api_key": "sk-in-clear-0123456789abcdef",
                "admin_api_key": "another-in-clear",
                "launch_command": "python -m sglang.launch_server --api-key sk-in-clear-0123456789abcdef",
                "revision": None,
                "context_length": None,
                "max_running_requests": None,
                "max_queued_requests": 100,
                "chunked_prefill_size": 8192,
                "max_prefill_tokens": 16384,
                "tp_size": 2,
                "pp_size": 1,
                "dp_size": 2,
                "ep_size": 1,
                "quantization": "fp8",
                "dtype": "auto",
                "kv_cache_dtype": "fp8_e5m2",
                "max_total_num_tokens": 400000,
                "disable_radix_cache": False,
                "enable_deterministic_inference": False,
                "enable_metrics": True,
                "speculative_algorithm": "EAGLE",
                "speculative_num_draft_tokens": 4,
                "speculative_draft_model_path": "org/m-eagle",
                "version": "0.5.23",
                "internal_states": [
                    {"effective_max_running_requests_per_dp": 24, "api_key": "sk-in-clear-0123456789abcdef"},
                    {"effective_max_running_requests_per_dp": 24},
                ],
            },
            "/v1/loads?include=core,memory,spec,queues": {
                "version": "0.5.23",
                "accelerator": "cuda",
                "num_accelerators": 4,
                "loads": [
                    {"dp_rank": 0, "num_running_reqs": 3, "num_waiting_reqs": 1, "token_usage": 0.5},
                    {"dp_rank": 1, "num_running_reqs": 2, "num_waiting_reqs": 0, "token_usage": 0.25},
                ],
            },
            "/metrics": 'sglang:prompt_tokens_total{is_streaming="true"} 7\n'
            'sglang:prompt_tokens_total{is_streaming="false"} 5\n'
            "sglang:num_running_reqs 99\n",
        },
        facts={
            "engine": "sglang",
            "version": "0.5.23",
            "model": "org/m",
            "max_concurrent_sequences": 48,
            "max_queued_requests": 100,
            "max_batched_tokens": 8192,
            "tensor_parallel_size": 2,
            "data_parallel_size": 2,
            "quantization": "fp8",
            "kv_cache_dtype": "fp8_e5m2",
            "speculative_decoding": True,
            "speculative_method": "EAGLE",
            "speculative_tokens": 4,
            "speculative_model": "org/m-eagle",
            "prefix_caching": True,
            "chunked_prefill": True,
            "gpu_count": 4,
        },
        counters={"running": 5, "waiting": 1, "kv_cache_usage": 0.5, "prompt_tokens": 12},
    ),
)

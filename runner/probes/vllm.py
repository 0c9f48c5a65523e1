"""Reads vLLM: version, model list, metrics and, with VLLM_SERVER_DEV_MODE=1, the resolved configuration.

Without the development mode the cap is not on HTTP; the command line or the hardware's default say it then.
"""

import json
from collections.abc import Mapping
from typing import Any

from runner import metrics
from runner.facts import Findings, facts, speculation_off
from runner.probes._recorded import Recorded
from runner.site import Answer, Site

ENGINE = "vllm"
OWNERS = ("vllm", "vllm-frontend-rs")
METRICS = "/metrics"
COUNTERS = {
    "running": ("vllm:num_requests_running",),
    "waiting": ("vllm:num_requests_waiting",),
    "kv_cache_usage": ("vllm:kv_cache_usage_perc", "vllm:gpu_cache_usage_perc"),
    "prompt_tokens": ("vllm:prompt_tokens_total",),
    "generation_tokens": ("vllm:generation_tokens_total",),
    "drafts": ("vllm:spec_decode_num_drafts_total",),
    "draft_tokens": ("vllm:spec_decode_num_draft_tokens_total",),
    "accepted_tokens": ("vllm:spec_decode_num_accepted_tokens_total",),
    "prefix_queries": ("vllm:prefix_cache_queries_total", "vllm:gpu_prefix_cache_queries_total"),
    "prefix_hits": ("vllm:prefix_cache_hits_total", "vllm:gpu_prefix_cache_hits_total"),
    "preemptions": ("vllm:num_preemptions_total",),
    "finished": ("vllm:request_success_total",),
}
PROGRAMS = ("vllm", "vllm.entrypoints.openai.api_server", "vllm.entrypoints.cli.main", "vllm-rs")
FLAGS = {
    "max-num-seqs": "max_concurrent_sequences",
    "max-num-queued-reqs": "max_queued_requests",
    "max-num-batched-tokens": "max_batched_tokens",
    "max-model-len": "context_length",
    "tensor-parallel-size": "tensor_parallel_size",
    "tp": "tensor_parallel_size",
    "pipeline-parallel-size": "pipeline_parallel_size",
    "pp": "pipeline_parallel_size",
    "data-parallel-size": "data_parallel_size",
    "dp": "data_parallel_size",
    "quantization": "quantization",
    "q": "quantization",
    "dtype": "dtype",
    "kv-cache-dtype": "kv_cache_dtype",
    "revision": "model_revision",
    "model": "model",
    "enable-prefix-caching": "prefix_caching",
    "enable-chunked-prefill": "chunked_prefill",
}
CONFIG_FLAGS = ("config",)
GIB = 1 << 30


async def probe(site: Site) -> Findings | None:
    """The facts of a vLLM server, or None if it is none: its model list and a second page must agree."""
    if await site.owner() not in OWNERS:
        return None
    version, page = await site.get("/version"), await site.get(METRICS)
    if not (isinstance(version.at("version"), str) or "vllm:" in page.text):
        return None
    server = await site.get("/server_info?config_format=json")
    card = await site.card()
    found = facts("GET /v1/models owned_by, GET /version", {"engine": ENGINE})
    found += facts(version.source, {"version": version.at("version")})
    found += _resolved(server)
    found += facts("GET /v1/models", {"model": card.get("root"), "context_length": card.get("max_model_len")})
    found += facts(f"GET {METRICS}", _metric_facts(page))
    is_resolved = server.at("vllm_config") is not None
    notes = () if is_resolved else ("the cap is not on HTTP: vLLM tells it with VLLM_SERVER_DEV_MODE=1 only",)
    return Findings(facts=found, counters=metrics.counters(page.text, COUNTERS), notes=notes)


def _metric_facts(page: Answer) -> dict[str, Any]:
    """The facts that the metrics give away; the drafting counters exist only where vLLM speculates."""
    text = page.text if page.status == 200 else ""
    present = metrics.names(text)
    cache = metrics.info(text, "vllm:cache_config_info")
    found: dict[str, Any] = {
        "kv_cache_dtype": cache.get("cache_dtype"),
        "prefix_caching": cache.get("enable_prefix_caching"),
        "kv_cache_tokens": cache.get("kv_cache_size_tokens"),
        "start_mark": str(started) if (started := metrics.value(text, "process_start_time_seconds")) else None,
    }
    if "vllm:spec_decode_num_drafts_total" in present:
        return {**found, "speculative_decoding": True}
    return found | (speculation_off() if "vllm:num_requests_running" in present else {})


def from_flags(flags: Mapping[str, str]) -> dict[str, Any]:
    """The speculative configuration, whole or dotted, and the cap of all replicas."""
    try:
        config = json.loads(flags.get("speculative-config", flags.get("sc", "null")))
    except ValueError:
        config = None
    dotted = {name.partition(".")[2]: value for name, value in flags.items() if name.startswith("speculative-config.")}
    config = {**(config if isinstance(config, dict) else {}), **dotted}
    found = _speculation(config) if config else {}
    cap, replicas = flags.get("max-num-seqs", ""), flags.get("data-parallel-size", flags.get("dp", "1"))
    if cap.isdigit() and replicas.isdigit():
        found["max_concurrent_sequences"] = int(cap) * int(replicas)
    return found


def inferred(known: Mapping[str, Any]) -> dict[str, Any]:
    """The API server's defaults where the command line does not set them; they depend on the GPU's memory."""
    memory, model = known.get("gpu_memory_bytes"), str(known.get("gpu_model", "")).lower()
    if not memory:
        return {}
    if memory >= 160 * GIB:
        cap, tokens = 1024, 16384
    elif memory >= 70 * GIB and "a100" not in model and "gb10" not in model:
        cap, tokens = 1024, 8192
    else:
        cap, tokens = 256, 2048
    tokens = known.get("max_batched_tokens") or tokens
    replicas = known.get("data_parallel_size") or 1
    return {"max_concurrent_sequences": min(cap, tokens) * replicas, "max_batched_tokens": tokens}


def _speculation(config: Mapping[str, Any]) -> dict[str, Any]:
    return {
        "speculative_decoding": True,
        "speculative_method": config.get("method"),
        "speculative_tokens": config.get("num_speculative_tokens"),
        "speculative_model": config.get("model"),
    }


def _resolved(server: Answer) -> tuple[Any, ...]:
    def at(group: str, name: str) -> Any:
        return server.at("vllm_config", f"{group}_config", name)

    cap, replicas = at("scheduler", "max_num_seqs"), at("parallel", "data_parallel_size")
    if isinstance(cap, int) and isinstance(replicas, int):
        cap *= replicas
    config = server.at("vllm_config", "speculative_config")
    values = {
        "model": at("model", "model"),
        "model_revision": at("model", "revision"),
        "context_length": at("model", "max_model_len"),
        "max_concurrent_sequences": cap,
        "max_queued_requests": at("scheduler", "max_num_queued_reqs"),
        "max_batched_tokens": at("scheduler", "max_num_batched_tokens"),
        "tensor_parallel_size": at("parallel", "tensor_parallel_size"),
        "pipeline_parallel_size": at("parallel", "pipeline_parallel_size"),
        "data_parallel_size": replicas,
        "quantization": at("model", "quantization") or (None if at("model", "model") is None else "none"),
        "dtype": at("model", "dtype"),
        "kv_cache_dtype": at("cache", "cache_dtype"),
        "kv_cache_tokens": at("cache", "kv_cache_size_tokens"),
        "prefix_caching": at("cache", "enable_prefix_caching"),
        "chunked_prefill": at("scheduler", "enable_chunked_prefill"),
    }
    if isinstance(config, dict):
        values |= _speculation(config)
    elif server.at("vllm_config") is not None:
        values |= speculation_off()
    return facts(server.source, values)


_CARD = {"id": "m", "object": "model", "owned_by": "vllm", "root": "org/m", "parent": None, "max_model_len": 32768}
RECORDED = (
    Recorded(
        origin="real: vLLM 0.32.0 on CPU as it starts by default, metrics cut to some lines",
        headers={"server": "uvicorn"},
        replies={
            "/version": '{"version":"0.32.0"}',
            "/v1/models": '{"object":"list","data":[{"id":"m","object":"model","created":1795951304,"owned_by":"vllm",'
            '"root":"smollm2-hf","parent":null,"max_model_len":1024}]}',
            METRICS: 'vllm:num_requests_running{engine="0",model_name="m"} 0.0\n'
            'vllm:num_requests_waiting{engine="0",model_name="m"} 0.0\n'
            'vllm:kv_cache_usage_perc{engine="0",model_name="m"} 0.0\n'
            'vllm:prompt_tokens_total{engine="0",model_name="m"} 564.0\n'
            'vllm:generation_tokens_total{engine="0",model_name="m"} 296.0\n'
            'vllm:request_success_total{engine="0",finished_reason="stop",model_name="m"} 7.0\n'
            'vllm:request_success_total{engine="0",finished_reason="length",model_name="m"} 8.0\n',
        },
        facts={
            "engine": "vllm",
            "version": "0.32.0",
            "model": "smollm2-hf",
            "context_length": 1024,
            "max_concurrent_sequences": None,
            "speculative_decoding": False,
            "speculative_tokens": 0,
        },
        counters={"running": 0, "prompt_tokens": 564, "generation_tokens": 296, "finished": 15},
    ),
    Recorded(
        origin="built: to the shapes of vLLM 0.33.0 with VLLM_SERVER_DEV_MODE=1",
        replies={
            "/version": {"version": "0.33.0"},
            "/v1/models": {"object": "list", "data": [_CARD, {**_CARD, "id": "lora", "parent": "m"}]},
            "/server_info?config_format=json": {
                "vllm_config": {
                    "model_config": {"model": "org/m", "revision": "abc", "max_model_len": 32768, "dtype": "bfloat16"},
                    "scheduler_config": {
                        **{"max_num_seqs": 9, "max_num_batched_tokens": 8192, "max_num_queued_reqs": None},
                        "enable_chunked_prefill": True,
                    },
                    "parallel_config": {"tensor_parallel_size": 2, "data_parallel_size": 2},
                    "cache_config": {"cache_dtype": "fp8", "enable_prefix_caching": False},
                    "speculative_config": {"method": "eagle3", "num_speculative_tokens": 3, "model": "org/m-eagle3"},
                }
            },
            METRICS: 'vllm:num_requests_running{engine="0"} 2\nvllm:num_requests_running{engine="1"} 3\n'
            'vllm:gpu_cache_usage_perc{engine="0"} 0.25\nvllm:gpu_cache_usage_perc{engine="1"} 0.5\n'
            "vllm:spec_decode_num_drafts_total 10\nvllm:spec_decode_num_draft_tokens_total 30\n"
            "vllm:spec_decode_num_accepted_tokens_total 21\n",
        },
        facts={
            "engine": "vllm",
            "version": "0.33.0",
            "model": "org/m",
            "model_revision": "abc",
            "context_length": 32768,
            "max_concurrent_sequences": 18,
            "max_batched_tokens": 8192,
            "tensor_parallel_size": 2,
            "data_parallel_size": 2,
            "quantization": "none",
            "dtype": "bfloat16",
            "kv_cache_dtype": "fp8",
            "speculative_decoding": True,
            "speculative_method": "eagle3",
            "speculative_tokens": 3,
            "speculative_model": "org/m-eagle3",
            "prefix_caching": False,
            "chunked_prefill": True,
        },
        counters={"running": 5, "kv_cache_usage": 0.5, "drafts": 10, "draft_tokens": 30, "accepted_tokens": 21},
    ),
    Recorded(
        origin="built: to the shapes of vLLM's Rust frontend",
        replies={
            "/version": {"version": "0.33.0", "rust_frontend_version": "0.1"},
            "/v1/models": {"object": "list", "data": [{"id": "m", "created": 0, "owned_by": "vllm-frontend-rs"}]},
            "/server_info?config_format=json": {"model": "org/m"},
        },
        facts={"engine": "vllm", "version": "0.33.0", "speculative_decoding": None, "context_length": None},
    ),
)

"""Reads TensorRT-LLM's `trtllm-serve`: version and its Prometheus page.

Never asks for /metrics: reading that page empties a queue that other readers need.
"""

import json
from collections.abc import Mapping
from typing import Any

from runner import metrics
from runner.facts import Findings, facts, speculation_off
from runner.probes._recorded import Recorded
from runner.site import Site

ENGINE = "tensorrt_llm"
METRICS = "/prometheus/metrics"
COUNTERS = {
    "running": ("trtllm_num_requests_running",),
    "waiting": ("trtllm_num_requests_waiting",),
    "kv_cache_usage": ("trtllm_kv_cache_utilization",),
    "prompt_tokens": ("trtllm_prompt_tokens_total",),
    "generation_tokens": ("trtllm_generation_tokens_total",),
    "draft_tokens": ("trtllm_spec_decode_num_draft_tokens_total",),
    "accepted_tokens": ("trtllm_spec_decode_num_accepted_tokens_total",),
    "prefix_hits": ("trtllm_prompt_cached_tokens_total",),
    "finished": ("trtllm_request_success_total",),
}
PROGRAMS = ("trtllm-serve",)
FLAGS = {
    "max-batch-size": "max_concurrent_sequences",
    "max-num-tokens": "max_batched_tokens",
    "max-seq-len": "context_length",
    "tp-size": "tensor_parallel_size",
    "tensor-parallel-size": "tensor_parallel_size",
    "pp-size": "pipeline_parallel_size",
    "pipeline-parallel-size": "pipeline_parallel_size",
    "ep-size": "expert_parallel_size",
    "enable-chunked-prefill": "chunked_prefill",
    "kv-cache-dtype": "kv_cache_dtype",
}
CONFIG_FLAGS = ("config", "extra-llm-api-options")


async def probe(site: Site) -> Findings | None:
    """The facts of a trtllm-serve, or None if it is none: its model list and a second page must agree."""
    if await site.owner() != "tensorrt_llm":
        return None
    version, page = await site.get("/version"), await site.get(METRICS)
    if not (isinstance(version.at("version"), str) or "trtllm_" in page.text):
        return None
    text = page.text if page.status == 200 else ""
    found = facts(f"GET /v1/models owned_by, {version.source}", {"engine": ENGINE})
    found += facts(version.source, {"version": version.at("version")})
    found += facts(f"GET {METRICS}", _of_metrics(text))
    notes = () if text else ("no configuration on HTTP: trtllm-serve tells it with return_perf_metrics: true only",)
    return Findings(facts=found, counters=metrics.counters(text, COUNTERS), notes=notes)


def from_flags(flags: Mapping[str, str]) -> dict[str, Any]:
    """The speculative configuration, which stands in the YAML file."""
    try:
        config = json.loads(flags.get("speculative-config", "null"))
    except ValueError:
        return {}
    if not isinstance(config, dict):
        return {}
    return {
        "speculative_decoding": True,
        "speculative_method": config.get("decoding_type"),
        "speculative_tokens": config.get("max_draft_len"),
        "speculative_model": config.get("speculative_model_dir") or config.get("speculative_model"),
    }


def _of_metrics(text: str) -> dict[str, Any]:
    model = metrics.info(text, "trtllm_model_config_info")
    parallel = metrics.info(text, "trtllm_parallel_config_info")
    cache = metrics.info(text, "trtllm_kv_cache_config_info", "trtllm_cache_config_info")
    drafting = metrics.info(text, "trtllm_speculative_config_info")
    values = {
        "model": model.get("model"),
        "dtype": model.get("dtype"),
        "quantization": model.get("quantization"),
        "context_length": model.get("max_model_len"),
        "gpu_model": model.get("gpu_type"),
        "tensor_parallel_size": parallel.get("tensor_parallel_size"),
        "pipeline_parallel_size": parallel.get("pipeline_parallel_size"),
        "expert_parallel_size": parallel.get("expert_parallel_size"),
        "gpu_count": parallel.get("gpu_count"),
        "kv_cache_dtype": cache.get("cache_dtype"),
        "prefix_caching": cache.get("enable_block_reuse"),
        "max_concurrent_sequences": metrics.value(
            text, "trtllm_max_batch_size_runtime", "trtllm_max_batch_size_static", "trtllm_max_num_active_requests"
        ),
        "max_batched_tokens": metrics.value(text, "trtllm_max_num_tokens_runtime"),
    }
    if drafting.get("spec_enabled", "").lower() == "false":
        return values | speculation_off()
    if drafting:
        values |= {
            "speculative_decoding": drafting.get("spec_enabled"),
            "speculative_method": drafting.get("spec_method"),
            "speculative_tokens": drafting.get("spec_num_tokens"),
            "speculative_model": drafting.get("spec_draft_model"),
        }
    return values


_MODELS = {"object": "list", "data": [{"id": "m", "object": "model", "owned_by": "tensorrt_llm"}]}
RECORDED = (
    Recorded(
        origin="built: to the shapes of TensorRT-LLM 1.2.1 with return_perf_metrics",
        replies={
            "/v1/models": _MODELS,
            "/version": {"version": "1.2.1"},
            METRICS: 'trtllm_model_config_info{model="org/m",dtype="bfloat16",quantization="FP8",max_model_len="8192",'
            'gpu_type="NVIDIA H100"} 1\n'
            'trtllm_parallel_config_info{tensor_parallel_size="2",pipeline_parallel_size="1",gpu_count="2"} 1\n'
            'trtllm_speculative_config_info{spec_enabled="True",spec_method="MTP",spec_num_tokens="3"} 1\n'
            'trtllm_kv_cache_config_info{enable_block_reuse="True",cache_dtype="fp8"} 1\n'
            "trtllm_max_batch_size_runtime 64\ntrtllm_max_num_tokens_runtime 8192\n"
            "trtllm_num_requests_running 2\ntrtllm_kv_cache_utilization 0.1\n",
        },
        facts={
            "engine": "tensorrt_llm",
            "version": "1.2.1",
            "model": "org/m",
            "max_concurrent_sequences": 64,
            "max_batched_tokens": 8192,
            "context_length": 8192,
            "quantization": "FP8",
            "gpu_model": "NVIDIA H100",
            "gpu_count": 2,
            "speculative_decoding": True,
            "speculative_method": "MTP",
            "speculative_tokens": 3,
            "prefix_caching": True,
        },
        counters={"running": 2, "kv_cache_usage": 0.1},
    ),
    Recorded(
        origin="built: to the shapes of TensorRT-LLM 1.2.1 as it starts by default",
        replies={"/v1/models": _MODELS, "/version": {"version": "1.2.1"}},
        facts={"engine": "tensorrt_llm", "version": "1.2.1"},
    ),
)

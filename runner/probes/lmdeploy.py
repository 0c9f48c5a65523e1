"""Reads LMDeploy: metrics and the parallel sizes. Its cap is on no page, only on its command line."""

import json
from collections.abc import Mapping
from typing import Any

from runner import metrics
from runner.facts import Findings, facts
from runner.probes._recorded import Recorded
from runner.site import Answer, Site

ENGINE = "lmdeploy"
METRICS = "/metrics"
COUNTERS = {
    "running": ("lmdeploy:num_requests_running",),
    "waiting": ("lmdeploy:num_requests_waiting",),
    "kv_cache_usage": ("lmdeploy:gpu_cache_usage_perc",),
    "prompt_tokens": ("lmdeploy:prompt_tokens_total",),
    "generation_tokens": ("lmdeploy:generation_tokens_total",),
    "drafts": ("lmdeploy:spec_decode_num_drafts_total",),
    "draft_tokens": ("lmdeploy:spec_decode_num_draft_tokens_total",),
    "accepted_tokens": ("lmdeploy:spec_decode_num_accepted_tokens_total",),
    "prefix_hits": ("lmdeploy:cached_tokens_total",),
    "finished": ("lmdeploy:request_success_total",),
}
PROGRAMS = ("lmdeploy",)
FLAGS = {
    "max-batch-size": "max_concurrent_sequences",
    "session-len": "context_length",
    "max-prefill-token-num": "max_batched_tokens",
    "tp": "tensor_parallel_size",
    "dp": "data_parallel_size",
    "ep": "expert_parallel_size",
    "quant-policy": "kv_cache_dtype",
    "model-format": "quantization",
    "dtype": "dtype",
    "revision": "model_revision",
    "enable-prefix-caching": "prefix_caching",
    "speculative-algorithm": "speculative_method",
    "speculative-num-draft-tokens": "speculative_tokens",
    "speculative-draft-model": "speculative_model",
}


async def probe(site: Site) -> Findings | None:
    """The facts of an LMDeploy server, or None if it is none: its model list and a second page must agree."""
    if await site.owner() != ENGINE:
        return None
    page, sizes = await site.get(METRICS), _twice_read(await site.get("/distserve/engine_info"))
    if "lmdeploy:" not in page.text and not sizes:
        return None
    found = facts(f"GET /v1/models owned_by, GET {METRICS}", {"engine": ENGINE})
    values = {
        "tensor_parallel_size": sizes.get("tp_size"),
        "data_parallel_size": sizes.get("dp_size"),
        "expert_parallel_size": sizes.get("ep_size"),
    }
    found += facts("GET /distserve/engine_info", values)
    notes = ("its cap and its version are on no page", "its running, waiting and KV gauges are up to 10 s old")
    return Findings(facts=found, counters=metrics.counters(page.text, COUNTERS), notes=notes)


def from_flags(flags: Mapping[str, str]) -> dict[str, Any]:
    """Whether drafts are made; the turbomind backend ignores these options."""
    return {"speculative_decoding": True} if "speculative-algorithm" in flags else {}


def inferred(known: Mapping[str, Any]) -> dict[str, Any]:
    """What an absent --max-batch-size means: it depends on the GPU's name."""
    gpu = str(known.get("gpu_model") or "").upper()
    if not gpu:
        return {}
    if any(name in gpu for name in ("H100", "H800", "H200", "L20Y")):
        return {"max_concurrent_sequences": 1024}
    return {"max_concurrent_sequences": 384 if any(name in gpu for name in ("A100", "A800")) else 128}


def _twice_read(answer: Answer) -> dict[str, Any]:
    """The page is a JSON string that holds JSON."""
    try:
        inner = json.loads(answer.value) if isinstance(answer.value, str) else None
    except (ValueError, RecursionError):
        inner = None
    return inner if isinstance(inner, dict) else {}


RECORDED = (
    Recorded(
        origin="built: to the shapes of LMDeploy 0.18.0",
        replies={
            "/v1/models": {"object": "list", "data": [{"id": "m", "object": "model", "owned_by": "lmdeploy"}]},
            "/distserve/engine_info": '"{\\"tp_size\\": 2, \\"dp_size\\": 1, \\"ep_size\\": 1, \\"block_size\\": 64}"',
            "/metrics": 'lmdeploy:num_requests_running{model_name="m",engine="0"} 4.0\n'
            'lmdeploy:request_success_total{finished_reason="stop"} 3\n'
            'lmdeploy:request_success_total{finished_reason="length"} 4\nlmdeploy:backend_config_info 1.0\n',
        },
        facts={"engine": "lmdeploy", "tensor_parallel_size": 2, "data_parallel_size": 1, "model": None},
        counters={"running": 4, "finished": 7},
    ),
)

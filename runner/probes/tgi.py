"""Reads Text Generation Inference: /info and metrics. Shards, weight format and drafting are on no page of it."""

from collections.abc import Mapping
from typing import Any

from runner import metrics
from runner.facts import Findings, facts, speculation_off
from runner.probes._recorded import Recorded
from runner.site import Site

ENGINE = "tgi"
ROUTER = "text-generation-router"
METRICS = "/metrics"
COUNTERS = {
    "running": ("tgi_batch_current_size",),
    "waiting": ("tgi_queue_size",),
    "prompt_tokens": ("tgi_request_input_length_sum",),
    "generation_tokens": ("tgi_request_generated_tokens_sum",),
    "accepted_tokens": ("tgi_request_skipped_tokens_sum",),
    "finished": ("tgi_request_success",),
}
PROGRAMS = ("text-generation-launcher", "text-generation-server", "text-generation-router")
FLAGS = {
    "max-batch-size": "max_concurrent_sequences",
    "max-concurrent-requests": "max_admitted_requests",
    "max-batch-prefill-tokens": "max_batched_tokens",
    "max-total-tokens": "context_length",
    "num-shard": "tensor_parallel_size",
    "quantize": "quantization",
    "dtype": "dtype",
    "kv-cache-dtype": "kv_cache_dtype",
    "revision": "model_revision",
    "model-id": "model",
    "speculate": "speculative_tokens",
}
ENVIRONMENT = {flag.replace("-", "_").upper(): name for flag, name in FLAGS.items()}


async def probe(site: Site) -> Findings | None:
    """The facts of a TGI server, or None if it is none: /info names its router and has its limits."""
    info = await site.get("/info")
    if info.at("router") != ROUTER or info.at("max_concurrent_requests") is None:
        return None
    page = await site.get(METRICS)
    found = facts(f"{info.source} router and limits", {"engine": ENGINE})
    values = {
        "version": info.at("version"),
        "model": info.at("model_id"),
        "model_revision": info.at("model_sha"),
        "context_length": info.at("max_total_tokens"),
        "max_admitted_requests": info.at("max_concurrent_requests"),
    }
    found += facts(info.source, values)
    note = "its batch is bounded by tokens, not by sequences; max_admitted_requests counts those that wait too"
    return Findings(facts=found, counters=metrics.counters(page.text, COUNTERS), notes=(note,))


def from_flags(flags: Mapping[str, str]) -> dict[str, Any]:
    """Whether drafts are made."""
    tokens = flags.get("speculate")
    if tokens is None:
        return {}
    return speculation_off() if tokens == "0" else {"speculative_decoding": True}


RECORDED = (
    Recorded(
        origin="built: to the shapes of Text Generation Inference 3.3.7",
        replies={
            "/v1/models": {"object": "list", "data": [{"id": "org/m", "owned_by": "org/m", "created": 0}]},
            "/info": {
                "model_id": "org/m",
                "model_sha": "0123abcd",
                "model_pipeline_tag": "text-generation",
                "max_concurrent_requests": 128,
                "max_best_of": 2,
                "max_stop_sequences": 4,
                "max_input_tokens": 4095,
                "max_total_tokens": 4096,
                "validation_workers": 2,
                "max_client_batch_size": 4,
                "router": ROUTER,
                "version": "3.3.7",
                "sha": "abc",
                "docker_label": "sha-abc",
            },
            "/metrics": "tgi_queue_size 2\ntgi_batch_current_size 6\ntgi_request_success 9\n"
            "tgi_request_generated_tokens_sum 900\ntgi_request_generated_tokens_count 9\n",
        },
        facts={
            "engine": "tgi",
            "version": "3.3.7",
            "model": "org/m",
            "model_revision": "0123abcd",
            "context_length": 4096,
            "max_admitted_requests": 128,
        },
        counters={"running": 6, "waiting": 2, "generation_tokens": 900, "finished": 9},
    ),
)

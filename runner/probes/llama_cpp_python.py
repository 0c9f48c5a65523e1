"""Reads llama-cpp-python's server, which has no page about itself: its model list and its API description.

It generates for one request at a time and by default cuts the one in progress when another comes.
"""

from collections.abc import Mapping
from typing import Any

from runner.facts import Findings, facts
from runner.probes._recorded import Recorded
from runner.site import Site

ENGINE = "llama_cpp_python"
PROGRAMS = ("llama_cpp.server",)
FLAGS = {
    "n-ctx": "context_length",
    "n-batch": "max_batched_tokens",
    "type-k": "kv_cache_dtype",
    "draft-model": "speculative_method",
    "draft-model-num-pred-tokens": "speculative_tokens",
}


async def probe(site: Site) -> Findings | None:
    """The facts of a llama-cpp-python server, or None if it is none: two of its three signs must be there."""
    if await site.owner() != "me":
        return None
    rows = (await site.get("/v1/models")).rows("data")
    described = await site.get("/openapi.json")
    title = described.at("info", "title")
    is_titled = isinstance(title, str) and title.endswith("llama.cpp Python API")
    if not (is_titled or all(row.get("permissions") == [] for row in rows)):
        return None
    found = facts("GET /v1/models owned_by and permissions", {"engine": ENGINE})
    found += facts(described.source, {"version": described.at("info", "version") if is_titled else None})
    found += facts("the engine: one lock around its model", {"max_concurrent_sequences": 1})
    note = "unless started with --interrupt_requests false, a second request cuts the answer in progress"
    return Findings(facts=found, notes=(note,))


def from_flags(flags: Mapping[str, str]) -> dict[str, Any]:
    """Whether drafts are made."""
    return {"speculative_decoding": True} if "draft-model" in flags else {}


def inferred(known: Mapping[str, Any]) -> dict[str, Any]:
    """What absent options mean."""
    return {"context_length": 2048, "max_batched_tokens": 512}


RECORDED = (
    Recorded(
        origin="real: llama-cpp-python 0.3.36",
        headers={"server": "uvicorn"},
        replies={
            "/v1/models": '{"object":"list","data":[{"id":"m","object":"model","owned_by":"me","permissions":[]}]}'
        },
        facts={"engine": "llama_cpp_python", "max_concurrent_sequences": 1, "version": None},
    ),
)

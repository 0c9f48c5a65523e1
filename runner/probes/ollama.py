"""Reads Ollama: version and loaded models. How many requests run at once is known to its runner process only.

A model is never named in a request here: naming one that is not loaded loads it and may evict another.
"""

from collections.abc import Mapping
from typing import Any

from runner.facts import Findings, facts, speculation_off
from runner.probes._recorded import Recorded
from runner.site import Answer, Site

ENGINE = "ollama"
PROGRAMS = ("ollama serve",)
FLAGS: dict[str, str] = {}
ENVIRONMENT = {
    "OLLAMA_NUM_PARALLEL": "max_concurrent_sequences",
    "OLLAMA_MAX_QUEUE": "max_queued_requests",
    "OLLAMA_KV_CACHE_TYPE": "kv_cache_dtype",
}
CHILD_PROGRAMS = ("llama-server",)


async def probe(site: Site) -> Findings | None:
    """The facts of an Ollama server, or None if it is none: its version page and its greeting must agree."""
    version = await site.get("/api/version")
    if not isinstance(version.at("version"), str) or "Ollama is running" not in (await site.get("/")).text[:200]:
        return None
    found = facts("GET /api/version, GET /", {"engine": ENGINE})
    found += facts(version.source, {"version": version.at("version")})
    loaded = await site.get("/api/ps")
    row = _row(loaded, site.serving.model)
    notes = ["how many requests run at once is on no page"]
    if row is None:
        return Findings(facts=found, notes=(*notes, "its model is not loaded: nothing is known of how it would run"))
    details = row.get("details")
    values = {
        "model": row.get("model") or row.get("name"),
        "model_revision": row.get("digest"),
        "context_length": row.get("context_length"),
        "quantization": details.get("quantization_level") if isinstance(details, dict) else None,
    }
    size, on_gpu = row.get("size"), row.get("size_vram")
    if isinstance(size, int) and isinstance(on_gpu, int) and on_gpu < size:
        notes.append(f"{size - on_gpu} of {size} bytes of the model are not on a GPU")
    return Findings(facts=found + facts(loaded.source, values), notes=tuple(notes))


def from_child(flags: Mapping[str, str]) -> dict[str, Any]:
    """The facts of the options of the llama-server that Ollama starts for a model."""
    found: dict[str, Any] = {
        "max_concurrent_sequences": flags.get("np"),
        "kv_cache_dtype": flags.get("cache-type-k"),
        "max_batched_tokens": flags.get("b"),
    }
    if "spec-type" not in flags:
        return found | speculation_off()
    return found | {
        "speculative_decoding": True,
        "speculative_method": flags["spec-type"],
        "speculative_tokens": flags.get("spec-draft-n-max"),
        "speculative_model": flags.get("spec-draft-model"),
    }


def inferred(known: Mapping[str, Any]) -> dict[str, Any]:
    """What an absent OLLAMA_NUM_PARALLEL means."""
    return {"max_concurrent_sequences": 1, "max_queued_requests": 512}


def _row(loaded: Answer, model: str) -> dict[str, Any] | None:
    rows = loaded.rows("models")
    if model == "auto":
        return rows[0] if len(rows) == 1 else None
    names = (model, f"{model}:latest")
    return next((row for row in rows if row.get("name") in names or row.get("model") in names), None)


RECORDED = (
    Recorded(
        origin="built: to the shapes of Ollama 0.33.0",
        replies={
            "/": "Ollama is running",
            "/api/version": {"version": "0.33.0"},
            "/v1/models": {"object": "list", "data": [{"id": "qwen3:8b", "object": "model", "owned_by": "library"}]},
            "/api/ps": {
                "models": [
                    {
                        "name": "qwen3:8b",
                        "model": "qwen3:8b",
                        "digest": "500a1f067a9f",
                        "size": 6000,
                        "size_vram": 6000,
                        "context_length": 4096,
                        "details": {"family": "qwen3", "parameter_size": "8.2B", "quantization_level": "Q4_K_M"},
                    }
                ]
            },
        },
        facts={
            "engine": "ollama",
            "version": "0.33.0",
            "model": "qwen3:8b",
            "model_revision": "500a1f067a9f",
            "context_length": 4096,
            "quantization": "Q4_K_M",
            "max_concurrent_sequences": None,
        },
    ),
)

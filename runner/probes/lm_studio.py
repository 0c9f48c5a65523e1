"""Reads LM Studio's own model lists. Its limit of concurrent predictions, drafting and version are on no page."""

from typing import Any

from runner.facts import Findings, facts
from runner.probes._recorded import Recorded
from runner.site import Site

ENGINE = "lm_studio"


async def probe(site: Site) -> Findings | None:
    """The facts of an LM Studio server, or None if it is none: its list must have two fields that nobody else's has."""
    new = await site.get("/api/v1/models")
    rows = [row for row in new.rows("models") if {"loaded_instances", "max_context_length"} <= row.keys()]
    if rows:
        return _findings(new.source, _of_new(_chosen(rows, site.serving.model, "key")))
    old = await site.get("/api/v0/models")
    rows = [row for row in old.rows("data") if {"state", "max_context_length", "quantization"} <= row.keys()]
    return _findings(old.source, _of_old(_chosen(rows, site.serving.model, "id"))) if rows else None


def _findings(source: str, values: dict[str, Any]) -> Findings:
    found = facts(f"{source} loaded_instances or state, max_context_length", {"engine": ENGINE})
    note = "its limit of concurrent predictions, its drafting and its version are on no page"
    return Findings(facts=found + facts(source, values), notes=(note,))


def _chosen(rows: list[dict[str, Any]], model: str, key: str) -> dict[str, Any]:
    """The named model, or the only loaded one."""
    if model != "auto":
        return next((row for row in rows if row.get(key) == model), {})
    loaded = [row for row in rows if row.get("loaded_instances") or row.get("state") == "loaded"]
    return loaded[0] if len(loaded) == 1 else {}


def _of_new(row: dict[str, Any]) -> dict[str, Any]:
    instances, weights = row.get("loaded_instances"), row.get("quantization")
    instance = instances[0] if isinstance(instances, list) and len(instances) == 1 else {}
    config = instance.get("config") if isinstance(instance, dict) else {}
    return {
        "model": row.get("key"),
        "quantization": weights.get("name") if isinstance(weights, dict) else None,
        "context_length": config.get("context_length") if isinstance(config, dict) else None,
        "max_batched_tokens": config.get("eval_batch_size") if isinstance(config, dict) else None,
    }


def _of_old(row: dict[str, Any]) -> dict[str, Any]:
    return {
        "model": row.get("id"),
        "quantization": row.get("quantization"),
        "context_length": row.get("loaded_context_length"),
    }


RECORDED = (
    Recorded(
        origin="built: to the documented shapes of LM Studio 0.4",
        replies={
            "/v1/models": {
                "object": "list",
                "data": [{"id": "qwen3-4b", "object": "model", "owned_by": "organization"}],
            },
            "/api/v1/models": {
                "models": [
                    {
                        "type": "llm",
                        "key": "qwen3-4b",
                        "quantization": {"name": "Q4_K_M", "bits_per_weight": 4},
                        "max_context_length": 32768,
                        "format": "gguf",
                        "loaded_instances": [
                            {"id": "qwen3-4b", "config": {"context_length": 8192, "eval_batch_size": 512}}
                        ],
                    }
                ]
            },
        },
        facts={
            "engine": "lm_studio",
            "model": "qwen3-4b",
            "quantization": "Q4_K_M",
            "context_length": 8192,
            "max_batched_tokens": 512,
        },
    ),
    Recorded(
        origin="built: to the documented shapes of LM Studio 0.3",
        replies={
            "/v1/models": {"object": "list", "data": [{"id": "qwen2.5-7b", "object": "model"}]},
            "/api/v0/models": {
                "object": "list",
                "data": [
                    {
                        "id": "qwen2.5-7b",
                        "arch": "qwen2",
                        "quantization": "4bit",
                        "state": "loaded",
                        "max_context_length": 32768,
                        "compatibility_type": "mlx",
                    }
                ],
            },
        },
        facts={"engine": "lm_studio", "model": "qwen2.5-7b", "quantization": "4bit", "context_length": None},
    ),
)

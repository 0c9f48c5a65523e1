"""Reads llama.cpp's `llama-server` and its router: slots, context, template and speculation from /props and /slots.

A router is never asked about a model that is not loaded, since that would load it. The header
`Process-Start-Time-Unix` is no date in real servers (it counts microseconds since the machine started), only a mark.
"""

from collections.abc import Mapping
from pathlib import PurePath
from typing import Any
from urllib.parse import quote

from itembank.canonical import digest
from runner import metrics
from runner.facts import Findings, facts, speculation_off
from runner.probes._flags import flags_of
from runner.probes._recorded import Recorded
from runner.site import Answer, Site

ENGINE = "llama_cpp"
SERVER = "llama.cpp"
"""What its replies have in the header `Server`."""
METRICS = "/metrics"
COUNTERS = {
    "running": ("llamacpp:requests_processing",),
    "waiting": ("llamacpp:requests_deferred",),
    "prompt_tokens": ("llamacpp:prompt_tokens_total",),
    "generation_tokens": ("llamacpp:tokens_predicted_total",),
    "drafts": ("llamacpp:spec_decode_num_drafts_total",),
    "draft_tokens": ("llamacpp:spec_decode_num_draft_tokens_total",),
    "accepted_tokens": ("llamacpp:spec_decode_num_accepted_tokens_total",),
    "prefix_hits": ("llamacpp:prompt_tokens_cached_total",),
}
PROGRAMS = ("llama-server", "llama serve", "runner.local")
FLAGS = {
    "parallel": "max_concurrent_sequences",
    "np": "max_concurrent_sequences",
    "batch-size": "max_batched_tokens",
    "b": "max_batched_tokens",
    "cache-type-k": "kv_cache_dtype",
    "ctk": "kv_cache_dtype",
    "spec-type": "speculative_method",
    "spec-draft-n-max": "speculative_tokens",
    "draft-max": "speculative_tokens",
    "spec-draft-model": "speculative_model",
    "model-draft": "speculative_model",
    "md": "speculative_model",
}
ENVIRONMENT = {
    "LLAMA_ARG_N_PARALLEL": "max_concurrent_sequences",
    "LLAMA_ARG_BATCH": "max_batched_tokens",
    "LLAMA_ARG_CACHE_TYPE_K": "kv_cache_dtype",
    "LLAMA_ARG_SPEC_TYPE": "speculative_method",
}


async def probe(site: Site) -> Findings | None:
    """The facts of a llama.cpp server, or None if it is none: header, model list and /props, two must agree."""
    props = await site.get("/props")
    is_router = props.at("role") == "router"
    signs = [
        props.headers.get("server") == SERVER,
        await site.owner() == "llamacpp",
        props.at("total_slots") is not None and props.at("build_info") is not None,
        is_router and props.at("max_instances") is not None,
    ]
    if sum(signs) < 2:
        return None
    found = facts("header Server, GET /v1/models, GET /props", {"engine": ENGINE})
    found += facts(props.source, {"version": props.at("build_info"), "system_fingerprint": props.at("build_info")})
    if props.status in (401, 403):
        return Findings(facts=found, notes=(f"GET /props: HTTP {props.status}; it wants the server's key",))
    if is_router:
        return await _of_router(site, found)
    slots = await site.get("/slots")
    page = await site.get(METRICS) if props.at("endpoint_metrics") is not False else Answer(path=METRICS)
    mark = page.headers.get("process-start-time-unix")
    found += facts(props.source, _of_props(props)) + facts(slots.source, _speculation(slots))
    found += facts(f"GET {METRICS} header Process-Start-Time-Unix", {"start_mark": mark})
    notes = () if page.status == 200 else ("no counters: the server runs without --metrics",)
    return Findings(facts=found, counters=metrics.counters(page.text, COUNTERS), notes=notes)


def from_flags(flags: Mapping[str, str]) -> dict[str, Any]:
    """What `-1` slots and a drafter without a type mean."""
    found: dict[str, Any] = {}
    method = flags.get("spec-type")
    if method == "none":
        found |= speculation_off()
    elif method or any(FLAGS.get(name) == "speculative_model" for name in flags):
        found |= {"speculative_decoding": True}
    if any(name.startswith("spec-synth-") for name in flags):
        found["speculative_method"] = "synthetic: acceptance is faked"
    return found


def inferred(known: Mapping[str, Any]) -> dict[str, Any]:
    """What an absent --parallel means."""
    return {"max_concurrent_sequences": 4, "max_batched_tokens": 2048}


async def _of_router(site: Site, found: tuple[Any, ...]) -> Findings:
    models = await site.get("/models")
    loaded = {row["id"]: row for row in models.rows("data") if isinstance(row.get("id"), str) and _is_loaded(row)}
    wanted = site.serving.model
    name = next(iter(loaded)) if wanted == "auto" and len(loaded) == 1 else wanted
    if name not in loaded:
        note = "a router whose model is not loaded; it was not asked, since asking would load it"
        return Findings(facts=found, notes=(note,))
    props = await site.get(f"/props?model={quote(name, safe='')}&autoload=false")
    arguments = loaded[name].get("status", {}).get("args")
    flags = flags_of([str(part) for part in arguments]) if isinstance(arguments, list) else {}
    typed = {FLAGS[flag]: value for flag, value in flags.items() if flag in FLAGS} | from_flags(flags)
    found += facts(props.source, _of_props(props)) + facts("GET /models status.args", typed)
    return Findings(facts=found, notes=("a router in front of the server that answers",))


def _is_loaded(row: Mapping[str, Any]) -> bool:
    status = row.get("status")
    return isinstance(status, dict) and status.get("value") == "loaded"


def _of_props(props: Answer) -> dict[str, Any]:
    path, template = props.at("model_path"), props.at("chat_template")
    file_type, build = props.at("model_ftype"), props.at("build_info")
    return {
        "model": PurePath(path.replace("\\", "/")).name if isinstance(path, str) else props.at("model_alias"),
        "version": build,
        "context_length": props.at("default_generation_settings", "n_ctx"),
        "max_concurrent_sequences": props.at("total_slots"),
        "quantization": file_type,
        "chat_template_digest": digest(template) if isinstance(template, str) and template else None,
    }


def _speculation(slots: Answer) -> dict[str, Any]:
    states = [row.get("speculative") for row in slots.rows()]
    if any(state is True for state in states):
        return {"speculative_decoding": True}
    return speculation_off() if states and all(state is False for state in states) else {}


_TEMPLATE = "{% for message in messages %}{{ message['content'] }}{% endfor %}"
RECORDED = (
    Recorded(
        origin="real: llama-server with 4 slots, /props, /slots and metrics cut to some fields",
        headers={"server": "llama.cpp"},
        replies={
            "/v1/models": '{"object":"list","data":[{"id":"m","aliases":["m"],"object":"model","owned_by":"llamacpp",'
            '"meta":{"n_vocab":49152,"n_ctx":1024,"n_ctx_train":8192,"ftype":"Q4_1"}}]}',
            "/props": {
                "default_generation_settings": {"params": {"speculative.types": "none"}, "n_ctx": 1024},
                "total_slots": 4,
                "model_alias": "m",
                "model_ftype": "Q4_1",
                "model_path": "smollm2.gguf",
                "endpoint_slots": True,
                "endpoint_props": True,
                "endpoint_metrics": True,
                "chat_template": _TEMPLATE,
                "build_info": "b0-unknown",
                "is_sleeping": False,
            },
            "/slots": [{"id": n, "n_ctx": 1024, "speculative": False, "is_processing": False} for n in range(4)],
            METRICS: "llamacpp:prompt_tokens_total 192\nllamacpp:prompt_tokens_cached_total 372\n"
            "llamacpp:tokens_predicted_total 295\nllamacpp:prompt_tokens_seconds 42.9447\n"
            "llamacpp:spec_decode_num_draft_tokens_total 0\nllamacpp:requests_processing 0\n",
        },
        facts={
            "engine": "llama_cpp",
            "version": "b0-unknown",
            "model": "smollm2.gguf",
            "quantization": "Q4_1",
            "context_length": 1024,
            "max_concurrent_sequences": 4,
            "speculative_decoding": False,
            "speculative_tokens": 0,
            "chat_template_digest": digest(_TEMPLATE),
            "system_fingerprint": "b0-unknown",
        },
        counters={"running": 0, "prompt_tokens": 192, "generation_tokens": 295, "prefix_hits": 372, "draft_tokens": 0},
    ),
    Recorded(
        origin="built: to the shapes of llama.cpp's router with one loaded model",
        headers={"server": "llama.cpp"},
        replies={
            "/v1/models": {"object": "list", "data": [{"id": "a"}, {"id": "b"}]},
            "/props": {"role": "router", "max_instances": 4},
            "/models": {
                "data": [
                    {"id": "a", "status": {"value": "unloaded"}},
                    {
                        "id": "b",
                        "status": {
                            "value": "loaded",
                            "args": ["llama-server", "--spec-type", "ngram-mod", "--spec-draft-n-max", "5"],
                        },
                    },
                ]
            },
            "/props?model=b&autoload=false": {
                "total_slots": 2,
                "build_info": "b9000-abc",
                "model_path": "/models/b.gguf",
                "default_generation_settings": {"n_ctx": 2048},
            },
        },
        facts={
            "engine": "llama_cpp",
            "version": "b9000-abc",
            "model": "b.gguf",
            "max_concurrent_sequences": 2,
            "context_length": 2048,
            "speculative_decoding": True,
            "speculative_method": "ngram-mod",
            "speculative_tokens": 5,
        },
    ),
)

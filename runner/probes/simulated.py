"""Reads triplicate's own simulator, so that nothing made with it can pass for a measurement of an engine."""

from runner import metrics
from runner.facts import Findings, facts, speculation_off
from runner.probes._recorded import Recorded
from runner.site import Site

ENGINE = "triplicate-simulator"
METRICS = "/metrics"
PROGRAMS = ("triplicate simulate", "triplicate.py simulate")
FLAGS: dict[str, str] = {}
COUNTERS = {
    "running": ("simulator:requests_running",),
    "waiting": ("simulator:requests_waiting",),
    "prompt_tokens": ("simulator:prompt_tokens_total",),
    "generation_tokens": ("simulator:generation_tokens_total",),
    "draft_tokens": ("simulator:draft_tokens_total",),
    "accepted_tokens": ("simulator:accepted_tokens_total",),
    "prefix_hits": ("simulator:cached_tokens_total",),
}


async def probe(site: Site) -> Findings | None:
    """What the simulator states of itself, or None if it is none."""
    if await site.owner() != ENGINE:
        return None
    page = await site.get("/simulator")
    if page.at("simulated") is not True:
        return None
    drafted = page.at("speculative_tokens")
    values = {
        "engine": ENGINE,
        "version": page.at("preset"),
        "simulated": True,
        "model": page.at("model"),
        "max_concurrent_sequences": page.at("max_concurrent_sequences"),
        "context_length": page.at("context_length"),
        "prefix_caching": page.at("prefix_cache"),
        "speculative_tokens": drafted,
    }
    if isinstance(drafted, int):
        values |= {"speculative_decoding": True, "speculative_method": "simulated"} if drafted else speculation_off()
    counted = metrics.counters((await site.get(METRICS)).text, COUNTERS)
    notes = ("a simulation of an engine, not an engine",)
    return Findings(facts=facts(page.source, values), counters=counted, notes=notes)


RECORDED = (
    Recorded(
        origin="real: triplicate simulate batching-spec",
        replies={
            "/v1/models": {"object": "list", "data": [{"id": "simulated", "owned_by": ENGINE, "max_model_len": 32768}]},
            "/simulator": {
                "engine": ENGINE,
                "simulated": True,
                "model": "simulated",
                "preset": "batching-spec",
                "max_concurrent_sequences": 64,
                "speculative_tokens": 4,
                "context_length": 32768,
                "prefix_cache": True,
            },
            "/metrics": "simulator:requests_running 1\nsimulator:draft_tokens_total 40\n",
        },
        facts={
            "engine": ENGINE,
            "version": "batching-spec",
            "simulated": True,
            "max_concurrent_sequences": 64,
            "context_length": 32768,
            "speculative_decoding": True,
            "speculative_tokens": 4,
        },
        counters={"running": 1, "draft_tokens": 40},
    ),
)

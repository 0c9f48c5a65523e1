"""Recognises gateways and hosted interfaces: LiteLLM, OpenRouter, OpenAI. Says what cannot be read through them.

No engine is named and no cap, weight format or drafting is ever filled in for what lies behind.
"""

from runner.facts import Findings, facts
from runner.probes._recorded import Recorded
from runner.site import Site

HIDDEN_FACTS = (
    "unreadable through a gateway: engine, max_concurrent_sequences, quantization, KV cache, speculative decoding"
)


async def probe(site: Site) -> Findings | None:
    """The gateway in front, or None if two signs of one are not there."""
    answer = await site.get("/v1/models")
    headers = answer.headers
    if "x-litellm-version" in headers or "x-litellm-call-id" in headers:
        alive = await site.get("/health/liveliness")
        if alive.status == 200 or {"x-litellm-version", "x-litellm-call-id"} <= headers.keys():
            return _found("litellm", "header x-litellm-version", headers.get("x-litellm-version"), _behind(headers))
    if site.host == "openrouter.ai" and ("x-generation-id" in headers or answer.rows("data")):
        return _found("openrouter", "host name, model list", None, "requests may go to different providers; pin one")
    owners = {str(row.get("owned_by")) for row in answer.rows("data")}
    if site.host == "api.openai.com" and ("openai-version" in headers or "system" in owners or "openai" in owners):
        return _found("openai", "host name, model list", None, None)
    return None


def _behind(headers: dict[str, str] | object) -> str | None:
    base = headers.get("x-litellm-model-api-base") if isinstance(headers, dict) else None
    return f"what lies behind it answers at {base}: probe that" if base else None


def _found(name: str, source: str, version: str | None, note: str | None) -> Findings:
    found = facts(source, {"gateway": name, "version": version})
    return Findings(facts=found, notes=(HIDDEN_FACTS, *((note,) if note else ())))


RECORDED = (
    Recorded(
        origin="built: to the shapes of LiteLLM 1.110.2",
        headers={
            "x-litellm-version": "1.110.2",
            "x-litellm-call-id": "c1",
            "x-litellm-model-api-base": "http://10.0.0.7:8000/v1",
        },
        replies={
            "/v1/models": {"object": "list", "data": [{"id": "gpt", "object": "model", "owned_by": "openai"}]},
            "/health/liveliness": "I'm alive!",
        },
        facts={"gateway": "litellm", "version": "1.110.2", "engine": None, "max_concurrent_sequences": None},
    ),
)

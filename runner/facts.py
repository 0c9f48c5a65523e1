"""The facts that triplicate knows about a serving system: their names, their types, and how one is made.

A value that is not of its fact's type is no fact: replies of servers are untrusted. Nothing here asks a server.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from runner.record import Fact
from runner.redact import redacted, redacted_tree

FACTS: dict[str, tuple[type, str]] = {
    "engine": (str, "the serving engine by the name of its probe; at least two signs must agree"),
    "version": (str, "its version or build"),
    "gateway": (str, "a gateway in front of the engine; it hides the engine's configuration"),
    "inner_engine": (str, "the engine inside a packaged server"),
    "model": (str, "the model as the server names it: an id, a repository or a file"),
    "model_revision": (str, "commit, digest or weight version of the model"),
    "context_length": (int, "the most tokens of one request, prompt and answer together"),
    "max_concurrent_sequences": (int, "the serving cap: sequences that are generated at once, over all replicas"),
    "max_queued_requests": (int, "requests that may wait; above it the server refuses"),
    "max_admitted_requests": (int, "requests that may run or wait together; above it the server refuses"),
    "max_batched_tokens": (int, "tokens that one scheduler step may process"),
    "tensor_parallel_size": (int, "tensor-parallel ranks"),
    "pipeline_parallel_size": (int, "pipeline-parallel ranks"),
    "data_parallel_size": (int, "data-parallel replicas behind this one address"),
    "expert_parallel_size": (int, "expert-parallel ranks"),
    "quantization": (str, "weight format"),
    "dtype": (str, "type of the activations"),
    "kv_cache_dtype": (str, "type of the KV cache"),
    "kv_cache_tokens": (int, "tokens that the KV cache holds"),
    "speculative_decoding": (bool, "whether draft tokens are proposed and verified"),
    "speculative_method": (str, "how drafts are made; `none` when off"),
    "speculative_tokens": (int, "draft tokens proposed at a time; 0 when off"),
    "speculative_model": (str, "the draft model"),
    "prefix_caching": (bool, "whether computed prompt prefixes are kept"),
    "chunked_prefill": (bool, "whether long prompts are processed in pieces between decode steps"),
    "deterministic": (bool, "whether the engine promises the same text whatever the batch"),
    "chat_template_digest": (str, "digest of the chat template's text"),
    "gpu_model": (str, "name of the GPUs in use"),
    "gpu_count": (int, "number of GPUs in use"),
    "gpu_memory_bytes": (int, "memory of one GPU"),
    "gpu_driver": (str, "driver version"),
    "system_fingerprint": (str, "what chat replies carry"),
    "simulated": (bool, "whether this is no engine but a simulation of one"),
    "other_flags": (str, "options on the command line that are none of these facts"),
    "config_file": (str, "a configuration file that the command line names, and whether it is newer than the process"),
    "command": (str, "the server's command line, secrets removed"),
    "process_started_at": (str, "UTC, ISO 8601"),
    "start_mark": (str, "a number without a meaning of its own that every start of the server changes"),
    "pid": (int, "process id of the server's main process"),
}
FACT_NAMES: tuple[str, ...] = tuple(FACTS)
PASSING_FACTS = frozenset({"process_started_at", "start_mark", "pid", "command", "system_fingerprint"})
"""Facts that differ between two starts of one configuration; they are no part of what is compared."""

LONGEST = 500
LARGEST = 10**15
_SHORT_NUMBER = re.compile(r"(\d{1,15})(?:\.0+)?([kKmMgG]?)")
_UNITS = {"": 1, "k": 10**3, "K": 2**10, "m": 10**6, "M": 2**20, "g": 10**9, "G": 2**30}
_TRUE, _FALSE = {"true", "yes", "on", "1"}, {"false", "no", "off", "0"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Findings:
    """What one probe found."""

    facts: tuple[Fact, ...] = ()
    counters: Mapping[str, float] = field(default_factory=dict)
    notes: tuple[str, ...] = ()

    @property
    def engine(self) -> str | None:
        """The engine that the probe named."""
        return next((fact.value for fact in self.facts if fact.name == "engine"), None)


def facts(source: str, values: Mapping[str, Any]) -> tuple[Fact, ...]:
    """The facts among `values` that are known and of the right type."""
    typed = ((name, typed_value(name, value)) for name, value in values.items())
    return tuple(Fact(name=name, value=value, source=source) for name, value in typed if value is not None)


def speculation_off() -> dict[str, Any]:
    """The facts of a server that does not speculate."""
    return {"speculative_decoding": False, "speculative_method": "none", "speculative_tokens": 0}


def typed_value(name: str, value: Any) -> Any:
    """The value as its fact's type, or None if it is none: text of numbers and booleans is read.

    >>> typed_value("context_length", "32k"), typed_value("context_length", -1), typed_value("engine", ["x"])
    (32000, None, None)
    """
    kind = FACTS[name][0]
    if kind is bool:
        return _boolean(value)
    return _whole_number(value) if kind is int else _text(value)


def printable(text: str, longest: int = LONGEST) -> str:
    """One line without control characters, cut at `longest` characters."""
    clean = "".join(char if char.isprintable() else " " for char in text[: 4 * longest])
    clean = " ".join(clean.split())
    return clean if len(clean) <= longest else clean[: longest - 1] + "…"


def clean_fact(fact: Fact, secrets: frozenset[str]) -> Fact:
    """The fact with every secret taken out of its value and its source."""
    value = redacted_tree(fact.value, secrets)
    return Fact(name=fact.name, value=value, source=printable(redacted(fact.source, secrets)))


def _boolean(value: Any) -> bool | None:
    if isinstance(value, bool):
        return value
    if isinstance(value, str) and value.strip().lower() in _TRUE | _FALSE:
        return value.strip().lower() in _TRUE
    return None


def _whole_number(value: Any) -> int | None:
    if isinstance(value, str):
        match = _SHORT_NUMBER.fullmatch(value.strip())
        value = int(match[1]) * _UNITS[match[2]] if match else None
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    return value if isinstance(value, int) and not isinstance(value, bool) and 0 <= value <= LARGEST else None


def _text(value: Any) -> str | None:
    return printable(value) or None if isinstance(value, str) else None

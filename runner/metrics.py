"""Reads the Prometheus text that engines print, and gives its counters the names that triplicate uses.

A metric that is not printed is absent, never 0. Histograms and summaries are left alone.
"""

import math
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

COUNTERS: dict[str, str] = {
    "running": "requests that are being generated now",
    "waiting": "requests that wait now",
    "kv_cache_usage": "share of the KV cache in use now, 0 to 1; the largest over replicas",
    "prompt_tokens": "prompt tokens processed since the start",
    "generation_tokens": "tokens generated since the start",
    "drafts": "drafts proposed since the start",
    "draft_tokens": "draft tokens proposed since the start",
    "accepted_tokens": "draft tokens accepted since the start",
    "prefix_queries": "prompt tokens looked up in the prefix cache since the start",
    "prefix_hits": "prompt tokens found in the prefix cache since the start",
    "preemptions": "sequences that lost their place to others since the start",
    "finished": "requests finished since the start",
}
LARGEST_OF = {"kv_cache_usage"}
MOST_SAMPLES = 50_000
_LINE = re.compile(r"([A-Za-z_:][\w:]*)(?:\{(.*)\})?\s+(\S+)(?:\s+-?\d+)?\s*")
_LABEL = re.compile(r'\s*,?\s*([A-Za-z_]\w*)\s*=\s*"((?:[^"\\]|\\.)*)"')
_ESCAPES = {r"\\": "\\", r"\"": '"', r"\n": "\n"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Sample:
    """One line of the page."""

    name: str
    labels: Mapping[str, str]
    value: float


def samples(text: str) -> Iterator[Sample]:
    r"""The samples of a page in its order; a line that cannot be read is left out.

    >>> [(s.name, dict(s.labels), s.value) for s in samples('# HELP a b\na{m="x"} 2\nbroken')]
    [('a', {'m': 'x'}, 2.0)]
    """
    count = 0
    for line in text.splitlines():
        match = _LINE.fullmatch(line) if line[:1] not in ("", "#") else None
        value = _number(match[3]) if match else None
        if match is None or value is None:
            continue
        count += 1
        if count > MOST_SAMPLES:
            return
        labels = {name: _unescaped(content) for name, content in _LABEL.findall(match[2] or "")}
        yield Sample(name=match[1], labels=labels, value=value)


def counters(text: str, aliases: Mapping[str, tuple[str, ...]]) -> dict[str, float]:
    """The page's counters by triplicate's names, added up over their series; of several aliases the first that exists.

    `aliases` maps a name of `COUNTERS` to the metric names of an engine, newest first.
    """
    wanted = {alias: name for name, metrics in aliases.items() for alias in metrics}
    series: dict[str, list[float]] = {}
    for sample in samples(text):
        if sample.name in wanted and math.isfinite(sample.value):
            series.setdefault(sample.name, []).append(sample.value)
    found = {}
    for name, metrics in aliases.items():
        values = next((series[alias] for alias in metrics if alias in series), None)
        if values:
            found[name] = max(values) if name in LARGEST_OF else sum(values)
    return found


def names(text: str) -> frozenset[str]:
    """The names of the samples of a page."""
    return frozenset(sample.name for sample in samples(text))


def info(text: str, *metrics: str) -> dict[str, Any]:
    """The labels of the first series of the first of these metrics that exists: how engines print configuration."""
    for metric in metrics:
        for sample in samples(text):
            if sample.name == metric:
                return dict(sample.labels)
    return {}


def value(text: str, *metrics: str) -> float | None:
    """The value of the first of these metrics that exists, the largest over its series; None if none does."""
    for metric in metrics:
        found = [sample.value for sample in samples(text) if sample.name == metric and math.isfinite(sample.value)]
        if found:
            return max(found)
    return None


def _number(text: str) -> float | None:
    try:
        return float(text)
    except ValueError:
        return None


def _unescaped(content: str) -> str:
    return re.sub(r"\\.", lambda match: _ESCAPES.get(match[0], match[0]), content)

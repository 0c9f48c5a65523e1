"""One concurrency level as read from its bursts, or from a published summary. Decides nothing.

Every quantity is computed per burst and is then the median over the level's bursts; latency
percentiles are over all of its requests, with their number.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from statistics import mean, median, quantiles
from typing import Any

from reports.overlap import (
    Served,
    Waiting,
    buffered_share,
    latency_overlap,
    median_tpot_s,
    tokens_per_s,
    waiting,
    wall_s,
)

EVEN_SHARE = 0.95
"""Fewer `length` finishes than this make a level ragged."""
NEEDED = {"p50": 7, "p95": 90, "p99": 459}
"""Values that bound a percentile from above with 99 % confidence: the least n with 1 - p^n >= 0.99."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LevelReading:
    """What one level says. None means that it cannot be known from what was measured."""

    concurrency: int
    n: int = 0
    """Completed requests."""
    bursts: int = 0
    errors: int = 0
    tok_s: float | None = None
    req_s: float | None = None
    mean_tokens: float | None = None
    p50_s: float | None = None
    p95_s: float | None = None
    p99_s: float | None = None
    ttft_p50_s: float | None = None
    ttft_p95_s: float | None = None
    tpot_s: float | None = None
    even: bool = True
    """At least 95 % of the replies ended by their token limit."""
    waiting: Waiting | None = None
    """The medians over the bursts; None without a stream or for a summary."""
    buffered: float | None = None
    """Share of a reply's time at which the first-served request saw its first token."""
    latency_overlap: float | None = None
    void: str | None = None

    @property
    def rate(self) -> float | None:
        """What throughput is compared by: tokens a second, or requests a second where all lengths are even."""
        return self.tok_s if self.tok_s is not None else self.req_s if self.even else None


def percentile(values: Sequence[float], p: int) -> float | None:
    """The p-th percentile with linear interpolation between order statistics, or None of nothing.

    The default of numpy and of vLLM's benchmark (Hyndman and Fan 1996, definition 7).
    """
    if len(values) < 2:
        return values[0] if values else None
    return quantiles(values, n=100, method="inclusive")[p - 1]


def thin_percentiles(n: int) -> list[str]:
    """The percentiles that n values cannot bound: p95 needs 90 of them, p99 needs 459."""
    return [name for name, needed in NEEDED.items() if n < needed]


def level_reading(
    concurrency: int, bursts: Sequence[Sequence[Served]], *, errors: int = 0, void: str | None = None
) -> LevelReading:
    """The reading of a level from its bursts' completed requests; a burst that completed none is left out."""
    bursts = [burst for burst in bursts if burst]
    served = [one for burst in bursts for one in burst]
    if not served:
        return LevelReading(concurrency=concurrency, errors=errors, void=void)
    ttfts = [one.first_s - one.sent_s for one in served if one.first_s is not None]
    latencies = [one.latency_s for one in served]
    tokens = [one.tokens for one in served if one.tokens is not None]
    return LevelReading(
        concurrency=concurrency,
        n=len(served),
        bursts=len(bursts),
        errors=errors,
        tok_s=_median(bursts, tokens_per_s),
        req_s=_median(bursts, lambda burst: len(burst) / wall_s(burst) if wall_s(burst) > 0 else None),
        mean_tokens=mean(tokens) if len(tokens) == len(served) else None,
        p50_s=percentile(latencies, 50),
        p95_s=percentile(latencies, 95),
        p99_s=percentile(latencies, 99),
        ttft_p50_s=percentile(ttfts, 50),
        ttft_p95_s=percentile(ttfts, 95),
        tpot_s=_median(bursts, median_tpot_s),
        even=sum(one.full_length for one in served) >= EVEN_SHARE * len(served),
        waiting=_median_waiting([waiting(burst) for burst in bursts]),
        buffered=_median(bursts, buffered_share),
        latency_overlap=_median(bursts, latency_overlap),
        void=void,
    )


def summary_reading(row: dict[str, Any]) -> LevelReading:
    """A level of which only published figures exist; the keys are those of a sweep document's level."""
    known = LevelReading.__dataclass_fields__
    return LevelReading(**{key: value for key, value in row.items() if key in known})


def _median(bursts: Sequence[Sequence[Served]], of: Callable[[Sequence[Served]], float | None]) -> float | None:
    """The median over bursts, or None where one burst has no value."""
    found = [value for value in map(of, bursts) if value is not None]
    return median(found) if len(found) == len(bursts) else None


def _median_waiting(each: Sequence[Waiting | None]) -> Waiting | None:
    seen = [one for one in each if one is not None]
    if not seen or len(seen) < len(each):
        return None
    cadences = [one.cadence for one in seen if one.cadence is not None]
    return Waiting(
        overlap=round(median(one.overlap for one in seen)),
        queued=round(median(one.queued for one in seen)),
        late=round(median(one.late for one in seen)),
        gap=median(one.gap for one in seen),
        cadence=median(cadences) if cadences else None,
    )

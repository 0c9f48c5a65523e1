"""Reads waiting off levels of which only published figures exist. Knows no single request."""

from reports.reading import LevelReading
from reports.slope import UP, slope

WAITED_P50, WAITED_P95 = 0.4, 0.5
"""Rise of the TTFT over the lowest level's, in service times, that shows waiting."""


def rose(first: LevelReading, level: LevelReading) -> bool:
    """Whether a summary's TTFT rose over the lowest level's by a good part of the service time.

    Without any TTFT: whether the latency rose while the throughput did not, as it must if requests wait.
    """
    if first.ttft_p50_s is None or level.ttft_p50_s is None:
        step, share = slope(first, level), summary_overlap(first, level)
        return step is not None and step < UP and share is not None and share < 0.8 * level.concurrency
    service = _service_s(level)
    if service is None or service <= 0:
        return False
    late = level.ttft_p95_s if level.ttft_p95_s is not None else level.ttft_p50_s
    return (level.ttft_p50_s - first.ttft_p50_s) / service >= WAITED_P50 or (
        late - first.ttft_p50_s
    ) / service >= WAITED_P95


def _service_s(level: LevelReading) -> float | None:
    return None if level.p50_s is None or level.ttft_p50_s is None else level.p50_s - level.ttft_p50_s


def summary_overlap(first: LevelReading, level: LevelReading) -> float | None:
    """Streams served at once: X S / G (Little's law on decoding), or C L(lowest) / L without a TTFT."""
    service = _service_s(level)
    if service is not None and first.ttft_p50_s is not None and level.ttft_p50_s is not None:
        if level.tok_s is not None and level.mean_tokens:
            return level.tok_s * service / level.mean_tokens
        wait = max(0.0, level.ttft_p50_s - first.ttft_p50_s)
        return level.concurrency * service / (service + wait)
    if first.p50_s and level.p50_s:
        return level.concurrency * first.p50_s / level.p50_s
    return None

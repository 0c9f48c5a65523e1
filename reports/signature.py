"""Names the shape of a ladder and how many requests it served at once. Reads valid levels only.

Three tiers, best first: request times of streams; whole requests where no stream can be trusted;
published summaries. The rule is METHOD.md, "The concurrency ladder"; its thresholds were set on a grid of
simulated engines and are held to fresh random ones by `make bench`.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from statistics import median

from reports.overlap import Waiting
from reports.reading import LevelReading
from reports.slope import FLAT, UP, flat_steps, last_slope
from reports.summary import rose, summary_overlap

BUFFERED = 0.8
SMOOTH_GAP, SMOOTH_GAP_FEW = 0.25, 0.3
CADENCE, CLEAR_CADENCE = 1.5, 2.5
"""Below the first a ramp; above the second a fill and replacements, whatever the gap."""
FULL = 0.97
"""An overlap this near to C, reached in one ramp, shows no limit: the first ended while the last were admitted."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Signature:
    """What a ladder is, with the evidence for it."""

    name: str
    """QUEUES, CAPPED, BATCHES, NOT_SATURATED, SATURATED, RETROGRADE, PREFILL_BOUND or VOID."""
    k: float | None = None
    """How many requests are served at once; None where no limit showed."""
    estimate: float | None = None
    """k before it was held inside its bracket."""
    bracket: tuple[int, int] | None = None
    """Where only whole latencies are known: k lies between these levels."""
    tier: str = "streams"
    """`streams`, `latencies` or `summary`."""
    slope: float | None = None
    """d ln X / d ln C of the last step, or from the best level to the last where that is not the best."""
    flat_steps: int = 0
    """Steps in a row at the top that gained less than 7 % a doubling."""
    capped: tuple[int, ...] = ()
    """The levels at which somebody waited for a place."""
    notes: tuple[str, ...] = ()


def signature(levels: Sequence[LevelReading]) -> Signature:
    """The signature of the valid levels, lowest first; VOID with fewer than two."""
    levels = sorted((level for level in levels if level.void is None), key=lambda level: level.concurrency)
    if len(levels) < 2:
        return Signature(name="VOID", notes=("fewer than two levels are valid",))
    if all(level.waiting is not None for level in levels) and not buffered(levels):
        return _by_streams(levels)
    if any(level.latency_overlap is not None for level in levels):
        return _by_latencies(levels)
    return _by_summary(levels)


def buffered(levels: Sequence[LevelReading]) -> bool:
    """Whether the lowest level's first token came only after 80 % of its latency: no stream to go by."""
    share = levels[0].buffered
    return share is not None and share > BUFFERED


def waits(level: LevelReading) -> bool:
    """Whether requests of this level waited for a place, from its request times."""
    seen = level.waiting
    if seen is None:
        return False
    c = level.concurrency
    if not level.even:
        return seen.overlap < 0.95 * c and seen.late >= 0.02 * c
    if seen.overlap >= FULL * c and _smooth(seen, even=True):
        return False
    return seen.overlap < c and seen.queued >= max(1.0, 0.015 * c) and seen.overlap + seen.queued >= 0.85 * c


def _by_streams(levels: Sequence[LevelReading]) -> Signature:
    full = [level for level in levels if waits(level)]
    top = levels[-1]
    if top not in full or top.waiting is None:
        return _shape(levels, "streams", full)
    capped = tuple(level.concurrency for level in full)
    if _smooth(top.waiting, top.even):
        note = "first tokens arrive one by one, as fast as prompts are read; nothing shows a limit on what is served"
        return Signature(name="PREFILL_BOUND", capped=capped, notes=(note,))
    return _limited(levels, full, median(level.waiting.overlap for level in full if level.waiting), "streams")


def _smooth(seen: Waiting, even: bool) -> bool:
    """Whether first tokens came as one ramp and not as a fill followed by replacements."""
    if seen.overlap < 3:
        return seen.gap < SMOOTH_GAP_FEW
    if seen.cadence is not None and seen.cadence < CADENCE:
        return True
    return even and seen.gap < SMOOTH_GAP and (seen.cadence is None or seen.cadence < CLEAR_CADENCE)


def _by_latencies(levels: Sequence[LevelReading]) -> Signature:
    """Whole requests: k = C * min latency / wall time, for even lengths; capped below 0.8 C."""
    note = "no usable stream: k from whole latencies"
    if not all(level.even for level in levels):
        return _shape(levels, "latencies", (), "no usable stream and uneven lengths: waiting cannot be read")
    full = [level for level in levels if (level.latency_overlap or level.concurrency) < 0.8 * level.concurrency]
    if levels[-1] not in full:
        return _shape(levels, "latencies", full, note)
    return _limited(levels, full, max(level.latency_overlap or 0.0 for level in full), "latencies", note)


def _by_summary(levels: Sequence[LevelReading]) -> Signature:
    note = "read from a summary without request times"
    first = levels[0]
    full = [level for level in levels[1:] if rose(first, level)]
    if levels[-1] not in full:
        return _shape(levels, "summary", full, note)
    estimates = [found for level in full if (found := summary_overlap(first, level)) is not None]
    return _limited(levels, full, max(estimates), "summary", note)


def _limited(
    levels: Sequence[LevelReading], full: Sequence[LevelReading], found: float, tier: str, note: str | None = None
) -> Signature:
    """QUEUES or CAPPED; where only latencies are known, k is held between last uncapped and first capped level."""
    bracket = None
    k = found
    if tier != "streams":
        below = [level.concurrency for level in levels if level.concurrency < full[0].concurrency]
        bracket = (below[-1] if below else 1, max(1, full[0].concurrency - 1))
        k = min(max(found, bracket[0]), bracket[1])
    return Signature(
        name="QUEUES" if k < 1.5 else "CAPPED",
        k=k,
        estimate=found,
        bracket=bracket,
        tier=tier,
        slope=last_slope(levels),
        flat_steps=flat_steps(levels),
        capped=tuple(level.concurrency for level in full),
        notes=(note,) if note else (),
    )


def _shape(
    levels: Sequence[LevelReading], tier: str, full: Sequence[LevelReading], note: str | None = None
) -> Signature:
    """The signature of a ladder on whose top level nobody waited: how the throughput moved at its end."""
    notes = [note] if note else []
    if full:
        notes.append(f"waiting at {', '.join(str(level.concurrency) for level in full)} but not at the top")
    a = last_slope(levels)
    if a is None:
        return Signature(name="VOID", tier=tier, notes=(*notes, "throughput unknown: the server counts no tokens"))
    name = "NOT_SATURATED" if a >= UP else "BATCHES" if a >= FLAT else "RETROGRADE" if a <= -FLAT else "SATURATED"
    return Signature(name=name, tier=tier, slope=a, flat_steps=flat_steps(levels), notes=tuple(notes))

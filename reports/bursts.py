"""Groups a ladder's lines on disk into levels, and levels into readings. Judges no curve."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from reports.overlap import Served
from reports.reading import LevelReading, level_reading, thin_percentiles
from reports.timing import NS, completion_tokens, end_ns, ttft_s
from reports.void import Measured, void_reason
from runner.exchange import Exchange, Level
from runner.store import RunFolder

TOKEN_SOURCE = "usage"
"""Tokens are the server's own count; there is no other source."""


@dataclass(frozen=True, slots=True, kw_only=True)
class MeasuredLevel:
    """One level of one phase: its reading beside what it was read from."""

    phase: str
    reading: LevelReading
    measured: tuple[Measured, ...]
    prompts: str

    @property
    def exchanges(self) -> list[Exchange]:
        """All of its requests."""
        return [exchange for _, each in self.measured for exchange in each]


def served(exchange: Exchange) -> Served | None:
    """A completed request's times in seconds, or None for one that failed."""
    if exchange.failure or exchange.sent_ns is None or exchange.response is None:
        return None
    first = exchange.token_ns[0] / NS if ttft_s(exchange) is not None else None
    end = end_ns(exchange) / NS
    return Served(
        sent_s=exchange.sent_ns / NS,
        first_s=first,
        last_s=end if first is None else exchange.token_ns[-1] / NS,
        end_s=end,
        tokens=completion_tokens(exchange),
        full_length=exchange.response.finish_reason == "length",
    )


def measured_levels(run: RunFolder) -> list[MeasuredLevel]:
    """Every level of a run, in the order of measuring; levels that were planned and never measured come last, void.

    A burst that was interrupted counts for nothing, unless its level has no other.
    """
    exchanges: dict[int, list[Exchange]] = {}
    for row in run.exchanges():
        exchanges.setdefault(row.level, []).append(row.exchange)
    groups: dict[tuple[str, int], list[Measured]] = {}
    for level in latest(run.levels()):
        groups.setdefault((level.phase, level.concurrency), []).append((level, exchanges.get(level.index, [])))
    events_per_s = dict(run.record.host.get("client") or {}).get("events_per_s")
    found = [_level(phase, c, each, events_per_s) for (phase, c), each in groups.items()]
    missing = [c for c in run.record.plan.get("levels", ()) if ("ladder", c) not in groups]
    return found + [_level("ladder", c, [], None) for c in missing]


def latest(levels: Iterable[Level]) -> list[Level]:
    """The last measurement of each round: one that was interrupted, or made on a busy machine, is made again."""
    rounds: dict[tuple[str, int, int], Level] = {}
    for level in levels:
        key = (level.phase, level.concurrency, level.round)
        if key not in rounds or not level.interrupted or rounds[key].interrupted:
            rounds[key] = level
    return sorted(rounds.values(), key=lambda level: level.index)


def _level(phase: str, c: int, each: Sequence[Measured], events_per_s: float | None) -> MeasuredLevel:
    whole = [one for one in each if not one[0].interrupted]
    void = void_reason(whole, events_per_s) if whole or not each else "interrupted"
    bursts = [[done for one in requests if (done := served(one)) is not None] for _, requests in whole]
    errors = sum(exchange.failure is not None for _, requests in whole for exchange in requests)
    return MeasuredLevel(
        phase=phase,
        reading=level_reading(c, bursts, errors=errors, void=void),
        measured=tuple(whole or each),
        prompts=whole[0][0].prompts if whole else "",
    )


def level_row(level: MeasuredLevel) -> dict[str, Any]:
    """A level as the contract's JSON has it; a void level shows its counts and no figure."""
    reading, seen = level.reading, level.reading.waiting
    figures: dict[str, Any] = {
        "tok_s": reading.tok_s,
        "p50_s": reading.p50_s,
        "p95_s": reading.p95_s,
        "p99_s": reading.p99_s,
        "ttft_p50_s": reading.ttft_p50_s,
        "ttft_p95_s": reading.ttft_p95_s,
        "tpot_s": reading.tpot_s,
        "mean_tokens": reading.mean_tokens,
        "req_s": reading.req_s,
    }
    if reading.void:
        figures = dict.fromkeys(figures)
    peaks = [one.peak_in_flight for one, _ in level.measured]
    return {
        "concurrency": reading.concurrency,
        **figures,
        "overlap": seen.overlap if seen else None,
        "queued": seen.queued if seen else None,
        "peak_in_flight": min(peaks) if peaks else None,
        "errors": reading.errors,
        "void": reading.void,
        "n": reading.n,
        "bursts": reading.bursts,
        "even": reading.even,
        "thin": thin_percentiles(reading.n),
        "prompts": level.prompts or None,
        "token_source": TOKEN_SOURCE if figures["tok_s"] is not None else None,
    }


def of_phase(levels: Iterable[MeasuredLevel], phase: str) -> list[MeasuredLevel]:
    """The levels of one phase, lowest concurrency first."""
    return sorted((one for one in levels if one.phase == phase), key=lambda one: one.reading.concurrency)

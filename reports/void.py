"""Why a level's figures must not be read. Mends nothing and guesses nothing.

A void level keeps its counts and loses its figures. The limits are those of METHOD.md, "The concurrency ladder".
"""

from collections.abc import Iterator, Sequence
from enum import StrEnum
from statistics import median

from reports.reading import percentile
from reports.timing import NS, e2e_s
from runner.exchange import Exchange, FailureKind, Level

ERROR_SHARE = 0.01
LAG_S, LAG_SHARE = 0.005, 0.02
CPU_SHARE = 0.70
SKEW_S, SKEW_SHARE = 0.020, 0.05
REFUSALS = (429, 503)

Measured = tuple[Level, Sequence[Exchange]]
"""A burst or a closed loop with its requests."""


class Blame(StrEnum):
    """Whose doing it is that a level is void."""

    SERVER = "server"
    CLIENT = "client"
    MACHINE = "machine"
    """The client's machine was busy with something else: the same level may be sound a moment later."""


def void_reason(measured: Sequence[Measured], events_per_s: float | None = None) -> str | None:
    """Every reason why this level is void, or None; `events_per_s` is what the client's self-test sustained."""
    return "; ".join(text for _, text in void_reasons(measured, events_per_s)) or None


def worth_repeating(measured: Sequence[Measured]) -> bool:
    """Whether nothing but the machine that the client runs on voided this level."""
    return {blame for blame, _ in void_reasons(measured)} == {Blame.MACHINE}


def void_reasons(measured: Sequence[Measured], events_per_s: float | None = None) -> list[tuple[Blame, str]]:
    """The reasons with whom they are to be blamed on."""
    exchanges = [exchange for _, each in measured for exchange in each]
    if not exchanges:
        return [(Blame.SERVER, "no request ended" if measured else "not measured")]
    latencies = [latency for exchange in exchanges if (latency := e2e_s(exchange)) is not None]
    found = [(Blame.SERVER, text) for text in _server_reasons(measured, exchanges)]
    if latencies:
        found += [(Blame.CLIENT, text) for text in _client_reasons(measured, exchanges, events_per_s)]
        found += [(Blame.MACHINE, text) for text in _machine_reasons(measured, exchanges, median(latencies))]
    return found


def _server_reasons(measured: Sequence[Measured], exchanges: Sequence[Exchange]) -> Iterator[str]:
    failures = [exchange.failure for exchange in exchanges if exchange.failure]
    for status in REFUSALS:
        count = sum(failure.status == status for failure in failures)
        if count:
            yield f"the server refused {count} of {len(exchanges)} requests with {status}"
    if len(failures) > ERROR_SHARE * len(exchanges):
        kinds = [failure.kind for failure in failures]
        commonest = max(FailureKind, key=kinds.count)
        detail = next(failure.detail for failure in failures if failure.kind is commonest)
        yield f"{len(failures)} of {len(exchanges)} requests failed ({commonest}: {detail[:120]})"
        return
    short = [level for level, _ in measured if level.peak_in_flight < level.concurrency]
    if short:
        worst = min(level.peak_in_flight for level in short)
        yield f"only {worst} of {short[0].concurrency} requests were in flight"


def _client_reasons(
    measured: Sequence[Measured], exchanges: Sequence[Exchange], events_per_s: float | None
) -> Iterator[str]:
    window_ns = sum(level.end_ns - level.start_ns for level, _ in measured)
    if window_ns <= 0:
        return
    cpu = sum(level.cpu_ns for level, _ in measured) / window_ns
    if cpu > CPU_SHARE:
        yield f"the client used {cpu:.0%} of a core (limit {CPU_SHARE:.0%}); use --workers"
    rate = sum(one.events for one in exchanges) / (window_ns / NS)
    sustained = None if events_per_s is None else events_per_s * max(level.workers for level, _ in measured)
    if sustained is not None and rate > sustained:
        yield f"{rate:.0f} events/s are more than the client sustains ({sustained:.0f}); use --workers"


def _machine_reasons(measured: Sequence[Measured], exchanges: Sequence[Exchange], latency_s: float) -> Iterator[str]:
    lag_s = percentile([lag / NS for level, _ in measured for lag in level.lag_ns], 99)
    if lag_s is not None and lag_s > (limit := max(LAG_S, LAG_SHARE * latency_s)):
        yield f"the client's event loop lagged {lag_s:.4f} s (limit {limit:.4f} s)"
    skews = [(one.sent_ns - one.due_ns) / NS for one in exchanges if one.sent_ns is not None]
    skew_s = percentile(skews, 95)
    if skew_s is not None and skew_s > (limit := max(SKEW_S, SKEW_SHARE * latency_s)):
        yield f"requests left {skew_s:.4f} s late (limit {limit:.4f} s)"

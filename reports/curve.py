"""A ladder's run folder as the `sweep` document: levels, signature, k, peak, cap, and what a reader must know.

Computed anew from the raw record each time; stores nothing, prints nothing.
"""

from collections.abc import Sequence
from statistics import median
from typing import Any

from reports.bursts import MeasuredLevel, level_row, measured_levels, of_phase
from reports.cap import cap_document, cap_findings, whole
from reports.overlap import tokens_per_s
from reports.peak import peak_document
from reports.signature import Signature, buffered, signature
from runner.store import RunFolder

DRIFT = 0.05
COLD = 0.10
COARSE_CHUNKS = 0.8


def curve_document(run: RunFolder) -> dict[str, Any]:
    """The contract's `sweep` document of a ladder's run folder."""
    levels = measured_levels(run)
    ladder = of_phase(levels, "ladder")
    readings = [level.reading for level in ladder]
    rows = [level_row(level) for level in ladder]
    named = signature(readings)
    confirm = of_phase(levels, "confirm")
    control = next(iter(of_phase(levels, "control")), None)
    cap = cap_document(run.record, named)
    confirmed = confirmation(confirm, named)
    drift = control_drift(ladder, control)
    record = run.record
    return {
        "serving": record.serving.get("name"),
        "run": str(run.path),
        "status": record.status,
        "identity_changes": list(record.identity_changes),
        "simulated": record.is_simulated,
        "gpus": record.serving.get("gpus"),
        "prompts": record.plan.get("prompts"),
        "max_tokens": record.plan.get("max_tokens"),
        "signature": named.name,
        "k": None if named.k is None else whole(named.k),
        "k_bracket": list(named.bracket) if named.bracket else None,
        "k_estimate": named.estimate,
        "tier": named.tier,
        "slope": named.slope,
        "peak": peak_document(rows, readings, named) if readings else None,
        "cap": cap,
        "levels": rows,
        "control": level_row(control) if control else None,
        "drift": drift,
        "confirm": [level_row(level) for level in confirm],
        "confirmed": confirmed,
        "plateau": [level_row(level) for level in of_phase(levels, "plateau")],
        "client": dict(record.host.get("client") or {}) or None,
        "findings": [
            *(f"INVALID: the server changed during the run: {change}" for change in record.identity_changes),
            *cap_findings(cap, named, levels),
            *named.notes,
            *_confirm_findings(confirmed, named),
            *_drift_findings(drift, control),
            *(finding for level in ladder if level.reading.void is None for finding in level_findings(level)),
            *_stream_findings(ladder),
            *record.notes,
        ],
    }


def control_drift(ladder: Sequence[MeasuredLevel], control: MeasuredLevel | None) -> float | None:
    """Relative change of the lowest level's throughput between start and end; None where either is unknown."""
    if control is None or control.reading.void is not None or control.reading.rate is None:
        return None
    first = next((one.reading for one in ladder if one.reading.concurrency == control.reading.concurrency), None)
    if (
        first is None
        or first.void is not None
        or not first.rate
        or (first.tok_s is None) != (control.reading.tok_s is None)
    ):
        return None
    return control.reading.rate / first.rate - 1.0


def confirmation(confirm: Sequence[MeasuredLevel], named: Signature) -> bool | None:
    """Whether nobody waited at k and exactly one request of k + 1 did, by about one service time.

    None where no k was named or the two levels were not both measured validly with streams.
    """
    if named.k is None:
        return None
    k = round(named.k)
    seen = {one.reading.concurrency: one.reading.waiting for one in confirm if one.reading.void is None}
    at_k, above = seen.get(k), seen.get(k + 1)
    if at_k is None or above is None:
        return None
    return at_k.queued == 0 and above.queued == 1 and above.overlap == k and above.gap > 0.5


def level_findings(level: MeasuredLevel) -> list[str]:
    """What a reader must know of one valid level."""
    reading, found = level.reading, []
    where = f"level {reading.concurrency}"
    if not reading.even:
        found.append(f"{where}: ragged, fewer than 95 % of the replies ran to their token limit")
    if reading.tok_s is None:
        found.append(f"{where}: the server counts no tokens for some replies; no throughput is given")
    plan_bursts = max(one.round for one, _ in level.measured)
    if reading.bursts < plan_bursts:
        found.append(f"{where}: read from {reading.bursts} of {plan_bursts} bursts")
    rates = _burst_rates(level)
    if len(rates) > 1 and abs(rates[0] / median(rates[1:]) - 1.0) > COLD:
        found.append(f"{where}: the first burst differs from the others by more than 10 %; the server was not warm")
    return found


def _burst_rates(level: MeasuredLevel) -> list[float]:
    from reports.bursts import served

    bursts = [[done for one in each if (done := served(one)) is not None] for _, each in level.measured]
    return [rate for burst in bursts if burst and (rate := tokens_per_s(burst))]


def _confirm_findings(confirmed: bool | None, named: Signature) -> list[str]:
    if confirmed is None or named.k is None:
        return []
    k = whole(named.k)
    if confirmed:
        return [f"confirmed: nobody waits at {k}, exactly one request of {round(named.k) + 1} waits for a place"]
    return [f"not confirmed: at {k} and one more the requests did not wait as a cap of {k} would make them"]


def _drift_findings(drift: float | None, control: MeasuredLevel | None) -> list[str]:
    if drift is None or control is None or abs(drift) <= DRIFT:
        return []
    c = control.reading.concurrency
    return [f"the closing control at {c} differs from the start by {drift:+.1%}: the server or its machine drifted"]


def _stream_findings(ladder: Sequence[MeasuredLevel]) -> list[str]:
    """Streams that something between holds back or coarsens."""
    valid = [one for one in ladder if one.reading.void is None]
    if not valid:
        return []
    found = []
    if buffered([one.reading for one in valid]):
        found.append("the stream is buffered on its way: the first token comes with the last; TTFT means nothing here")
    counts = [(one.events, one.usage.completion_tokens) for one in valid[0].exchanges if one.usage and one.events]
    events, tokens = sum(e for e, _ in counts), sum(t or 0 for _, t in counts)
    if tokens and events < COARSE_CHUNKS * tokens:
        found.append(f"{tokens / events:.1f} tokens a chunk: the gaps between chunks are not the gaps between tokens")
    return found

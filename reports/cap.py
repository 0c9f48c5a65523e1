"""The serving cap three times over: intended, found, measured. Says where they disagree; decides for none."""

from collections.abc import Mapping, Sequence
from typing import Any

from reports.bursts import MeasuredLevel
from reports.signature import Signature
from runner.record import RunRecord

NAME = "max_concurrent_sequences"
RUNNING = ("requests_running", "num_running_reqs", "requests_processing", "batch_current_size")
WAITING = ("requests_waiting", "num_queue_reqs", "requests_deferred", "queue_size")
CLIENT_LIMITS = (100, 1000)
"""Pool sizes of common HTTP clients: a cap of just that size may sit in front of the engine."""


def cap_document(record: RunRecord, signature: Signature) -> dict[str, Any]:
    """The three columns, each `{value, source}` or None where it is unknown."""
    intended = record.serving.get("intended", {}).get(NAME)
    fact = record.identity_before.fact(NAME) if record.identity_before else None
    sources = {
        "streams": "most streams between first and last token at once",
        "latencies": "whole latencies, no usable stream",
        "summary": "summary without request times",
    }
    return {
        "intended": None if intended is None else {"value": intended, "source": "[serving.intended]"},
        "found": None if fact is None else {"value": fact.value, "source": fact.source},
        "measured": None if signature.k is None else {"value": whole(signature.k), "source": sources[signature.tier]},
    }


def whole(k: float) -> float | int:
    """A count without a trailing `.0`, and no more than three decimals."""
    return int(k) if float(k).is_integer() else round(k, 3)


def cap_findings(cap: Mapping[str, Any], signature: Signature, levels: Sequence[MeasuredLevel]) -> list[str]:
    """What the three columns and the server's own gauges say of each other."""
    values = {column: one["value"] for column, one in cap.items() if one is not None}
    found: list[str] = []
    if "intended" in values and "found" in values and values["intended"] != values["found"]:
        found.append(f"intended cap {values['intended']}, but the running server says {values['found']}")
    gauge = running_while_waiting(levels)
    if signature.k is None:
        return found + _not_reached(values, levels)
    k = whole(signature.k)
    stated = next((values[column] for column in ("found", "intended") if column in values), None)
    agree = [
        text
        for text, value in (("the stated cap", stated), ("the server's running count", gauge))
        if isinstance(value, int | float) and abs(value - signature.k) < 0.5
    ]
    if agree:
        found.append(f"k = {k} agrees with {' and '.join(agree)}: high confidence")
    if stated is not None and "the stated cap" not in agree:
        found.append(f"stated cap {stated}, measured {k}: the server does not serve what it states")
    if gauge is not None and "the server's running count" not in agree:
        found.append(f"the server's own running count reached {whole(gauge)} while requests waited, measured {k}")
    if k in CLIENT_LIMITS:
        found.append(f"k = {k} is the pool size of common clients and proxies: the cap may sit in front of the engine")
    return found


def _not_reached(values: Mapping[str, Any], levels: Sequence[MeasuredLevel]) -> list[str]:
    stated = next((values[column] for column in ("found", "intended") if column in values), None)
    valid = [one.reading.concurrency for one in levels if one.phase == "ladder" and one.reading.void is None]
    if not valid or not isinstance(stated, int | float):
        return []
    if stated >= max(valid):
        return [f"the ladder ends at {max(valid)} and the stated cap is {stated}: the cap was not reached"]
    return [f"the stated cap is {stated}, but nobody waited at {max(valid)}"]


def running_while_waiting(levels: Sequence[MeasuredLevel]) -> float | None:
    """The largest running count that the server's metrics showed while requests waited; None if they showed none."""
    samples = [gauges for one in levels for level, _ in one.measured for gauges in level.gauges]
    counts = [running for gauges in samples if (running := _running(gauges)) is not None and _waiting(gauges)]
    return max(counts, default=None)


def _running(gauges: Mapping[str, float]) -> float | None:
    return next((value for name, value in gauges.items() if name.endswith(RUNNING)), None)


def _waiting(gauges: Mapping[str, float]) -> bool:
    return any(value > 0 for name, value in gauges.items() if name.endswith(WAITING))

"""The best level of a ladder and whether it bounds the server from above or from below."""

from collections.abc import Mapping, Sequence
from typing import Any

from reports.reading import LevelReading
from reports.signature import Signature
from reports.slope import UP, slope

FLOOR, CEILING, LIKELY = "floor", "ceiling", "likely_ceiling"


def peak_document(
    rows: Sequence[Mapping[str, Any]], readings: Sequence[LevelReading], signature: Signature
) -> dict[str, Any] | None:
    """The valid ladder level with the highest throughput, with its axes and label; None where none is known."""
    known = [row for row in rows if row["tok_s"] is not None]
    if not known:
        return None
    best = max(known, key=lambda row: float(row["tok_s"]))
    return {
        "tok_s": best["tok_s"],
        "concurrency": best["concurrency"],
        "mean_tokens": best["mean_tokens"],
        "label": peak_label(readings, signature),
        "hardware": hardware_label(readings, signature),
        "prompts": best["prompts"],
        "token_source": best["token_source"],
    }


def peak_label(readings: Sequence[LevelReading], signature: Signature) -> str:
    """Floor where more load may give more, ceiling where it was shown not to; METHOD.md, "Peak label"."""
    top = max(readings, key=lambda level: level.concurrency)
    if top.void is not None or signature.name in ("NOT_SATURATED", "BATCHES", "PREFILL_BOUND", "VOID"):
        return FLOOR
    if signature.name in ("CAPPED", "QUEUES"):
        return CEILING
    return CEILING if signature.flat_steps >= 2 else LIKELY


def hardware_label(readings: Sequence[LevelReading], signature: Signature) -> str | None:
    """What a capped peak says of the hardware: floor if the last step at or below k still rose; None if not capped."""
    if signature.name not in ("CAPPED", "QUEUES") or signature.k is None:
        return None
    below = [level for level in readings if level.void is None and level.concurrency <= signature.k]
    if len(below) < 2:
        return FLOOR
    step = slope(below[-2], below[-1])
    return FLOOR if step is None or step >= UP else CEILING

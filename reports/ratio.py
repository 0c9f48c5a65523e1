"""Two ladders as a ratio curve: per level, at each side's peak, per GPU. Never one number without its level."""

from collections.abc import Mapping
from typing import Any

from reports.peak import FLOOR


def ratio_document(a: Mapping[str, Any], b: Mapping[str, Any]) -> dict[str, Any]:
    """Candidate `b` over baseline `a`, two `sweep` documents; a ratio is None where a side has no figure there.

    A candidate that has not shown its limit makes the ratio at the peaks a floor; a baseline that has not makes it
    a ceiling, because its own peak may be higher; both leave it open.
    """
    sides = {"baseline": a, "candidate": b}
    rows = {side: {row["concurrency"]: row for row in document["levels"]} for side, document in sides.items()}
    shared = sorted(set(rows["baseline"]) & set(rows["candidate"]))
    return {
        **{side: document.get("serving") for side, document in sides.items()},
        "signatures": {side: document["signature"] for side, document in sides.items()},
        "levels": [_level_ratio(rows["baseline"][c], rows["candidate"][c]) for c in shared],
        "peaks": _peak_ratio(a, b),
        "per_gpu": _per_gpu(a, b),
        "notes": _notes(a, b),
    }


def _level_ratio(low: Mapping[str, Any], high: Mapping[str, Any]) -> dict[str, Any]:
    return {
        "concurrency": low["concurrency"],
        "baseline_tok_s": low["tok_s"],
        "candidate_tok_s": high["tok_s"],
        "ratio": _quotient(high["tok_s"], low["tok_s"]),
        "baseline_mean_tokens": low["mean_tokens"],
        "candidate_mean_tokens": high["mean_tokens"],
        "p95_ratio": _quotient(high.get("p95_s"), low.get("p95_s")),
        "ttft_p50_ratio": _quotient(high.get("ttft_p50_s"), low.get("ttft_p50_s")),
    }


def _quotient(high: float | None, low: float | None) -> float | None:
    return None if high is None or not low else high / low


def _peak_ratio(a: Mapping[str, Any], b: Mapping[str, Any]) -> dict[str, Any] | None:
    if not a.get("peak") or not b.get("peak"):
        return None
    return {
        "ratio": _quotient(b["peak"]["tok_s"], a["peak"]["tok_s"]),
        "bound": bound(a["peak"]["label"], b["peak"]["label"]),
        "baseline": dict(a["peak"]),
        "candidate": dict(b["peak"]),
    }


def bound(baseline: str, candidate: str) -> str | None:
    """What the ratio of two peaks bounds: `floor`, `ceiling`, `open` where both peaks are floors, None if neither."""
    if candidate == FLOOR:
        return "open" if baseline == FLOOR else "floor"
    return "ceiling" if baseline == FLOOR else None


def _per_gpu(a: Mapping[str, Any], b: Mapping[str, Any]) -> dict[str, Any] | None:
    """The ratio of the peaks per GPU; None where a side's number of GPUs is not given."""
    peaks = _peak_ratio(a, b)
    if peaks is None or peaks["ratio"] is None or not a.get("gpus") or not b.get("gpus"):
        return None
    return {
        "ratio": peaks["ratio"] * a["gpus"] / b["gpus"],
        "bound": peaks["bound"],
        "baseline_gpus": a["gpus"],
        "candidate_gpus": b["gpus"],
    }


def _notes(a: Mapping[str, Any], b: Mapping[str, Any]) -> list[str]:
    notes = []
    if a["signature"] != b["signature"]:
        notes.append(f"the curves have different shapes: {a['signature']} against {b['signature']}")
    if a.get("prompts") != b.get("prompts"):
        notes.append(f"the prompts differ: {a.get('prompts')} against {b.get('prompts')}; the ratios mean little")
    if a.get("max_tokens") != b.get("max_tokens"):
        notes.append(f"the token limits differ: {a.get('max_tokens')} against {b.get('max_tokens')}")
    lengths = [
        (row["concurrency"], row["mean_tokens"], other["mean_tokens"])
        for row in a["levels"]
        for other in b["levels"]
        if row["concurrency"] == other["concurrency"] and row["mean_tokens"] and other["mean_tokens"]
    ]
    apart = [c for c, one, other in lengths if max(one, other) > 1.1 * min(one, other)]
    if apart:
        notes.append(f"mean generation lengths differ by more than 10 % at {', '.join(map(str, apart))}")
    if _stream_held_back(a, b):
        notes.append("the candidate's first token comes later and the rest faster: something buffers its stream")
    return notes


def _stream_held_back(a: Mapping[str, Any], b: Mapping[str, Any]) -> bool:
    """Whether, at the lowest shared level, TTFT doubled while the time per token halved: a buffering proxy's mark."""
    rows = {row["concurrency"]: row for row in a["levels"]}
    shared = [(rows[row["concurrency"]], row) for row in b["levels"] if row["concurrency"] in rows]
    if not shared:
        return False
    low, high = min(shared, key=lambda pair: int(pair[0]["concurrency"]))
    ttft = _quotient(high.get("ttft_p50_s"), low.get("ttft_p50_s"))
    tpot = _quotient(high.get("tpot_s"), low.get("tpot_s"))
    return ttft is not None and tpot is not None and ttft > 2.0 and tpot < 0.5

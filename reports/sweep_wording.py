"""A ladder and a ratio curve in words: plain text in 80 columns. Computes nothing.

No throughput is written without its concurrency, mean generation length, prompt mode and token source: `rate_phrase`
writes single ones, the tables name the rest in their captions.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from reports.wording import figure, printable, wrapped

Document = Mapping[str, Any]
SENTENCES = {
    "QUEUES": "one request at a time; every other waits for its turn",
    "CAPPED": "serves {k} requests at once; every further one waits for a place",
    "BATCHES": "batches; the last step still gained, but less than 25 % a doubling",
    "NOT_SATURATED": "batches and is not saturated: the last step still gained 25 % a doubling or more",
    "SATURATED": "batches and is saturated: nobody waits, and the last step gained less than 7 % a doubling",
    "RETROGRADE": "past its best: more load gives less throughput",
    "PREFILL_BOUND": "reading prompts is what takes the time; no limit on requests at once can be named",
    "VOID": "nothing can be said of this ladder",
}
LABELS = {
    "floor": "a floor: more load may give more",
    "ceiling": "a ceiling",
    "likely_ceiling": "likely a ceiling: a single flat step",
}
HEAD = ("C", "tok/s", "p50 s", "p95 s", "p99 s", "TTFT50", "TTFT95", "s/tok", "at once", "tokens", "n")


def sweep_lines(document: Document) -> list[str]:
    """One ladder for people: what it is, the three caps, the peak, the table, the findings."""
    name = printable(str(document["serving"]))
    lines = [*wrapped(f"{name}: {signature_sentence(document)}"), ""]
    if document["simulated"]:
        lines.insert(0, "SIMULATED: this is no measurement of an engine")
    lines += [cap_line(document["cap"]), *wrapped(peak_sentence(document["peak"])), ""]
    lines += [
        *wrapped(
            f"C requests at once in bursts; {document['prompts']} prompts, replies of up to {document['max_tokens']} "
            "tokens counted by the server (usage). 'at once': streams really served together; ~: too few values."
        )
    ]
    lines += table([HEAD, *map(level_cells, document["levels"])])
    for title, rows in (("closed loop", document["plateau"]), ("confirming k", document["confirm"])):
        if rows:
            lines += ["", title, *table([HEAD, *map(level_cells, rows)])]
    void = [row for row in document["levels"] if row["void"]]
    lines += [line for row in void for line in wrapped(f"level {row['concurrency']} is void: {printable(row['void'])}")]
    findings = [line for finding in document["findings"] for line in wrapped(f"- {printable(finding)}")]
    return lines + (["", *findings] if findings else [])


def signature_sentence(document: Document) -> str:
    """The signature and what it means, with k or its bracket."""
    text = SENTENCES[document["signature"]].format(k=document["k"])
    bracket = document["k_bracket"]
    return f"{document['signature']}: {text}" + (f" (k between {bracket[0]} and {bracket[1]})" if bracket else "")


def cap_line(cap: Document) -> str:
    """The serving cap as intended, found and measured."""
    columns = [
        f"{column} {printable(str(cap[column]['value'])) if cap[column] else 'unknown'}"
        for column in ("intended", "found", "measured")
    ]
    return f"cap: {', '.join(columns)}"


def rate_phrase(tok_s: float, row: Document) -> str:
    """A throughput with all its axes: the only way in which a single one is written."""
    return (
        f"{figure(tok_s)} tok/s at concurrency {row['concurrency']} (mean {figure(row['mean_tokens'])} tokens, "
        f"{row['prompts']} prompts, tokens by {row['token_source']})"
    )


def peak_sentence(peak: Document | None) -> str:
    """The peak with its axes and what it bounds."""
    if peak is None:
        return "peak: none; no level has a throughput"
    text = f"peak: {rate_phrase(peak['tok_s'], peak)}; {LABELS[peak['label']]}"
    if peak["label"] == "ceiling" and peak.get("hardware"):
        text += f" of this configuration, for the hardware a {peak['hardware']}"
    return text


def ratio_lines(ratio: Document) -> list[str]:
    """A ratio curve for people: per level, at the peaks, per GPU."""
    base, cand = printable(str(ratio["baseline"])), printable(str(ratio["candidate"]))
    lines = [*wrapped(f"{cand} over {base}: ratio of throughput at the same concurrency")]
    head = ("C", f"{'baseline'}", "tokens", "candidate", "tokens", "ratio", "p95 ratio")
    rows = [
        (
            str(row["concurrency"]),
            figure(row["baseline_tok_s"]),
            figure(row["baseline_mean_tokens"], 0),
            figure(row["candidate_tok_s"]),
            figure(row["candidate_mean_tokens"], 0),
            times(row["ratio"]),
            times(row["p95_ratio"]),
        )
        for row in ratio["levels"]
    ]
    lines += table([head, *rows])
    peaks, per_gpu = ratio["peaks"], ratio["per_gpu"]
    if peaks:
        lines += wrapped(f"at the peaks {times(peaks['ratio'])}{bound_phrase(peaks['bound'])}")
        lines += wrapped(f"  baseline: {rate_phrase(peaks['baseline']['tok_s'], peaks['baseline'])}")
        lines += wrapped(f"  candidate: {rate_phrase(peaks['candidate']['tok_s'], peaks['candidate'])}")
    if per_gpu:
        gpus = f"{per_gpu['candidate_gpus']} against {per_gpu['baseline_gpus']} GPUs"
        lines += wrapped(f"per GPU {times(per_gpu['ratio'])} ({gpus}){bound_phrase(per_gpu['bound'])}")
    return lines + [line for note in ratio["notes"] for line in wrapped(f"- {printable(note)}")]


def times(ratio: float | None) -> str:
    """A ratio for people.

    >>> times(16.97), times(None)
    ('17.0x', 'n/a')
    """
    return "n/a" if ratio is None else f"{ratio:.1f}x" if ratio >= 1 else f"{ratio:.2f}x"


def bound_phrase(bound: str | None) -> str:
    """What a ratio of peaks bounds, as the end of a sentence."""
    return {
        None: "",
        "floor": ", a floor: the candidate was not saturated",
        "ceiling": ", at most: the baseline was not saturated",
        "open": ", open: neither side was saturated",
    }[bound]


def table(rows: Sequence[Sequence[str]]) -> list[str]:
    """Rows of cells as lines, right-aligned, two spaces apart or one where 80 columns need it."""
    widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]))]
    gap = "  " if sum(widths) + 2 * (len(widths) - 1) <= 80 else " "
    return [gap.join(cell.rjust(width) for cell, width in zip(row, widths, strict=True)) for row in rows]


def level_cells(row: Document) -> tuple[str, ...]:
    """A level's cells under HEAD; a void one has its counts alone."""
    if row["void"]:
        return (str(row["concurrency"]), "void", *("-" for _ in HEAD[2:-1]), str(row["n"]))
    return (
        str(row["concurrency"]),
        figure(row["tok_s"]),
        *(_latency(row, name) for name in ("p50", "p95", "p99")),
        figure(row["ttft_p50_s"], 2),
        figure(row["ttft_p95_s"], 2),
        figure(row["tpot_s"], 4),
        "n/a" if row["overlap"] is None else str(row["overlap"]),
        figure(row["mean_tokens"], 0),
        str(row["n"]),
    )


def _latency(row: Document, name: str) -> str:
    return ("~" if name in row["thin"] else "") + figure(row[f"{name}_s"], 2)

"""Tokens a second of a quality pass, with the labels without which no figure is printed. Reads no ladder."""

from collections.abc import Iterable
from typing import Any

from runner.exchange import Outline
from runner.store import RunFolder


def pass_throughput(run: RunFolder) -> dict[str, Any]:
    """`tok_s` of a quality run with `concurrency`, `mean_tokens`, `prompts`, `token_source`, `requests`, `busy_s`.

    Completion tokens by the server's own count over the time in which at least one request was in flight, so that
    pauses between repeats do not count. Where a reply carried no usage there is no figure: `tok_s` is None.
    """
    spans: dict[int, list[tuple[int, int]]] = {}
    tokens: list[int | None] = []
    for trial in run.outlines():
        spans.setdefault(trial.repeat, []).append(_span(trial))
        if trial.failure is None:
            usage = trial.exchange.usage
            tokens.append(usage.completion_tokens if usage else None)
    known = [count for count in tokens if count is not None]
    busy_s = sum(covered_ns(repeat) for repeat in spans.values()) / 1e9
    complete = bool(tokens) and len(known) == len(tokens)
    return {
        "tok_s": sum(known) / busy_s if complete and busy_s else None,
        "concurrency": int(run.record.plan.get("concurrency", 1)),
        "mean_tokens": sum(known) / len(known) if known else None,
        "prompts": "bank items",
        "token_source": "usage" if complete else "none" if not known else "usage, incomplete",
        "requests": sum(len(repeat) for repeat in spans.values()),
        "busy_s": busy_s,
    }


def covered_ns(spans: Iterable[tuple[int, int]]) -> int:
    """Nanoseconds that at least one of the (start, end) spans covers.

    >>> covered_ns([(0, 10), (5, 12), (20, 21)])
    13
    """
    total, reached = 0, None
    for start, end in sorted(spans):
        begin = start if reached is None else max(start, reached)
        total += max(end - begin, 0)
        reached = end if reached is None else max(end, reached)
    return total


def _span(trial: Outline) -> tuple[int, int]:
    exchange = trial.exchange
    return (exchange.due_ns if exchange.sent_ns is None else exchange.sent_ns), exchange.done_ns


def lengths(run: RunFolder) -> dict[str, float]:
    """Mean completion tokens by item, over the replies that carried usage."""
    counts: dict[str, list[int]] = {}
    for trial in run.outlines():
        usage = trial.exchange.usage
        if trial.failure is None and usage and usage.completion_tokens is not None:
            counts.setdefault(trial.item_id, []).append(usage.completion_tokens)
    return {item: sum(values) / len(values) for item, values in counts.items()}

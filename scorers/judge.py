"""Judges one response: guards, then defects, then the item's scorer, under a hard time limit. Knows no server.

The scorer sees the text behind the reasoning, up to the first stop or role token, without control tokens. Guards and
scorer run in a worker process that the kernel ends at its limit; a scorer with `OWN_PROCESS = True` sees to its own.
"""

from collections import deque
from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import Any

import scorers.methods
from itembank import plugins
from itembank.item import Item
from scorers.guards import guard
from scorers.processes import CPU_S, WALL_S, Died, Pool, TimeUp, close_idle
from scorers.response import Response
from scorers.verdict import Verdict, unscorable

POOL = Pool("scorers.judge:verdict_here")


def judge(item: Item, response: Response) -> Verdict:
    """The verdict on one response; UNSCORABLE `scorer_error` or `scorer_timeout` where the scorer itself fails."""
    method = plugins.load(scorers.methods, item.scorer)
    bare = replace(item, messages=(), accept=(), reject=(), rationale="")
    if getattr(method, "OWN_PROCESS", False):
        return verdict_here((bare, response))
    try:
        verdict: Verdict = POOL.ask((bare, response))
        return verdict
    except TimeUp:
        verdict = unscorable("scorer_timeout", f"judging took over {CPU_S:g} s of processor or {WALL_S:g} s of time")
    except Died as error:
        verdict = unscorable("scorer_error", str(error))
    return replace(verdict, scorer=item.scorer, scorer_version=method.VERSION)


def judge_many(pairs: Iterable[tuple[Item, Response]], workers: int | None = None) -> Iterator[Verdict]:
    """The verdicts in the order of `pairs`, `workers` at a time in processes of their own (default: one a core)."""
    import os
    from concurrent.futures import Future, ThreadPoolExecutor

    many = workers or os.cpu_count() or 1
    waiting: deque[Future[Verdict]] = deque()
    threads = ThreadPoolExecutor(many)
    try:
        for item, response in pairs:
            waiting.append(threads.submit(judge, item, response))
            if len(waiting) >= 16 * many:
                yield waiting.popleft().result()
        while waiting:
            yield waiting.popleft().result()
    finally:
        threads.shutdown(cancel_futures=True)
        close_idle()


def verdict_here(pair: tuple[Item, Response]) -> Verdict:
    """The verdict, judged in this process and under no limit but the scorer's own."""
    item, response = pair
    method = plugins.load(scorers.methods, item.scorer)
    seen, decided, defects = guard(item, response)
    try:
        verdict: Verdict = decided or method.score(item.expect, seen)
    except Exception as error:  # noqa: BLE001  a broken scorer is data, whatever broke in it
        verdict = unscorable("scorer_error", f"{type(error).__name__}: {error}"[:500])
    return replace(verdict, defects=defects, scorer=item.scorer, scorer_version=method.VERSION)


def verdict_row(item: Item, repeat: int, verdict: Verdict) -> dict[str, Any]:
    """The verdict as a line of `verdicts.jsonl`."""
    return {
        "item": item.id,
        "dimension": item.dimension,
        "repeat": repeat,
        "outcome": str(verdict.outcome),
        "reason": verdict.reason,
        "detail": verdict.detail,
        "extracted": verdict.extracted,
        "defects": [{"kind": defect.kind, "text": defect.text} for defect in verdict.defects],
        "scorer": verdict.scorer,
        "scorer_version": verdict.scorer_version,
    }

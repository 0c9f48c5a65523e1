"""How throughput moves along a ladder: the slope of a step, of the end, and how long it has been flat."""

from collections.abc import Sequence
from itertools import pairwise
from math import log

from reports.reading import LevelReading

UP = 0.32
"""Slope of ln X over ln C that is +25 % a doubling."""
FLAT = 0.10
"""+7 % a doubling."""


def slope(low: LevelReading, high: LevelReading) -> float | None:
    """ln(X2 / X1) / ln(C2 / C1), or None where a throughput is unknown."""
    if not low.rate or not high.rate or (low.tok_s is None) != (high.tok_s is None):
        return None
    return log(high.rate / low.rate) / log(high.concurrency / low.concurrency)


def last_slope(levels: Sequence[LevelReading]) -> float | None:
    """The slope of the last step; from the best level to the last where the last is not the best.

    A curve that fell and then recovered a little has not begun to rise again.
    """
    best = max(levels, key=lambda level: level.rate or 0.0)
    return slope(levels[-2] if best is levels[-1] else best, levels[-1])


def flat_steps(levels: Sequence[LevelReading]) -> int:
    """Steps at the top without a gain: in a row below 7 % a doubling, or all since the best level."""
    best = max(range(len(levels)), key=lambda index: levels[index].rate or 0.0)
    count = 0
    for low, high in reversed(list(pairwise(levels))):
        step = slope(low, high)
        if step is None or step >= FLAT:
            break
        count += 1
    return max(count, len(levels) - 1 - best)

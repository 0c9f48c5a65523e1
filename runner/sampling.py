"""Order and seeds of a quality pass: functions of the plan, so that a resumed run asks the same."""

import random

from itembank.canonical import digest
from itembank.item import Item
from runner.config import Sampling


def order(item_ids: tuple[str, ...], seed: int, repeat: int) -> list[str]:
    """The items of one repeat in their seeded shuffle; each repeat has another one."""
    ids = sorted(item_ids)
    random.Random(f"{seed}:{repeat}").shuffle(ids)
    return ids


def request_seed(sampling: Sampling, item_id: str, repeat: int) -> int | None:
    """The seed that is sent: none at temperature 0, else a function of base, item and repeat (31 bits)."""
    if sampling.temperature == 0:
        return None
    return int(digest([sampling.seed, item_id, repeat])[:8], 16) & 0x7FFFFFFF


def token_cap(sampling: Sampling, item: Item) -> int:
    """The `max_tokens` that is sent: the item's own, lowered to the serving's."""
    return min(item.max_tokens, sampling.max_tokens)


def interleaved(sides: int, repeat: int) -> list[int]:
    """The order in which the sides take their turn in a repeat: ABBA over successive repeats.

    >>> [interleaved(2, repeat) for repeat in (1, 2, 3)]
    [[0, 1], [1, 0], [0, 1]]
    """
    forward = list(range(sides))
    return forward if repeat % 2 else forward[::-1]

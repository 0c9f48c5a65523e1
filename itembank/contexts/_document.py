"""The shape of a generated document, and what the context plugins share: seeded choices and a size in tokens."""

import random
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

T = TypeVar("T")

TOKEN = re.compile(r"[^\W\d_]{1,7}|\d{1,3}| +(?=\d)|  +|[^\w\s]+|_+|\n+")


@dataclass(frozen=True, slots=True, kw_only=True)
class Document:
    """A long text and the facts it was written from."""

    text: str
    """What replaces `{context}` in the prompt."""
    facts: Mapping[str, Any]
    """What the text says, as data: the answers are derived from here, never read back from the text."""


class Dice:
    """Seeded choices, built on `random()` alone: the only sequence that Python promises to keep for ever."""

    def __init__(self, seed: int) -> None:
        self._random = random.Random(seed).random

    def pick(self, values: Sequence[T]) -> T:
        """One of `values`, all alike."""
        return values[int(self._random() * len(values))]

    def between(self, low: int, high: int) -> int:
        """An integer from `low` to `high`, both included."""
        return low + int(self._random() * (high - low + 1))

    def chance(self, share: float) -> bool:
        """True in `share` of all throws."""
        return self._random() < share

    def shuffled(self, values: Sequence[T]) -> list[T]:
        """The values in a random order."""
        return sorted(values, key=lambda _: self._random())


def estimated_tokens(text: str) -> int:
    """Size of an English text in tokens, by a rule of thumb that needs no vocabulary.

    Byte-pair tokenizers first cut a text into words with the space before them, groups of at most three digits (a space
    before a digit stands alone, and so do wider gaps), and runs of other marks; long words and names then fall into
    pieces. The rule counts those cuts, with one piece for every seven letters. On the documents of this folder it is
    within 7 % of the vocabularies cl100k_base and o200k_base; tokenizers that cut numbers into single digits need more.

    >>> estimated_tokens("The harbourmaster paid 1,284.50 marks.")
    12
    """
    return len(TOKEN.findall(text))


def swapped_digits(value: int, dice: Dice) -> int:
    """`value` with two unequal neighbouring digits exchanged, as a slip of the pen does; `value` + 9 if it has none."""
    digits = str(value)
    places = [i for i in range(1, len(digits) - 1) if digits[i] != digits[i + 1]]
    if not places:
        return value + 9
    i = dice.pick(places)
    return int(digits[:i] + digits[i + 1] + digits[i] + digits[i + 2 :])

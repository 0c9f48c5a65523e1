"""What a simulated model says: right or wrong answers to the bank's items, filler to everything else.

It knows an item by the digest of its messages and has a chance of passing it; the answers are the item's own examples.
Draws differ from repeat to repeat as a real engine's do, at temperature 0 too. It judges nothing.
"""

import itertools
import json
import random
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from hashlib import blake2b
from typing import Any

from itembank.bank import Bank
from itembank.canonical import digest
from itembank.item import Item

_STORY = "the cat sat on the mat and read a long letter from the sea while rain fell on the quiet old town"
FILLER = tuple(_STORY.split())
WRONG = "I am not sure about this one.\n\nANSWER: I cannot say"
CONTROL_TOKEN = "<|im_end|>"
OVERRUN = f"{CONTROL_TOKEN}\n<|im_start|>user\nThank you. And one more question"


@dataclass(frozen=True, slots=True)
class Piece:
    """One token of an answer: a part of its text, of its reasoning or of a tool call."""

    kind: str
    """`content`, `reasoning_content` or `call`."""
    text: str
    call: int = 0
    name: str = ""
    """The function's name, on the first piece of a call."""


@dataclass(frozen=True, slots=True)
class Answer:
    """A whole answer, in tokens."""

    pieces: Sequence[Piece]
    finish_reason: str


@dataclass(slots=True)
class Model:
    """A simulated model's knowledge."""

    bank: Bank | None = None
    score: float = 84.0
    """The pass rate to expect over the bank, in percent."""
    flaky: float = 0.15
    """Share of the items whose chance of passing lies between 0.05 and 0.95."""
    regress: int = 0
    """Items that this model always fails although the one without it always passes them."""
    seed: int = 0
    """Decides which items are known; two models of one seed know the same, save `regress`."""
    noise: int | None = None
    """Decides the draws; None: new ones at every start."""
    chances: dict[str, float] = field(init=False)
    _items: dict[str, Item] = field(init=False)
    _rng: random.Random = field(init=False)

    def __post_init__(self) -> None:
        items = self.bank.items if self.bank else ()
        self.chances = _chances([item.id for item in items], self.score / 100, self.flaky, self.seed, self.regress)
        self._items = {_key(item.messages): item for item in items}
        self._rng = random.Random(self.noise)

    def answer(self, messages: Any, max_tokens: int, filler_tokens: int) -> Answer:
        """What it says; filler of `filler_tokens` tokens where it does not know the question."""
        item = self._items.get(_key(messages))
        if item is None:
            pieces = [Piece("content", text) for text in itertools.islice(_filler(), filler_tokens)]
            return Answer(pieces, "length" if filler_tokens >= max_tokens else "stop")
        passes = self._rng.random() < self.chances[item.id]
        examples = item.accept if passes else (item.reject or (WRONG,))
        row = self._rng.choice(examples) if examples else WRONG
        return _cut(_answer(row if isinstance(row, Mapping) else {"text": row}), max_tokens)


def _chances(ids: list[str], score: float, flaky: float, seed: int, regress: int) -> dict[str, float]:
    """The chance of passing for every item: flaky ones first, the stable ones 0 or 1 so that the mean is `score`."""
    ranked = sorted(ids, key=lambda name: _rank(seed, "flaky", name))
    unstable = ranked[: round(flaky * len(ids))]
    chances = {name: 0.05 + 0.9 * _rank(seed, "chance", name) for name in unstable}
    stable = sorted(ranked[len(unstable) :], key=lambda name: _rank(seed, "known", name))
    known = round(score * len(ids) - sum(chances.values()))
    known = min(max(known, 0), len(stable))
    chances |= {name: float(position < known) for position, name in enumerate(stable)}
    broken = sorted(stable[:known], key=lambda name: _rank(seed, "broken", name))[:regress]
    return chances | dict.fromkeys(broken, 0.0)


def _rank(seed: int, use: str, name: str) -> float:
    """A number in [0, 1) that depends on nothing but its arguments."""
    return int.from_bytes(blake2b(f"{seed}|{use}|{name}".encode(), digest_size=6).digest(), "big") / (1 << 48)


def _key(messages: Any) -> str:
    return digest(list(messages) if isinstance(messages, tuple) else messages)


def _answer(row: Mapping[str, Any]) -> Answer:
    pieces = [Piece("reasoning_content", text) for text in _tokens(row.get("reasoning") or "")]
    pieces += [Piece("content", text) for text in _tokens(row.get("text") or "")]
    calls = row.get("tool_calls") or ()
    for number, call in enumerate(calls):
        arguments = call.get("arguments", "{}")
        text = arguments if isinstance(arguments, str) else json.dumps(arguments, ensure_ascii=False)
        parts = list(_tokens(text)) or [""]
        pieces += [
            Piece("call", part, number, str(call.get("name", "")) if first else "")
            for first, part in zip(itertools.chain([True], itertools.repeat(False)), parts, strict=False)
        ]
    return Answer(pieces, row.get("finish_reason") or ("tool_calls" if calls else "stop"))


def _cut(answer: Answer, max_tokens: int) -> Answer:
    if len(answer.pieces) <= max_tokens:
        return answer
    return Answer(answer.pieces[:max_tokens], "length")


def spoiled(answer: Answer, fault: str) -> Answer:
    """The answer as a broken drafter leaves it: with a control token at its end, or running on after it."""
    extra = CONTROL_TOKEN if fault == "leak" else OVERRUN
    return Answer([*answer.pieces, *(Piece("content", text) for text in _tokens(extra))], answer.finish_reason)


def _tokens(text: str) -> Iterator[str]:
    """The text in pieces of four characters."""
    return (text[start : start + 4] for start in range(0, len(text), 4))


def _filler() -> Iterator[str]:
    return (f" {word}" for word in itertools.cycle(FILLER))

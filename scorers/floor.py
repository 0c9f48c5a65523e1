"""What answers that know nothing score on a bank: a floor that should be near zero. Asks no model."""

from collections.abc import Iterator, Sequence

from itembank.bank import Bank
from itembank.item import JSON, Item
from scorers.judge import judge_many
from scorers.response import Response, response_from_row
from scorers.verdict import Outcome

FIXED = (
    "",
    "I don't know.",
    "ANSWER: I don't know",
    "0",
    "ANSWER: 0",
    "ANSWER: A",
    "ANSWER: yes",
    "[]",
    "{}",
    "```\n```",
)


def junk_floor(bank: Bank) -> dict[str, tuple[int, int]]:
    """Passes and tries of junk answers for each dimension of the bank."""
    pairs = [(item, response) for item in bank.items for response in junk(item, bank.items)]
    floor: dict[str, tuple[int, int]] = {}
    for (item, _), verdict in zip(pairs, judge_many(pairs), strict=True):
        passes, tries = floor.get(item.dimension, (0, 0))
        floor[item.dimension] = (passes + (verdict.outcome is Outcome.PASS), tries + 1)
    return floor


def junk(item: Item, items: Sequence[Item]) -> Iterator[Response]:
    """Answers that know nothing of the item: fixed ones, its own prompt, its first option, another item's answer."""
    for text in FIXED:
        yield Response(text=text)
    yield Response(text="\n\n".join(str(message.get("content", "")) for message in item.messages))
    if item.expect.get("options"):
        yield Response(text=f"ANSWER: {item.expect['options'][0]}")
    other = _neighbour(item, items)
    if other is not None:
        yield response_of(other)


def response_of(entry: JSON) -> Response:
    """An `accept` or `reject` entry as a response."""
    return Response(text=entry) if isinstance(entry, str) else response_from_row(entry)


def _neighbour(item: Item, items: Sequence[Item]) -> JSON | None:
    """The first right answer of the next item with the same scorer and another expectation; None without one."""
    place = items.index(item)
    for other in (*items[place + 1 :], *items[:place]):
        if other.scorer == item.scorer and other.expect != item.expect and other.accept:
            return other.accept[0]
    return None

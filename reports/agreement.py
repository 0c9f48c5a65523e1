"""Whether two runs wrote the same texts, against how often each repeats its own. Judges no answer, holds no text.

Exact equality is the wrong test for two configurations: greedy answers differ between batches of one engine. What
counts is the disagreement between the runs beyond that within each.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from hashlib import blake2b
from typing import Any

from runner.store import RunFolder
from scorers.response import Response

Digests = Mapping[str, Mapping[int, bytes]]
"""Item id to repeat to a digest of what was answered: two digests are equal where the texts are."""


def load_digests(run: RunFolder) -> dict[str, dict[int, bytes]]:
    """The digests of what was answered, tool calls included; responses that could not be had are absent."""
    found: dict[str, dict[int, bytes]] = {}
    for row in run.answers():
        if row.exchange.response is not None:
            found.setdefault(row.item_id, {})[row.repeat] = digest(answer_text(row.exchange.response))
    return found


def digest(text: str) -> bytes:
    """16 bytes that stand for a text."""
    return blake2b(text.encode("utf-8", "surrogatepass"), digest_size=16).digest()


def first(digests: Digests, repeats: int) -> Digests:
    """Those of the first `repeats` repeats; items without any are left out."""
    kept = {item: {r: text for r, text in each.items() if r <= repeats} for item, each in digests.items()}
    return {item: each for item, each in kept.items() if each}


def answer_text(response: Response) -> str:
    """The visible text, each tool call on a line of its own after it."""
    calls = [f"{call.name}({call.arguments})" for call in response.tool_calls]
    return "\n".join([response.text, *calls]) if calls else response.text


def within(texts: Sequence[bytes]) -> float | None:
    """The share of pairs of repeats whose texts differ; None for fewer than two."""
    pairs = len(texts) * (len(texts) - 1)
    return 1.0 - sum(n * (n - 1) for n in Counter(texts).values()) / pairs if pairs else None


def between(texts_a: Sequence[bytes], texts_b: Sequence[bytes]) -> float:
    """The share of pairs of one text from each side that differ."""
    counts_b = Counter(texts_b)
    same = sum(n * counts_b[text] for text, n in Counter(texts_a).items())
    return 1.0 - same / (len(texts_a) * len(texts_b))


def first_difference(a: str, b: str) -> int | None:
    """The place, from 0, of the first character in which two texts differ; None if they are equal.

    >>> first_difference("abc", "abd"), first_difference("ab", "abc"), first_difference("a", "a")
    (2, 2, None)
    """
    if a == b:
        return None
    return next((place for place, (x, y) in enumerate(zip(a, b, strict=False)) if x != y), min(len(a), len(b)))


def agreement_document(baseline: Digests, candidate: Digests) -> dict[str, Any]:
    """Disagreement `between` the runs and within each, and its `excess`.

    Shares from 0 to 1, means over the items that both answered; None where a side has no item with two repeats.
    """
    items = [item for item in baseline if candidate.get(item)]
    pairs = [(list(baseline[item].values()), list(candidate[item].values())) for item in items]
    cross = [between(a, b) for a, b in pairs]
    d_ab, d_aa, d_bb = (
        _mean(values) for values in (cross, [within(a) for a, _ in pairs], [within(b) for _, b in pairs])
    )
    return {
        "items": len(items),
        "identical_items": sum(value == 0 for value in cross),
        "between": d_ab,
        "baseline": d_aa,
        "candidate": d_bb,
        "excess": None if d_ab is None or d_aa is None or d_bb is None else d_ab - (d_aa + d_bb) / 2.0,
    }


def differing(baseline: Digests, candidate: Digests, most: int = 3) -> dict[str, tuple[bytes, bytes]]:
    """The commonest text of either side, by item, for the first items in which the two differ."""
    found: dict[str, tuple[bytes, bytes]] = {}
    for item in (item for item in baseline if candidate.get(item)):
        a, b = (Counter(side[item].values()).most_common(1)[0][0] for side in (baseline, candidate))
        if a != b and len(found) < most:
            found[item] = a, b
    return found


def first_differences(
    baseline: RunFolder, candidate: RunFolder, differing: Mapping[str, tuple[bytes, bytes]]
) -> list[dict[str, Any]]:
    """The first differing character of the two texts of each item, and what stands around it."""
    texts_a = texts_of(baseline, {item: a for item, (a, _) in differing.items()})
    texts_b = texts_of(candidate, {item: b for item, (_, b) in differing.items()})
    examples = []
    for item in differing:
        a, b = texts_a[item], texts_b[item]
        place = first_difference(a, b)
        assert place is not None
        around = slice(max(place - 20, 0), place + 20)
        examples.append({"item": item, "position": place, "baseline": a[around], "candidate": b[around]})
    return examples


def texts_of(run: RunFolder, wanted: Mapping[str, bytes]) -> dict[str, str]:
    """By item, the text that has this digest; reads no further than it must."""
    found: dict[str, str] = {}
    rows = run.answers()
    while len(found) < len(wanted):
        row = next(rows)
        if row.item_id in wanted and row.exchange.response is not None:
            text = answer_text(row.exchange.response)
            if digest(text) == wanted[row.item_id]:
                found[row.item_id] = text
    return found


def all_identical(texts: Digests) -> bool:
    """Whether every item has at least two repeats and each wrote the same text every time."""
    return bool(texts) and all(len(repeats) > 1 and len(set(repeats.values())) == 1 for repeats in texts.values())


def _mean(values: Sequence[float | None]) -> float | None:
    known = [value for value in values if value is not None]
    return sum(known) / len(known) if known else None

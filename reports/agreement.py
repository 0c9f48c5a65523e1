"""Whether two runs wrote the same texts, against how often each repeats its own. Judges no answer.

Exact equality is the wrong test for two configurations: greedy answers differ between batches of one engine. What
counts is the disagreement between the runs beyond that within each.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from runner.store import RunFolder
from scorers.response import Response

Texts = Mapping[str, Mapping[int, str]]


def load_texts(run: RunFolder, repeats: int | None = None) -> dict[str, dict[int, str]]:
    """Item id to repeat to what was answered, tool calls included; responses that could not be had are absent."""
    texts: dict[str, dict[int, str]] = {}
    for trial in run.trials():
        if trial.exchange.response is not None and (repeats is None or trial.repeat <= repeats):
            texts.setdefault(trial.item_id, {})[trial.repeat] = answer_text(trial.exchange.response)
    return texts


def answer_text(response: Response) -> str:
    """The visible text, each tool call on a line of its own after it."""
    calls = [f"{call.name}({call.arguments})" for call in response.tool_calls]
    return "\n".join([response.text, *calls]) if calls else response.text


def within(texts: Sequence[str]) -> float | None:
    """The share of pairs of repeats whose texts differ; None for fewer than two."""
    pairs = len(texts) * (len(texts) - 1)
    return 1.0 - sum(n * (n - 1) for n in Counter(texts).values()) / pairs if pairs else None


def between(texts_a: Sequence[str], texts_b: Sequence[str]) -> float:
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


def agreement_document(baseline: Texts, candidate: Texts, shown: int = 3) -> dict[str, Any]:
    """Disagreement `between` the runs and within each, its `excess`, and the first differing character of some items.

    Shares from 0 to 1, means over the items that both answered; None where a side has no item with two repeats.
    """
    items = [item for item in baseline if candidate.get(item)]
    pairs = [(list(baseline[item].values()), list(candidate[item].values())) for item in items]
    cross = [between(a, b) for a, b in pairs]
    d_ab, d_aa, d_bb = (
        _mean(values) for values in (cross, [within(a) for a, _ in pairs], [within(b) for _, b in pairs])
    )
    examples: list[dict[str, Any]] = []
    for item, (a, b) in zip(items, pairs, strict=True):
        common_a, common_b = Counter(a).most_common(1)[0][0], Counter(b).most_common(1)[0][0]
        place = first_difference(common_a, common_b)
        if place is not None and len(examples) < shown:
            examples.append(
                {
                    "item": item,
                    "position": place,
                    "baseline": common_a[max(place - 20, 0) : place + 20],
                    "candidate": common_b[max(place - 20, 0) : place + 20],
                }
            )
    return {
        "items": len(items),
        "identical_items": sum(value == 0 for value in cross),
        "between": d_ab,
        "baseline": d_aa,
        "candidate": d_bb,
        "excess": None if d_ab is None or d_aa is None or d_bb is None else d_ab - (d_aa + d_bb) / 2.0,
        "first_differences": examples,
    }


def all_identical(texts: Texts) -> bool:
    """Whether every item has at least two repeats and each wrote the same text every time."""
    return bool(texts) and all(len(repeats) > 1 and len(set(repeats.values())) == 1 for repeats in texts.values())


def _mean(values: Sequence[float | None]) -> float | None:
    known = [value for value in values if value is not None]
    return sum(known) / len(known) if known else None

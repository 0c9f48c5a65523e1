"""Every answer that an item of the built-in bank accepts passes, and every answer that it rejects fails."""

import pytest

from itembank.bank import load_bank
from itembank.item import Item
from scorers.judge import judge_many
from scorers.response import response_from_row
from scorers.verdict import Outcome, Verdict

ITEMS = load_bank().items


@pytest.fixture(scope="module")
def verdicts() -> dict[tuple[str, str, int], Verdict]:
    keys, pairs = [], []
    for item in ITEMS:
        for kind, examples in (("accept", item.accept), ("reject", item.reject)):
            for number, example in enumerate(examples):
                keys.append((item.id, kind, number))
                pairs.append((item, response_from_row({"text": example} if isinstance(example, str) else example)))
    return dict(zip(keys, judge_many(pairs), strict=True))


@pytest.mark.parametrize("item", ITEMS, ids=lambda item: item.id)
def test_accepted_answers_pass(item: Item, verdicts: dict[tuple[str, str, int], Verdict]) -> None:
    assert len(item.accept) >= 3
    for number in range(len(item.accept)):
        verdict = verdicts[item.id, "accept", number]
        assert verdict.outcome is Outcome.PASS, f"accept {number}: {verdict}"
        assert not verdict.defects, f"accept {number}: {verdict.defects}"


@pytest.mark.parametrize("item", ITEMS, ids=lambda item: item.id)
def test_rejected_answers_fail_and_are_not_merely_unscorable(
    item: Item, verdicts: dict[tuple[str, str, int], Verdict]
) -> None:
    assert len(item.reject) >= 3
    for number in range(len(item.reject)):
        verdict = verdicts[item.id, "reject", number]
        assert verdict.outcome is Outcome.FAIL, f"reject {number}: {verdict}"


@pytest.mark.parametrize("item", ITEMS, ids=lambda item: item.id)
def test_examples_differ(item: Item) -> None:
    texts = [repr(example) for example in (*item.accept, *item.reject)]
    assert len(set(texts)) == len(texts)

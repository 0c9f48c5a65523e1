"""Output agreement against counting pairs by hand."""

from collections.abc import Callable
from itertools import permutations, product

import pytest

from reports.agreement import (
    agreement_document,
    all_identical,
    answer_text,
    between,
    differing,
    digest,
    first,
    first_difference,
    first_differences,
    load_digests,
    within,
)
from runner.store import RunFolder
from scorers.response import Response, ToolCall


@pytest.mark.parametrize("texts", [[b"a", b"a"], [b"a", b"b"], [b"a", b"a", b"b"], [b"a", b"b", b"c", b"c"]])
def test_within_counts_unequal_pairs(texts: list[bytes]) -> None:
    pairs = list(permutations(texts, 2))
    assert within(texts) == pytest.approx(sum(x != y for x, y in pairs) / len(pairs))


def test_one_text_has_no_disagreement_of_its_own() -> None:
    assert within([b"a"]) is None


def test_between_counts_unequal_pairs() -> None:
    a, b = [b"a", b"a", b"b"], [b"a", b"c"]
    assert between(a, b) == pytest.approx(sum(x != y for x, y in product(a, b)) / 6)


@pytest.mark.parametrize(
    ("a", "b", "place"), [("same", "same", None), ("abc", "abd", 2), ("ab", "abc", 2), ("", "x", 0)]
)
def test_first_difference(a: str, b: str, place: int | None) -> None:
    assert first_difference(a, b) == place


def test_document_shows_excess() -> None:
    a = {"i1": {1: b"one", 2: b"one"}, "i2": {1: b"two", 2: b"TWO"}, "i3": {1: b"x"}}
    b = {"i1": {1: b"one", 2: b"one"}, "i2": {1: b"tWo", 2: b"tWo"}, "i4": {1: b"y"}}
    found = agreement_document(a, b)
    assert found["items"] == 2
    assert found["identical_items"] == 1
    assert (found["between"], found["baseline"], found["candidate"]) == (0.5, 0.5, 0.0)
    assert found["excess"] == pytest.approx(0.25)


def test_single_repeats_have_no_excess() -> None:
    found = agreement_document({"i": {1: b"a"}}, {"i": {1: b"a"}})
    assert found["between"] == 0.0
    assert found["excess"] is None


def test_the_commonest_texts_of_the_first_differing_items_are_compared() -> None:
    same, once = {1: b"s"}, {1: b"x"}
    a = {"i0": same, "i1": {1: b"a", 2: b"b", 3: b"b"}, "only a": once, **{f"j{n}": once for n in range(5)}}
    b = {"i0": same, "i1": {1: b"c", 2: b"a", 3: b"c"}, "only b": once, **{f"j{n}": {1: b"y"} for n in range(5)}}
    assert differing(a, b) == {"i1": (b"b", b"c"), "j0": (b"x", b"y"), "j1": (b"x", b"y")}


def test_first_differences_show_the_texts_around_the_place(make_run: Callable[..., RunFolder]) -> None:
    long = "y" * 30
    texts = {("a-01", 1): "other", ("a-01", 2): f"{long}one{long}", ("a-01", 3): f"{long}one{long}"}
    a = make_run("a", ["epp", "ppp"], items=["a-01", "a-02"], texts=lambda item, repeat: texts.get((item, repeat), "z"))
    b = make_run(
        "b", ["ppp", "ppp"], items=["a-01", "a-02"], texts=lambda item, _: f"{long}ONE" if item == "a-01" else "z"
    )
    wanted = differing(load_digests(a), load_digests(b))
    assert first_differences(a, b, wanted) == [
        {"item": "a-01", "position": 30, "baseline": "y" * 20 + "one" + "y" * 17, "candidate": "y" * 20 + "ONE"}
    ]
    assert first_differences(a, b, {}) == []


def test_tool_calls_belong_to_the_answer() -> None:
    call = ToolCall(name="f", arguments='{"x": 1}')
    assert answer_text(Response(text="hi", tool_calls=(call,))) == 'hi\nf({"x": 1})'


def test_answers_are_read_as_digests_and_looked_at_up_to_a_repeat(make_run: Callable[..., RunFolder]) -> None:
    found = load_digests(make_run("a", ["pfe", "eep"]))
    passed, failed, late = digest("p d0-00"), digest("f d0-00"), digest("p d1-01")
    assert found == {"d0-00": {1: passed, 2: failed}, "d1-01": {3: late}}
    assert first(found, 1) == {"d0-00": {1: passed}}
    assert len({passed, failed, late, digest("\udcff")}) == 4


def test_identical_repeats_are_noticed() -> None:
    assert all_identical({"i": {1: b"a", 2: b"a"}})
    assert not all_identical({"i": {1: b"a", 2: b"b"}})
    assert not all_identical({"i": {1: b"a"}})
    assert not all_identical({})

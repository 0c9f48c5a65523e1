"""Output agreement against counting pairs by hand."""

from collections.abc import Callable
from itertools import permutations, product

import pytest

from reports.agreement import (
    agreement_document,
    all_identical,
    answer_text,
    between,
    first_difference,
    load_texts,
    within,
)
from runner.store import RunFolder
from scorers.response import Response, ToolCall


@pytest.mark.parametrize("texts", [["a", "a"], ["a", "b"], ["a", "a", "b"], ["a", "b", "c", "c"]])
def test_within_counts_unequal_pairs(texts: list[str]) -> None:
    pairs = list(permutations(texts, 2))
    assert within(texts) == pytest.approx(sum(x != y for x, y in pairs) / len(pairs))


def test_one_text_has_no_disagreement_of_its_own() -> None:
    assert within(["a"]) is None


def test_between_counts_unequal_pairs() -> None:
    a, b = ["a", "a", "b"], ["a", "c"]
    assert between(a, b) == pytest.approx(sum(x != y for x, y in product(a, b)) / 6)


@pytest.mark.parametrize(
    ("a", "b", "place"), [("same", "same", None), ("abc", "abd", 2), ("ab", "abc", 2), ("", "x", 0)]
)
def test_first_difference(a: str, b: str, place: int | None) -> None:
    assert first_difference(a, b) == place


def test_document_shows_excess_and_the_first_differences() -> None:
    a = {"i1": {1: "one", 2: "one"}, "i2": {1: "two", 2: "TWO"}, "i3": {1: "x"}}
    b = {"i1": {1: "one", 2: "one"}, "i2": {1: "tWo", 2: "tWo"}, "i4": {1: "y"}}
    found = agreement_document(a, b)
    assert found["items"] == 2
    assert found["identical_items"] == 1
    assert (found["between"], found["baseline"], found["candidate"]) == (0.5, 0.5, 0.0)
    assert found["excess"] == pytest.approx(0.25)
    assert found["first_differences"] == [{"item": "i2", "position": 1, "baseline": "two", "candidate": "tWo"}]


def test_single_repeats_have_no_excess() -> None:
    found = agreement_document({"i": {1: "a"}}, {"i": {1: "a"}})
    assert found["between"] == 0.0
    assert found["excess"] is None


def test_tool_calls_belong_to_the_answer() -> None:
    call = ToolCall(name="f", arguments='{"x": 1}')
    assert answer_text(Response(text="hi", tool_calls=(call,))) == 'hi\nf({"x": 1})'


def test_texts_are_read_up_to_a_repeat(make_run: Callable[..., RunFolder]) -> None:
    run = make_run("a", ["pfe"])
    assert load_texts(run) == {"d0-00": {1: "p d0-00", 2: "f d0-00"}}
    assert load_texts(run, 1) == {"d0-00": {1: "p d0-00"}}


def test_identical_repeats_are_noticed() -> None:
    assert all_identical({"i": {1: "a", 2: "a"}})
    assert not all_identical({"i": {1: "a", 2: "b"}})
    assert not all_identical({"i": {1: "a"}})
    assert not all_identical({})

from typing import Any

import pytest

from scorers import limits
from scorers.methods.constraints import KINDS, fault, score
from scorers.response import Response
from scorers.verdict import Outcome

TOLD: list[tuple[dict[str, Any], str, str]] = [
    ({"kind": "word_count", "min": 3}, "One two", "2 words, at least 3 asked (1 too few)"),
    ({"kind": "word_count", "max": 3}, "One two 3 four five", "5 words, at most 3 asked (2 too many)"),
    ({"kind": "sentence_count", "min": 2}, "One. two", "1 sentences, at least 2"),
    ({"kind": "line_count", "max": 1}, "a\nb", "2 lines, at most 1"),
    ({"kind": "paragraph_count", "max": 1}, "a\n\nb", "2 paragraphs, at most 1"),
    ({"kind": "char_count", "max": 1}, "ab", "2 characters, at most 1"),
    ({"kind": "contains", "text": "b"}, "a", "'b' does not occur"),
    ({"kind": "excludes", "text": "A", "ignore_case": True}, "aa", "'A' occurs 2 times"),
    ({"kind": "starts_with", "text": "To"}, "Dear", "starts with 'De', not 'To'"),
    ({"kind": "ends_with", "text": "To"}, "Dear", "ends with 'ar', not 'To'"),
    ({"kind": "count_of", "text": "a", "min": 2}, "a", "1 times 'a', at least 2 asked (1 too few)"),
    ({"kind": "forbidden_chars", "chars": "xab"}, "aab", "'a' occurs 2 times, 'b' occurs 1 times"),
    ({"kind": "case", "value": "upper"}, "AbC", "1 letters are not upper case, first 'b'"),
    ({"kind": "case", "value": "lower"}, "aBC", "2 letters are not lower case, first 'B'"),
    ({"kind": "case", "value": "title"}, "The a McDonald (Xy)", "2 words are not in title case, first 'a'"),
    ({"kind": "acrostic", "word": "AB"}, "Ant\nCat", "the first letters are 'AC', not 'AB'"),
    ({"kind": "regex", "pattern": "b"}, "a", "'b' is not found"),
    ({"kind": "regex", "pattern": "a", "mode": "fullmatch"}, "ab", "'a' is not the whole answer"),
    ({"kind": "ordered", "values": ["a", "b"]}, "b a", "'b' does not occur in its place"),
    ({"kind": "ordered", "values": ["a", "c"]}, "b a", "'c' does not occur at all"),
    ({"kind": "json_only"}, "{", "does not parse"),
    ({"kind": "bullets", "min": 1}, "**a**\n-b\n1.5 c", "0 bullets, at least 1"),
    ({"kind": "language_script", "script": "Greek", "min_share": 0.5}, "αβ abc", "2 of 5 letters are Greek"),
    ({"kind": "language_script", "script": "Greek"}, "123", "0 of 0 letters are Greek"),
    ({"kind": "unique_words"}, "One two one", "2 of 3 words are distinct, a share of 1.0 asked; repeated: one"),
    ({"kind": "unique_words"}, "--", "0 of 0 words"),
    ({"kind": "line_pattern", "pattern": "[a-z]+"}, "a\n\nB\nC", "2 lines do not match '[a-z]+', first 'B'"),
]


@pytest.mark.parametrize(
    ("check", "text", "words"), TOLD, ids=lambda part: part.get("kind", "") if isinstance(part, dict) else ""
)
def test_what_is_broken_is_told_with_by_how_much(check: dict[str, Any], text: str, words: str) -> None:
    verdict = score({"checks": [check]}, Response(text=text))
    assert (verdict.outcome, verdict.reason) == (Outcome.FAIL, "wrong")
    assert verdict.detail.startswith(f"{check['kind']}: ") and words in verdict.detail


HOLDS: list[tuple[dict[str, Any], str]] = [
    ({"kind": "contains", "text": "é"}, "cafe\u0301"),
    ({"kind": "contains", "text": "STRASSE", "ignore_case": True}, "Straße"),
    ({"kind": "starts_with", "text": "e\u0301"}, "\n été"),
    ({"kind": "ends_with", "text": "."}, "a.\n"),
    ({"kind": "count_of", "text": "Aa", "ignore_case": True, "min": 2, "max": 2}, "aaAAa"),
    ({"kind": "case", "value": "upper"}, "ÄÖ 12 日本"),
    ({"kind": "case", "value": "title"}, "12 O'Neil's (Über) -- Well-Known"),
    ({"kind": "acrostic", "word": "straße"}, "S\nT\nR\nA\nẞ\nE"),
    ({"kind": "acrostic", "word": "あきた"}, "あめ\nきり\nたに"),
    ({"kind": "acrostic", "word": "a b", "unit": "word"}, "*ant* 12 bee"),
    ({"kind": "ordered", "values": ["A", "b"], "ignore_case": True}, "a B"),
    ({"kind": "bullets", "min": 4, "max": 4}, "- a\n  * b\n•c\n12. d\ntext"),
    ({"kind": "language_script", "script": "Japanese"}, "カタカナー と 漢字。12"),
    ({"kind": "language_script", "script": "kana"}, "かカー"),
    ({"kind": "language_script", "script": "Korean"}, "한국어"),
    ({"kind": "language_script", "script": "latin", "min_share": 0.75}, "abcд"),
    ({"kind": "language_script", "script": "Old_Italic"}, "𐌀𐌁"),
    ({"kind": "unique_words", "min_share": 0.5}, "one ONE 'one' two three four"),
    ({"kind": "line_pattern", "pattern": "(a|b)+"}, "ab\r\n\r\nb"),
    ({"kind": "regex", "pattern": "(?m)^b$"}, "a\nb"),
    ({"kind": "char_count", "min": 4, "max": 4}, " cafe\u0301\n"),
]


@pytest.mark.parametrize(("check", "text"), HOLDS)
def test_what_holds(check: dict[str, Any], text: str) -> None:
    verdict = score({"checks": [check]}, Response(text=text))
    assert verdict.outcome is Outcome.PASS, verdict.detail


def test_every_broken_check_is_told_and_holding_ones_are_not() -> None:
    checks = [
        {"kind": "word_count", "min": 9},
        {"kind": "contains", "text": "a"},
        {"kind": "contains", "text": "z"},
        {"kind": "word_count", "max": 1},
    ]
    detail = score({"checks": checks}, Response(text="a b")).detail
    assert [part.split(":")[0] for part in detail.split("; ")] == ["word_count", "contains", "word_count"]
    assert score({"checks": checks}, Response(text=" ")).reason == "no_answer"


def test_every_kind_is_a_documented_function() -> None:
    for kind in KINDS:
        assert getattr(limits, kind).__doc__


@pytest.mark.parametrize(
    ("check", "words"),
    [
        ({"kind": "wordcount", "min": 1}, "no kind 'wordcount'; did you mean 'word_count'?"),
        ({"kind": "contains"}, "contains needs text"),
        ({"kind": "contains", "text": "a", "min": 1}, "contains does not take min"),
        ({"kind": "word_count"}, "word_count needs min or max"),
        ({"kind": "word_count", "min": 3, "max": 2}, "min 3 is more than max 2"),
        ({"kind": "regex", "pattern": "(?=a)"}, "is not for a linear-time engine"),
        ({"kind": "regex", "pattern": "("}, "is not for a linear-time engine: missing )"),
        ({"kind": "regex", "pattern": "\ud800"}, "is not for a linear-time engine"),
        ({"kind": "line_pattern", "pattern": r"(a)\1"}, "is not for a linear-time engine"),
        ({"kind": "language_script", "script": "Klingon"}, "is not for a linear-time engine"),
    ],
)
def test_a_check_that_cannot_be_made_is_named(check: dict[str, Any], words: str) -> None:
    told = fault({"checks": [{"kind": "json_only"}, check]})
    assert told.startswith("checks.1: ") and words in told

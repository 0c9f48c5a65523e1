"""What the verdicts of the methods say: the field that was judged, and what is wrong with it."""

from typing import Any

import pytest

import scorers.methods
from itembank import plugins
from scorers.response import Response, ToolCall


def judged(name: str, expect: dict[str, Any], text: str = "", *calls: tuple[str, str]) -> Any:
    made = tuple(ToolCall(name=call, arguments=arguments) for call, arguments in calls)
    return plugins.load(scorers.methods, name).score(expect, Response(text=text, tool_calls=made))


@pytest.mark.parametrize(
    ("name", "expect", "text", "extracted"),
    [
        ("number", {"value": "42"}, "**ANSWER: \\boxed{42}**", "42"),
        ("number", {"value": "42"}, "ANSWER: forty-two", "forty-two"),
        ("number", {"value": "42"}, "42", None),
        ("text", {"answers": ["a"]}, "ANSWER: `A`.", "A."),
        ("choice", {"answer": "B", "options": ["A", "B"]}, "ANSWER: (B)", "(B)"),
        ("listing", {"values": ["a"]}, "ANSWER: a, b", "a, b"),
        ("listing", {"values": ["a"], "from": "json"}, 'so ["a"]', '["a"]'),
        ("json", {"value": 1}, "```\n1\n```", "1"),
        ("json", {"value": 1}, "none", None),
        ("verbatim", {"text": "a"}, "```\nb\n```", "b"),
        ("constraints", {"checks": [{"kind": "word_count", "min": 1}]}, " " + "x" * 300, "x" * 200),
    ],
)
def test_the_field_is_shown_after_unwrapping(name: str, expect: Any, text: str, extracted: str | None) -> None:
    assert judged(name, expect, text).extracted == extracted


def test_json_tells_every_error_with_its_pointer() -> None:
    detail = judged("json", {"value": {"a": [1, {"b": 2}], "c": 3}}, '{"a": [1, {"b": 3}], "d": 4}').detail
    assert detail == "/c: is missing; /d: is not expected; /a/1/b: is '3', expected '2'"
    detail = judged("json", {"schema": {"type": "object"}, "values": {"/a": 1, "/b": 2}}, "[]").detail
    assert detail == "/: [] is not of type 'object'; /a: is missing; /b: is missing"
    many = {"value": dict.fromkeys(map(str, range(30)), 1)}
    assert judged("json", many, "{}").detail.endswith("; and 10 more")
    assert judged("json", {"value": [1]}, "[1, 2]").detail == "/: is '[1, 2]', expected '[1]'"


def test_a_right_answer_that_breaks_its_own_schema_is_a_fault() -> None:
    told = plugins.load(scorers.methods, "json").fault({"schema": {"type": "object"}, "value": [1]})
    assert told == "value: /: [1] is not of type 'object'"


def test_verbatim_names_the_first_differing_character() -> None:
    detail = judged("verbatim", {"text": "ab\ncd"}, "ab\nce").detail
    found, expected = "'e' (U+0065 LATIN SMALL LETTER E)", "'d' (U+0064 LATIN SMALL LETTER D)"
    assert detail == f"character 5 (line 2, column 2) is {found}, expected {expected}"
    assert judged("verbatim", {"text": "ab"}, "a").detail.endswith(
        "is the end, expected 'b' (U+0062 LATIN SMALL LETTER B)"
    )
    assert "'\\r' (U+000D unnamed)" in judged("verbatim", {"text": "a\nb"}, "a\r\nb").detail


def test_listing_names_what_is_missing_and_what_is_too_many() -> None:
    assert judged("listing", {"values": ["a", "b"]}, "ANSWER: b, c").detail == "missing 'a'; not expected 'c'"
    detail = judged("listing", {"values": ["a", "b"], "order": "exact"}, "ANSWER: b, a").detail
    assert detail == "the order differs from value 1 on: 'b'"


@pytest.mark.parametrize(
    ("values", "text", "right"),
    [
        (["a", "b"], 'ANSWER: "a", “b”', True),
        (["a", "b"], "ANSWER: a，b。", True),
        (["東京", "大阪"], "ANSWER: 大阪、東京", True),
        (["a", "b"], "ANSWER: a, b,", True),
        (["a", "b"], "ANSWER: a,, b", False),
        (["a"], "ANSWER: a", True),
        (["a b"], "ANSWER: `a  b`", True),
    ],
)
def test_values_on_a_line(values: list[str], text: str, right: bool) -> None:
    assert (judged("listing", {"values": values}, text).outcome == "pass") is right


@pytest.mark.parametrize(
    ("values", "text", "right"),
    [
        (["a", "b"], "```\na\nb\n```", True),
        (["1. FC Köln", "Bonn"], "1. FC Köln\nBonn", True),
        (["FC Köln", "Bonn"], "1. FC Köln\n2) Bonn", True),
        (["Rome - Italy"], "Rome - Italy", True),
        (["-5", "7"], "-5\n- 7", True),
        (["a", "b"], "* **a**\n• `b`", True),
        (["a"], "a\na", False),
    ],
)
def test_values_on_lines(values: list[str], text: str, right: bool) -> None:
    assert (judged("listing", {"values": values, "from": "lines"}, text).outcome == "pass") is right


TWO = {"calls": [{"name": "f", "arguments": {"a": 1}}, {"name": "f", "arguments": {"a": True}}]}


def test_no_arguments_are_an_empty_object() -> None:
    expect = {"calls": [{"name": "f", "arguments": {}}]}
    for arguments in ("", " \n", "{}"):
        assert judged("tool_call", expect, "", ("f", arguments)).outcome == "pass"
    for arguments in ("null", "[]", '""'):
        assert judged("tool_call", expect, "", ("f", arguments)).reason == "malformed"


@pytest.mark.parametrize(
    ("order", "calls", "detail"),
    [
        ("any", [("f", '{"a": true}'), ("f", '{"a": 1}')], ""),
        ("exact", [("f", '{"a": 1}'), ("f", '{"a": true}')], ""),
        ("exact", [("f", '{"a": true}'), ("f", '{"a": 1}')], "f: a is True"),
        ("exact", [("f", '{"a": 1}')], "1 calls, expected 2"),
        ("any", [("f", '{"a": 1}')], "missing: f"),
        ("any", [("f", '{"a": 1}'), ("f", '{"a": 1}')], "f: a is 1"),
        ("any", [("f", '{"a": 1}'), ("f", '{"a": true}'), ("f", "{}")], "f: not expected, or not as often"),
        ("any", [("g", '{"a": 1}'), ("f", '{"a": true}')], "g: not expected, or not as often"),
        ("exact", [("g", '{"a": 1}'), ("f", '{"a": true}')], "called g, expected f"),
        ("any", [("f", '{"b": 1}'), ("f", "{}")], "f: a is missing, b is not expected"),
    ],
)
def test_tool_calls_tell_what_differs(order: str, calls: list[tuple[str, str]], detail: str) -> None:
    verdict = judged("tool_call", {**TWO, "order": order}, "", *calls)
    assert verdict.detail == detail
    assert (verdict.outcome == "pass") is (detail == "")
    assert verdict.extracted.startswith(f"{calls[0][0]}(")


@pytest.mark.parametrize(
    ("name", "expect", "words"),
    [
        ("choice", {"answer": "E", "options": ["A", "B"]}, "answer 'E' is none of the options a, b"),
        ("choice", {"answer": "C", "options": ["Oslo", "Bern"]}, "none of the options a, b"),
        ("number", {"value": "x"}, "value 'x' is no number"),
        ("number", {"value": "1", "tolerance": "-1"}, "tolerance '-1'"),
        ("number", {"value": 1.5, "relative": "1/100", "tolerance": 1}, ""),
        ("choice", {"answer": "B) Bern", "options": ["A) Oslo", "B) Bern"]}, ""),
    ],
)
def test_expectations_that_cannot_be_judged_are_named(name: str, expect: Any, words: str) -> None:
    told = plugins.load(scorers.methods, name).fault(expect)
    assert words in told and bool(words) == bool(told)


def test_a_value_that_is_no_number_is_never_compared() -> None:
    with pytest.raises(ValueError, match="no number"):
        judged("number", {"value": "x"}, "ANSWER: 1")

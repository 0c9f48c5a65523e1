"""The rules of judging, row by row, through `triplicate score BANK RESPONSES --json` as a user runs it."""

import json
from pathlib import Path
from typing import Any

import pytest

import triplicate

Row = tuple[str, dict[str, Any], Any, str, dict[str, Any]]


def number(value: str, **more: Any) -> tuple[str, dict[str, Any]]:
    return "number", {"value": value, **more}


def words(*answers: str, **more: Any) -> tuple[str, dict[str, Any]]:
    return "text", {"answers": list(answers), **more}


def option(answer: str, **more: Any) -> tuple[str, dict[str, Any]]:
    return "choice", {"answer": answer, "options": ["A", "B", "C", "D"], **more}


def items(*values: str, **more: Any) -> tuple[str, dict[str, Any]]:
    return "listing", {"values": list(values), **more}


def form(**check: Any) -> tuple[str, dict[str, Any]]:
    return "constraints", {"checks": [check]}


def value(expected: Any, **more: Any) -> tuple[str, dict[str, Any]]:
    return "json", {"value": expected, **more}


def call(arguments: Any, name: str = "f") -> dict[str, Any]:
    return {"text": "", "tool_calls": [{"name": name, "arguments": arguments}], "finish_reason": "tool_calls"}


PASS, FAIL, NONE = "pass", "fail", "unscorable"
INTEGER = {"type": "object", "properties": {"a": {"type": "integer", "minimum": 1}}, "additionalProperties": False}
ONE_CALL = ("tool_call", {"calls": [{"name": "f", "arguments": {"n": 12, "zip": "020"}}]})
NO_CALL: tuple[str, dict[str, Any]] = ("tool_call", {"calls": []})
COPY = ("verbatim", {"text": "a  b\n\n\tc"})

ROWS: list[tuple[tuple[str, dict[str, Any]], Any, str]] = [
    # guards
    (number("4"), {"text": "ANSWER: 4", "finish_reason": "length"}, "unscorable truncated"),
    (number("4"), {"text": "ANSWER: 4", "completion_tokens": 4096}, "unscorable truncated"),
    (number("4"), {"text": "ANSWER: 4", "completion_tokens": 4095}, PASS),
    (number("4"), {"text": "ANSWER: 4", "finish_reason": None}, PASS),
    (number("4"), {"text": "ANSWER: 4", "finish_reason": "eos_token"}, PASS),
    (number("4"), {"text": "ANSWER: 4", "finish_reason": "content_filter"}, "unscorable filtered"),
    (number("4"), {"text": "ANSWER: 4", "finish_reason": "error"}, "unscorable aborted"),
    (number("4"), {"text": "ANSWER: 4", "finish_reason": "abort"}, "unscorable aborted"),
    (number("4"), {"text": "<think>4", "finish_reason": "length"}, "unscorable truncated"),
    (number("4"), "<think>ANSWER: 4", "unscorable unclosed_reasoning"),
    (number("4"), "<seed:think>\nANSWER: 4", "unscorable unclosed_reasoning"),
    (number("4"), "<think>so 4</think>", "unscorable reasoning_only"),
    (number("4"), "[THINK]so 4[/THINK]\n \n", "unscorable reasoning_only"),
    (number("4"), {"text": "", "reasoning": "so 4"}, "unscorable reasoning_only"),
    (number("4"), {"text": None, "reasoning": "so 4"}, "unscorable reasoning_only"),
    (number("4"), {"text": None}, "fail empty"),
    (number("4"), {"text": "", "reasoning": ""}, "fail empty"),
    (number("4"), " \n\u2003\t", "fail empty"),
    # reasoning
    (number("4"), "<think>ANSWER: 5</think>ANSWER: 4", PASS),
    (number("4"), "it is 5\n</think>\n\nANSWER: 4", PASS),
    (number("4"), "ANSWER: 4\n</think>\nno answer", "fail no_answer"),
    (number("4"), "<thinking>5</thinking>\nANSWER: 4", PASS),
    (number("4"), "<seed:think>5</seed:think>\nANSWER: 4", PASS),
    (number("4"), "<think>a</think>\n<think>b</think>\nANSWER: 4", PASS),
    (number("4"), "Use `<think>` to start.\nANSWER: 4", PASS),
    (number("4"), "```\n<think>\n```\nANSWER: 4", PASS),
    (number("4"), "The <think> tag opens.\nANSWER: 4", PASS),
    (number("4", **{"from": "whole"}), "the `</think>` tag: 4", "fail no_answer"),
    (number("4"), "<|channel|>analysis<|message|>5<|end|><|start|>assistant<|channel|>final<|message|>ANSWER: 4", PASS),
    (form(kind="excludes", text=","), "<think>a, b</think>no comma", PASS),
    # the line convention
    (number("42"), "**ANSWER: 42**", PASS),
    (number("42"), "**Answer:** 42", PASS),
    (number("42"), "> answer: 42", PASS),
    (number("42"), "ANSWER：42", PASS),
    (number("42"), "ANSWER: \\boxed{42}", PASS),
    (number("42"), "ANSWER: $42$", PASS),
    (number("42"), "ANSWER: 42\n\nHope this helps!", PASS),
    (number("42"), "__ANSWER: 42__", PASS),
    (number("42"), "1. ANSWER: `42`", PASS),
    (number("42"), "### ANSWER : 42", PASS),
    (number("42"), "    - ANSWER: \\(42\\)", PASS),
    (number("42"), "ANSWER: \\text{42}", PASS),
    (number("42"), "Final answer: 42", PASS),
    (number("7"), "The answer is 5. ANSWER: 7", "fail no_answer"),
    (number("7"), "The answer is 5.\nANSWER: 7", PASS),
    (number("7"), "ANSWER: 5\nANSWER: 7", PASS),
    (number("42"), "the answer: 42 is wrong because", "fail no_answer"),
    (number("42"), "ANSWER: 42\nANSWER: <number>", "fail no_answer"),
    (number("42"), "ANSWER: [NUMBER]", "fail no_answer"),
    (number("42"), "ANSWER: {your answer}", "fail no_answer"),
    (number("42"), "ANSWER: ...", "fail no_answer"),
    (number("42"), "ANSWER:\n42", "fail no_answer"),
    (words("<title>"), "ANSWER: <title>", PASS),
    (words("..."), "ANSWER: ...", PASS),
    (number("42"), "42", "fail no_answer"),
    # boxes and fences
    (number("2", **{"from": "boxed"}), "\\boxed{1}, no: \\boxed{2} and \\boxed{3", PASS),
    (number("0.5", **{"from": "boxed"}), "\\boxed{\\frac{1}{2}}", PASS),
    (number("13", **{"from": "boxed"}), "$\\boxed{\\text{13}}$", PASS),
    (number("840", **{"from": "boxed"}), "\\boxed{840} \\boxed{840}", PASS),
    (number("9500", **{"from": "boxed"}), "\\boxed{$9{,}500}", PASS),
    (number("8000", **{"from": "boxed"}), "\\boxed{8,000}", PASS),
    (number("1000", **{"from": "boxed"}), "\\boxed{1\\,000}", PASS),
    (number("1000", **{"from": "boxed"}), "\\boxed{1 000}", PASS),
    (number("73", **{"from": "whole"}), "**73**", PASS),
    (words("x = 1", **{"from": "fence"}), "```\nx = 0\n```\n~~~~python\nx = 1\n~~~~\n```\nx = 2", PASS),
    (words("x = 1", **{"from": "fence"}), "x = 1\n```", PASS),
    (words("x = 1", **{"from": "fence"}), "```\nx = 1", "fail no_answer"),
    (words("x = 1\ny", **{"from": "fence"}), "```x = 1\ny\n```", PASS),
    # numbers
    (number("100"), "ANSWER: 10", "fail wrong"),
    (number("1000"), "ANSWER: 1", "fail wrong"),
    (number("22"), "ANSWER: pages 20-22", "fail no_answer"),
    (number("1500"), "ANSWER: 1.5e3", PASS),
    (number("1500"), "ANSWER: 1.5 \\times 10^{3}", PASS),
    (number("-5"), "ANSWER: \u22125", PASS),
    (number("-5"), "ANSWER: \u20135", PASS),
    (number("-5"), "ANSWER: \uff0d5", PASS),
    (number("-5"), "ANSWER: \u20145", "fail no_answer"),
    (number("5"), "ANSWER: \u22125", "fail wrong"),
    (number("42"), "ANSWER: 42, found in step 3", "fail no_answer"),
    (number("0.75"), "ANSWER: 3/4", PASS),
    (number("123456"), "ANSWER: 123457", "fail wrong"),
    (number("1000000"), "ANSWER: 1000001", "fail wrong"),
    (number("42"), "ANSWER: 42!", "fail no_answer"),
    (number("42"), "ANSWER: (42).", "fail no_answer"),
    (number("60", percent=True), "ANSWER: 60%", PASS),
    (number("60", percent=True), "ANSWER: 60\\%", PASS),
    (number("60", percent=True), "ANSWER: 60", PASS),
    (number("60"), "ANSWER: 60%", "fail no_answer"),
    (number("1234"), "ANSWER: 12,34", "fail malformed"),
    (number("11"), "ANSWER: 711", "fail wrong"),
    (number("16"), "ANSWER: 16.00", PASS),
    (number("0.5"), "ANSWER: 50", "fail wrong"),
    (number("12"), "ANSWER: 1,2", FAIL),
    (number("10001"), "ANSWER: 10000", "fail wrong"),
    (number("10", units=["cm"]), "ANSWER: 10 cm", PASS),
    (number("10", units=["cm"]), "ANSWER: 10cm.", PASS),
    (number("10", units=["cm"]), "ANSWER: 10", PASS),
    (number("10", units=["cm"]), "ANSWER: 10 mm", "fail no_answer"),
    (number("10"), "ANSWER: 10 cm", "fail no_answer"),
    (number("71/6"), "ANSWER: 11 5/6", PASS),
    (number("2"), "ANSWER: 2 2/3", "fail wrong"),
    (number("72"), "ANSWER: 72, in total", "fail no_answer"),
    (number("29"), "ANSWER: $29.00.", PASS),
    (number("3"), "ANSWER: x = 3,", "fail no_answer"),
    (number("102"), "ANSWER: 10²", "fail no_answer"),
    (number("0.5"), "ANSWER: ½", "fail no_answer"),
    (number("1"), "ANSWER: ①", "fail no_answer"),
    (number("1000"), "ANSWER: 1_000", "fail no_answer"),
    (number("1000"), "ANSWER: 1\u202f000", PASS),
    (number("25"), "ANSWER: ２５", PASS),
    (number("-5"), "ANSWER: -$5", PASS),
    (number("-5"), "ANSWER: $-5", PASS),
    (number("0.5"), "ANSWER: .5", PASS),
    (number("1234.5", decimal_comma=True), "ANSWER: 1.234,5", PASS),
    (number("3.75", decimal_comma=True), "ANSWER: 3,75", PASS),
    (number("3.75", decimal_comma=True), "ANSWER: 3.75", "fail no_answer"),
    (number("3.5"), "ANSWER: 3,5", FAIL),
    (number("10", tolerance="0.5"), "ANSWER: 9.5", PASS),
    (number("10", tolerance="0.5"), "ANSWER: 9.4999", "fail wrong"),
    (number("-200", relative="0.01", tolerance="1"), "ANSWER: -202", PASS),
    (number("-200", relative="0.01", tolerance="3"), "ANSWER: -203", PASS),
    (number("1/3"), "ANSWER: 0.333", "fail wrong"),
    # text
    (words("Canberra"), "ANSWER: \u201cCanberra.\u201d", PASS),
    (words("Canberra"), "ANSWER: CANBERRA", PASS),
    (words("Canberra"), "ANSWER: The Canberra", "fail wrong"),
    (words("Canberra"), "ANSWER: b", "fail wrong"),
    (words("Canberra"), "ANSWER: Canberra..", "fail wrong"),
    (words("Canberra", case=True), "ANSWER: canberra", "fail wrong"),
    (words("New York"), "ANSWER: New \u00a0 York", PASS),
    (words("café"), "ANSWER: cafe\u0301", PASS),
    (words("Straße"), "ANSWER: STRASSE", PASS),
    (words("U.S."), "ANSWER: U.S.", PASS),
    (words("no", "none"), "ANSWER: None.", PASS),
    # choice
    *[(option("B"), text, PASS) for text in ("ANSWER: B", "ANSWER: (B)", "ANSWER: B.", "ANSWER: b)", "**Answer:** B")],
    *[(option("B"), text, PASS) for text in ("Answer: \\boxed{B}", "ANSWER: \\text{B}", "Answer: A? No.\nAnswer: B")],
    (option("A"), "Answer: Although it rains", "fail no_answer"),
    (option("D"), "Answer: Definitely C", "fail no_answer"),
    (option("A"), "ANSWER: A or B", FAIL),
    (option("A"), "ANSWER: A, B", FAIL),
    (option("A"), "ANSWER: A because it fits", FAIL),
    (option("A"), "ANSWER: [LETTER]", "fail no_answer"),
    (option("A"), "ANSWER: C", "fail wrong"),
    (("choice", {"answer": "B", "options": ["A) Oslo", "B) Bern"]}), "ANSWER: B) Bern.", PASS),
    (("choice", {"answer": "B", "options": ["Oslo", "Bern"]}), "ANSWER: B: **Bern**", PASS),
    (("choice", {"answer": "B", "options": ["Oslo", "Bern"]}), "ANSWER: B: Oslo", FAIL),
    (("choice", {"answer": "spam", "options": ["spam", "ham"]}), "ANSWER: Spam", PASS),
    # listing
    (items("a", "b"), "ANSWER: b, a.", PASS),
    (items("a", "b"), "ANSWER: a; b", PASS),
    (items("a, b", "c"), "ANSWER: c; a, b", PASS),
    (items("a", "b"), "ANSWER: a, a, b", "fail wrong"),
    (items("a", "b"), "ANSWER: a", "fail wrong"),
    (items("a", "b", order="exact"), "ANSWER: b, a", "fail wrong"),
    (items("a", "b", order="exact"), "ANSWER: A, B", PASS),
    (items("a", "b", case=True), "ANSWER: A, b", "fail wrong"),
    (items("a", "b", **{"from": "lines"}), "- a\n\n2. b\n", PASS),
    (items("a", "b", **{"from": "lines"}), "Here:\n- a\n- b", "fail wrong"),
    (items("1", "2", **{"from": "json"}), '["2", "1"]', PASS),
    (items("1", "2", **{"from": "json"}), "[1, 2]", "fail wrong"),
    (items("1", **{"from": "json"}), '{"a": "1"}', "fail wrong"),
    (items("1", **{"from": "json"}), '["1"', "fail malformed"),
    (items("1", **{"from": "json"}), "none", "fail no_answer"),
    # verbatim
    (COPY, "a  b\n\n\tc", PASS),
    (COPY, "\na  b\n\n\tc\n", PASS),
    (COPY, "```\na  b\n\n\tc\n```", PASS),
    (COPY, "<think>x</think>\n\n\na  b\n\n\tc", PASS),
    (COPY, "a  b\n\n\tc\n\n", "fail wrong"),
    (COPY, "a  b\r\n\r\n\tc", "fail wrong"),
    (COPY, "a b\n\n\tc", "fail wrong"),
    (COPY, "Sure:\na  b\n\n\tc", "fail wrong"),
    # JSON
    (value({"a": 1}), '{"a": 1}', PASS),
    (value({"a": 1}), 'Here: {"a": 1}. Done.', PASS),
    (value({"a": 1}), '```json\n{"a": 9}\n```\nno:\n```json\n{"a": 1}\n```', PASS),
    (value({"a": 1}), '````json\n{"a": 1}\n````', PASS),
    (value({"a": 1}), '```python\nx = {}\n```\n```json\n{"a": 1}\n```', PASS),
    (value({"a": 1}), '```json\n{"a": 1}\n```\n```\nnot JSON\n```', PASS),
    (value({"a": "```\nx\n```"}), '{"a": "```\\nx\\n```"}', PASS),
    (value({"a": 1}), '```json\n{"a": 1}', PASS),
    (value({"a": 1}), '{"a": 1} {"a": 1}', "fail malformed"),
    (value({"a": 1}), '{"a": 1}}', "fail malformed"),
    (value({"a": 1}), 'see [1]: {"a": 1}', "fail malformed"),
    (value({"a": 1}), '[{"a": 1}, {"b":', "fail malformed"),
    (value({"a": 1}), '{"a": 1, "a": 1}', "fail malformed"),
    (value({"a": 1}), '{"a": NaN}', "fail malformed"),
    (value({"a": 1}), '{"a": -Infinity}', "fail malformed"),
    (value({"a": 1}), '{"a": 1e400}', "fail malformed"),
    (value({"a": 1}), "[" * 10_000, "fail malformed"),
    (value({"a": 1}), "nothing", "fail no_answer"),
    (value({"a": 1}), '{"name": "Al', "fail malformed"),
    (value({"a": 1}), {"text": '{"name": "Al', "finish_reason": "length"}, "unscorable truncated"),
    (value({"a": 1}, strict=True), 'Here: {"a": 1}', "fail malformed"),
    (value({"a": 1}, strict=True), '\n{"a": 1}\n', PASS),
    (value([12, 15]), "[12.0, 15.0]", PASS),
    (value(["020"]), "[20]", "fail wrong"),
    (value([1]), "[true]", "fail wrong"),
    (value([True]), "[1]", "fail wrong"),
    (("json", {"schema": INTEGER}), '{"a": 3.0}', PASS),
    (("json", {"schema": INTEGER}), '{"a": true}', "fail wrong"),
    (("json", {"schema": INTEGER}), '{"a": 0}', "fail wrong"),
    (("json", {"schema": INTEGER}), '{"a": 1, "b": 2}', "fail wrong"),
    (("json", {"schema": {"items": {"format": "date"}}}), '["2026-02-29"]', "fail wrong"),
    (("json", {"schema": {"items": {"format": "date"}}}), '["2028-02-29"]', PASS),
    (("json", {"values": {"/a/1": 2, "/b": None}}), '{"a": [1, 2, 3], "b": null, "c": 0}', PASS),
    (("json", {"values": {"/a/1": 2}}), '{"a": [1]}', "fail wrong"),
    # tool calls
    (ONE_CALL, call('{"zip": "020", "n": 12.0}'), PASS),
    (ONE_CALL, call({"zip": "020", "n": 12}), PASS),
    (ONE_CALL, call('{"zip": 20, "n": 12}'), "fail wrong"),
    (ONE_CALL, call('{"zip": "020", "n": "12"}'), "fail wrong"),
    (ONE_CALL, call('{"zip": "020", "n": 12, "x": 1}'), "fail wrong"),
    (ONE_CALL, call('{"zip": "020"}'), "fail wrong"),
    (ONE_CALL, call('{"zip": "020", "n": 12, "n": 12}'), "fail malformed"),
    (ONE_CALL, call('{"zip": "020", "n"'), "fail malformed"),
    (ONE_CALL, call('["020", 12]'), "fail malformed"),
    (ONE_CALL, call('{"zip": "020", "n": 12}', name="g"), "fail wrong"),
    (ONE_CALL, "I will call f.", "fail no_answer"),
    (ONE_CALL, '{"name": "f", "arguments": {"zip": "020", "n": 12}}', "fail no_answer"),
    (("tool_call", {"calls": [{"name": "f", "arguments": {}}]}), call(""), PASS),
    (NO_CALL, "No call is needed.", PASS),
    (NO_CALL, call("{}"), "fail wrong"),
    (NO_CALL, '<tool_call>{"name": "f"}</tool_call>', "fail no_answer"),
    # constraints
    (form(kind="word_count", min=4, max=4), "It's one -- (two) 3.", PASS),
    (form(kind="word_count", min=5, max=5), "日本は美し", PASS),
    (form(kind="word_count", min=2), "Python日", PASS),
    (form(kind="sentence_count", min=2, max=2), "Dr. Ito paid 3.50 at example.com. Why?!", PASS),
    (form(kind="sentence_count", min=2, max=2), "これは本です。はい！", PASS),
    (form(kind="sentence_count", min=2, max=2), "यह है। वह है।", PASS),
    (form(kind="sentence_count", min=2, max=2), "One. Two", "fail wrong"),
    (form(kind="line_count", min=2, max=2), "a\n\n \nb\n", PASS),
    (form(kind="paragraph_count", min=2, max=2), "a\nb\n \n\nc", PASS),
    (form(kind="char_count", min=4, max=4), " cafe\u0301 ", PASS),
    (form(kind="contains", text="Abc"), "xabc", "fail wrong"),
    (form(kind="contains", text="Abc", ignore_case=True), "xabc", PASS),
    (form(kind="excludes", text="b"), "abc", "fail wrong"),
    (form(kind="starts_with", text="Dear"), "  Dear you", PASS),
    (form(kind="ends_with", text="you."), "Dear you.\n", PASS),
    (form(kind="count_of", text="aa", min=2, max=2), "aaaa", PASS),
    (form(kind="forbidden_chars", chars="e"), "E only", PASS),
    (form(kind="forbidden_chars", chars="eE"), "E only", "fail wrong"),
    (form(kind="case", value="upper"), "ÀB 12!", PASS),
    (form(kind="case", value="lower"), "aB", "fail wrong"),
    (form(kind="case", value="title"), "The Well-known O'Neil 3rd", "fail wrong"),
    (form(kind="case", value="title"), "The Well-known O'Neil", PASS),
    (form(kind="acrostic", word="CAT"), "Cold\n> Air\n- turns", PASS),
    (form(kind="acrostic", word="CAT"), "Cold\nAir", "fail wrong"),
    (form(kind="acrostic", word="ab", unit="sentence"), "Ah. Bee.", PASS),
    (form(kind="acrostic", word="ab", unit="word"), "an (ox) bit", "fail wrong"),
    (form(kind="regex", pattern="b+"), "abbc", PASS),
    (form(kind="regex", pattern="b+", mode="fullmatch"), "abbc", "fail wrong"),
    (form(kind="ordered", values=["a", "b", "a"]), "a b a", PASS),
    (form(kind="ordered", values=["b", "a"]), "a b", "fail wrong"),
    (form(kind="json_only"), "[1]", PASS),
    (form(kind="json_only"), "so [1]", "fail wrong"),
    (form(kind="bullets", min=4, max=4), "**not**\n- a\n* b\n • c\n10. d\n1.5 e", PASS),
    (form(kind="language_script", script="Cyrillic"), "Привет, 123!", PASS),
    (form(kind="language_script", script="Cyrillic", min_share=0.9), "Привет, world", "fail wrong"),
    (form(kind="unique_words"), "One two, three", PASS),
    (form(kind="unique_words"), "One two, one", "fail wrong"),
    (form(kind="unique_words", min_share=0.6), "One two, one", PASS),
    (form(kind="line_pattern", pattern="[a-z]+: [0-9]+"), "a: 1\n\nb: 2", PASS),
    (form(kind="line_pattern", pattern="[a-z]+: [0-9]+"), "a: 1\nb 2", "fail wrong"),
]


@pytest.fixture(scope="module")
def verdicts(tmp_path_factory: pytest.TempPathFactory) -> list[dict[str, Any]]:
    """Every row judged by one run of the command."""
    folder = tmp_path_factory.mktemp("rows")
    bank, answers = [], []
    for at, ((scorer, expect), response, _) in enumerate(ROWS):
        item = f"row-{at}"
        bank.append({"id": item, "dimension": "rows", "prompt": "?", "scorer": scorer, "expect": expect})
        answers.append({"item": item, **(response if isinstance(response, dict) else {"text": response})})
    return run(folder, bank, answers)


def run(folder: Path, bank: list[Any], answers: list[Any]) -> list[dict[str, Any]]:
    import contextlib
    import io

    (folder / "bank.jsonl").write_text("".join(json.dumps(row) + "\n" for row in bank))
    (folder / "answers.jsonl").write_text("".join(json.dumps(row) + "\n" for row in answers))
    out = io.StringIO()
    with contextlib.redirect_stdout(out):
        status = triplicate.main(["score", str(folder / "bank.jsonl"), str(folder / "answers.jsonl"), "--json"])
    assert status == 0
    found = [json.loads(line) for line in out.getvalue().splitlines()]
    assert [row["item"] for row in found] == [row["item"] for row in answers]
    return found


@pytest.mark.parametrize("at", range(len(ROWS)), ids=lambda at: f"{ROWS[at][0][0]}-{at}")
def test_a_row(verdicts: list[dict[str, Any]], at: int) -> None:
    row = verdicts[at]
    expected = ROWS[at][2]
    seen = f"{row['outcome']} {row['reason']}".strip() if " " in expected else row["outcome"]
    assert seen == expected, (ROWS[at][:2], row)
    assert bool(row["reason"]) == (row["outcome"] != PASS)
    keys = ["item", "dimension", "repeat", "outcome", "reason", "detail", "extracted", "defects", "scorer"]
    assert list(row) == [*keys, "scorer_version"]


LOOP = "the same words over and over, "
DEFECTS: list[tuple[Any, list[tuple[str, str]]]] = [
    ("ANSWER: 42", []),
    ("ANSWER: 42<|im_end|>", [("control_token", "<|im_end|>")]),
    ("ANSWER: 42<|eot_id|>\nuser: hi", [("control_token", "<|eot_id|>"), ("stop_overrun", "user: hi")]),
    ("ANSWER: 42<end_of_turn>\nANSWER: 43", [("control_token", "<end_of_turn>"), ("stop_overrun", "ANSWER: 43")]),
    ("ANSWER: 42</s>", [("control_token", "</s>")]),
    ("<s>41</s>\nANSWER: 42", []),
    ("ANSWER: 42<｜end▁of▁sentence｜>", [("control_token", "<｜end▁of▁sentence｜>")]),
    ("ANSWER: 42<unused6226>", [("control_token", "<unused6226>")]),
    ("<|begin_of_text|>ANSWER: 42", [("control_token", "<|begin_of_text|>")]),
    ("<|im_start|>assistant\nANSWER: 42", [("control_token", "<|im_start|>assistant")]),
    ("<think><|im_end|></think>\nANSWER: 42", []),
    (LOOP * 20 + "\nANSWER: 42", [("repetition_loop", LOOP)]),
    (LOOP * 7 + "\nANSWER: 42", []),
    ("-" * 399 + "\nANSWER: 42", []),
    ("-" * 400 + "\nANSWER: 42", [("repetition_loop", "-")]),
    (" " * 199 + "\nANSWER: 42", [("whitespace_runaway", " " * 199 + "\n")]),
    (" " * 150 + "\nANSWER: 42", []),
    ('[TOOL_CALLS][{"name": "f"}]\nANSWER: 42', [("tool_text", '[TOOL_CALLS][{"name": "f"}]\nANSWER: 42')]),
    ("ANSWER: 42\n\nUser: and now?", [("stop_overrun", "User: and now?")]),
]


def test_defects_stand_beside_the_outcome(tmp_path: Path) -> None:
    bank: list[dict[str, Any]] = [
        {"id": "n", "dimension": "d", "prompt": "?", "scorer": "number", "expect": {"value": "42"}},
        {"id": "x", "dimension": "d", "prompt": "?", "scorer": "verbatim", "expect": {"text": "<|im_end|> </s>"}},
    ]
    bank[1]["tags"] = ["about_control_tokens"]
    answers = [{"item": "n", "repeat": at, "text": text} for at, (text, _) in enumerate(DEFECTS)]
    answers.append({"item": "x", "text": "<|im_end|> </s>"})
    found = run(tmp_path, bank, answers)
    for row, (text, defects) in zip(found, DEFECTS, strict=False):
        assert row["outcome"] == "pass", (text, row)
        assert [(defect["kind"], defect["text"]) for defect in row["defects"]] == [
            (kind, evidence[:200]) for kind, evidence in defects
        ]
    assert (found[-1]["outcome"], found[-1]["defects"]) == ("pass", [])


def test_a_call_of_an_offered_tool_as_text_is_a_defect(tmp_path: Path) -> None:
    tool = {"type": "function", "function": {"name": "f", "parameters": {}}}
    expect = {"calls": [{"name": "f", "arguments": {}}]}
    bank = [{"id": "t", "dimension": "d", "prompt": "?", "tools": [tool], "scorer": "tool_call", "expect": expect}]
    text = '{"name": "f", "arguments": {}}'
    (row,) = run(tmp_path, bank, [{"item": "t", "text": text}])
    assert (row["outcome"], row["reason"]) == ("fail", "no_answer")
    assert row["defects"] == [{"kind": "tool_text", "text": text}]

"""What must never change a verdict, and what no text may do to a scorer."""

import random
import time
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import scorers.methods
from itembank import plugins
from itembank.item import Item
from scorers.judge import verdict_here
from scorers.response import Response, ToolCall
from scorers.verdict import Example, Outcome, Verdict
from tests.hostile import HOSTILE

METHODS = [name for name in plugins.names(scorers.methods) if name not in ("python", "math")]
LIMIT_S = 2.0
"""Processor time that no judgement may take, far below the kernel's limit."""


def examples_of(name: str) -> list[Example]:
    found: list[Example] = list(plugins.load(scorers.methods, name).EXAMPLES)
    return found


def judged(name: str, expect: Any, response: Response) -> Verdict:
    return verdict_here((Item(id="m-1", dimension="m", messages=(), scorer=name, expect=expect), response))


ALWAYS: dict[str, Callable[[str], str]] = {
    "reasoning before it": lambda text: f"<think>\nANSWER: 0? No, [1] {{\n</think>\n\n{text}",
    "a pre-filled template": lambda text: f"It may be 0.\nANSWER: 0\n</think>\n\n{text}",
    "a stop token behind it": lambda text: f"{text}<|im_end|>",
    "an overrun stop": lambda text: f"{text}<|eot_id|>ANSWER: 0",
}
LINES: dict[str, Callable[[str], str]] = {
    "bold": lambda text: last_line(text, lambda line: f"**{line}**"),
    "a bold word": lambda text: last_line(text, lambda line: line.replace("ANSWER:", "**ANSWER:**", 1)),
    "underlined": lambda text: last_line(text, lambda line: f"__{line}__"),
    "code": lambda text: last_line(text, lambda line: f"`{line}`"),
    "a bold value": lambda text: last_line(text, lambda line: line.replace(": ", ": **", 1) + "**"),
    "a full stop": lambda text: last_line(text, lambda line: f"{line}."),
    "bold and a full stop": lambda text: last_line(text, lambda line: f"**{line}**."),
    "a fullwidth colon": lambda text: last_line(text, lambda line: line.replace(": ", "：", 1)),
    "a space before the colon": lambda text: last_line(text, lambda line: line.replace(": ", " : ", 1)),
    "lower case": lambda text: last_line(text, lambda line: line.replace("ANSWER", "answer", 1)),
    "a heading": lambda text: last_line(text, lambda line: f"### {line}"),
    "a quote": lambda text: last_line(text, lambda line: f"> {line}"),
    "a list": lambda text: last_line(text, lambda line: f"  2. {line}"),
    "thin spaces": lambda text: last_line(text, lambda line: line.replace(" ", "\u2009")),
    "a true minus": lambda text: text.replace("-", "\u2212"),
    "a draft before it": lambda text: f"ANSWER: <your answer>\nANSWER: 0\n{text}",
    "prose behind it": lambda text: f"{text}\n\nHope this helps!",
    "line ends of another system": lambda text: text.replace("\n", "\r\n"),
}


def last_line(text: str, change: Callable[[str], str]) -> str:
    before, _, line = text.rpartition("\n")
    return f"{before}\n{change(line)}" if before else change(line)


ANSWER_LINES: list[tuple[str, dict[str, Any], str]] = [
    ("number", {"value": "-1234.5"}, "So:\nANSWER: -1,234.5"),
    ("number", {"value": "-1234.5"}, "ANSWER: -1,234.6"),
    ("number", {"value": "1234"}, "ANSWER: 1 234"),
    ("number", {"value": "12"}, "ANSWER: 12, in total"),
    ("number", {"value": "12"}, "ANSWER: $12$"),
    ("number", {"value": "0.5"}, "ANSWER: \\frac{1}{2}"),
    ("number", {"value": "5", "units": ["cm"]}, "ANSWER: 5 cm"),
    ("text", {"answers": ["New York"]}, "ANSWER: New York"),
    ("text", {"answers": ["New York"]}, "ANSWER: New Yorks"),
    ("choice", {"answer": "B", "options": ["A", "B"]}, "ANSWER: B"),
    ("choice", {"answer": "B", "options": ["A", "B"]}, "ANSWER: (B)"),
    ("choice", {"answer": "B", "options": ["A", "B"]}, "ANSWER: A"),
    ("choice", {"answer": "B", "options": ["A) Oslo", "B) Bern"]}, "ANSWER: B) Bern"),
    ("listing", {"values": ["x", "y z"]}, "ANSWER: y z, x"),
    ("listing", {"values": ["x", "y"], "order": "exact"}, "ANSWER: y; x"),
]


@pytest.mark.parametrize("change", [*ALWAYS, *LINES])
@pytest.mark.parametrize("case", ANSWER_LINES, ids=lambda case: f"{case[0]}: {case[2][-12:]}")
def test_decoration_never_changes_a_verdict(case: tuple[str, dict[str, Any], str], change: str) -> None:
    name, expect, text = case
    plain = judged(name, expect, Response(text=text))
    changed = judged(name, expect, Response(text={**ALWAYS, **LINES}[change](text)))
    assert (changed.outcome, changed.reason) == (plain.outcome, plain.reason), changed


@pytest.mark.parametrize("change", ALWAYS)
@pytest.mark.parametrize(("name", "at"), [(name, at) for name in METHODS for at in range(len(examples_of(name)))])
def test_what_surrounds_an_answer_never_changes_a_verdict(name: str, at: int, change: str) -> None:
    example = examples_of(name)[at]
    if isinstance(example.response, Response) or "<think>" in example.response:
        return
    plain = judged(name, example.expect, Response(text=example.response))
    changed = judged(name, example.expect, Response(text=ALWAYS[change](example.response)))
    assert (changed.outcome, changed.reason) == (plain.outcome, plain.reason), changed


PIECES = [
    *["ANSWER:", "**", "`", "```", "```json\n", "~~~", "\n", "\r\n", " ", "$", "\\boxed{", "}", "{", "[", "]", ","],
    *["<think>", "</think>", "<|im_end|>", "</s>", "<s>", "<tool_call>", "[INST]", "<｜User｜>", "|>", "User:", ";"],
    *["-", "\u2212", "1", "9" * 30, "1e9", "/", ".", "!", "%", "NaN", '"', "\\", "é", "e\u0301", "日本", "ก็", "\u200b"],
    *["A", "B)", "Rome", '{"age": 1}', "name", "true", "null", "- ", "1. ", "\u2028", "\x00", "\x1b[2J", "\ud800"],
    *["^", ":", "\\frac", "\\text{", "a", "#", "assistant", "analysis", "...", "<|channel|>", "|", "="],
]


def mutated(draw: random.Random, texts: list[str]) -> str:
    """A text spliced, repeated and broken at random."""
    text = draw.choice(texts)
    for _ in range(draw.randint(0, 6)):
        at, to = sorted((draw.randint(0, len(text)), draw.randint(0, len(text))))
        text = draw.choice(
            [
                text[:at] + draw.choice(PIECES) * draw.choice([1, 1, 1, 7, 300]) + text[at:],
                text[:at] + text[to:],
                text[:at] + text[at:to] * draw.choice([2, 9]) + text[to:],
                text[at:to] + draw.choice(texts)[:500],
            ]
        )[:20_000]
    return text


def texts_of(name: str) -> list[str]:
    own = [example.response for example in examples_of(name) if isinstance(example.response, str)]
    return [*own, *(text[:3000] for text in HOSTILE)]


def hold(name: str, count: int) -> None:
    """Judge `count` mutated texts: none may break the scorer, take long, or be judged otherwise the second time."""
    draw = random.Random(f"mutations of {name}")
    texts, examples = texts_of(name), examples_of(name)
    for _ in range(count):
        text = mutated(draw, texts)
        calls = (ToolCall(name="set", arguments=mutated(draw, texts)),) if draw.random() < 0.2 else ()
        expect = draw.choice(examples).expect
        start = time.process_time()
        verdict = judged(name, expect, Response(text=text, tool_calls=calls))
        assert time.process_time() - start < LIMIT_S, text[:200]
        assert verdict.reason not in ("scorer_error", "scorer_timeout"), (verdict.detail, text[:200])
        assert verdict.outcome is Outcome.PASS or verdict.reason
        assert verdict.extracted is None or len(verdict.extracted) <= 200


@pytest.mark.parametrize("name", METHODS)
def test_mutated_texts_break_no_scorer(name: str) -> None:
    hold(name, 150)


def repeated(piece: str, size: int) -> str:
    return piece * (size // len(piece))


@pytest.mark.long
@pytest.mark.parametrize("name", METHODS)
def test_what_repeats_takes_linear_time(name: str) -> None:
    """Long runs of one piece, alone and before another: where backtracking shows."""
    draw = random.Random(name)
    expects = [example.expect for example in examples_of(name)]
    for piece in PIECES:
        for text in (repeated(piece, 60_000), draw.choice(PIECES) + repeated(piece, 30_000) + draw.choice(PIECES)):
            start = time.process_time()
            verdict = judged(name, draw.choice(expects), Response(text=text))
            assert time.process_time() - start < LIMIT_S, piece
            assert verdict.reason not in ("scorer_error", "scorer_timeout"), (verdict.detail, piece)


@pytest.mark.soak
@pytest.mark.parametrize("name", [*METHODS, "math", "python"])
def test_ten_thousand_mutated_texts_break_no_scorer(name: str) -> None:
    hold(name, 10_000)


@pytest.mark.long
@settings(max_examples=100, deadline=None)
@given(st.sampled_from(METHODS), st.text(max_size=300))
def test_any_text_breaks_no_scorer(name: str, text: str) -> None:
    for example in examples_of(name)[:3]:
        verdict = judged(name, example.expect, Response(text=text))
        assert verdict.reason not in ("scorer_error", "scorer_timeout"), verdict.detail
        again = judged(name, example.expect, Response(text=text))
        assert again == verdict

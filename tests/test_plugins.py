"""Every plugin keeps its folder's contract: found by its file, checked without being listed."""

from types import ModuleType
from typing import Any

import jsonschema
import pytest

import scorers.methods
from itembank import plugins
from scorers.response import Response, ToolCall
from scorers.verdict import Example, Outcome, Verdict

SCORERS = plugins.names(scorers.methods)
HOSTILE = [
    "",
    " \n\t\u2003",
    "\x00\x01\x1b[31mred\x07",
    "\ud800 lone \udfff surrogates",
    "\ufeffANSWER: 1\u200b",
    "\u202eANSWER: 24",
    "e\u0301" * 500,
    "🏳️‍🌈" * 200,
    "ANSWER:" * 2000,
    "ANSWER: " + "9" * 5000,
    "ANSWER: 1e" + "9" * 400,
    "ANSWER: " + "(" * 5000,
    "ANSWER: " + "^".join("9" * 40),
    "ANSWER: 100000!!!",
    "ANSWER: " + "\\frac{" * 500,
    "\\boxed{" * 2000,
    "[" * 10_000,
    '{"a":' * 10_000,
    "{" * 5000 + "}" * 5000,
    '{"a": 1, "a": 2}',
    "NaN",
    "1e999",
    "```" * 3000,
    "```python\n" * 1000,
    "```python\nimport os\nos._exit(0)\n```",
    "~~~json\n[1,\n~~~",
    "<think>" * 3000,
    "</think>" * 3000,
    "<|im_end|>" * 3000,
    "<tool_call>" * 1000,
    "a" * 100_000,
    " " * 100_000 + "x",
    "ab" * 50_000,
    "\n" * 50_000,
    "- " * 20_000,
    "a. " * 20_000,
    "日" * 20_000,
    "<script>alert(1)</script>",
    "'; DROP TABLE items; --",
    "%s%n{0}{}\\",
]
HOSTILE_CALLS = [
    (),
    (ToolCall(name="", arguments=""),),
    (ToolCall(name="f", arguments="[" * 10_000),),
    (ToolCall(name="f", arguments='{"a":1,"a":2}'),),
    (ToolCall(name="f", arguments="NaN"), ToolCall(name="\ud800", arguments="[1]")),
]


def scorer(name: str) -> ModuleType:
    return plugins.load(scorers.methods, name)


def examples() -> list[tuple[str, Example]]:
    return [(name, example) for name in SCORERS for example in scorer(name).EXAMPLES]


def judged(name: str, example: Example) -> Verdict:
    response = example.response if isinstance(example.response, Response) else Response(text=example.response)
    verdict: Verdict = scorer(name).score(example.expect, response)
    return verdict


@pytest.mark.parametrize("name", SCORERS)
def test_a_scorer_has_a_version_a_schema_and_evidence(name: str) -> None:
    module = scorer(name)
    assert type(module.VERSION) is int and module.VERSION >= 1
    jsonschema.Draft202012Validator.check_schema(module.EXPECT_SCHEMA)
    outcomes = {example.outcome for example in module.EXAMPLES}
    assert {Outcome.PASS, Outcome.FAIL} <= outcomes, "examples must show what passes and what does not"
    assert module.__doc__


@pytest.mark.parametrize(("name", "example"), examples())
def test_a_scorers_examples_hold(name: str, example: Example) -> None:
    module = scorer(name)
    jsonschema.Draft202012Validator(module.EXPECT_SCHEMA).validate(dict(example.expect))
    assert getattr(module, "fault", lambda _: "")(example.expect) == ""
    verdict = judged(name, example)
    assert (verdict.outcome, verdict.reason) == (example.outcome, example.reason), verdict.detail


@pytest.mark.parametrize("name", [name for name in SCORERS if name != "python"])
def test_no_hostile_answer_breaks_a_scorer(name: str) -> None:
    expects: list[Any] = [example.expect for example in scorer(name).EXAMPLES]
    for expect in {str(expect): expect for expect in expects}.values():
        for text in HOSTILE:
            for calls in HOSTILE_CALLS if text == "" else HOSTILE_CALLS[:1]:
                verdict = scorer(name).score(expect, Response(text=text, tool_calls=calls))
                assert isinstance(verdict.outcome, Outcome)
                assert verdict.outcome is Outcome.PASS or verdict.reason

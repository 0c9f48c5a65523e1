"""Every plugin keeps its folder's contract: found by its file, checked without being listed."""

from types import ModuleType
from typing import Any

import jsonschema
import pytest

import scorers.methods
from itembank import plugins
from scorers.response import Response
from scorers.verdict import Example, Outcome, Verdict
from tests.hostile import HOSTILE, HOSTILE_CALLS

SCORERS = plugins.names(scorers.methods)


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

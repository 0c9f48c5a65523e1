"""Mathematical equality: expressions, sets, intervals, tuples, matrices and equations, in LaTeX or plain notation.

An own whitelist grammar, never `eval` or a parser that could act. Rational values are compared exactly here, everything
else in a killable process: to many digits at three points, then by proof. What is too large to evaluate is `malformed`.
"""

import functools
import re
from collections.abc import Mapping
from contextlib import suppress
from typing import Any

from scorers.extract import CONVENTIONS, field
from scorers.mathcompare import Rational, UnsettledError, equal
from scorers.mathforms import Form, form
from scorers.mathtokens import MathError
from scorers.mathtree import holds, variables
from scorers.mathvalue import UndefinedError, bound
from scorers.processes import Pool, TimeUp
from scorers.response import Response
from scorers.verdict import Example, Outcome, Verdict, failed, passed, unscorable

VERSION = 1
OWN_PROCESS = True
LIMIT_S = 2.0
WALL_S = 20.0
WORKERS = Pool("scorers.mathworker:decide", cpu_s=LIMIT_S, wall_s=WALL_S)
KINDS = ("expression", "set", "interval", "tuple", "matrix", "equation")
GOLD_SLACK = 10
"""An item's own answer may be this much larger than a model's."""

EXPECT_SCHEMA: Mapping[str, Any] = {
    "type": "object",
    "required": ["value"],
    "additionalProperties": False,
    "properties": {
        "value": {"type": "string", "minLength": 1},
        "kind": {"enum": list(KINDS)},
        "from": {"enum": list(CONVENTIONS)},
    },
}


def score(expect: Mapping[str, Any], response: Response) -> Verdict:
    """PASS if the field means the same as the item's value. Raises ValueError if that value cannot be read."""
    value, kind = expect["value"], expect.get("kind", "expression")
    text = field(response.text, expect.get("from", "line"), [value])
    if text is None:
        return failed("no_answer", "no answer in the asked form")
    try:
        answer = reading(text, kind)
    except MathError as error:
        return failed("malformed", f"not read as {kind}: {error}", text)
    gold = gold_form(value, kind)
    try:
        right = same(gold, answer)
        if not right and holds(gold, ("c", "e")) and re.search("[0-9]e[-+]?[0-9]", text):
            right = same(gold, reading(text, kind, euler=True))
    except (MathError, UndefinedError) as error:
        return failed("malformed", f"it has no value: {error}", text)
    except TimeUp:
        return unscorable("scorer_timeout", f"comparing took over {LIMIT_S:g} s of processor time")
    return passed(text) if right else failed("wrong", f"not equal to {value}", text)


def fault(expect: Mapping[str, Any]) -> str:
    """Why the item's own value cannot be compared with; empty where it can."""
    try:
        gold = gold_form(expect["value"], expect.get("kind", "expression"))
        return "" if same(gold, gold) else "the value is not defined anywhere"
    except (ValueError, MathError, UndefinedError) as error:
        return str(error)


def reading(text: str, kind: str, *, euler: bool = False) -> Form:
    """The form of an answer; `euler`: `2e-1` is 2e - 1. Raises MathError if it has none within the bounds."""
    found = form(text, kind, euler=euler)
    bound(found)
    return found


@functools.lru_cache(maxsize=256)
def gold_form(value: str, kind: str) -> Form:
    """The form of an item's own value. Raises ValueError if it has none."""
    try:
        found = form(value, kind)
        bound(found, GOLD_SLACK)
    except MathError as error:
        raise ValueError(f"the value {value!r} is not read as {kind}: {error}") from None
    return found


def same(gold: Form, answer: Form) -> bool:
    """Whether two forms mean the same. Raises TimeUp or Died where no process could tell."""
    try:
        return equal(gold, answer, Rational(variables(gold) | variables(answer)))
    except UnsettledError:
        found = WORKERS.ask(("digits", gold, answer))
    if found is True:
        with suppress(TimeUp):
            found = WORKERS.ask(("proof", gold, answer))
    if isinstance(found, str):
        raise MathError(found)
    return bool(found)


_ROOT = {"value": "3*sqrt(2)/4", "kind": "expression"}
EXAMPLES = (
    Example(_ROOT, "ANSWER: $\\frac{3\\sqrt2}{4}$", Outcome.PASS),
    Example(_ROOT, "**ANSWER:** 3/(2√2)", Outcome.PASS),
    Example(_ROOT, "ANSWER: 1.0606601717798212", Outcome.FAIL, "wrong"),
    Example(_ROOT, "ANSWER: 5^{5^{5^5}}", Outcome.FAIL, "malformed"),
    Example(_ROOT, "It is 3*sqrt(2)/4.", Outcome.FAIL, "no_answer"),
    Example({"value": "{1, 2}", "kind": "set"}, "ANSWER: \\{2, 1\\}", Outcome.PASS),
    Example({"value": "[0, 1)", "kind": "interval"}, "ANSWER: $0 \\le x < 1$", Outcome.PASS),
    Example({"value": "[0, 1)", "kind": "interval"}, "ANSWER: [0, 1]", Outcome.FAIL, "wrong"),
    Example({"value": "y = 2*x + 1", "kind": "equation"}, "ANSWER: 2y - 4x = 2", Outcome.PASS),
    Example({"value": "y = 2*x + 1", "kind": "equation"}, "ANSWER: 0 = 0", Outcome.FAIL, "wrong"),
)

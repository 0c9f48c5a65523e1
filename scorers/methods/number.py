"""A number, compared as an exact fraction, within an inclusive tolerance where the item gives one."""

from collections.abc import Mapping
from fractions import Fraction
from typing import Any

from scorers.extract import CONVENTIONS, field
from scorers.numbers import ill_grouped, number
from scorers.response import Response
from scorers.verdict import Example, Outcome, Verdict, failed, passed

VERSION = 1
_NUMBER = {"type": ["string", "number"]}
EXPECT_SCHEMA = {
    "type": "object",
    "required": ["value"],
    "additionalProperties": False,
    "properties": {
        "value": _NUMBER,
        "tolerance": _NUMBER,
        "relative": _NUMBER,
        "percent": {"type": "boolean"},
        "units": {"type": "array", "items": {"type": "string", "minLength": 1}},
        "decimal_comma": {"type": "boolean"},
        "from": {"enum": list(CONVENTIONS)},
    },
}


def score(expect: Mapping[str, Any], response: Response) -> Verdict:
    """PASS if the field is a number no further from the value than the larger of the two tolerances."""
    found = field(response.text, expect.get("from", "line"), (str(expect["value"]),))
    if found is None:
        return failed("no_answer", "no answer in the asked form")
    options = {key: expect[key] for key in ("percent", "units", "decimal_comma") if key in expect}
    value = number(found, **options)
    if value is None:
        if ill_grouped(found) and not expect.get("decimal_comma"):
            return failed("malformed", "digits and commas that are no number: group marks part triples", found)
        return failed("no_answer", "the field is no number", found)
    right = _exact(expect["value"])
    allowed = max(_exact(expect.get("tolerance", 0)), _exact(expect.get("relative", 0)) * abs(right))
    if abs(value - right) <= allowed:
        return passed(found)
    within = f" within {float(allowed):g}" if allowed else ""
    return failed("wrong", f"expected {expect['value']}{within}", found)


def fault(expect: Mapping[str, Any]) -> str:
    """Why the item cannot be judged; empty where it can."""
    for key in ("value", "tolerance", "relative"):
        value = number(str(expect.get(key, 0)))
        if value is None or (key != "value" and value < 0):
            return f"{key} {expect[key]!r} is no number that this scorer reads"
    return ""


def _exact(value: str | float) -> Fraction:
    """The authored number; raises ValueError where `fault` would have named it."""
    read = number(str(value))
    if read is None:
        raise ValueError(f"{value!r} is no number")
    return read


EXAMPLES = (
    Example({"value": "1234.5"}, "So:\n**ANSWER: $1,234.50**.", Outcome.PASS),
    Example({"value": "-5"}, "Answer: \u22125", Outcome.PASS),
    Example({"value": "100"}, "ANSWER: 10", Outcome.FAIL, "wrong"),
    Example({"value": "42"}, "ANSWER: 42, in total", Outcome.FAIL, "no_answer"),
    Example({"value": "1234"}, "ANSWER: 12,34", Outcome.FAIL, "malformed"),
    Example({"value": "60", "percent": True}, "ANSWER: 60\\%", Outcome.PASS),
    Example({"value": "60"}, "ANSWER: 60%", Outcome.FAIL, "no_answer"),
    Example({"value": "10", "tolerance": "0.5", "relative": "0.01"}, "ANSWER: 10.5", Outcome.PASS),
    Example({"value": "10", "tolerance": "0.5", "relative": "0.01"}, "ANSWER: 10.51", Outcome.FAIL, "wrong"),
    Example({"value": "1234.5", "decimal_comma": True}, "ANSWER: 1.234,5", Outcome.PASS),
)

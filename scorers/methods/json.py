"""One JSON value: its schema, and its whole value or the values at JSON pointers. Numbers compare by value.

`12` equals `12.0`, "020" is not 20 and true is not 1. The detail names every error, not the first alone.
"""

from collections.abc import Mapping
from typing import Any

from scorers.jsontext import Found, equal, find
from scorers.response import Response
from scorers.schemas import resolved, schema_errors, schema_fault
from scorers.verdict import Example, Outcome, Verdict, failed, passed

VERSION = 1
EXPECT_SCHEMA = {
    "type": "object",
    "anyOf": [{"required": ["schema"]}, {"required": ["value"]}, {"required": ["values"]}],
    "additionalProperties": False,
    "properties": {
        "schema": {"type": ["object", "boolean"]},
        "value": {},
        "values": {"type": "object", "propertyNames": {"pattern": "^(/|$)"}},
        "strict": {"type": "boolean"},
    },
}
SHOWN = 20
"""So many errors are told in full; the rest are counted."""


def score(expect: Mapping[str, Any], response: Response) -> Verdict:
    """PASS if the answer holds one JSON value that keeps the schema and equals what is expected."""
    found = find(response.text, expect.get("strict", False))
    if found.fault:
        meant = not found.missing or "{" in response.text or "[" in response.text
        return failed("malformed" if meant else "no_answer", found.fault)
    errors = _errors(expect, found)
    if not errors:
        return passed(found.source)
    more = f"; and {len(errors) - SHOWN} more" if len(errors) > SHOWN else ""
    return failed("wrong", "; ".join(errors[:SHOWN]) + more, found.source)


def fault(expect: Mapping[str, Any]) -> str:
    """Why the item cannot be judged; empty where it can."""
    told = schema_fault(expect["schema"]) if "schema" in expect else ""
    if not told and "schema" in expect and "value" in expect:
        told = next((f"value: {error}" for error in schema_errors(expect["schema"], expect["value"])), "")
    return told


def _errors(expect: Mapping[str, Any], found: Found) -> list[str]:
    """Every error; what equals the expected value keeps the schema as that does, which `fault` has seen to."""
    if "value" in expect and not expect.get("values") and equal(found.value, expect["value"]):
        return []
    errors = schema_errors(expect["schema"], found.value) if "schema" in expect else []
    wanted = {"": expect["value"]} if "value" in expect else {}
    for path, right in {**wanted, **expect.get("values", {})}.items():
        try:
            value = resolved(found.value, path)
        except LookupError:
            errors.append(f"{path}: is missing")
            continue
        errors += _differences(value, right, path)
    return errors


def _differences(value: Any, right: Any, path: str) -> list[str]:
    """Where two values differ, by JSON pointer, as deep as both have the same shape."""
    if equal(value, right):
        return []
    if isinstance(value, dict) and isinstance(right, dict):
        found = [f"{path}/{key}: is missing" for key in right if key not in value]
        found += [f"{path}/{key}: is not expected" for key in value if key not in right]
        both = [key for key in right if key in value]
        return found + [text for key in both for text in _differences(value[key], right[key], f"{path}/{key}")]
    if isinstance(value, list) and isinstance(right, list) and len(value) == len(right):
        pairs = enumerate(zip(value, right, strict=True))
        return [text for at, (one, other) in pairs for text in _differences(one, other, f"{path}/{at}")]
    return [f"{path or '/'}: is {str(value)[:80]!r}, expected {str(right)[:80]!r}"]


AGE = {"schema": {"type": "object", "required": ["age"], "properties": {"age": {"type": "integer"}}}}
EXAMPLES = (
    Example(AGE, '{"age": 3.0}', Outcome.PASS),
    Example(AGE, 'Sure:\n```json\n{"age": 1}\n```\nBetter:\n```json\n{"age": 2}\n```', Outcome.PASS),
    Example(AGE, '{"age": true}', Outcome.FAIL, "wrong"),
    Example(AGE, '{"age": 1} {"age": 1}', Outcome.FAIL, "malformed"),
    Example({"value": [12, 15]}, "[12.0, 15.0]", Outcome.PASS),
    Example({"values": {"/zip": "020"}}, '{"zip": 20}', Outcome.FAIL, "wrong"),
    Example({"value": {}, "strict": True}, "Here: {}", Outcome.FAIL, "malformed"),
    Example({"value": {}}, "I do not know.", Outcome.FAIL, "no_answer"),
)

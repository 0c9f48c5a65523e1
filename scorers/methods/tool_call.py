"""Function calls with exactly the expected arguments, compared as JSON values. A call written as text is none."""

from collections.abc import Mapping
from typing import Any

from scorers.jsontext import equal, parse
from scorers.response import Response, ToolCall
from scorers.toolcalls import written_call
from scorers.verdict import Example, Outcome, Verdict, failed, passed

VERSION = 1
EXPECT_SCHEMA = {
    "type": "object",
    "required": ["calls"],
    "additionalProperties": False,
    "properties": {
        "calls": {
            "type": "array",
            "items": {
                "type": "object",
                "required": ["name", "arguments"],
                "additionalProperties": False,
                "properties": {"name": {"type": "string", "minLength": 1}, "arguments": {"type": "object"}},
            },
        },
        "order": {"enum": ["any", "exact"]},
    },
}


def score(expect: Mapping[str, Any], response: Response) -> Verdict:
    """PASS if the calls made are the expected ones, in any order unless `order: exact`."""
    wanted = list(expect["calls"])
    if not response.tool_calls:
        written = written_call(response.text, tuple(call["name"] for call in wanted) or None)
        if written:
            return failed("no_answer", "a tool call is written as text, where nothing can run it", written)
        return failed("no_answer", f"no tool call; {len(wanted)} expected") if wanted else passed()
    shown = "; ".join(f"{call.name}({call.arguments})" for call in response.tool_calls)
    made: list[tuple[str, Any]] = []
    for call in response.tool_calls:
        arguments, fault = _arguments(call)
        if fault:
            return failed("malformed", f"{call.name}: {fault}", shown)
        made.append((call.name, arguments))
    detail = _in_order(made, wanted) if expect.get("order") == "exact" else _in_any_order(made, wanted)
    return failed("wrong", detail, shown) if detail else passed(shown)


def _arguments(call: ToolCall) -> tuple[Any, str]:
    """The arguments as an object, and what is wrong with them; none at all are an empty object."""
    if not call.arguments.strip():
        return {}, ""
    found = parse(call.arguments)
    if not found.fault and not isinstance(found.value, dict):
        return None, "the arguments are no object"
    return found.value, found.fault


def _in_order(made: list[tuple[str, Any]], wanted: list[Mapping[str, Any]]) -> str:
    if len(made) != len(wanted):
        return f"{len(made)} calls, expected {len(wanted)}"
    return next((detail for pair in zip(made, wanted, strict=True) if (detail := _difference(*pair))), "")


def _in_any_order(made: list[tuple[str, Any]], wanted: list[Mapping[str, Any]]) -> str:
    left = list(wanted)
    for call in made:
        match = next((place for place, want in enumerate(left) if not _difference(call, want)), None)
        if match is None:
            alike = next((want for want in left if want["name"] == call[0]), None)
            return _difference(call, alike) if alike else f"{call[0]}: not expected, or not as often"
        del left[match]
    return f"missing: {', '.join(want['name'] for want in left)}" if left else ""


def _difference(call: tuple[str, Any], want: Mapping[str, Any]) -> str:
    """How a call differs from the one wanted; empty where it does not."""
    name, arguments = call
    if name != want["name"]:
        return f"called {name}, expected {want['name']}"
    surplus = sorted(arguments.keys() - want["arguments"].keys())
    wrong = [f"{key} is missing" for key in want["arguments"] if key not in arguments]
    wrong += [f"{key} is not expected" for key in surplus]
    both = sorted(arguments.keys() & want["arguments"].keys())
    wrong += [f"{key} is {arguments[key]!r}" for key in both if not equal(arguments[key], want["arguments"][key])]
    return f"{name}: {', '.join(wrong)}" if wrong else ""


def _call(name: str, arguments: str) -> ToolCall:
    return ToolCall(name=name, arguments=arguments)


SET = {"calls": [{"name": "set", "arguments": {"bay": "020", "degrees": 12}}]}
EXAMPLES = (
    Example(SET, Response(text="", tool_calls=(_call("set", '{"degrees": 12.0, "bay": "020"}'),)), Outcome.PASS),
    Example(SET, Response(text="", tool_calls=(_call("set", '{"degrees": 12, "bay": 20}'),)), Outcome.FAIL, "wrong"),
    Example(SET, Response(text="", tool_calls=(_call("set", '{"bay": "020"'),)), Outcome.FAIL, "malformed"),
    Example(SET, '{"name": "set", "arguments": {"bay": "020", "degrees": 12}}', Outcome.FAIL, "no_answer"),
    Example({"calls": []}, "Nothing to do.", Outcome.PASS),
    Example({"calls": []}, Response(text="", tool_calls=(_call("set", ""),)), Outcome.FAIL, "wrong"),
)

"""A text repeated character for character. Forgives one newline at either end and one enclosing fence, nothing else."""

import unicodedata
from collections.abc import Mapping
from typing import Any

from scorers.fences import enclosed
from scorers.response import Response
from scorers.verdict import Example, Outcome, Verdict, failed, passed

VERSION = 1
EXPECT_SCHEMA = {
    "type": "object",
    "required": ["text"],
    "additionalProperties": False,
    "properties": {"text": {"type": "string", "minLength": 1}},
}


def score(expect: Mapping[str, Any], response: Response) -> Verdict:
    """PASS if the text is the expected one; the detail names the first differing character."""
    text, right = response.text, expect["text"]
    inside = enclosed(_trimmed(text))
    for candidate in (text, inside):
        if candidate is not None and _variants(candidate) & _variants(right):
            return passed(candidate)
    closest = _trimmed(text if inside is None else inside)
    return failed("wrong", _difference(closest, _trimmed(right)), closest)


def _trimmed(text: str) -> str:
    return text.removeprefix("\n").removesuffix("\n")


def _variants(text: str) -> set[str]:
    """The text with and without one newline at either end."""
    return {text, text.removeprefix("\n"), text.removesuffix("\n"), _trimmed(text)}


def _difference(text: str, right: str) -> str:
    """A sentence on the first character in which the two differ, by place, line and column."""
    shorter = min(len(text), len(right))
    place = next((at for at in range(shorter) if text[at] != right[at]), shorter)
    line, column = right.count("\n", 0, place) + 1, place - (right.rfind("\n", 0, place) + 1) + 1
    where = f"character {place + 1} (line {line}, column {column})"
    return f"{where} is {_named(text, place)}, expected {_named(right, place)}"


def _named(text: str, place: int) -> str:
    if place >= len(text):
        return "the end"
    character = text[place]
    return f"{character!r} (U+{ord(character):04X} {unicodedata.name(character, 'unnamed')})"


EXAMPLES = (
    Example({"text": "a  b\n\tc"}, "a  b\n\tc\n", Outcome.PASS),
    Example({"text": "a  b\n\tc"}, "```text\na  b\n\tc\n```", Outcome.PASS),
    Example({"text": "a  b\n\tc"}, "a b\n\tc", Outcome.FAIL, "wrong"),
    Example({"text": "a\nb"}, "a\r\nb", Outcome.FAIL, "wrong"),
    Example({"text": "a"}, "a\n\n", Outcome.FAIL, "wrong"),
)

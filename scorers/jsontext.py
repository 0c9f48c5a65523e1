"""Finds the one JSON value that an answer holds and says what is wrong with it. Knows no schema.

The whole text first, then the fences (the last that is JSON), then a string-aware scan from the first bracket.
Malformed are two top-level values, a stray bracket, duplicate keys, NaN, infinities, overflowing numbers, absurd depth.
"""

import json
import math
import re
from dataclasses import dataclass
from typing import Any

from scorers.fences import Fence, fences

DEPTH = 64
"""Deeper nesting is malformed: no honest answer has it, and a schema check of it would exhaust the stack."""
_STRUCTURE = re.compile(r'"(?:[^"\\]|\\.)*+"|[\[\]{}]', re.DOTALL)
_START = re.compile(r"[\[\]{}]")


@dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    """A JSON value with its source text, or what is wrong."""

    value: Any = None
    source: str = ""
    fault: str = ""
    """A sentence; empty where the value is good."""
    missing: bool = False
    """Whether the text holds nothing that is meant as JSON."""


class _Malformed(ValueError):
    """The text is JSON in Python's eyes and not in ours."""


def find(text: str, strict: bool = False) -> Found:
    """The one JSON value of `text`; with `strict` the whole text must be it.

    >>> find('Here: {"a": [1, 2]} as asked').value
    {'a': [1, 2]}
    >>> find('{"a": 1} {"a": 1}').fault
    'more than one top-level value'
    """
    whole = parse(text)
    if strict or not whole.fault or not whole.missing:
        return whole
    passed_over: list[Fence] = []
    for fence in reversed(fences(text)):
        inside = parse(fence.content)
        if not inside.missing:
            return inside
        passed_over.append(fence)
    for fence in passed_over:
        text = text[: fence.start] + text[fence.end :]
    scanned = _scan(text)
    if scanned.missing and any(fence.content.lstrip()[:1] in ("{", "[") for fence in passed_over):
        return Found(fault="the fenced text does not parse")
    return scanned


def parse(text: str) -> Found:
    """The whole of `text` as one JSON value; `missing` tells text that is no JSON at all from JSON with a fault."""
    if _depth(text) > DEPTH:
        return Found(fault=f"nested deeper than {DEPTH}")
    try:
        return Found(value=_decoder().decode(text), source=text.strip())
    except _Malformed as error:
        return Found(fault=str(error))
    except ValueError as error:
        return Found(fault=f"does not parse: {error}", missing=True)


def scalar_field(text: str) -> str | None:
    """The JSON value as a field for the other methods: a string's content, otherwise its source; None without one."""
    found = find(text)
    if found.fault:
        return None
    return found.value if isinstance(found.value, str) else found.source


def _scan(text: str) -> Found:
    start = _START.search(text)
    if start is None:
        return Found(fault="no JSON in the answer", missing=True)
    if _depth(text[start.start() :]) > DEPTH:
        return Found(fault=f"nested deeper than {DEPTH}")
    try:
        value, end = _decoder().raw_decode(text, start.start())
    except _Malformed as error:
        return Found(fault=str(error))
    except ValueError as error:
        return Found(fault=f"the first bracket does not parse: {error}")
    rest = _START.search(text, end)
    if rest:
        return Found(fault="more than one top-level value" if rest.group() in "[{" else "a stray bracket follows")
    return Found(value=value, source=text[start.start() : end])


def _depth(text: str) -> int:
    deepest = depth = 0
    for found in _STRUCTURE.finditer(text):
        depth += 1 if found.group() in "[{" else -1 if found.group() in "]}" else 0
        deepest = max(deepest, depth)
    return deepest


def _decoder() -> json.JSONDecoder:
    return json.JSONDecoder(
        object_pairs_hook=_object, parse_constant=_constant, parse_float=_float, parse_int=_int, strict=True
    )


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    made = dict(pairs)
    if len(made) < len(pairs):
        seen: set[str] = set()
        twice = next(key for key, _ in pairs if key in seen or seen.add(key))  # type: ignore[func-returns-value]
        raise _Malformed(f"the key {twice!r} occurs twice")
    return made


def _constant(word: str) -> float:
    raise _Malformed(f"{word} is no JSON number")


def _float(digits: str) -> float:
    value = float(digits)
    if math.isinf(value):
        raise _Malformed("a number overflows")
    return value


def _int(digits: str) -> int:
    if len(digits) > 400:
        raise _Malformed("a number overflows")
    return int(digits)


def equal(one: Any, other: Any) -> bool:
    """Whether two JSON values are the same: numbers by value, but true is no 1 and "020" no 20.

    >>> equal([12], [12.0]), equal(1, True), equal("20", 20)
    (True, False, False)
    """
    if isinstance(one, dict) and isinstance(other, dict):
        return one.keys() == other.keys() and all(equal(value, other[key]) for key, value in one.items())
    if isinstance(one, list) and isinstance(other, list):
        return len(one) == len(other) and all(map(equal, one, other))
    if isinstance(one, bool) or isinstance(other, bool):
        return one is other
    if isinstance(one, int | float) and isinstance(other, int | float):
        return one == other
    return type(one) is type(other) and bool(one == other)

"""A list of short values, compared as a multiset, or in order where the item asks for it.

line     parted by commas, or by semicolons where the line holds one; so are the other conventions
lines    every line that is not blank, its list mark dropped; prose is a value too many
json     an array of strings; numbers are not strings
"""

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from scorers.extract import CONVENTIONS, field, unwrap
from scorers.fences import enclosed
from scorers.jsontext import find
from scorers.methods.text import QUOTES, normal
from scorers.response import Response
from scorers.verdict import Example, Outcome, Verdict, failed, passed

VERSION = 1
EXPECT_SCHEMA = {
    "type": "object",
    "required": ["values"],
    "additionalProperties": False,
    "properties": {
        "values": {"type": "array", "items": {"type": "string"}},
        "order": {"enum": ["any", "exact"]},
        "case": {"type": "boolean"},
        "from": {"enum": [*CONVENTIONS, "lines"]},
    },
}
LIST_MARK = re.compile(r"(?:[-*+•‣–]|\(?[0-9]{1,4}[.)])\s+")


def score(expect: Mapping[str, Any], response: Response) -> Verdict:
    """PASS if the answer holds the expected values, each as often as expected, and no other."""
    case, convention = expect.get("case", False), expect.get("from", "line")
    wanted = [normal(value, case) for value in expect["values"]]
    if convention == "json":
        found = find(response.text)
        if found.fault:
            return failed("no_answer" if found.missing else "malformed", found.fault)
        if not isinstance(found.value, list) or not all(isinstance(value, str) for value in found.value):
            return failed("wrong", "not an array of strings", found.source)
        values, source = [normal(value, case) for value in found.value], found.source
    elif convention == "lines":
        source = enclosed(response.text.strip()) or response.text.strip()
        values = [_line(line, wanted, case) for line in re.split(r"\r\n|\n|\r", source) if line.strip()]
    else:
        line = field(response.text, convention, (", ".join(expect["values"]), *expect["values"]))
        if line is None:
            return failed("no_answer", "no answer in the asked form")
        values, source = [_value(value, case) for value in _parts(line)], line
    return _compared(values, wanted, expect.get("order") == "exact", source)


def _compared(values: Sequence[str], wanted: Sequence[str], in_order: bool, source: str) -> Verdict:
    have, want = Counter(values), Counter(wanted)
    if have == want:
        if not in_order or list(values) == list(wanted):
            return passed(source)
        place = next(place for place, pair in enumerate(zip(values, wanted, strict=True)) if pair[0] != pair[1])
        return failed("wrong", f"the order differs from value {place + 1} on: {values[place]!r}", source)
    missing, surplus = list((want - have).elements()), list((have - want).elements())
    parts = [
        f"{word} {', '.join(map(repr, some[:5]))}"
        for word, some in (("missing", missing), ("not expected", surplus))
        if some
    ]
    return failed("wrong", "; ".join(parts), source)


def _parts(line: str) -> list[str]:
    """The values of a line: its final full stop and an empty last value dropped."""
    line = line.replace("，", ",").replace("；", ";").strip()
    line = line[:-1] if line.endswith((".", "。")) else line
    mark = ";" if ";" in line else "," if "," in line or "、" not in line else "、"
    parts = line.split(mark)
    return parts[:-1] if len(parts) > 1 and not parts[-1].strip() else parts


def _value(text: str, case: bool) -> str:
    value = unwrap(text)
    if len(value) > 2 and QUOTES.get(value[0]) == value[-1]:
        value = value[1:-1]
    return normal(value, case)


def _line(line: str, wanted: Sequence[str], case: bool) -> str:
    """A line's value; its list mark stays where the expected value has it too."""
    whole = normal(line, case)
    found = LIST_MARK.match(line.strip())
    rest = line.strip()[found.end() :] if found else line
    return whole if whole in wanted else _value(rest, case)


CITIES = {"values": ["Rome", "Oslo"]}
EXAMPLES = (
    Example(CITIES, "ANSWER: Oslo, **Rome**.", Outcome.PASS),
    Example(CITIES, "ANSWER: Oslo; Rome", Outcome.PASS),
    Example(CITIES, "ANSWER: Oslo, Rome, Rome", Outcome.FAIL, "wrong"),
    Example({**CITIES, "order": "exact"}, "ANSWER: Oslo, Rome", Outcome.FAIL, "wrong"),
    Example({**CITIES, "from": "lines"}, "1. Rome\n2. Oslo", Outcome.PASS),
    Example({**CITIES, "from": "lines"}, "Here they are:\n- Rome\n- Oslo", Outcome.FAIL, "wrong"),
    Example({**CITIES, "from": "json"}, '```json\n["Oslo", "Rome"]\n```', Outcome.PASS),
    Example({"values": ["1"], "from": "json"}, "[1]", Outcome.FAIL, "wrong"),
    Example(CITIES, "Rome and Oslo", Outcome.FAIL, "no_answer"),
)

"""Rules that the form of an answer must keep, all of them; the detail names every one that is broken and by how much.

Counted on the judged text, stripped, after NFC. What a word or a sentence is stands in `scorers.counting`.
"""

import unicodedata
from collections.abc import Mapping
from typing import Any

from itembank.errors import nearest
from scorers import limits
from scorers.patterns import pattern_fault
from scorers.response import Response
from scorers.verdict import Example, Outcome, Verdict, failed, passed

VERSION = 1
_RANGE = ("min", "max")
KINDS: dict[str, tuple[tuple[str, ...], tuple[str, ...]]] = {
    "word_count": ((), _RANGE),
    "sentence_count": ((), _RANGE),
    "line_count": ((), _RANGE),
    "paragraph_count": ((), _RANGE),
    "char_count": ((), _RANGE),
    "bullets": ((), _RANGE),
    "count_of": (("text",), (*_RANGE, "ignore_case")),
    "contains": (("text",), ("ignore_case",)),
    "excludes": (("text",), ("ignore_case",)),
    "starts_with": (("text",), ()),
    "ends_with": (("text",), ()),
    "forbidden_chars": (("chars",), ()),
    "case": (("value",), ()),
    "acrostic": (("word",), ("unit",)),
    "regex": (("pattern",), ("mode",)),
    "line_pattern": (("pattern",), ()),
    "ordered": (("values",), ("ignore_case",)),
    "json_only": ((), ()),
    "language_script": (("script",), ("min_share",)),
    "unique_words": ((), ("min_share",)),
}
"""Each kind, a function in `scorers.limits`, with the parameters that it needs and those that it takes."""

_TEXT = {"type": "string", "minLength": 1}
_COUNT = {"type": "integer", "minimum": 0}
EXPECT_SCHEMA = {
    "type": "object",
    "required": ["checks"],
    "additionalProperties": False,
    "properties": {
        "checks": {
            "type": "array",
            "minItems": 1,
            "items": {
                "type": "object",
                "required": ["kind"],
                "properties": {
                    "kind": {"type": "string"},
                    "min": _COUNT,
                    "max": _COUNT,
                    **dict.fromkeys(("text", "chars", "word", "pattern", "script"), _TEXT),
                    "values": {"type": "array", "minItems": 1, "items": _TEXT},
                    "ignore_case": {"type": "boolean"},
                    "min_share": {"type": "number", "minimum": 0, "maximum": 1},
                    "value": {"enum": ["upper", "lower", "title"]},
                    "unit": {"enum": ["line", "sentence", "word"]},
                    "mode": {"enum": ["search", "fullmatch"]},
                },
            },
        }
    },
}


def score(expect: Mapping[str, Any], response: Response) -> Verdict:
    """PASS if every check holds."""
    text = unicodedata.normalize("NFC", response.text.strip())
    if not text:
        return failed("no_answer", "no text")
    broken = [f"{check['kind']}: {told}" for check in expect["checks"] if (told := _broken(check, text))]
    return failed("wrong", "; ".join(broken), text) if broken else passed(text)


def fault(expect: Mapping[str, Any]) -> str:
    """Why the item cannot be judged; empty where it can."""
    return next((f"checks.{at}: {told}" for at, check in enumerate(expect["checks"]) if (told := _fault(check))), "")


def _broken(check: Mapping[str, Any], text: str) -> str:
    told: str = getattr(limits, check["kind"])(text, check)
    return told


def _fault(check: Mapping[str, Any]) -> str:
    kind = check["kind"]
    if kind not in KINDS:
        return f"no kind {kind!r}; {nearest(kind, list(KINDS))}"
    needed, taken = KINDS[kind]
    missing = [name for name in needed if name not in check]
    surplus = [name for name in check if name not in ("kind", *needed, *taken)]
    if missing or surplus:
        return f"{kind} needs {', '.join(missing)}" if missing else f"{kind} does not take {', '.join(surplus)}"
    if "min" in taken and not any(bound in check for bound in _RANGE):
        return f"{kind} needs min or max"
    if "min" in check and check["min"] > check.get("max", check["min"]):
        return f"{kind}: min {check['min']} is more than max {check['max']}"
    pattern = limits.script_class(check["script"]) if "script" in check else check.get("pattern", "")
    told = pattern_fault(pattern)
    return f"{kind}: {told}" if told else ""


def _checks(*checks: Mapping[str, Any]) -> Mapping[str, Any]:
    return {"checks": list(checks)}


EXAMPLES = (
    Example(_checks({"kind": "word_count", "min": 3, "max": 3}), "One -- two three.", Outcome.PASS),
    Example(_checks({"kind": "word_count", "max": 4}), "日本は美しい。", Outcome.FAIL, "wrong"),
    Example(_checks({"kind": "sentence_count", "min": 2, "max": 2}), "Dr. Ito paid 3.50. Why?", Outcome.PASS),
    Example(_checks({"kind": "excludes", "text": ","}), "<think>a, b</think>", Outcome.FAIL, "wrong"),
    Example(_checks({"kind": "acrostic", "word": "ab"}), "- Alpha\n- Beta", Outcome.PASS),
    Example(
        _checks({"kind": "regex", "pattern": "(a+)+$", "mode": "fullmatch"}), "a" * 5000 + "b", Outcome.FAIL, "wrong"
    ),
    Example(_checks({"kind": "language_script", "script": "Cyrillic"}), "Привет, мир", Outcome.PASS),
)

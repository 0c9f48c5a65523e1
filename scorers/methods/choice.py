"""One option out of several: its mark, alone or followed by that option's own text. A second mark is no choice.

An option may be listed with its text (`B) Bern`), or without marks, when the answer's letter counts the options.
"""

import re
from collections.abc import Mapping
from typing import Any

from scorers.extract import CONVENTIONS, field
from scorers.methods.text import normal
from scorers.response import Response
from scorers.verdict import Example, Outcome, Verdict, failed, passed

VERSION = 1
EXPECT_SCHEMA = {
    "type": "object",
    "required": ["answer", "options"],
    "additionalProperties": False,
    "properties": {
        "answer": {"type": "string", "minLength": 1},
        "options": {"type": "array", "minItems": 2, "items": {"type": "string", "minLength": 1}, "uniqueItems": True},
        "from": {"enum": list(CONVENTIONS)},
    },
}
MARKED = re.compile(r"\(?(?P<mark>[^\W_]{1,3})(?:\)|[.:]|\):)\s+(?P<text>\S.*)", re.DOTALL)
BETWEEN = re.compile(r"^\s*(?:[-\u2013\u2014:=,]\s*)?")


def score(expect: Mapping[str, Any], response: Response) -> Verdict:
    """PASS if the field is the right option's mark, or that mark with the option's own text."""
    marks = _marks(expect)
    found = field(response.text, expect.get("from", "line"), (expect["answer"], *expect["options"]))
    if found is None:
        return failed("no_answer", "no answer in the asked form")
    chosen = _chosen(normal(found.replace("**", "")), marks)
    if chosen is None:
        return failed("no_answer", f"not one of the options {', '.join(marks)} alone", found)
    if chosen == _answer(expect):
        return passed(found)
    return failed("wrong", f"expected {expect['answer']}", found)


def fault(expect: Mapping[str, Any]) -> str:
    """Why the item cannot be judged; empty where it can."""
    marks = _marks(expect)
    return "" if _answer(expect) in marks else f"answer {expect['answer']!r} is none of the options {', '.join(marks)}"


def _answer(expect: Mapping[str, Any]) -> str:
    found = MARKED.fullmatch(expect["answer"])
    return normal(found["mark"] if found and expect["answer"] in expect["options"] else expect["answer"])


def _marks(expect: Mapping[str, Any]) -> dict[str, str]:
    """The options' marks and their texts, both as they are compared; an option that is a mark alone has no text."""
    options = [str(option) for option in expect["options"]]
    split = [MARKED.fullmatch(option) for option in options]
    if all(split):
        return {normal(found["mark"]): _bare(found["text"]) for found in split if found}
    answer = normal(expect["answer"])
    lettered = len(answer) == 1 and answer not in {normal(option) for option in options}
    if lettered:
        return {chr(ord("a") + place): _bare(option) for place, option in enumerate(options)}
    return {normal(option): "" for option in options}


def _chosen(value: str, marks: Mapping[str, str]) -> str | None:
    """The one option that the whole value names, else None."""
    for mark, text in marks.items():
        alone = (mark, f"({mark})", f"{mark})")
        if value in alone or value.removesuffix(".").removesuffix("。") in alone:
            return mark
        for start in (*alone, f"{mark}.", f"{mark}:"):
            if text and value.startswith(start) and _bare(BETWEEN.sub("", value[len(start) :])) == text:
                return mark
    return None


def _bare(text: str) -> str:
    return normal(text).strip("*\"'“”()").removesuffix(".").strip()


CITIES = {"answer": "B", "options": ["A) Basel", "B) Bern"]}
EXAMPLES = (
    Example({"answer": "B", "options": ["A", "B"]}, "ANSWER: (b).", Outcome.PASS),
    Example({"answer": "B", "options": ["A", "B"]}, "ANSWER: $\\boxed{\\text{B}}$", Outcome.PASS),
    Example({"answer": "B", "options": ["A", "B"]}, "Answer: A? No.\nAnswer: B", Outcome.PASS),
    Example({"answer": "A", "options": ["A", "B"]}, "Answer: Although it is late", Outcome.FAIL, "no_answer"),
    Example({"answer": "A", "options": ["A", "B"]}, "ANSWER: A or B", Outcome.FAIL, "no_answer"),
    Example({"answer": "A", "options": ["A", "B"]}, "ANSWER: B", Outcome.FAIL, "wrong"),
    Example(CITIES, "ANSWER: B) Bern", Outcome.PASS),
    Example(CITIES, "ANSWER: B) Basel", Outcome.FAIL, "no_answer"),
)

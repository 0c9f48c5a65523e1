"""A short answer in words, equal to one of those listed after spaces, quotes and a final full stop are put aside.

Articles are not dropped and nothing is guessed: `the Nile` is not `Nile` unless the item lists both.
"""

import unicodedata
from collections.abc import Mapping
from typing import Any

from scorers.extract import CONVENTIONS, field
from scorers.numbers import plain
from scorers.response import Response
from scorers.verdict import Example, Outcome, Verdict, failed, passed

VERSION = 1
EXPECT_SCHEMA = {
    "type": "object",
    "required": ["answers"],
    "additionalProperties": False,
    "properties": {
        "answers": {"type": "array", "minItems": 1, "items": {"type": "string", "minLength": 1}},
        "case": {"type": "boolean"},
        "from": {"enum": list(CONVENTIONS)},
    },
}
QUOTES = {
    '"': '"',
    "'": "'",
    "“": "”",
    "‘": "’",
    "„": "“",
    "«": "»",
    "»": "«",
    "「": "」",
    "『": "』",
    "‚": "‘",
    "”": "”",
}


def score(expect: Mapping[str, Any], response: Response) -> Verdict:
    """PASS if the field equals one of the answers; case counts only with `case: true`."""
    answers = expect["answers"]
    found = field(response.text, expect.get("from", "line"), answers)
    if found is None:
        return failed("no_answer", "no answer in the asked form")
    case = expect.get("case", False)
    right = {form for answer in answers for form in _forms(answer, case)}
    if right & _forms(found, case):
        return passed(found)
    return failed("wrong", f"expected {' or '.join(repr(answer) for answer in answers[:5])}", found)


def normal(text: str, case: bool = False) -> str:
    """NFC, the table's spaces, runs of white space as one space; casefolded unless `case`."""
    spaced = " ".join(unicodedata.normalize("NFC", plain(text)).split())
    return spaced if case else unicodedata.normalize("NFC", spaced.casefold())


def _forms(text: str, case: bool) -> set[str]:
    """The text as it is compared: with its final full stop and quotes, and without."""
    whole = normal(text, case)
    forms = {whole, _unstopped(whole)}
    for form in tuple(forms):
        if len(form) > 2 and QUOTES.get(form[0]) == form[-1]:
            forms |= {form[1:-1].strip(), _unstopped(form[1:-1].strip())}
    return forms


def _unstopped(text: str) -> str:
    return text[:-1].rstrip() if len(text) > 1 and text[-1] in ".。" else text


EXAMPLES = (
    Example({"answers": ["Canberra"]}, "The capital:\n\n**Answer:** canberra.", Outcome.PASS),
    Example({"answers": ["Canberra"]}, 'ANSWER: "Canberra"', Outcome.PASS),
    Example({"answers": ["Canberra"]}, "ANSWER: b", Outcome.FAIL, "wrong"),
    Example({"answers": ["Canberra"]}, "It is Canberra.", Outcome.FAIL, "no_answer"),
    Example({"answers": ["SiO2"], "case": True}, "ANSWER: sio2", Outcome.FAIL, "wrong"),
)

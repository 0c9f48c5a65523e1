"""What judging yields, and the contract that every scorer keeps.

A scorer is a file in `scorers/methods/` with

    VERSION         an int; any change of behaviour raises it
    EXPECT_SCHEMA   a JSON Schema of the item's `expect`
    score           (expect, response) -> Verdict: pure, never raises on any text, bounded in time
    EXAMPLES        Examples that prove it, run by the tests

and, where it needs them,

    fault           (expect) -> a sentence on what a schema cannot say against this `expect`, empty where it is good
    OWN_PROCESS     True if it runs what could hang in processes of its own; other scorers run in one that can be killed

FAIL blames the model. UNSCORABLE says that nobody can tell.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from scorers.response import Response


class Outcome(StrEnum):
    """The three ways in which judging ends."""

    PASS = "pass"
    FAIL = "fail"
    UNSCORABLE = "unscorable"


@dataclass(frozen=True, slots=True, kw_only=True)
class Defect:
    """Something broken in the text beside its correctness; it never changes the outcome."""

    kind: str
    """control_token, stop_overrun, repetition_loop, tool_text or whitespace_runaway."""
    text: str
    """The evidence, cut at 200 characters."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Verdict:
    """The judgement of one response."""

    outcome: Outcome
    reason: str = ""
    """One word; empty for a pass."""
    detail: str = ""
    """One sentence for a person."""
    extracted: str | None = None
    """The field that was judged, after unwrapping, cut at 200 characters; None where there is none."""
    defects: tuple[Defect, ...] = ()
    scorer: str = ""
    scorer_version: int = 0


@dataclass(frozen=True, slots=True)
class Example:
    """A case that a scorer must judge as stated."""

    expect: Mapping[str, Any]
    response: str | Response
    outcome: Outcome
    reason: str = ""


def passed(extracted: str | None = None, detail: str = "") -> Verdict:
    """The response is right."""
    return Verdict(outcome=Outcome.PASS, detail=detail, extracted=cut(extracted))


def failed(reason: str, detail: str = "", extracted: str | None = None) -> Verdict:
    """The model is to blame: `wrong`, `no_answer`, `malformed`, `empty`, `timeout` or `raised`."""
    return Verdict(outcome=Outcome.FAIL, reason=reason, detail=detail, extracted=cut(extracted))


def unscorable(reason: str, detail: str = "") -> Verdict:
    """Nobody can tell: `truncated`, `filtered`, `aborted`, `unclosed_reasoning`, `scorer_error`, ..."""
    return Verdict(outcome=Outcome.UNSCORABLE, reason=reason, detail=detail)


def cut(text: str | None, limit: int = 200) -> str | None:
    """At most `limit` characters of a text."""
    return None if text is None else text[:limit]

"""Finds what is broken in a judged text beside its correctness, and what of it a scorer may see. Changes no outcome.

control_token        a stop or role token in the text; the text ends there for the scorer
stop_overrun         text after such a token, or a turn that the model wrote for the user
tool_text            a tool call written as text
repetition_loop      a unit that repeats without a gap
whitespace_runaway   200 white-space characters in a row
"""

import re
from collections.abc import Mapping, Sequence
from typing import Any

from scorers.fences import within
from scorers.loops import repeated_unit
from scorers.tokens import CUTS, REMOVED, tail
from scorers.toolcalls import offered_names, written_call
from scorers.verdict import Defect

BLANKS = re.compile(r"\s{200}")
_OPENING = (
    r"<\|im_start\|>|<\|start_header_id\|>|<\|header_start\|>|<start_of_turn>|<\|turn>|<\|start_of_role\|>|<\|start\|>"
)
_CLOSING = r"(?:<\|end_header_id\|>|<\|header_end\|>|<\|im_sep\|>|<\|end_of_role\|>|<\|im_middle\|>|<\|message\|>)?+"
HEADER = re.compile(
    rf"\s*+(?:(?:{_OPENING})\s?(?:assistant|model)(?![A-Za-z]){_CLOSING}|<\|im_assistant\|>(?:assistant)?{_CLOSING}"
    r"|(?:<\|START_OF_TURN_TOKEN\|>)?<\|CHATBOT_TOKEN\|>|<\|assistant\|>|<｜Assistant｜>)\s*+"
)
"""The opening of the model's own turn; at the start of a text it is taken out, since nothing was stopped."""
ANY_HEADER = re.compile(rf"(?:{_OPENING}|<\|im_\w+\|>)\s?(?:assistant|user|system|model|tool|ipython)?(?![A-Za-z])")
HTML_PAIR = re.compile(r"<s(?:\s[^<>]{0,200})?>(?:(?!<s>|</s>).)*+</s>", re.DOTALL)
TURN = re.compile(r"\n[^\S\n]{0,8}(?:\*\*|#{1,6} )?(?:User|USER|Human|HUMAN|### Instruction)(?:\*\*)? ?[:：]")
SPEAKER = re.compile(
    r"^[^\w\n]{0,8}(?:User|Human|Assistant|AI|Bot|Agent|Customer)\W{0,3}[:：]", re.MULTILINE | re.IGNORECASE
)
EVIDENCE = 200


def inspect(text: str, tools: Sequence[Mapping[str, Any]] = ()) -> tuple[str, tuple[Defect, ...]]:
    """The text that a scorer may see, and the defects of the whole, in the order of the module's list."""
    seen, found = _without_tokens(text)
    turn = TURN.search(seen)
    if turn and seen[: turn.start()].strip() and not SPEAKER.search(seen[: turn.start()]):
        found.append(("stop_overrun", seen[turn.start() :].strip()))
    found.append(("tool_text", written_call(text, offered_names(tools))))
    found.append(("repetition_loop", repeated_unit(text)))
    found += [("whitespace_runaway", blanks.group()) for blanks in [BLANKS.search(text)] if blanks]
    return seen, tuple(Defect(kind=kind, text=evidence[:EVIDENCE]) for kind, evidence in found if evidence)


def _without_tokens(text: str) -> tuple[str, list[tuple[str, str]]]:
    """The text up to its first stop or role token, other tokens taken out; what was found."""
    found: list[tuple[str, str]] = []
    if not any(mark in text for mark in ("|>", "｜>", "<", "[", "]")):
        return _without_tail(text, found)
    header = HEADER.match(text)
    if header:
        found.append(("control_token", header.group().strip()))
        text = text[header.end() :]
    html = [pair.span() for pair in HTML_PAIR.finditer(text)] if "</s>" in text else []
    cut = next((token for token in CUTS.finditer(text) if not within(token.start(), html)), None)
    seen = text[: cut.start()] if cut else text
    others = [token for token in REMOVED.finditer(seen) if not within(token.start(), html)]
    found += [("control_token", token) for token in dict.fromkeys(token.group() for token in others)]
    for token in reversed(others):
        seen = seen[: token.start()] + seen[token.end() :]
    if cut is None:
        return _without_tail(seen, found)
    found.append(("control_token", cut.group()))
    rest = text[cut.end() :]
    words = REMOVED.sub("", CUTS.sub("", ANY_HEADER.sub("", text[cut.start() :])))
    if words.strip():
        found.append(("stop_overrun", rest.strip()))
    return seen, found


def _without_tail(text: str, found: list[tuple[str, str]]) -> tuple[str, list[tuple[str, str]]]:
    """The text without the rest of a torn token, or a role word left alone on its last line."""
    torn = tail(text.rstrip())
    if torn:
        return text.rstrip().removesuffix(torn), [*found, ("control_token", torn)]
    before, _, last = text.rstrip().rpartition("\n")
    if last.strip() == "assistant" and before.strip():
        return before, [*found, ("control_token", "assistant")]
    return text, found

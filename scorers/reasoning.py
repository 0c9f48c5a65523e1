"""Parts the visible answer from the reasoning that a server left in the text. Judges neither.

Markers count at the start of the text or of a line, outside backticks and fences. A closer also counts anywhere behind
an opening marker, and where it directly follows a word or a sentence: templates that pre-fill the opening marker make
models write `... so it is 42.</think>`.
"""

import re
from dataclasses import dataclass

from scorers.fences import fences, within

_LINE = r"^[^\S\n]*+"
HARMONY = r"(?:<\|start\|>assistant)?<\|channel\|>"
MARKER = re.compile(
    rf"{_LINE}(?P<open><think>|<thinking>|\[THINK\]|<seed:think>)"
    r"|(?P<close></think>|</thinking>|\[/THINK\]|</seed:think>)"
    rf"|(?P<final>(?:<\|end\|>\s*)?{HARMONY}final(?: <\|constrain\|>\w+)?<\|message\|>)"
    rf"|(?P<analysis>{HARMONY}analysis<\|message\|>)"
    r"|(?P<end><\|end\|>)",
    re.MULTILINE,
)
STRIPPED_HARMONY = re.compile(r"analysis(?=\S)(?:.*)assistantfinal", re.DOTALL)
BLANK_LINES = re.compile(r"(?:[^\S\n]*\n)+")


@dataclass(frozen=True, slots=True, kw_only=True)
class Parted:
    """A text without its reasoning."""

    visible: str
    """What follows the last closing marker; the whole text where there is none."""
    marked: bool = False
    """Whether the text held reasoning."""
    unclosed: bool = False
    """Whether an opening marker was never closed."""


def part(text: str) -> Parted:
    r"""The text after the last closing reasoning marker, without the blank lines behind the marker.

    >>> part("<think>\n6 times 7\n</think>\n\nANSWER: 42").visible
    'ANSWER: 42'
    """
    stripped = STRIPPED_HARMONY.match(text)
    if stripped:
        return Parted(visible=_after(text, stripped.end()), marked=True)
    if not any(part in text for part in ("think>", "thinking>", "THINK]", "<|channel|>")):
        return Parted(visible=text)
    return _parted(text)


def _parted(text: str) -> Parted:
    """The text parted at its markers, taken in order."""
    markers = list(MARKER.finditer(text))
    if not any(found.lastgroup != "end" for found in markers):
        return Parted(visible=text)
    hidden = [(fence.start, fence.end) for fence in fences(text)]
    opened, end, marked = "", 0, False
    for found in markers:
        kind = found.lastgroup or ""
        if within(found.end() - 1, hidden) or _quoted(text, found):
            continue
        if kind in ("open", "analysis"):
            opened, marked = opened or kind, True
        elif _closes(text, found, opened):
            opened, end = "", found.end()
    return Parted(visible=_after(text, end) if end else text, marked=marked or bool(end), unclosed=bool(opened))


def _closes(text: str, found: re.Match[str], opened: str) -> bool:
    """Whether a closer ends reasoning: behind an opener, at the start of a line, or right behind a sentence."""
    if found.lastgroup == "end":
        return opened == "analysis"
    last = text[max(0, found.start() - 1) : found.start()]
    if opened or last.isalnum() or (last and last in ".!?。！？…)*$}"):
        return True
    return not text[text.rfind("\n", 0, found.start()) + 1 : found.start()].strip()


def _quoted(text: str, found: re.Match[str]) -> bool:
    """Whether the marker stands in backticks."""
    line = text[text.rfind("\n", 0, found.start()) + 1 : found.start()]
    return line.count("`") % 2 == 1 and "`" in text[found.end() :].split("\n", 1)[0]


def _after(text: str, end: int) -> str:
    rest = text[end:]
    blank = BLANK_LINES.match(rest)
    return rest[blank.end() :] if blank else rest

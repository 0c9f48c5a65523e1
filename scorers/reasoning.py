"""Parts the visible answer from the reasoning that a server left in the text. Judges neither.

Markers count at the start of the text or of a line, outside backticks and fences. A closer also counts anywhere behind
an opening marker, and where it directly follows a word or a sentence: templates that pre-fill the opening marker make
models write `... so it is 42.</think>`.
"""

import re
from dataclasses import dataclass

from scorers.fences import fences

OPENERS = re.compile(
    r"^[^\S\n]*+(?:<think>|<thinking>|\[THINK\]|<seed:think>|(?:<\|start\|>assistant)?<\|channel\|>analysis<\|message\|>)",
    re.MULTILINE,
)
HARMONY_FINAL = (
    r"(?:<\|end\|>\s*)?(?:<\|start\|>(?:assistant)?)?<\|channel\|>final(?: <\|constrain\|>\w+)?<\|message\|>"
)
CLOSERS = re.compile(
    rf"</think>|</thinking>|\[/THINK\]|</seed:think>|{HARMONY_FINAL}|<\|end\|>(?:<\|start\|>assistant)?"
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
    if "<" not in text and "[" not in text:
        return Parted(visible=text)
    return _parted(text)


def _parted(text: str) -> Parted:
    openers = [found for found in OPENERS.finditer(text)]
    closers = list(CLOSERS.finditer(text))
    if not openers and not closers:
        return Parted(visible=text)
    hidden = [(fence.start, fence.end) for fence in fences(text)]
    openers = [found for found in openers if not _within(found.end(), hidden)]
    first = openers[0].start() if openers else len(text)
    end = 0
    for found in closers:
        if not _within(found.start(), hidden) and not _quoted(text, found) and _closes(text, found, first):
            end = found.end()
    unclosed = any(found.start() >= end for found in openers)
    return Parted(visible=_after(text, end) if end else text, marked=bool(end or openers), unclosed=unclosed)


def _closes(text: str, found: re.Match[str], first_opener: int) -> bool:
    """Whether a closer ends reasoning: behind an opener, at the start of a line, or right behind a sentence."""
    start = found.start()
    if first_opener < start:
        return True
    if found.group().startswith("<|end|>") and "final" not in found.group():
        return False
    before = text[text.rfind("\n", 0, start) + 1 : start]
    return not before.strip() or re.search(r"[\w.!?。！？…)*$}]$", before) is not None


def _quoted(text: str, found: re.Match[str]) -> bool:
    """Whether the marker stands in backticks."""
    line = text[text.rfind("\n", 0, found.start()) + 1 : found.start()]
    return line.count("`") % 2 == 1 and "`" in text[found.end() :].split("\n", 1)[0]


def _within(position: int, spans: list[tuple[int, int]]) -> bool:
    return any(start < position <= end for start, end in spans)


def _after(text: str, end: int) -> str:
    rest = text[end:]
    blank = BLANK_LINES.match(rest)
    return rest[blank.end() :] if blank else rest

"""Finds complete code fences in Markdown as models write it. Extracts no answer and runs nothing.

A fence is opened by a line of three or more backticks or tildes and closed by a bare line of at least as many. A tag
counts only alone on its line; anything else after the opening marks is the first line of the content. A tagged opening
line inside an open fence of no greater length shows that the outer one never closed. A fence that never closes is none.
"""

import re
from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass

MARK = re.compile(r"^([^\S\n]*+)(`{3,}+|~{3,}+)([^\n]*+)$", re.MULTILINE)
TAG = re.compile(r"\{?\.?[A-Za-z][\w+#.-]*+\}?\s*+$")
RESCANS = 50
"""How many unclosed openings are looked behind; beyond that the text is noise and its fences are not looked for."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Fence:
    """One complete fence: `text[start:end]` with its marks, its tag in lower case and its content."""

    start: int
    end: int
    tag: str
    content: str


@dataclass(frozen=True, slots=True)
class _Mark:
    start: int
    end: int
    indent: int
    char: str
    length: int
    rest: str

    @property
    def bare(self) -> bool:
        return not self.rest

    @property
    def tagged(self) -> bool:
        return TAG.match(self.rest) is not None


def fences(text: str) -> list[Fence]:
    r"""The complete fences of `text` in order; a lone fence line at its end closes a fence that opens the text.

    >>> [fence.content for fence in fences("~~~\na\n~~~ \n```python\nb\n```")]
    ['a', 'b']
    >>> [fence.content for fence in fences("x = 1\n```")]
    ['x = 1']
    """
    marks = [_mark(found) for found in MARK.finditer(text)]
    if len(marks) == 1 and marks[0].bare and not text[marks[0].end :].strip():
        return [Fence(start=0, end=marks[0].end, tag="", content=_line_end(text[: marks[0].start]))]
    found: list[Fence] = []
    first = 0
    for _ in range(RESCANS):
        unclosed = _pair(text, marks, first, found)
        if unclosed is None:
            break
        first = unclosed + 1
    return found


def _mark(found: re.Match[str]) -> _Mark:
    indent, run, rest = found.groups()
    return _Mark(found.start(), found.end(), len(indent), run[0], len(run), rest.strip())


def _pair(text: str, marks: list[_Mark], first: int, found: list[Fence]) -> int | None:
    """Appends the fences from mark `first` on; the position of an opening that never closes, or None."""
    opened: int | None = None
    for position in range(first, len(marks)):
        mark = marks[position]
        if opened is None:
            one_line = _one_line(mark)
            if one_line is not None:
                found.append(Fence(start=mark.start, end=mark.end, tag="", content=one_line))
            elif mark.char not in mark.rest:
                opened = position
        elif _belongs(marks[opened], mark) and mark.bare:
            found.append(_fence(text, marks[opened], mark))
            opened = None
        elif _belongs(marks[opened], mark) and mark.tagged:
            opened = position
    return opened


def _belongs(opening: _Mark, mark: _Mark) -> bool:
    return mark.char == opening.char and mark.length >= opening.length and mark.indent <= opening.indent + 3


def _one_line(mark: _Mark) -> str | None:
    """The content of a fence that opens and closes on one line; None if the line is something else."""
    content = mark.rest[: -mark.length]
    closes = mark.rest.endswith(mark.char * mark.length) and content.strip() and mark.char not in content
    return content if closes else None


def _fence(text: str, opening: _Mark, closing: _Mark) -> Fence:
    content = _line_end(text[opening.end + 1 : closing.start])
    if opening.indent:
        lines = content.split("\n")
        content = "\n".join(line[min(opening.indent, len(line) - len(line.lstrip())) :] for line in lines)
    if opening.rest and not opening.tagged:
        content = f"{opening.rest}\n{content}"
    tag = opening.rest.strip("{.} ").lower() if opening.tagged else ""
    return Fence(start=opening.start, end=closing.end, tag=tag, content=content)


def _line_end(text: str) -> str:
    """The text without its last line end."""
    return text.removesuffix("\n").removesuffix("\r")


def within(position: int, spans: Sequence[tuple[int, int]]) -> bool:
    """Whether a position lies in one of the spans, which are in order and do not overlap.

    >>> within(3, [(0, 2), (3, 5)]), within(5, [(0, 2), (3, 5)])
    (True, False)
    """
    at = bisect_right(spans, position, key=lambda span: span[0]) - 1
    return at >= 0 and position < spans[at][1]


def enclosed(text: str) -> str | None:
    """The content of the one fence that encloses the whole of `text`, whatever fences it holds; None without one."""
    lines = text.split("\n")
    opening, closing = MARK.match(lines[0]), MARK.match(lines[-1])
    if len(lines) < 2 or opening is None or closing is None or opening[2] != closing[2] or closing[3].strip():
        return None
    rest = opening[3].strip()
    return None if rest and not TAG.match(rest) else _line_end("".join(f"{line}\n" for line in lines[1:-1]))

"""Takes the answer's field out of a judged text by the item's one convention. Compares nothing and guesses nothing.

    line    the last line-anchored `ANSWER:`      boxed   the last box with balanced braces
    whole   the whole text                        fence   the last complete code fence
    json    the JSON value (see `jsontext`)

There is no cascade to "the last number in the text".
"""

import re
from collections.abc import Sequence

from scorers.fences import fences

CONVENTIONS = ("line", "boxed", "whole", "fence", "json")
_MARKS = r"\*{1,3}|_{2,3}|_|`"
LINE = re.compile(
    rf"[^\S\n]*+(?:(?:>|[-*+•](?=\s)|[0-9]{{1,9}}[.)](?=\s)|\#{{1,6}}(?=\s))[^\S\n]*+)*+(?P<open>(?:{_MARKS})*+)"
    rf"(?:final[^\S\n]++)?+answer(?P<close>(?:{_MARKS})*+)[^\S\n]*+[:：](?P<rest>.*+)",
    re.IGNORECASE,
)
_WORDS = r"[^\W\d][\w '’/|:.-]{%s}"
TEMPLATE = re.compile(rf"<[^\W\d][\w ,'’/|:.-]{{0,80}}>|\[{_WORDS % '0,80'}\]|\{{{_WORDS % '2,80'}\}}|\.{{3,}}|…+")
"""`<number>`, `[LETTER]`, `{your answer}`, `...`; one or two letters in braces are a set, as in `{x}` or `{pi}`."""
BRACE = re.compile(r"\\f?boxed\s*\{|\\.|[{}]", re.DOTALL)
MACRO = re.compile(r"\\(?:boxed|fbox|text|textbf|textit|textrm|mathrm|mathbf)\s*(?=\{)")
WRAPPINGS = 16
"""So many wrappings are taken off; more are noise."""
PAIRS = ("***", "**", "*", "___", "__", "`", "$$", "$")


def field(text: str, convention: str, gold: Sequence[str] = ()) -> str | None:
    r"""The field of `text` by one of CONVENTIONS, unwrapped; None where there is none or it is an echoed template.

    `gold` are right answers, which are never taken for a template.

    >>> field("**Answer:** \\boxed{42}", "line")
    '42'
    >>> field("ANSWER: <number>", "line")
    """
    if convention == "json":
        from scorers.jsontext import scalar_field

        return scalar_field(text)
    if convention == "fence":
        complete = fences(text)
        return complete[-1].content if complete else None
    if convention == "line":
        found = _last_line(text)
    elif convention == "boxed":
        found = boxed(text)
    else:
        found = text
    value = unwrap(found) if found is not None else ""
    echoed = convention == "line" and TEMPLATE.fullmatch(value) and not _is_gold(value, gold)
    return None if not value or echoed else value


def boxed(text: str) -> str | None:
    r"""The content of the last outermost box whose braces balance.

    >>> boxed(r"\boxed{1} then \boxed{\frac{1}{2}} and \boxed{4")
    '\\frac{1}{2}'
    """
    opened: list[tuple[bool, int]] = []
    boxes: list[tuple[int, int]] = []
    for found in BRACE.finditer(text):
        token = found.group()
        if token == "}":
            if opened:
                is_box, start = opened.pop()
                if is_box:
                    while boxes and boxes[-1][0] >= start:
                        boxes.pop()
                    boxes.append((start, found.start()))
        elif token.endswith("{") and token != "\\{":
            opened.append((token != "{", found.end()))
    return text[slice(*boxes[-1])] if boxes else None


def unwrap(text: str) -> str:
    r"""The value without the bold, backticks, `$..$`, `\( \)`, boxes and text macros that enclose the whole of it.

    A full stop behind them stays behind the value.

    >>> unwrap(r"**$\boxed{\text{B}}$**.")
    'B.'
    """
    text = text.strip()
    for _ in range(WRAPPINGS):
        stop = "." if text.endswith(".") and len(text) > 1 else ""
        inner = _inner(text)
        if inner is None and stop:
            inner = _inner(text[:-1].rstrip())
            inner = None if inner is None else inner + stop
        if inner is None:
            return text
        text = inner.strip()
    return text


def _last_line(text: str) -> str | None:
    for line in reversed(re.split(r"\r\n|\n|\r", text)):
        found = LINE.match(line)
        if found:
            return _value(found)
    return None


def _value(found: re.Match[str]) -> str:
    """What stands behind the colon, without the closing halves of marks that were opened before it."""
    rest = found["rest"].strip()
    opened = "" if found["close"] else found["open"]
    if not opened:
        return rest
    closing = opened[::-1]
    if rest.startswith(closing):
        return rest[len(closing) :].strip()
    for ending in (closing, closing + ".", closing + "。"):
        if rest.endswith(ending):
            return rest.removesuffix(ending).rstrip() + ending[len(closing) :]
    return rest


def _inner(text: str) -> str | None:
    """The text one wrapping further in; None where nothing wraps the whole of it."""
    for mark in PAIRS:
        inner = text[len(mark) : -len(mark)]
        if text.startswith(mark) and text.endswith(mark) and len(text) > 2 * len(mark) and mark not in inner:
            return inner
    for start, end in (("\\(", "\\)"), ("\\[", "\\]")):
        if text.startswith(start) and text.endswith(end) and start not in text[2:] and len(text) >= 4:
            return text[2:-2]
    found = MACRO.match(text)
    if found and _closing(text, found.end()) == len(text) - 1:
        return text[found.end() + 1 : -1]
    return None


def _closing(text: str, start: int) -> int:
    """The position of the brace that closes the one at `start`; -1 where none does."""
    depth = 0
    for found in BRACE.finditer(text, start):
        token = found.group()
        depth += (token.endswith("{") and token != "\\{") - (token == "}")
        if depth == 0 and token == "}":
            return found.start()
    return -1


def _is_gold(value: str, gold: Sequence[str]) -> bool:
    return " ".join(value.split()).casefold() in {" ".join(right.split()).casefold() for right in gold}

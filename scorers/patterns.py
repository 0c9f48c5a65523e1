"""Item authors' regular expressions, run by a linear-time engine. A lone surrogate in a text is read as U+FFFD."""

import re
from functools import lru_cache
from typing import Any

_SURROGATE = re.compile("[\ud800-\udfff]")


def found(pattern: str, text: str) -> bool:
    """Whether the pattern matches somewhere in the text."""
    return _compiled(pattern).search(_encodable(text)) is not None


def matched(pattern: str, text: str) -> bool:
    """Whether the pattern matches the whole text."""
    return _compiled(pattern).fullmatch(_encodable(text)) is not None


def count(pattern: str, text: str) -> int:
    """How many times the pattern matches without overlap."""
    return sum(1 for _ in _compiled(pattern).finditer(_encodable(text)))


def pattern_fault(pattern: str) -> str:
    """Why the engine does not take a pattern; empty where it does. Look-around and back-references are not taken.

    >>> pattern_fault("a+b")
    ''
    """
    import re2

    options = re2.Options()
    options.log_errors = False
    try:
        re2.compile(pattern, options=options)
    except UnicodeEncodeError as error:
        return f"{pattern!r} is not for a linear-time engine: {error}"
    except re2.error as error:
        told = error.args[0] if error.args else ""
        return f"{pattern!r} is not for a linear-time engine: {told.decode() if isinstance(told, bytes) else told}"
    return ""


@lru_cache(maxsize=1024)
def _compiled(pattern: str) -> Any:
    import re2

    return re2.compile(pattern)


def _encodable(text: str) -> str:
    return _SURROGATE.sub("\ufffd", text)

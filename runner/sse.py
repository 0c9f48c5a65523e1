"""Splits the bytes of an event stream into events. Decodes no JSON and keeps no time.

Lines end at LF or CRLF and nowhere else: a splitter that knows Unicode's line ends (U+2028, U+0085, form feed) cuts
JSON in two. What follows the last line end is a line too, so that a cut stream shows all that came.
"""

import re
from collections.abc import Iterator
from typing import NamedTuple

DONE = b"[DONE]"
_DONE_LINE = re.compile(rb"(?:^|[\r\n])data:[ \t]*\[DONE\]")


class Event(NamedTuple):
    """One event of a stream."""

    data: bytes
    """Its `data` lines, joined with LF."""
    end: int
    """The offset in the stream just after its last data line."""
    name: bytes = b""
    """Its `event` field; empty where there is none."""


def events(stream: bytes) -> Iterator[Event]:
    r"""The events of a stream, in order; comments, `id` and `retry` are skipped.

    A line that starts with a brace counts as data: some servers write a late error without the `data:` in front.

    >>> [event.data for event in events(b'data: {"a":1}\r\n\r\n: ping\n\ndata: [DONE]')]
    [b'{"a":1}', b'[DONE]']
    """
    at = 3 if stream.startswith(b"\xef\xbb\xbf") else 0
    for block in stream[at:].split(b"\n\n"):
        if block.startswith(b"data: ") and b"\n" not in block and not block.endswith(b"\r"):
            yield Event(block[6:], min(at + len(block) + 1, len(stream)))
        elif block:
            yield from _events(block, at, len(stream))
        at += len(block) + 2


def _events(block: bytes, at: int, size: int) -> Iterator[Event]:
    """The events of a part of the stream that begins at `at` and ends with a blank line."""
    data: list[bytes] = []
    name = b""
    end = at
    for raw in block.split(b"\n"):
        line = raw.removesuffix(b"\r")
        at += len(raw) + 1
        if not line:
            if data:
                yield Event(b"\n".join(data), end, name)
            data, name = [], b""
        elif line.startswith(b"data:"):
            data.append(line[6:] if line[5:6] == b" " else line[5:])
            end = min(at, size)
        elif line.startswith(b"{"):
            data.append(line)
            end = min(at, size)
        elif line.startswith(b"event:"):
            name = line[6:].strip()
    if data:
        yield Event(b"\n".join(data), end, name)


def is_done(window: bytes) -> bool:
    """Whether these bytes hold the line that ends a stream; a `[DONE]` inside a JSON text is none."""
    return DONE in window and _DONE_LINE.search(window) is not None


def is_finished(window: bytes) -> bool:
    """Whether these bytes give a finish_reason; quotes inside a JSON text are escaped and never match."""
    return b'"finish_reason":"' in window or b'"finish_reason": "' in window

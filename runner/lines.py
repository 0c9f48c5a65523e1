"""Reads, writes and mends files of one JSON value a line. Knows nothing of what the lines mean."""

import errno
import os
from collections.abc import Iterable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import IO, Any, TypeVar

import msgspec

from itembank.errors import UserError

T = TypeVar("T")


def lines(path: Path, kind: type[T]) -> Iterator[T]:
    """The rows of a file; a torn last line is left out. Raises UserError naming a damaged line."""
    if not path.exists():
        return
    decoder: msgspec.json.Decoder[Any] = msgspec.json.Decoder(kind)
    with path.open("rb") as file:
        for number, line in enumerate(file, 1):
            if not line.endswith(b"\n"):
                return
            try:
                yield decoder.decode(line)
            except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
                raise UserError(
                    f"{path}:{number}: damaged line ({error}); `run --resume RUN --repair` drops it"
                ) from None


def drop_damaged(path: Path, kind: type, inside: bool) -> int:
    """Cut a torn last line off; with `inside`, drop every line that is no `kind`, and return how many those were."""
    if not path.exists():
        return 0
    _drop_torn_tail(path)
    if not inside:
        return 0
    decoder: msgspec.json.Decoder[Any] = msgspec.json.Decoder(kind)
    dropped = 0

    def sound(source: IO[bytes]) -> Iterator[bytes]:
        nonlocal dropped
        for line in source:
            try:
                decoder.decode(line)
                yield line
            except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
                dropped += 1

    with path.open("rb") as source:
        replace_file(path, sound(source))
    return dropped


def append_whole(file: IO[bytes], line: bytes) -> None:
    """Add one line to an unbuffered file, all of it or nothing. Raises OSError, also if the file has been deleted."""
    if not os.fstat(file.fileno()).st_nlink:
        raise FileNotFoundError(errno.ENOENT, "its files have been deleted")
    start = file.seek(0, os.SEEK_END)
    written = 0
    try:
        while written < len(line):
            written += file.write(line[written:])
    except OSError:
        with suppress(OSError):
            file.truncate(start)
        raise


def replace_file(path: Path, parts: Iterable[bytes]) -> None:
    """Write a file anew in one step, safe from a loss of power. Raises OSError; the old file is then still there."""
    temporary = path.with_name(f"{path.name}.new")
    try:
        with temporary.open("wb") as file:
            file.writelines(parts)
            file.flush()
            os.fsync(file.fileno())
        temporary.replace(path)
    except OSError:
        with suppress(OSError):
            temporary.unlink()
        raise


def _drop_torn_tail(path: Path, block: int = 1 << 16) -> None:
    """Cut what follows the last newline, reading backwards so that a long file costs nothing."""
    with path.open("r+b") as file:
        end = file.seek(0, 2)
        while end:
            start = max(0, end - block)
            file.seek(start)
            newline = file.read(end - start).rfind(b"\n")
            if newline >= 0:
                file.truncate(start + newline + 1)
                return
            end = start
        file.truncate(0)

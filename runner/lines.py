"""Reads and mends files of one JSON value a line. Knows nothing of what the lines mean."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any, TypeVar

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
            except (msgspec.DecodeError, UnicodeDecodeError) as error:
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
    temporary = path.with_name(f"{path.name}.new")
    dropped = 0
    with path.open("rb") as source, temporary.open("wb") as target:
        for line in source:
            try:
                decoder.decode(line)
                target.write(line)
            except (msgspec.DecodeError, UnicodeDecodeError):
                dropped += 1
    temporary.replace(path)
    return dropped


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

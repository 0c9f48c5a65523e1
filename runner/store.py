"""The run folder: create, append, read, resume. A folder is valid after every line.

`.jsonl` files only grow; `run.json` is replaced atomically. Computes nothing.
"""

import fcntl
import re
import time
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import IO, Any

import msgspec

from itembank.errors import UserError
from runner.exchange import Answer, Level, LevelExchange, Outline, Trial
from runner.lines import append_whole, drop_damaged, lines, replace_file
from runner.record import RunRecord, upgrade

FILES = {Trial: "trials.jsonl", Level: "levels.jsonl", LevelExchange: "exchanges.jsonl"}
VERDICTS = "verdicts.jsonl"
KINDS: dict[str, type] = {**{name: kind for kind, name in FILES.items()}, VERDICTS: dict}
_ENCODER = msgspec.json.Encoder()


def utc_now() -> str:
    """The wall time, UTC, ISO 8601 with microseconds."""
    return datetime.now(UTC).isoformat(timespec="microseconds")


def safe_name(name: str) -> str:
    """A folder name that stays inside its parent on every file system.

    >>> safe_name("../etc/x"), safe_name("con")
    ('etc_x', '_con')
    """
    name = re.sub(r"[^A-Za-z0-9._-]+", "_", name).strip("._")[:80]
    reserved = {"con", "prn", "aux", "nul"} | {f"{port}{n}" for port in ("com", "lpt") for n in range(1, 10)}
    return f"_{name}" if name.split(".")[0].lower() in reserved or not name else name


class RunFolder:
    """One run on disk. Opened for writing it holds a lock; opened for reading it holds nothing."""

    def __init__(self, path: Path, record: RunRecord) -> None:
        self.path = path
        self.record = record
        self._files: dict[str, IO[bytes]] = {}
        self._lock: IO[bytes] | None = None

    @classmethod
    def create(cls, out: Path, record: RunRecord) -> "RunFolder":
        """A new folder `out/<serving>/<UTC time>-<kind>` with its record written and its lock held."""
        stamp = time.strftime("%Y%m%dT%H%M%S", time.gmtime())
        parent = out / safe_name(str(record.serving.get("name", "serving")))
        for attempt in range(1000):
            path = parent / f"{stamp}-{record.kind}{f'-{attempt}' if attempt else ''}"
            try:
                path.mkdir(parents=True)
                break
            except FileExistsError:
                continue
            except OSError as error:
                raise UserError(f"cannot create {path}: {error.strerror}; give a writable folder with --out") from None
        run = cls(path, record)
        run._acquire()
        try:
            run.write_record(record)
        except UserError:
            run.close()
            raise
        return run

    @classmethod
    def read(cls, path: Path) -> "RunFolder":
        """The folder at `path`, for reading. Raises UserError if it is no run folder."""
        return cls(path, read_record(path))

    @classmethod
    def resume(cls, path: Path, repair: bool = False) -> "RunFolder":
        """The folder at `path`, for writing: takes the lock and drops torn last lines.

        With `repair` it drops damaged lines inside the files as well and notes how many.
        """
        run = cls.read(path)
        run._acquire()
        dropped = {name: drop_damaged(path / name, kind, inside=repair) for name, kind in KINDS.items()}
        notes = [f"{count} damaged lines of {name} left out" for name, count in dropped.items() if count]
        if notes:
            run.update(notes=(*run.record.notes, *notes))
        return run

    def _acquire(self) -> None:
        try:
            self._lock = (self.path / ".lock").open("wb")
        except OSError as error:
            raise UserError(f"cannot write to {self.path}: {error.strerror}") from None
        try:
            fcntl.flock(self._lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            self.close()
            raise UserError(f"another triplicate is writing to {self.path}; wait for it or stop it") from None

    def write_record(self, record: RunRecord) -> None:
        """Replace run.json in one step. Raises UserError if it cannot be written; the old one is then still there."""
        try:
            replace_file(self.path / "run.json", [msgspec.json.format(_ENCODER.encode(record), indent=1)])
        except OSError as error:
            raise self._unwritable(error) from None
        self.record = record

    def update(self, **changes: Any) -> None:
        """Change fields of the record."""
        self.write_record(replace(self.record, **changes))

    def append(self, row: Trial | Level | LevelExchange) -> None:
        """Add one line; it is in the file when this returns."""
        self._append(FILES[type(row)], row)

    def append_verdict(self, row: Mapping[str, Any]) -> None:
        """Add one line to verdicts.jsonl."""
        self._append(VERDICTS, row)

    def _append(self, name: str, row: object) -> None:
        line = _ENCODER.encode(row) + b"\n"
        try:
            if name not in self._files:
                self._files[name] = (self.path / name).open("ab", buffering=0)
            append_whole(self._files[name], line)
        except OSError as error:
            raise self._unwritable(error) from None

    def _unwritable(self, error: OSError) -> UserError:
        if not self.path.is_dir():
            return UserError(f"{self.path} has been deleted or moved in the middle; resume it if it is somewhere else")
        said = error.strerror or str(error)
        return UserError(f"cannot write to {self.path}: {said}; what it holds is kept: mend that, then resume the run")

    def trials(self) -> Iterator[Trial]:
        """The trials in the order of their ends."""
        return lines(self.path / FILES[Trial], Trial)

    def outlines(self) -> Iterator[Outline]:
        """The trials without their transcripts, in the same order."""
        return lines(self.path / FILES[Trial], Outline)

    def answers(self) -> Iterator[Answer]:
        """The responses of the trials, in the same order."""
        return lines(self.path / FILES[Trial], Answer)

    def levels(self) -> Iterator[Level]:
        """The levels in the order of measuring."""
        return lines(self.path / FILES[Level], Level)

    def exchanges(self) -> Iterator[LevelExchange]:
        """The requests of a ladder in the order of their ends."""
        return lines(self.path / FILES[LevelExchange], LevelExchange)

    def verdicts(self) -> Iterator[dict[str, Any]]:
        """The verdict lines; a response that could not be had has none."""
        return lines(self.path / VERDICTS, dict)

    def replace_verdicts(self, rows: Iterable[Mapping[str, Any]]) -> None:
        """Write verdicts.jsonl anew in one step."""
        try:
            replace_file(self.path / VERDICTS, (_ENCODER.encode(row) + b"\n" for row in rows))
        except OSError as error:
            raise self._unwritable(error) from None

    def end(self, status: str) -> None:
        """Note how the run ended and close. Raises UserError if that cannot be written; it is closed all the same."""
        try:
            self.update(status=status, ended_at=utc_now())
        finally:
            self.close()

    def close(self) -> None:
        """Close the files and give the lock back."""
        for file in (*self._files.values(), *([self._lock] if self._lock else ())):
            file.close()
        self._files, self._lock = {}, None

    def __enter__(self) -> "RunFolder":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def read_record(path: Path) -> RunRecord:
    """The record of the run folder at `path`. Raises UserError if there is none or it cannot be read."""
    try:
        row = msgspec.json.decode((path / "run.json").read_bytes())
    except FileNotFoundError:
        raise UserError(f"{path} is no run folder: it has no run.json") from None
    except (OSError, msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise UserError(f"{path / 'run.json'}: not readable: {error}") from None
    if not isinstance(row, dict):
        raise UserError(f"{path / 'run.json'}: not a record of triplicate")
    try:
        return msgspec.convert(upgrade(row), RunRecord)
    except msgspec.ValidationError as error:
        raise UserError(f"{path / 'run.json'}: not a record of triplicate: {error}") from None

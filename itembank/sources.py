"""Reads the rows of a bank from wherever they are: YAML, JSON Lines, CSV, Parquet, a dataset. Does not look into them.

A file over `MAX_BYTES` is refused before it is read, and so is a bank of more than `MAX_ROWS` rows.
"""

import csv
import json
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, NoReturn

from itembank.errors import UserError

MAX_BYTES = 64 * 1024 * 1024
MAX_ROWS = 100_000
STRUCTURED = ("messages", "context", "tools", "expect", "accept", "reject", "tags")
COUNTS = ("max_tokens", "difficulty")
REQUIRED = ("id", "dimension", "scorer", "expect")

Row = tuple[str, Any]


def bank_rows(source: str) -> Iterator[Row]:
    """(place, row) pairs of the bank at `source`; a place names file and line. Raises UserError if it is unreadable."""
    rows = _hub_rows(source) if source.startswith("hub:") else _file_rows(Path(source))
    for count, row in enumerate(rows):
        if count == MAX_ROWS:
            raise UserError(f"{source}: more than {MAX_ROWS:,} items; split the bank or name a smaller one")
        yield row


def _file_rows(path: Path) -> Iterator[Row]:
    readers = {
        ".yaml": yaml_rows,
        ".yml": yaml_rows,
        ".jsonl": _jsonl_rows,
        ".csv": _csv_rows,
        ".parquet": _parquet_rows,
    }
    if not _is_file(path):
        raise UserError(f"no bank at {path}; give `builtin`, a {', '.join(readers)} file, or hub:owner/name")
    if path.suffix.lower() not in readers:
        raise UserError(f"{path}: a bank is a file that ends in {', '.join(readers)}; rename or convert it")
    size = path.stat().st_size
    if size > MAX_BYTES:
        raise UserError(f"{path} has {size / 1e6:,.0f} MB; a bank may have {MAX_BYTES / 1e6:.0f} MB: split it")
    return readers[path.suffix.lower()](path)


def _is_file(path: Path) -> bool:
    try:
        return path.is_file()
    except OSError:
        return False


def yaml_rows(path: Path) -> Iterator[Row]:
    """The items of one YAML file: a list at the top level. Raises UserError with the line of the first fault."""
    import yaml

    loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    text = _text(path)
    try:
        rows = yaml.load(text, loader)
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark
        line = mark.line + 1 if mark else 1
        lines = text.splitlines()
        tab = line <= len(lines) and "\t" in lines[line - 1]
        hint = "; the line holds a tab, indent with spaces" if tab else ""
        raise UserError(f"{path}:{line}: not YAML: {error.problem or error.context}{hint}") from None
    except (yaml.YAMLError, RecursionError, ValueError) as error:
        raise UserError(f"{path}: not YAML: {error}") from None
    if not isinstance(rows, list):
        raise UserError(f"{path}: must be a list of items, each starting with `- id:`")
    for number, row in enumerate(rows, 1):
        yield f"{path.name}, item {number}", row


def _jsonl_rows(path: Path) -> Iterator[Row]:
    for number, line in enumerate(_text(path).split("\n"), 1):
        if line.strip():
            yield f"{path.name}:{number}", _json(line, f"{path}:{number}")


def _csv_rows(path: Path) -> Iterator[Row]:
    csv.field_size_limit(MAX_BYTES)
    reader = csv.DictReader(_text(path).splitlines(keepends=True), strict=True)
    try:
        _columns(path.name, reader.fieldnames or ())
        for row in reader:
            place = f"{path.name}:{reader.line_num}"
            if None in row:
                raise UserError(f"{place}: item {row.get('id')!r}: more cells than columns; quote cells with commas")
            yield place, _counted(_unpacked(row, place), place)
    except csv.Error as error:
        raise UserError(f"{path}:{reader.line_num}: not CSV: {error}") from None


def _parquet_rows(path: Path) -> Iterator[Row]:
    return _dataset_rows(path.name, "parquet", {"data_files": [str(path)]}, "train")


def _hub_rows(source: str) -> Iterator[Row]:
    name, _, split = source.removeprefix("hub:").rpartition(":")
    if not name or "/" in split:
        name, split = source.removeprefix("hub:"), ""
    if not name:
        raise UserError(f"{source}: name the dataset as hub:owner/name or hub:owner/name:split")
    return _dataset_rows(source, name, {}, split)


def _dataset_rows(place: str, name: str, options: Mapping[str, Any], split: str) -> Iterator[Row]:
    """Rows of a dataset, streamed so that nothing is copied to a cache on disk."""
    try:
        import datasets
        from datasets.exceptions import DatasetsError
    except ImportError:
        raise UserError(f"{place}: reading it needs `datasets`: pip install 'triplicate[hub]'") from None
    try:
        found = datasets.load_dataset(name, streaming=True, **options)
        splits = sorted(found)
        if not split and len(splits) > 1:
            raise UserError(f"{place}: has the splits {', '.join(splits)}; name one as hub:owner/name:split")
        if (split or splits[0]) not in splits:
            raise UserError(f"{place}: no split {split!r}; there are: {', '.join(splits)}")
        rows = found[split or splits[0]]
        for number, row in enumerate(rows, 1):
            if number == 1:
                _columns(place, row)
            at = f"{place}, row {number}"
            yield at, _unpacked(_shaped(row, rows.features, at), at)
    except (DatasetsError, OSError, ValueError, RuntimeError) as error:
        raise UserError(f"{place}: cannot be read as a dataset: {type(error).__name__}: {error}") from None


def _columns(place: str, names: Iterable[str]) -> None:
    present = list(names)
    missing = [name for name in REQUIRED if name not in present]
    if "prompt" not in present and "messages" not in present:
        missing.append("prompt")
    if missing:
        raise UserError(f"{place}: no column {missing[0]!r}; the columns are: {', '.join(present) or 'none'}")


def _unpacked(row: Mapping[str, Any], place: str) -> dict[str, Any]:
    """A flat row as an authored item: empty cells dropped, structured cells read as JSON where they are text."""
    filled = {key: value for key, value in row.items() if value is not None and value != ""}
    for key in STRUCTURED:
        if isinstance(filled.get(key), str):
            filled[key] = _json(filled[key], f"{place}: item {filled.get('id')!r}: {key}")
    return filled


def _counted(row: dict[str, Any], place: str) -> dict[str, Any]:
    for key in COUNTS:
        if key in row:
            try:
                row[key] = int(row[key])
            except ValueError:
                raise UserError(f"{place}: item {row.get('id')!r}: {key}: {row[key]!r} is no integer") from None
    return row


def _shaped(row: Mapping[str, Any], features: Any, place: str) -> Mapping[str, Any]:
    try:
        shaped: Mapping[str, Any] = _pruned(row, features if features is not None else dict.fromkeys(row))
    except UserError as error:
        raise UserError(f"{place}: item {row.get('id')!r}: {error}") from None
    return shaped


def _pruned(value: Any, kind: Any, path: tuple[str, ...] = ()) -> Any:
    """A value without the empty fields that a column's common shape adds to every row; what is JSON stays as it is.

    `kind` is the feature of the dataset: a mapping for a column of one shape. Raises UserError where a null inside
    such an `expect` may be a filler or a part of the right answer, since a wrong guess would judge by a wrong answer.
    """
    if isinstance(kind, Mapping) and isinstance(value, Mapping):
        if path[:1] == ("expect",) and len(path) > 1 and None in value.values():
            raise UserError(f"{'.'.join(path)}: null here may mean absent; store `expect` as JSON text, as export does")
        return {key: _pruned(part, kind.get(key), (*path, key)) for key, part in value.items() if part is not None}
    inner = kind[0] if isinstance(kind, list) and kind else getattr(kind, "feature", None)
    return [_pruned(part, inner, path) for part in value] if isinstance(value, list) and inner is not None else value


def _text(path: Path) -> str:
    try:
        return path.read_text("utf-8-sig")
    except UnicodeDecodeError as error:
        raise UserError(f"{path}: byte {error.start} is not UTF-8; save the file as UTF-8") from None
    except OSError as error:
        raise UserError(f"{path}: cannot be read: {error.strerror}") from None


def _json(text: str, place: str) -> Any:
    try:
        return json.loads(text, parse_constant=_no_constant)
    except (ValueError, RecursionError) as error:
        raise UserError(f"{place}: not JSON: {error}") from None


def _no_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is no JSON number")

"""Loads a bank of items: the built-in one, or a YAML or JSONL file. Judges nothing."""

import fnmatch
import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import itembank.contexts
from itembank import plugins
from itembank.canonical import digest
from itembank.errors import UserError
from itembank.item import Item

DATA = Path(__file__).parent / "data"
SCHEMA = json.loads((Path(__file__).parent / "item.schema.json").read_text("utf-8"))


@dataclass(frozen=True, kw_only=True)
class Bank:
    """Items in a fixed order, under the name they were loaded by."""

    name: str
    """`builtin`, a path, or `hub:owner/name`."""
    items: tuple[Item, ...]
    """In file order; ids are unique."""

    @cached_property
    def digest(self) -> str:
        """Identifies the whole content, whatever the order of the items."""
        return digest(sorted((item.id, item.digest) for item in self.items))

    @cached_property
    def by_id(self) -> dict[str, Item]:
        """The items by their ids."""
        return {item.id: item for item in self.items}

    def select(self, pattern: str) -> "Bank":
        """The items whose id matches one of the comma-separated globs. Raises UserError if none does."""
        globs = [glob.strip() for glob in pattern.split(",") if glob.strip()]
        chosen = tuple(i for i in self.items if any(fnmatch.fnmatchcase(i.id, glob) for glob in globs))
        if not chosen:
            raise UserError(f"no item of {self.name} matches {pattern!r}; `triplicate bank list` shows them")
        return Bank(name=self.name, items=chosen)


def load_bank(source: str = "builtin") -> Bank:
    """The bank at `source`. Raises UserError naming file, item and field of the first fault."""
    rows = list(_builtin_rows()) if source == "builtin" else list(_file_rows(Path(source)))
    items: dict[str, Item] = {}
    for where, row in rows:
        item = item_from_row(row, where)
        if item.id in items:
            raise UserError(f"{where}: item {item.id!r}: id is used twice; ids must be unique")
        items[item.id] = item
    if not items:
        raise UserError(f"{source} holds no items")
    return Bank(name=source, items=tuple(items.values()))


def item_from_row(row: Mapping[str, Any], where: str) -> Item:
    """One authored row as an Item, its context filled in. Raises UserError naming item and field."""
    import jsonschema

    name = row.get("id", "?") if isinstance(row, Mapping) else "?"
    error = jsonschema.exceptions.best_match(jsonschema.Draft202012Validator(SCHEMA).iter_errors(row))
    if error is not None:
        field = ".".join(str(part) for part in error.absolute_path) or "item"
        raise UserError(f"{where}: item {name!r}: {field}: {error.message}")
    fields = {key: value for key, value in row.items() if key not in ("prompt", "context")}
    messages = row.get("messages") or [{"role": "user", "content": row["prompt"]}]
    if "context" in row:
        document = context_text(row["context"])
        messages = [_filled(message, document) for message in messages]
    fields["messages"] = tuple(messages)
    for key in ("tools", "accept", "reject", "tags"):
        fields[key] = tuple(fields.get(key, ()))
    return Item(**fields)


def context_text(context: Mapping[str, Any]) -> str:
    """The long document that an item's `context` describes."""
    options = {key: value for key, value in context.items() if key != "name"}
    plugin = plugins.load(itembank.contexts, context["name"])
    text: str = plugin.document(**options).text
    return text


def _filled(message: Mapping[str, Any], document: str) -> Mapping[str, Any]:
    content = message.get("content")
    return {**message, "content": content.replace("{context}", document)} if isinstance(content, str) else message


def _builtin_rows() -> Iterator[tuple[str, Any]]:
    for path in sorted(DATA.glob("*.yaml")):
        yield from _yaml_rows(path)


def _file_rows(path: Path) -> Iterator[tuple[str, Any]]:
    if not path.is_file():
        raise UserError(f"no bank at {path}; give `builtin`, a .yaml or a .jsonl file")
    yield from _yaml_rows(path) if path.suffix in (".yaml", ".yml") else _jsonl_rows(path)


def _yaml_rows(path: Path) -> Iterator[tuple[str, Any]]:
    import yaml

    loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    try:
        rows = yaml.load(path.read_text("utf-8"), loader)
    except (yaml.YAMLError, UnicodeDecodeError) as error:
        raise UserError(f"{path}: not readable as YAML: {error}") from None
    if not isinstance(rows, list):
        raise UserError(f"{path}: must be a list of items")
    for row in rows:
        yield path.name, row


def _jsonl_rows(path: Path) -> Iterator[tuple[str, Any]]:
    for number, line in enumerate(path.read_text("utf-8").splitlines(), 1):
        if line.strip():
            try:
                yield f"{path.name}:{number}", json.loads(line)
            except ValueError as error:
                raise UserError(f"{path}:{number}: not JSON: {error}") from None

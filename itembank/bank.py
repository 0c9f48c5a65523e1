"""Loads a bank of items: the built-in one, a file, or a dataset. Judges nothing."""

import fnmatch
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from itembank.authored import context_text, item_from_row
from itembank.canonical import digest
from itembank.errors import UserError
from itembank.item import Item
from itembank.sources import Row, bank_rows, yaml_rows

__all__ = ["DATA", "Bank", "context_text", "item_from_row", "load_bank"]

DATA = Path(__file__).parent / "data"


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


def load_bank(source: str = "builtin", *, checked: bool | None = None) -> Bank:
    """The bank at `source`. Raises UserError naming file, item and field of the first fault.

    `checked` says whether every row is held against the schema; None means that of every bank but the built-in one.
    """
    builtin = source == "builtin"
    items: dict[str, Item] = {}
    for where, row in _builtin_rows() if builtin else bank_rows(source):
        item = item_from_row(row, where, checked=not builtin if checked is None else checked)
        if item.id in items:
            raise UserError(f"{where}: item {item.id!r}: id: used twice; ids must be unique")
        items[item.id] = item
    if not items:
        raise UserError(f"{source} holds no items")
    return Bank(name=source, items=tuple(items.values()))


def _builtin_rows() -> Iterator[Row]:
    for path in sorted(DATA.glob("*.yaml")):
        yield from yaml_rows(path)

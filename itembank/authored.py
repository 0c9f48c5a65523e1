"""One authored row as an Item: its form checked, its long document filled in. Knows no files and no scorers."""

import json
import math
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any

import itembank.contexts
from itembank import plugins
from itembank.errors import UserError
from itembank.item import Item

SCHEMA_FILE = Path(__file__).parent / "item.schema.json"


def item_from_row(row: Mapping[str, Any], where: str, *, checked: bool = True) -> Item:
    """One authored row as an Item, its context filled in. Raises UserError naming place, item and field.

    `checked=False` trusts the row to have the form of the schema; the shipped bank is proved by the tests, and
    reading a schema library costs more time than reading the bank.
    """
    if checked:
        fault = row_fault(row)
        if fault is not None:
            name = row.get("id", "?") if isinstance(row, Mapping) else "?"
            raise UserError(f"{where}: item {name!r}: {fault}")
    fields = {key: value for key, value in row.items() if key not in ("prompt", "context")}
    messages = row.get("messages") or [{"role": "user", "content": row["prompt"]}]
    if "context" in row:
        document = _document_of(row, where)
        messages = [_filled(message, document) for message in messages]
    fields["messages"] = tuple(messages)
    for key in ("tools", "accept", "reject", "tags"):
        fields[key] = tuple(fields.get(key, ()))
    return Item(**fields)


def row_fault(row: Any) -> str | None:
    """`field: what is wrong` of the first fault in a row's form; None if there is none."""
    import jsonschema

    error = jsonschema.exceptions.best_match(_validator().iter_errors(row))
    if error is not None and error.validator == "oneOf":
        return "prompt: give either `prompt` or `messages`"
    if error is not None:
        field = ".".join(str(part) for part in error.absolute_path) or "item"
        return f"{field}: {_short(error.message)}"
    alien = _alien(row, ())
    if alien is not None:
        return alien
    if "context" in row and not any("{context}" in str(m.get("content")) for m in _messages(row)):
        return "context: no message holds the mark {context} that it would replace"
    return None


def context_text(context: Mapping[str, Any]) -> str:
    """The long document that an item's `context` describes."""
    options = {key: value for key, value in context.items() if key != "name"}
    plugin = plugins.load(itembank.contexts, context["name"])
    text: str = plugin.document(**options).text
    return text


@cache
def _validator() -> Any:
    import jsonschema

    return jsonschema.Draft202012Validator(json.loads(SCHEMA_FILE.read_text("utf-8")))


def _messages(row: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    return row.get("messages") or [{"content": row.get("prompt", "")}]


def _document_of(row: Mapping[str, Any], where: str) -> str:
    try:
        return context_text(row["context"])
    except TypeError as error:
        raise UserError(f"{where}: item {row['id']!r}: context: {error}") from None
    except UserError as error:
        raise UserError(f"{where}: item {row['id']!r}: context.name: {error}") from None


def _filled(message: Mapping[str, Any], document: str) -> Mapping[str, Any]:
    content = message.get("content")
    return {**message, "content": content.replace("{context}", document)} if isinstance(content, str) else message


def _alien(value: Any, path: tuple[str, ...]) -> str | None:
    """The first value that JSON does not have, such as an unquoted YAML date; None if there is none."""
    if isinstance(value, Mapping):
        for key, part in value.items():
            if not isinstance(key, str):
                return f"{'.'.join(path)}: the key {key!r} is no text; quote it"
            fault = _alien(part, (*path, key))
            if fault is not None:
                return fault
        return None
    if isinstance(value, list | tuple):
        faults = (_alien(part, (*path, str(number))) for number, part in enumerate(value))
        return next((fault for fault in faults if fault is not None), None)
    if value is None or isinstance(value, str | bool | int):
        return None
    if isinstance(value, float) and math.isfinite(value):
        return None
    return f"{'.'.join(path)}: {value!r} is no JSON value; quote it"


def _short(message: str) -> str:
    return message if len(message) <= 300 else f"{message[:140]} ... {message[-140:]}"

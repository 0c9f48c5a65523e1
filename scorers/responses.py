"""Reads a file of existing responses, one JSON object a line. Judges none of them.

Everything is read and checked before anything is judged, so that a bad line costs no output.
"""

import json
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from itembank.bank import Bank
from itembank.errors import UserError, nearest
from itembank.item import Item
from scorers.response import Response, response_from_row

FIELDS: dict[str, tuple[type, ...]] = {
    "item": (str,),
    "text": (str, type(None)),
    "repeat": (int,),
    "reasoning": (str, type(None)),
    "tool_calls": (list, type(None)),
    "finish_reason": (str, type(None)),
    "completion_tokens": (int, type(None)),
}
"""The fields of a response and their types; a line may hold others."""


def read_responses(path: str, bank: Bank) -> list[tuple[Item, int, Response]]:
    """Item, repeat and response of every line in order; `-` is standard input. Raises UserError naming the line."""
    found: dict[tuple[str, int], tuple[Item, int, Response]] = {}
    for where, row in _rows(path):
        fault = row_fault(row)
        if fault:
            raise UserError(f"{where}: {fault}")
        item = bank.by_id.get(row["item"])
        if item is None:
            closest = nearest(row["item"], list(bank.by_id))
            raise UserError(f"{where}: no item {row['item']!r} in {bank.name}; {closest}")
        repeat = row.get("repeat", 1)
        if (item.id, repeat) in found:
            raise UserError(f"{where}: a second answer to item {item.id!r}, repeat {repeat}; keep one of them")
        found[item.id, repeat] = (item, repeat, response_from_row(row, item.max_tokens))
    if not found:
        raise UserError(f"{path} holds no responses")
    return list(found.values())


def row_fault(row: Any) -> str:
    """What is wrong with one response row; empty where nothing is."""
    if not isinstance(row, Mapping):
        return "not a JSON object"
    for name, types in FIELDS.items():
        if name not in row:
            if name in ("item", "text"):
                return f"{name} is missing"
        elif not isinstance(row[name], types) or isinstance(row[name], bool):
            return f"{name} is {json.dumps(row[name])[:60]}, not {' or '.join(_NAMES[kind] for kind in types)}"
    for call in row.get("tool_calls") or ():
        if not isinstance(call, Mapping) or not isinstance(call.get("name"), str):
            return "a tool call without a name"
        if not isinstance(call.get("arguments", ""), str | Mapping):
            return f"the arguments of {call['name']!r} are neither text nor an object"
    return ""


_NAMES = {str: "text", int: "a whole number", list: "a list", type(None): "null"}


def _rows(path: str) -> Iterator[tuple[str, Any]]:
    try:
        data = sys.stdin.buffer.read() if path == "-" else Path(path).read_bytes()
    except OSError as error:
        raise UserError(f"{path} cannot be read: {error.strerror}; give a file of responses, one a line") from None
    for number, line in enumerate(data.removeprefix(b"\xef\xbb\xbf").split(b"\n"), 1):
        if line.strip():
            where = f"{path}, line {number}"
            try:
                yield where, json.loads(line.decode("utf-8"))
            except (ValueError, RecursionError) as error:
                raise UserError(f"{where}: not JSON: {error}") from None

"""Checks a bank before anything is judged with it: scorers that exist, parameters that they take. Judges no model."""

from types import ModuleType

import scorers.methods
from itembank import plugins
from itembank.bank import Bank
from itembank.errors import UserError, nearest
from itembank.item import Item


def validate(bank: Bank) -> None:
    """Raises UserError naming bank, item and field of the first item whose scorer cannot judge by its `expect`."""
    for item in bank.items:
        for field, text in expect_faults(item):
            raise UserError(f"{bank.name}: item {item.id!r}: {field}: {text}")


def expect_faults(item: Item) -> list[tuple[str, str]]:
    """Field and sentence for everything that keeps the item's scorer from judging by its `expect`."""
    import jsonschema

    known = plugins.names(scorers.methods)
    if item.scorer not in known:
        return [("scorer", f"no scorer {item.scorer!r}; {nearest(item.scorer, known)}")]
    method = plugins.load(scorers.methods, item.scorer)
    errors = jsonschema.Draft202012Validator(method.EXPECT_SCHEMA).iter_errors(dict(item.expect))
    found = [(".".join(str(part) for part in ("expect", *error.absolute_path)), error.message) for error in errors]
    return found or _own_faults(method, item)


def _own_faults(method: ModuleType, item: Item) -> list[tuple[str, str]]:
    """What a JSON Schema cannot say, where the method has a `fault(expect)` that says it."""
    text = method.fault(item.expect) if hasattr(method, "fault") else ""
    return [("expect", text)] if text else []

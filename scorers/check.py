"""Checks a bank before anything is judged with it: scorers that exist, parameters that they take. Judges no model."""

from types import ModuleType

import scorers.methods
from itembank import plugins
from itembank.bank import Bank
from itembank.errors import UserError, nearest
from itembank.item import Item
from scorers.floor import response_of
from scorers.judge import judge_many
from scorers.responses import row_fault
from scorers.verdict import Outcome

EVIDENCE = 3
"""So many `accept` and `reject` entries prove an item."""


def validate(bank: Bank) -> None:
    """Raises UserError naming bank, item and field of the first item whose scorer cannot judge by its `expect`."""
    for item in bank.items:
        for field, text in expect_faults(item):
            raise UserError(f"{bank.name}: item {item.id!r}: {field}: {text}")


def faults(bank: Bank) -> list[str]:
    """One line for every fault of the bank, naming item and field: parameters, evidence, accepts and rejects."""
    found = [f"item {item.id!r}: {field}: {text}" for item in bank.items for field, text in expect_faults(item)]
    if found:
        return found
    entries = []
    for item in bank.items:
        for field, given in (("accept", item.accept), ("reject", item.reject)):
            if len(given) < EVIDENCE:
                found.append(f"item {item.id!r}: {field}: {len(given)} entries, at least {EVIDENCE} are asked")
            for number, entry in enumerate(given, 1):
                told = "" if isinstance(entry, str) else row_fault({"item": item.id, "text": "", **entry})
                if told:
                    found.append(f"item {item.id!r}: {field} {number}: {told}")
                else:
                    entries.append((item, field, number, response_of(entry)))
    verdicts = judge_many((item, response) for item, _, _, response in entries)
    for (item, field, number, _), verdict in zip(entries, verdicts, strict=True):
        if (verdict.outcome is Outcome.PASS) != (field == "accept"):
            must = "must" if field == "accept" else "must not"
            told = f"{verdict.outcome} {verdict.reason} {verdict.detail}".strip()
            found.append(f"item {item.id!r}: {field} {number}: {must} pass: {told}")
    return found


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

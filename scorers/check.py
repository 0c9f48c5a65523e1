"""Checks a bank before anything is judged with it: scorers that exist, parameters that they take. Judges no model."""

from collections.abc import Mapping, Sequence
from types import ModuleType

import scorers.methods
from itembank import plugins
from itembank.bank import Bank
from itembank.errors import UserError, nearest
from itembank.item import JSON, Item
from scorers.floor import response_of
from scorers.judge import judge_many
from scorers.response import Response
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
    found: list[str] = []
    entries: list[tuple[Item, str, Response]] = []
    for item in bank.items:
        wrong = expect_faults(item)
        found += [f"item {item.id!r}: {field}: {text}" for field, text in (*wrong, *_evidence_faults(item))]
        entries += [] if wrong else _entries(item)
    verdicts = judge_many((item, response) for item, _, response in entries)
    for (item, field, _), verdict in zip(entries, verdicts, strict=True):
        wanted = field.startswith("accept")
        if (verdict.outcome is Outcome.PASS) != wanted:
            told = " ".join(word for word in (str(verdict.outcome), verdict.reason, verdict.detail) if word)
            found.append(f"item {item.id!r}: {field}: {'must' if wanted else 'must not'} pass: {told}")
    return found


def _evidence_faults(item: Item) -> list[tuple[str, str]]:
    """Field and sentence for evidence that is too little, or no response."""
    found = []
    for field, given in (("accept", item.accept), ("reject", item.reject)):
        if len(given) < EVIDENCE:
            found.append((field, f"{len(given)} entries, at least {EVIDENCE} are asked"))
        told = ((number, row_fault({"item": "", "text": "", **entry})) for number, entry in _objects(given))
        found += [(f"{field} {number}", text) for number, text in told if text]
    return found


def _objects(given: Sequence[JSON]) -> list[tuple[int, Mapping[str, JSON]]]:
    return [(number, entry) for number, entry in enumerate(given, 1) if isinstance(entry, Mapping)]


def _entries(item: Item) -> list[tuple[Item, str, Response]]:
    """The evidence that can be judged, with the field that holds it."""
    broken = {field for field, _ in _evidence_faults(item)}
    named = [("accept", item.accept), ("reject", item.reject)]
    every = [(f"{field} {number}", entry) for field, given in named for number, entry in enumerate(given, 1)]
    return [(item, field, response_of(entry)) for field, entry in every if field not in broken]


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

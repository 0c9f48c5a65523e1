"""What was intended of a server, what it was found to be and what a ladder measured of it, side by side.

Disagreements come first, unknowns are called unknown. Asks no server; the ladder is the newest one on disk.
"""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from itembank.errors import UserError
from reports.cap import NAME
from reports.curve import curve_document
from runner.config import ServingConfig
from runner.facts import FACT_NAMES, PASSING_FACTS
from runner.find import find_run
from runner.identity import difference, disagreements, identity_digest
from runner.record import Identity
from runner.redact import redacted
from runner.store import RunFolder

SELDOM = PASSING_FACTS | {
    *("gateway", "inner_engine", "simulated", "deterministic", "other_flags", "config_file"),
    *("gpu_driver", "gpu_memory_bytes", "max_admitted_requests", "expert_parallel_size"),
}
"""Facts that most systems do not have; nobody misses them."""


def measured_cap(name: str, out: Path) -> dict[str, Any] | None:
    """`{value, source, run, identity}` of the newest complete ladder of that serving; None where there is none."""
    try:
        run = RunFolder.read(find_run(name, out, "ladder"))
    except UserError:
        return None
    measured = curve_document(run)["cap"]["measured"]
    if measured is None:
        return None
    source = f"{run.path}: {measured['source']}"
    identity = run.record.identity_after or run.record.identity_before
    return {"value": measured["value"], "source": source, "identity": identity}


def identity_document(
    chosen: ServingConfig, identity: Identity, measured: Mapping[str, Any] | None = None
) -> dict[str, Any]:
    """The contract's `probe` document; `measured` is what `measured_cap` returns."""
    fact = identity.fact(NAME)
    cap = {
        "intended": _valued(chosen.intended.get(NAME), "[serving.intended]"),
        "found": _valued(fact.value, fact.source) if fact else None,
        "measured": _valued(measured["value"], measured["source"]) if measured else None,
    }
    differs: list[dict[str, Any]] = [
        {"name": each.name, "intended": each.before, "found": each.after}
        for each in disagreements(chosen.intended, identity)
    ]
    _add_measured(differs, cap)
    return {
        "serving": chosen.name,
        "base_url": redacted(chosen.base_url),
        "engine": identity.engine,
        "version": identity.version,
        "facts": [{"name": fact.name, "value": fact.value, "source": fact.source} for fact in identity.facts],
        "cap": cap,
        "differs": differs,
        "intended": dict(chosen.intended),
        "unknown": [name for name in FACT_NAMES if name not in SELDOM and identity.value(name) is None],
        "counters": dict(identity.counters),
        "notes": [*identity.notes, *_moved(identity, measured)],
        "digest": identity_digest(identity),
        "read_at": identity.read_at,
    }


def lines(document: Mapping[str, Any]) -> list[str]:
    """The document as text: head, disagreements, then one row for each fact with its source."""
    facts = list({fact["name"]: fact for fact in reversed(document["facts"])}.values())[::-1]
    intended, cap = document["intended"], document["cap"]
    names = list(dict.fromkeys([*(row["name"] for row in document["differs"]), NAME, *(f["name"] for f in facts)]))
    names += [name for name in intended if name not in names]
    by_name = {fact["name"]: fact for fact in facts}
    differing = {row["name"] for row in document["differs"]}
    rows = [("", "fact", "intended", "found", "measured", "read from")]
    for name in names:
        measured = cap["measured"] if name == NAME else None
        found = by_name.get(name)
        rows.append(
            (
                "!" if name in differing else "",
                name,
                _shown(intended.get(name), "-"),
                _shown(found["value"] if found else None, "unknown"),
                _shown(measured["value"] if measured else None, "-"),
                found["source"] if found else "",
            )
        )
    head = f"{document['serving']}: {document['engine'] or 'unknown engine'} {document['version'] or ''}".rstrip()
    notes = [f"note: {note}" for note in document["notes"]]
    return [head, *_disagreeing(document["differs"]), "", *_aligned(rows), "", *notes, f"unknown: {_unknown(document)}"]


def _valued(value: Any, source: str) -> dict[str, Any] | None:
    return None if value is None else {"value": value, "source": source}


def _add_measured(differs: list[dict[str, Any]], cap: Mapping[str, Any]) -> None:
    """The measured cap beside what it contradicts."""
    measured, stated = cap["measured"], cap["found"] or cap["intended"]
    row = next((row for row in differs if row["name"] == NAME), None)
    if row is None and measured and stated and measured["value"] != stated["value"]:
        intended, found = cap["intended"], cap["found"]
        row = {"name": NAME, "intended": intended and intended["value"], "found": found and found["value"]}
        differs.insert(0, row)
    if row is not None and measured:
        row["measured"] = measured["value"]


def _moved(identity: Identity, measured: Mapping[str, Any] | None) -> list[str]:
    """Whether the ladder measured another configuration than the one that runs now."""
    changed = difference(measured["identity"], identity) if measured else []
    return [f"the newest ladder measured another configuration: {line}" for line in changed]


def _disagreeing(differs: list[dict[str, Any]]) -> list[str]:
    return [
        f"! {row['name']}: "
        + ", ".join(
            f"{column} {_shown(row[column], 'unknown')}"
            for column in ("intended", "found", "measured")
            if column in row
        )
        for row in differs
    ]


def _unknown(document: Mapping[str, Any]) -> str:
    return ", ".join(document["unknown"]) or "nothing"


def _shown(value: Any, absent: str) -> str:
    if value is None:
        return absent
    text = {True: "yes", False: "no"}.get(value, str(value)) if isinstance(value, bool) else str(value)
    return text if len(text) <= 60 else f"{text[:59]}…"


def _aligned(rows: Sequence[tuple[str, ...]]) -> list[str]:
    widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]))]
    return ["  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip() for row in rows]

"""The figures on record, with their axes, and whether each still describes the system that runs now.

A figure is a property of a configuration. `ledger check` reads the running systems' identities again and marks a
figure current, stale (with the facts that changed) or unverifiable (with the reason). It measures nothing anew.
"""

from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

import msgspec

from itembank.errors import UserError
from reports.curve import curve_document
from reports.outcomes import load_outcomes
from reports.scores import scores_document
from reports.throughput import pass_throughput
from runner.config import Config, ServingConfig
from runner.find import run_folders
from runner.identity import difference, identify, identity_digest, is_silent
from runner.record import Identity, RunRecord
from runner.redact import redacted
from runner.store import RunFolder, read_record

CURRENT, STALE, UNVERIFIABLE = "current", "stale", "unverifiable"
TELLING = ("model", "version", "context_length", "max_concurrent_sequences", "quantization", "speculative_decoding")
"""Facts without which two configurations cannot be called the same, where the record has them."""
NAMED = ("max_concurrent_sequences", "quantization", "speculative_method")


def ledger_document(out: Path) -> dict[str, Any]:
    """`figures`: one for each score and each valid ladder level below `out`; `unreadable`: folders and why."""
    figures: list[dict[str, Any]] = []
    unreadable: list[dict[str, str]] = []
    for path in run_folders(out):
        try:
            figures += run_figures(RunFolder.read(path))
        except UserError as error:
            unreadable.append({"run": str(path), "reason": str(error)})
    return {"figures": figures, "unreadable": unreadable}


def run_figures(run: RunFolder) -> list[dict[str, Any]]:
    """The figures of one run folder, each with all of its axes."""
    rows = _ladder_figures(run) if run.record.kind == "ladder" else _quality_figures(run)
    record = run.record
    common = {
        "run": str(run.path),
        "serving": record.serving.get("name"),
        "date": record.started_at,
        "status": record.status,
        "configuration": configuration(_identity_of(record)),
    }
    return [{**row, **common} for row in rows]


def configuration(identity: Identity | None) -> dict[str, Any] | None:
    """What a reader needs to tell configurations apart, and the digest of all facts; None where none was read."""
    if identity is None:
        return None
    named = {name: identity.value(name) for name in NAMED}
    return {"engine": identity.engine, "version": identity.version, **named, "digest": identity_digest(identity)}


async def check_document(paths: Iterable[Path], config: Config) -> dict[str, Any]:
    """`runs`: the state of each run's figures against the systems that run now; each system is asked once."""
    asked: dict[str, Identity | str] = {}
    rows = []
    for path in paths:
        try:
            record = read_record(path)
        except UserError as error:
            rows.append(_row(path, None, UNVERIFIABLE, [str(error)]))
            continue
        state, reasons = await _state(record, config, asked)
        rows.append(_row(path, record, state, reasons))
    counts = {state: sum(row["state"] == state for row in rows) for state in (CURRENT, STALE, UNVERIFIABLE)}
    return {"runs": rows, **counts}


def compared(before: Identity, now: Identity) -> tuple[str, list[str]]:
    """(state, reasons) of figures that were measured on `before`, when `now` is what runs."""
    changed = difference(before, now)
    if changed:
        return STALE, changed
    if before.engine is None or now.engine is None:
        return UNVERIFIABLE, ["the engine could not be told, so nothing shows that it is the same"]
    lost = [name for name in TELLING if before.value(name) is not None and now.value(name) is None]
    if lost:
        return UNVERIFIABLE, [f"can no longer be read: {', '.join(lost)}"]
    return CURRENT, []


def figure_lines(document: Mapping[str, Any]) -> list[str]:
    """The ledger as text, one line a figure; no throughput without its axes."""
    lines = [_figure_line(figure) for figure in document["figures"]] or ["no figures on record"]
    return lines + [f"unreadable: {row['run']}: {row['reason']}" for row in document["unreadable"]]


def check_lines(document: Mapping[str, Any]) -> list[str]:
    """The check as text: a line a run with its reasons, and the counts."""
    lines = [
        f"{row['state']:<12}  {row['run']}" + (f": {'; '.join(row['reasons'])}" if row["reasons"] else "")
        for row in document["runs"]
    ]
    counts = ", ".join(f"{document[state]} {state}" for state in (CURRENT, STALE, UNVERIFIABLE))
    return [*lines, counts]


def _quality_figures(run: RunFolder) -> Iterator[dict[str, Any]]:
    scores, speed = scores_document(load_outcomes(run)), pass_throughput(run)
    axes = {name: speed[name] for name in ("concurrency", "mean_tokens", "prompts", "token_source")}
    axes["repeats"] = scores["repeats"]
    yield {"figure": "score", "value": scores["mean"], "unit": "points", **axes}
    yield {"figure": "throughput", "value": speed["tok_s"], "unit": "tok/s", **axes}


def _ladder_figures(run: RunFolder) -> Iterator[dict[str, Any]]:
    document = curve_document(run)
    peak = document["peak"] or {}
    for level in document["levels"]:
        if level["tok_s"] is None:
            continue
        is_peak = level["concurrency"] == peak.get("concurrency")
        axes = {name: level[name] for name in ("concurrency", "mean_tokens", "prompts", "token_source")}
        label = peak["label"] if is_peak else None
        yield {
            "figure": "throughput",
            "value": level["tok_s"],
            "unit": "tok/s",
            **axes,
            "repeats": level["bursts"],
            "peak": label,
        }


def _identity_of(record: RunRecord) -> Identity | None:
    return record.identity_after or record.identity_before


async def _state(record: RunRecord, config: Config, asked: dict[str, Identity | str]) -> tuple[str, list[str]]:
    before = _identity_of(record)
    if before is None:
        return UNVERIFIABLE, ["the record has no identity"]
    if record.identity_changes:
        return UNVERIFIABLE, [f"the server changed while it was measured: {line}" for line in record.identity_changes]
    try:
        chosen = _serving_of(record, config)
    except (UserError, msgspec.ValidationError) as error:
        return UNVERIFIABLE, [str(error)]
    if chosen.launch or not chosen.base_url:
        return UNVERIFIABLE, ["triplicate starts this server for its runs; none runs now that could be asked"]
    now = await _asked(chosen, asked)
    return (UNVERIFIABLE, [now]) if isinstance(now, str) else compared(before, now)


def _serving_of(record: RunRecord, config: Config) -> ServingConfig:
    """The configuration's entry of that name, which may have moved, or what the record says."""
    known = next((each for each in config.serving if each.name == record.serving.get("name")), None)
    return known or msgspec.convert(dict(record.serving), ServingConfig)


async def _asked(chosen: ServingConfig, asked: dict[str, Identity | str]) -> Identity | str:
    """The identity at that address, or why there is none; each address is asked once."""
    key = f"{chosen.base_url} {chosen.model}"
    if key not in asked:
        try:
            identity = await identify(chosen)
            asked[key] = f"no server answers at {chosen.base_url}" if is_silent(identity) else identity
        except UserError as error:
            asked[key] = str(error)
    return asked[key]


def _row(path: Path, record: RunRecord | None, state: str, reasons: list[str]) -> dict[str, Any]:
    serving = record.serving.get("name") if record else None
    return {"run": str(path), "serving": serving, "state": state, "reasons": [redacted(reason) for reason in reasons]}


def _figure_line(figure: Mapping[str, Any]) -> str:
    value = "none" if figure["value"] is None else f"{figure['value']:.1f}"
    length = "unknown length" if figure["mean_tokens"] is None else f"mean {figure['mean_tokens']:.0f} tokens"
    peak = f" ({figure['peak']} of the peak)" if figure.get("peak") else ""
    found = figure["configuration"]
    what = "configuration unknown"
    if found:
        cap = "unknown" if found["max_concurrent_sequences"] is None else found["max_concurrent_sequences"]
        what = (
            f"{found['engine'] or 'unknown engine'} {found['version'] or ''}".strip()
            + f", cap {cap}, {found['digest']}"
        )
    return (
        f"{figure['date'][:16]}  {figure['serving']}  {figure['figure']} {value} {figure['unit']}{peak} at concurrency"
        f" {figure['concurrency']}, {length}, {figure['prompts']}, tokens from {figure['token_source']},"
        f" n = {figure['repeats']}, {figure['status']}, {what}  {figure['run']}"
    )

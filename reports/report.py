"""The report: runs grouped into configurations, and one document from which every format prints. Measures nothing.

The first configuration is the baseline; every other one is compared with it.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from shlex import quote
from typing import TYPE_CHECKING, Any

import reports.formats
from itembank import plugins
from itembank.errors import UserError
from runner.environment import tool
from runner.record import Identity, RunRecord
from runner.store import RunFolder, utc_now

if TYPE_CHECKING:
    from reports.measured import Measured

SCHEMA_VERSION = 1


@dataclass(frozen=True, slots=True, kw_only=True)
class Configuration:
    """What was measured of one serving."""

    name: str
    quality: RunFolder | None
    ladder: RunFolder | None

    @property
    def newest(self) -> RunFolder:
        """The run whose identity describes the configuration."""
        run = self.quality or self.ladder
        assert run is not None
        return run


@dataclass(frozen=True, slots=True, kw_only=True)
class Report:
    """Everything that a format may print."""

    document: dict[str, Any]
    """JSON-able; the single source of every number."""
    configurations: tuple[Configuration, ...]
    """The runs themselves, for transcripts."""


def report_of(runs: Sequence[Path], *, margin: float | None = None) -> Report:
    """The report on these run folders. Raises UserError if there are none."""
    from reports.measured import measured

    configurations = grouped([RunFolder.read(path) for path in runs])
    if not configurations:
        raise UserError("name at least one run folder or serving to report on")
    read = [measured(each.quality) if each.quality else None for each in configurations]
    rows = [_configuration_row(each, quality) for each, quality in zip(configurations, read, strict=True)]
    document = {
        "schema": SCHEMA_VERSION,
        "made_at": utc_now(),
        "tool": tool(),
        "simulated": [row["name"] for row in rows if row["simulated"]],
        "configurations": rows,
        "comparisons": _comparisons(read, margin),
        "ratios": _ratios(rows),
        "commands": _commands(configurations, margin),
    }
    return Report(document=document, configurations=tuple(configurations))


def format_named(name: str | None, path: Path | None) -> str:
    """The format to render: the one asked for, else by the file's ending, else terminal. Raises UserError."""
    known = plugins.names(reports.formats)
    if name is None and path is None:
        return "terminal"
    if name is None:
        by_suffix = {plugins.load(reports.formats, known_name).SUFFIX: known_name for known_name in known}
        assert path is not None
        if path.suffix not in by_suffix:
            raise UserError(f"{path}: no format ends in {path.suffix!r}; give --format {', '.join(known)}")
        return by_suffix[path.suffix]
    plugins.load(reports.formats, name)
    return name


def render(report: Report, format_name: str) -> str | bytes:
    """The report in a format."""
    content: str | bytes = plugins.load(reports.formats, format_name).render(report)
    return content


def write(report: Report, format_name: str, path: Path) -> list[Path]:
    """Write the report's file, and those that a format puts beside it. Raises UserError if it cannot be written."""
    module = plugins.load(reports.formats, format_name)
    files: dict[str, str | bytes]
    files = module.written(report, path.name) if hasattr(module, "written") else {path.name: module.render(report)}
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        for name, content in files.items():
            whole = content if isinstance(content, bytes) else content.encode("utf-8", "replace")
            (path.parent / name).write_bytes(whole)
    except OSError as error:
        raise UserError(f"cannot write {path}: {error.strerror}; give a writable file with -o") from None
    return [path.parent / name for name in files]


def grouped(folders: Sequence[RunFolder]) -> list[Configuration]:
    """Runs by the serving's name, in the order of first mention; the later one of two of a kind counts."""
    names = list(dict.fromkeys(str(folder.record.serving.get("name")) for folder in folders))
    by = {(str(folder.record.serving.get("name")), folder.record.kind): folder for folder in folders}
    return [
        Configuration(name=name, quality=by.get((name, "quality")), ladder=by.get((name, "ladder"))) for name in names
    ]


def _configuration_row(configuration: Configuration, quality: "Measured | None") -> dict[str, Any]:
    from reports.curve import curve_document

    record, ladder = configuration.newest.record, configuration.ladder
    curve = curve_document(ladder) if ladder else None
    return {
        "name": configuration.name,
        "simulated": record.is_simulated,
        "identity": _identity_row(record, ladder, curve),
        "quality": _quality_row(quality) if quality else None,
        "curve": {"folder": str(ladder.path), "status": ladder.record.status, **curve} if ladder and curve else None,
    }


def _identity_row(record: RunRecord, ladder: RunFolder | None, curve: Mapping[str, Any] | None) -> dict[str, Any]:
    from reports.probe import identity_document
    from runner.config import stored_serving

    found = record.identity_before or Identity(notes=("the server was never read",))
    cap = curve["cap"]["measured"] if curve else None
    measured = None
    if ladder and cap:
        measured = {**cap, "identity": ladder.record.identity_after or ladder.record.identity_before}
    return identity_document(stored_serving(record, None), found, measured)


def _quality_row(quality: "Measured") -> dict[str, Any]:
    from reports.report_items import item_rows
    from reports.scores import scores_document

    record, outcomes = quality.record, quality.outcomes
    return {
        "folder": str(quality.run.path),
        "status": record.status,
        "started_at": record.started_at,
        "bank": dict(record.bank),
        "sampling": dict(record.sampling),
        "plan": {key: value for key, value in record.plan.items() if key != "items"},
        "scores": scores_document(outcomes),
        "throughput": quality.throughput,
        "items": item_rows(outcomes),
    }


def _comparisons(read: Sequence["Measured | None"], margin: float | None) -> list[dict[str, Any]]:
    from reports.comparison import comparison

    baseline, *others = read
    return [comparison(baseline, other, margin=margin) for other in others if baseline and other]


def _ratios(rows: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    from reports.ratio import ratio_document

    baseline = rows[0]
    return [
        {"baseline": baseline["name"], "candidate": row["name"], **ratio_document(baseline["curve"], row["curve"])}
        for row in rows[1:]
        if baseline["curve"] and row["curve"]
    ]


def _commands(configurations: Sequence[Configuration], margin: float | None) -> list[str]:
    """The command lines that reproduce what the report shows."""
    lines = []
    for configuration in configurations:
        if configuration.quality:
            plan = configuration.quality.record.plan
            bank = configuration.quality.record.bank["name"]
            lines.append(
                f"triplicate run {quote(configuration.name)} --bank {quote(bank)} --repeats {plan['repeats']} "
                f"--concurrency {plan['concurrency']}"
            )
        if configuration.ladder:
            plan = configuration.ladder.record.plan
            levels = ",".join(str(level) for level in plan["levels"])
            lines.append(
                f"triplicate sweep {quote(configuration.name)} --levels {levels} --max-tokens {plan['max_tokens']} "
                f"--rounds {plan['rounds']} --prompts {plan['prompts']}"
            )
    first, *others = [c for c in configurations if c.quality] or [configurations[0]]
    asked = f" --margin {margin:g}" if margin is not None else ""
    return lines + [f"triplicate compare {quote(first.name)} {quote(other.name)}{asked}" for other in others]

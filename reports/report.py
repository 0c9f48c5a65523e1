"""The report: runs grouped into configurations, and one document from which every format prints. Measures nothing.

The first configuration is the baseline; every other one is compared with it.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import reports.formats
from itembank import plugins
from itembank.errors import UserError
from runner import DEFAULT_OUT
from runner.environment import tool
from runner.find import find_run
from runner.store import RunFolder, utc_now

SCHEMA_VERSION = 1
MOST_CONFIGURATIONS = 8


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


def find_runs(names: Sequence[str], out: Path = DEFAULT_OUT) -> list[Path]:
    """The folders that the names mean: a folder itself, or a serving's newest complete quality run and ladder."""
    found: list[Path] = []
    for name in names:
        if (Path(name) / "run.json").is_file():
            found.append(Path(name))
            continue
        mine = []
        for kind in ("quality", "ladder"):
            try:
                mine.append(find_run(name, out, kind))
            except UserError as error:
                missing = error
        if not mine:
            raise missing
        found += mine
    return found


def report_of(runs: Sequence[Path], *, margin: float | None = None) -> Report:
    """The report on these run folders. Raises UserError if there are none or too many configurations."""
    configurations = grouped([RunFolder.read(path) for path in runs])
    if not configurations:
        raise UserError("name at least one run folder or serving to report on")
    if len(configurations) > MOST_CONFIGURATIONS:
        raise UserError(f"a report shows at most {MOST_CONFIGURATIONS} configurations, not {len(configurations)}")
    rows = [_configuration_row(configuration) for configuration in configurations]
    document = {
        "schema": SCHEMA_VERSION,
        "made_at": utc_now(),
        "tool": tool(),
        "simulated": [row["name"] for row in rows if row["simulated"]],
        "configurations": rows,
        "comparisons": _comparisons(configurations, margin),
        "ratios": _ratios(rows),
        "commands": _commands(configurations, margin),
    }
    return Report(document=document, configurations=tuple(configurations))


def write(report: Report, format_name: str, path: Path) -> Path:
    """Render the report in a format into a file. Raises UserError if it cannot be written."""
    content = plugins.load(reports.formats, format_name).render(report)
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content if isinstance(content, bytes) else content.encode("utf-8", "replace"))
    except OSError as error:
        raise UserError(f"cannot write {path}: {error.strerror}; give a writable file with -o") from None
    return path


def grouped(folders: Sequence[RunFolder]) -> list[Configuration]:
    """Runs by the serving's name, in the order of first mention; the later one of two of a kind counts."""
    names = list(dict.fromkeys(str(folder.record.serving.get("name")) for folder in folders))
    by = {(str(folder.record.serving.get("name")), folder.record.kind): folder for folder in folders}
    return [
        Configuration(name=name, quality=by.get((name, "quality")), ladder=by.get((name, "ladder"))) for name in names
    ]


def _configuration_row(configuration: Configuration) -> dict[str, Any]:
    from reports.curve import curve_document
    from reports.probe import identity_document

    record = configuration.newest.record
    engine = record.identity_before.engine if record.identity_before else None
    ladder = configuration.ladder
    return {
        "name": configuration.name,
        "simulated": "simulat" in str(engine),
        "identity": identity_document(record, ladder),
        "quality": _quality_row(configuration.quality) if configuration.quality else None,
        "curve": {"folder": str(ladder.path), "status": ladder.record.status, **curve_document(ladder)}
        if ladder
        else None,
    }


def _quality_row(run: RunFolder) -> dict[str, Any]:
    from reports.outcomes import load_outcomes
    from reports.scores import scores_document
    from reports.throughput import pass_throughput

    record = run.record
    return {
        "folder": str(run.path),
        "status": record.status,
        "started_at": record.started_at,
        "bank": dict(record.bank),
        "sampling": dict(record.sampling),
        "plan": {key: value for key, value in record.plan.items() if key != "items"},
        "scores": scores_document(load_outcomes(run)),
        "throughput": pass_throughput(run),
    }


def _comparisons(configurations: Sequence[Configuration], margin: float | None) -> list[dict[str, Any]]:
    from reports.comparison import comparison_document

    baseline = configurations[0].quality
    others = [configuration.quality for configuration in configurations[1:]]
    return [comparison_document(baseline, other, margin=margin) for other in others if baseline and other]


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
                f"triplicate run {configuration.name} --bank {bank} --repeats {plan['repeats']} "
                f"--concurrency {plan['concurrency']}"
            )
        if configuration.ladder:
            plan = configuration.ladder.record.plan
            levels = ",".join(str(level) for level in plan["levels"])
            lines.append(
                f"triplicate sweep {configuration.name} --levels {levels} --max-tokens {plan['max_tokens']} "
                f"--rounds {plan['rounds']} --prompts {plan['prompts']}"
            )
    first, *others = [c for c in configurations if c.quality] or [configurations[0]]
    asked = f" --margin {margin:g}" if margin is not None else ""
    return lines + [f"triplicate compare {first.name} {other.name}{asked}" for other in others]

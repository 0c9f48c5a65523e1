"""The two sides of a decide on disk: what is written into their records, and how an unfinished pair is found again."""

import uuid
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from itembank.errors import UserError
from reports.decision import Rule
from runner.find import run_folders
from runner.record import RunRecord
from runner.store import read_record


@dataclass(frozen=True, slots=True, kw_only=True)
class Pair:
    """The folders of a decide."""

    baseline: Path
    candidate: Path
    fixed_baseline: bool
    """The baseline was measured before and is only read."""


def pair_plan(rule: Rule, side: str, pair: str, finished_baseline: Path | None) -> dict[str, Any]:
    """What a decide adds to a side's plan, before the first request."""
    return {
        "pair": pair,
        "side": side,
        "looks": list(rule.looks),
        "margin": rule.margin,
        "alpha": rule.alpha,
        "finished_baseline": str(finished_baseline) if finished_baseline else None,
    }


def new_pair_id() -> str:
    """A name that no other pair has."""
    return uuid.uuid4().hex[:16]


def rule_in(plan: Mapping[str, Any]) -> Rule:
    """The rule that a side's plan declares."""
    return Rule(margin=float(plan["margin"]), alpha=float(plan["alpha"]), looks=tuple(plan["looks"]))


def pair_of(path: Path) -> Pair:
    """The pair that the run folder at `path` belongs to. Raises UserError if it belongs to none or a side is gone."""
    plan = read_record(path).plan
    if "pair" not in plan:
        raise UserError(f"{path} is no part of a decide; resume it with `triplicate run --resume {path}`")
    sides = _sides(path.parent.parent, str(plan["pair"]))
    return _pair(sides, path)


def unfinished_pair(out: Path, baseline: str, candidate: str, rule: Rule, plan: Mapping[str, Any]) -> Pair | None:
    """The newest unfinished pair of these two servings (or a record's path and a serving) under the same plan.

    The same rule, items, concurrency and streaming; None where there is no such pair.
    """
    found: list[tuple[str, Pair]] = []
    for path, record in _decides(out):
        theirs = record.plan
        if theirs["side"] != "candidate" or record.status == "complete" or record.serving.get("name") != candidate:
            continue
        if rule_in(theirs) != rule or any(theirs.get(key) != value for key, value in plan.items()):
            continue
        sides = _sides(out, str(theirs["pair"]))
        names = theirs["finished_baseline"], sides.get("baseline") and read_record(sides["baseline"]).serving["name"]
        if baseline in names:
            found.append((record.started_at, _pair(sides, path)))
    return max(found, key=lambda entry: entry[0])[1] if found else None


def _decides(out: Path) -> list[tuple[Path, RunRecord]]:
    records = [(path, read_record(path)) for path in run_folders(out)] if out.is_dir() else []
    return [(path, record) for path, record in records if "pair" in record.plan]


def _sides(out: Path, pair: str) -> dict[str, Path]:
    return {str(record.plan["side"]): path for path, record in _decides(out) if record.plan["pair"] == pair}


def _pair(sides: Mapping[str, Path], path: Path) -> Pair:
    if "candidate" not in sides:
        raise UserError(f"{path}: the candidate's folder of this decide is gone; start a new one")
    finished = read_record(sides["candidate"]).plan.get("finished_baseline")
    baseline = Path(finished) if finished else sides.get("baseline")
    if baseline is None or not (baseline / "run.json").is_file():
        raise UserError(f"{path}: the baseline's folder of this decide is gone; start a new one")
    return Pair(baseline=baseline, candidate=sides["candidate"], fixed_baseline=bool(finished))

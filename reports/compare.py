"""The commands `compare` and `plan`: a verdict on two finished runs, and how many repeats a margin needs."""

import argparse
import json
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from runner import DEFAULT_OUT


def add_compare(parser: argparse.ArgumentParser) -> None:
    """The arguments of `compare`."""
    parser.add_argument("baseline", metavar="BASELINE", help="what runs now: a run folder or a serving's name")
    parser.add_argument(
        "candidate", metavar="CANDIDATE", help="what might replace it: a run folder or a serving's name"
    )
    add_margin(parser)
    add_output(parser)


def add_margin(parser: argparse.ArgumentParser) -> None:
    """`--margin`, shared by everything that judges."""
    parser.add_argument(
        "--margin",
        type=float,
        metavar="POINTS",
        help="points of score that may be lost (default 3, or what the runs' own plan declared)",
    )


def add_output(parser: argparse.ArgumentParser) -> None:
    """`--json` and `--out`, shared by everything that reads runs."""
    parser.add_argument("--json", action="store_true", help="print one JSON document")
    parser.add_argument("--out", type=Path, default=DEFAULT_OUT, help="where run folders are (default runs)")


def compare(arguments: argparse.Namespace) -> int:
    """Compare two finished quality runs: the verdict and all it rests on."""
    from reports.comparison import comparison_document, lines
    from reports.decision import EXIT_STATUS, Verdict, checked_margin
    from runner.find import find_run
    from runner.store import RunFolder

    if arguments.margin is not None:
        checked_margin(arguments.margin)
    baseline, candidate = (
        RunFolder.read(find_run(name, arguments.out)) for name in (arguments.baseline, arguments.candidate)
    )
    document = comparison_document(baseline, candidate, margin=arguments.margin)
    show(document, lines(document), arguments.json)
    return EXIT_STATUS[Verdict(document["verdict"])]


def add_plan(parser: argparse.ArgumentParser) -> None:
    """The arguments of `plan`."""
    parser.add_argument("run", metavar="RUN", help="a quality run: a run folder or a serving's name")
    add_margin(parser)
    add_output(parser)


def plan(arguments: argparse.Namespace) -> int:
    """Say how many repeats a margin needs, from the noise that a run showed."""
    from reports.decision import MARGIN, checked_margin
    from reports.outcomes import load_outcomes
    from reports.planner import plan, plan_document, plan_lines
    from runner.find import find_run
    from runner.store import RunFolder

    margin = checked_margin(MARGIN if arguments.margin is None else arguments.margin)
    outcomes = load_outcomes(RunFolder.read(find_run(arguments.run, arguments.out)))
    document = plan_document(plan(outcomes, margin), outcomes)
    show(document, plan_lines(document), arguments.json)
    return 0


def show(document: Mapping[str, Any], lines: Sequence[str], as_json: bool) -> None:
    """Print one document on stdout: as JSON without NaN, or as lines."""
    text = json.dumps(document, ensure_ascii=False, indent=1, allow_nan=False) if as_json else "\n".join(lines)
    sys.stdout.write(text + "\n")

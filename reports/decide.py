"""The command `decide`: repeat before you decide. Prepares the protocol, runs it, and prints the comparison."""

import argparse
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from reports import report_command
from reports.compare import add_margin, show
from runner.commands import add_bank, add_config

if TYPE_CHECKING:
    from reports.protocol import Protocol

INTERRUPTED, INCOMPLETE = 130, 4
KEYS = (
    *("verdict", "margin", "difference", "interval", "population_interval", "look", "repeats", "reasons"),
    *("scores", "dimensions", "excess_flips", "defects", "identity", "throughput"),
)
"""What the document holds in any case; None where nothing was measured."""


def add_decide(parser: argparse.ArgumentParser) -> None:
    """The arguments of `decide`."""
    add = parser.add_argument
    add("baseline", nargs="?", metavar="BASELINE", help="what runs now: a serving, or a finished run's folder")
    add("candidate", nargs="?", metavar="CANDIDATE", help="what might replace it: a serving")
    add_margin(parser)
    add("--looks", default="3,5,10", metavar="K,...", help="repeats a side at which it may stop (default 3,5,10)")
    add("--concurrency", type=int, default=1, metavar="C", help="requests in flight (default 1)")
    add("--no-stream", action="store_true", help="ask without streaming (default: stream)")
    add("--resume", type=Path, metavar="RUN", help="go on with the decide that this run folder is part of")
    add("--new", action="store_true", help="start anew (default: go on with an unfinished decide of the same plan)")
    add("--wait", type=float, default=300.0, metavar="S", help="seconds to wait for a lost server (default 300)")
    add("--json", action="store_true", help="print one JSON document")
    add_bank(parser)
    add_config(parser)


def decide(arguments: argparse.Namespace) -> int:
    """Measure two servings until their difference is decided, and no longer."""
    from reports.comparison import comparison_document, lines
    from reports.decision import EXIT_STATUS, Verdict
    from reports.preparation import prepared
    from runner.store import RunFolder

    protocol = prepared(arguments)
    if isinstance(protocol, list):
        refused = dict.fromkeys(KEYS) | {
            "verdict": str(Verdict.INVALID),
            "margin": arguments.margin,
            "reasons": protocol,
        }
        show(refused, ["INVALID  nothing was measured", *(f"  - {reason}" for reason in protocol)], arguments.json)
        return EXIT_STATUS[Verdict.INVALID]
    status = guarded(protocol)
    if status:
        return status
    baseline, candidate = RunFolder.read(protocol.baseline.path), RunFolder.read(protocol.candidate.path)
    document = comparison_document(baseline, candidate)
    document["runs"] = {"baseline": str(baseline.path), "candidate": str(candidate.path)}
    text = [*lines(document), "", f"records: {baseline.path} and {candidate.path}"]
    text.append(f"next: triplicate report {baseline.path} {candidate.path}")
    show(document, text, arguments.json)
    sys.stderr.write(f"{report_command.page_line([baseline.path, candidate.path], candidate.path / 'report.html')}\n")
    return EXIT_STATUS[Verdict(document["verdict"])]


def guarded(protocol: "Protocol") -> int:
    """Run the protocol; 0 when it came to its end, else the exit status after saying how to go on."""
    from reports.protocol import measure_until_decided
    from runner.client import run
    from runner.failure import one_line
    from runner.quality import ServingLost

    status = INCOMPLETE
    try:
        run(measure_until_decided(protocol))
        status = 0
    except* ServingLost as lost:
        sys.stderr.write(f"triplicate: {one_line(str(lost.exceptions[0]))}\n")
    except* KeyboardInterrupt:
        status = INTERRUPTED
    finally:
        if status:
            sys.stderr.write(f"resume with: triplicate decide --resume {protocol.candidate.path}\n")
        for party in protocol.parties:
            if status:
                party.folder.end("interrupted" if status == INTERRUPTED else "incomplete")
            party.folder.close()
    return status

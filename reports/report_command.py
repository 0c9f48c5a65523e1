"""The command `report`: finds runs, renders one format, to stdout or into a file."""

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from runner import DEFAULT_OUT

if TYPE_CHECKING:
    from reports.report import Report

MOST_CONFIGURATIONS = 8


def add_report(parser: argparse.ArgumentParser) -> None:
    """The arguments of `report`."""
    add = parser.add_argument
    add("run", nargs="*", metavar="RUN", help="run folders or servings' names; the first is the baseline")
    add("--compare", nargs="+", default=[], metavar="RUN", help="the same, up to eight configurations on one page")
    add("--format", help="terminal, markdown, html, json, csv, junit or parquet (default: by the ending of -o)")
    add("--push", metavar="hub:OWNER/NAME", help="put the trials with their verdicts on a hub, as in parquet")
    add("-o", "--output", type=Path, metavar="FILE", help="file to write (default: stdout, as terminal text)")
    add("--margin", type=float, metavar="POINTS", help="points of score that may be lost (default 3, or the runs' own)")
    add("--out", type=Path, default=DEFAULT_OUT, metavar="DIR", help="folder of runs (default runs)")


def report(arguments: argparse.Namespace) -> int:
    """Report on runs: verdict, identity, scores, flips and curves, in the format of your choice."""
    from itembank.errors import UserError
    from reports.decision import checked_margin
    from reports.report import format_named, report_of, write
    from runner.find import find_runs

    names = [*arguments.run, *arguments.compare]
    if not names:
        raise UserError("name at least one run folder or serving, for example `triplicate report incumbent candidate`")
    if arguments.margin is not None:
        checked_margin(arguments.margin)
    chosen = format_named(arguments.format, arguments.output)
    made = report_of([path for name in names for path in find_runs(name, arguments.out)], margin=arguments.margin)
    if len(made.configurations) > MOST_CONFIGURATIONS:
        raise UserError(f"a report shows at most {MOST_CONFIGURATIONS} configurations, not {len(made.configurations)}")
    if arguments.push:
        from reports.formats.parquet import push

        sys.stdout.write(f"pushed {push(made, arguments.push)}\n")
    if arguments.output is not None:
        sys.stdout.writelines(f"{path}\n" for path in write(made, chosen, arguments.output))
    elif not arguments.push:
        printed(made, chosen)
    return 0


def page_line(runs: Sequence[Path], path: Path) -> str:
    """Write the page of these runs to `path`; a line for people that says where it is, or why there is none."""
    from itembank.errors import UserError
    from reports.report import report_of, write

    try:
        return f"report: {write(report_of(runs), 'html', path)[0]}"
    except UserError as error:
        return f"no report page: {error}"


def printed(made: "Report", chosen: str) -> None:
    """Print the report; text in colour where a person watches who did not forbid it."""
    from reports.formats import terminal
    from reports.report import render

    if chosen == "terminal":
        terminal.show(made, sys.stdout)
        return
    content = render(made, chosen)
    sys.stdout.buffer.write(content if isinstance(content, bytes) else content.encode("utf-8", "replace"))
    sys.stdout.buffer.flush()

"""The command `report`: finds runs, renders one format, to stdout or into a file."""

import argparse
import sys
from pathlib import Path

from runner import DEFAULT_OUT


def add_report(parser: argparse.ArgumentParser) -> None:
    """The arguments of `report`."""
    add = parser.add_argument
    add("run", nargs="*", metavar="RUN", help="run folders or servings' names; the first is the baseline")
    add("--compare", nargs="+", default=[], metavar="RUN", help="the same, up to eight configurations on one page")
    add("--format", help="terminal, markdown, html, json, csv, junit or parquet (default: by the ending of -o)")
    add("-o", "--output", type=Path, metavar="FILE", help="file to write (default: stdout, as terminal text)")
    add("--margin", type=float, metavar="POINTS", help="points of score that may be lost (default 3, or the runs' own)")
    add("--out", type=Path, default=DEFAULT_OUT, metavar="DIR", help="folder of runs (default runs)")


def report(arguments: argparse.Namespace) -> int:
    """Report on runs: verdict, identity, scores, flips and curves, in the format of your choice."""
    from itembank.errors import UserError
    from reports.decision import checked_margin
    from reports.report import format_named, render, report_of, write
    from runner.find import find_runs

    names = [*arguments.run, *arguments.compare]
    if not names:
        raise UserError("name at least one run folder or serving, for example `triplicate report incumbent candidate`")
    if arguments.margin is not None:
        checked_margin(arguments.margin)
    chosen = format_named(arguments.format, arguments.output)
    made = report_of([path for name in names for path in find_runs(name, arguments.out)], margin=arguments.margin)
    if arguments.output is None:
        content = render(made, chosen)
        sys.stdout.buffer.write(content) if isinstance(content, bytes) else sys.stdout.write(content)
    else:
        sys.stdout.write(f"{write(made, chosen, arguments.output)}\n")
    return 0

"""The commands that ask what runs: `probe`, `ledger list` and `ledger check`."""

import argparse
from pathlib import Path
from typing import TYPE_CHECKING

from reports.compare import add_output, show

if TYPE_CHECKING:
    from runner.config import ServingConfig
    from runner.record import Identity

DEADLINE_S = 3.4
"""Leaves the time to start up, so that the command ends within five seconds on a busy machine too."""
IS_STALE, UNREACHABLE = 1, 2


def add_probe(parser: argparse.ArgumentParser) -> None:
    """The arguments of `probe`."""
    parser.add_argument("serving", metavar="SERVING", help="a serving's name in triplicate.toml, or a base URL")
    parser.add_argument("--config", type=Path, metavar="FILE", help="configuration (default triplicate.toml here)")
    add_output(parser)


def probe(arguments: argparse.Namespace) -> int:
    """Read a running server's configuration: intended, found and measured side by side."""
    from reports.probe import identity_document, lines, measured_cap
    from runner.client import run
    from runner.config import load_config, serving
    from runner.identity import is_silent

    chosen = serving(load_config(arguments.config), arguments.serving)
    identity = run(_identity(chosen))
    document = identity_document(chosen, identity, measured_cap(chosen.name, arguments.out))
    show(document, lines(document), arguments.json)
    return UNREACHABLE if is_silent(identity) else 0


async def _identity(chosen: "ServingConfig") -> "Identity":
    """The identity of a server that runs or, where triplicate is to start it, of one started for this."""
    from tempfile import TemporaryDirectory

    from runner.identity import identify
    from runner.launch import launched

    if not chosen.launch:
        return await identify(chosen, deadline_s=DEADLINE_S)

    with TemporaryDirectory() as folder:
        async with launched(chosen, Path(folder) / "server.log") as started:
            return await identify(started, deadline_s=DEADLINE_S)


def add_list(parser: argparse.ArgumentParser) -> None:
    """The arguments of `ledger list`."""
    add_output(parser)


def list_figures(arguments: argparse.Namespace) -> int:
    """List the figures on record with concurrency, length, prompts, configuration, date and repeats."""
    from reports.ledger import figure_lines, ledger_document

    document = ledger_document(arguments.out)
    show(document, figure_lines(document), arguments.json)
    return 0


def add_check(parser: argparse.ArgumentParser) -> None:
    """The arguments of `ledger check`."""
    parser.add_argument("run", nargs="*", metavar="RUN", help="run folders or servings' names (default: all runs)")
    parser.add_argument("--config", type=Path, metavar="FILE", help="configuration (default triplicate.toml here)")
    add_output(parser)


def check(arguments: argparse.Namespace) -> int:
    """Ask the running systems whether the figures on record still describe them; exit 1 if any is stale."""
    from reports.ledger import check_document, check_lines
    from runner.client import run
    from runner.config import load_config
    from runner.find import find_runs, run_folders

    named = [path for name in arguments.run for path in find_runs(name, arguments.out)]
    paths = named if arguments.run else run_folders(arguments.out)
    document = run(check_document(paths, load_config(arguments.config)))
    show(document, check_lines(document), arguments.json)
    return IS_STALE if document["stale"] else 0

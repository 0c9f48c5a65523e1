"""The commands that measure without explaining: run, rescore. What they found is explained by the reports."""

import argparse
from collections.abc import Callable
from pathlib import Path

from runner import DEFAULT_OUT
from runner.simulate import add_simulate, simulate

Command = tuple[Callable[[argparse.ArgumentParser], None], Callable[[argparse.Namespace], int]]


def add_serving(parser: argparse.ArgumentParser, nargs: str | None = None) -> None:
    """The arguments that name servings and say where they are described."""
    text = "a serving's name in triplicate.toml, or a base URL"
    if nargs:
        parser.add_argument("serving", nargs=nargs, metavar="SERVING", help=text)
    else:
        parser.add_argument("serving", metavar="SERVING", help=text)
    add_config(parser)


def add_config(parser: argparse.ArgumentParser) -> None:
    """The arguments that every command has that reads the configuration or the runs."""
    parser.add_argument("--config", type=Path, metavar="FILE", help="configuration (default triplicate.toml here)")
    parser.add_argument("--out", type=Path, default=DEFAULT_OUT, metavar="DIR", help="folder of runs (default runs)")


def add_bank(parser: argparse.ArgumentParser) -> None:
    """The arguments that choose items."""
    parser.add_argument("--bank", metavar="B", help="builtin, a file, or hub:owner/name (default: the configuration's)")
    parser.add_argument("--items", metavar="PATTERN", help="globs of item ids, comma-separated (default: all)")


def add_run(parser: argparse.ArgumentParser) -> None:
    """Arguments of `run`."""
    add_serving(parser, nargs="*")
    add_bank(parser)
    parser.add_argument("--repeats", type=int, default=3, metavar="N", help="passes over all items (default 3)")
    parser.add_argument("--concurrency", type=int, default=1, metavar="C", help="requests in flight (default 1)")
    parser.add_argument("--no-stream", action="store_true", help="ask without streaming (default: stream)")
    parser.add_argument("--resume", type=Path, metavar="RUN", help="go on with an interrupted run folder")
    parser.add_argument("--repair", action="store_true", help="with --resume: leave damaged lines out (default: stop)")
    parser.add_argument(
        "--wait", type=float, default=300.0, metavar="S", help="seconds to wait for a lost server (default 300)"
    )


def run(args: argparse.Namespace) -> int:
    """Ask a bank of items several times of each serving, and judge every answer."""
    from runner.run import resume_run, start_runs

    return resume_run(args) if args.resume else start_runs(args)


def add_rescore(parser: argparse.ArgumentParser) -> None:
    """Arguments of `rescore`."""
    parser.add_argument("run", metavar="RUN", help="a run folder, or a serving's name for its newest complete run")
    add_config(parser)
    parser.add_argument("--bank", metavar="B", help="the bank that was asked (default: the record's)")


def rescore(args: argparse.Namespace) -> int:
    """Judge the stored answers of a run again; no server is asked."""
    from runner.rescore import rescore_run

    return rescore_run(args)


COMMANDS: dict[str, Command] = {
    "run": (add_run, run),
    "rescore": (add_rescore, rescore),
    "simulate": (add_simulate, simulate),
}

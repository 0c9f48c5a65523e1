"""The commands of this layer: judging answers that exist, and proving a bank."""

import argparse
import json
import sys
from collections.abc import Callable, Iterable, Iterator
from typing import TypeVar

Command = tuple[Callable[[argparse.ArgumentParser], None], Callable[[argparse.Namespace], int]]
Judged = TypeVar("Judged")


def add_score(parser: argparse.ArgumentParser) -> None:
    """The arguments of `score`."""
    parser.add_argument("bank", metavar="BANK", help="`builtin`, or the path of a .yaml or .jsonl bank")
    parser.add_argument("responses", metavar="RESPONSES", help="responses, one JSON object a line; - is standard input")
    parser.add_argument("--json", action="store_true", help="print one verdict a line as JSON (default: a table)")
    parser.add_argument("--workers", type=int, metavar="N", help="processes that judge (default: one a core)")


def score(arguments: argparse.Namespace) -> int:
    """Judge answers that already exist.

    Nothing is printed before the whole file is known to be good; unscorable answers do not change the exit status.
    """
    from itembank.bank import load_bank
    from scorers.check import validate
    from scorers.judge import judge_many, verdict_row
    from scorers.responses import read_responses
    from scorers.tally import table

    bank = load_bank(arguments.bank)
    validate(bank)
    answers = read_responses(arguments.responses, bank)
    judged = judge_many([(item, response) for item, _, response in answers], arguments.workers)
    verdicts = zip(answers, _shown(judged, len(answers)), strict=True)
    if arguments.json:
        for (item, repeat, _), verdict in verdicts:
            sys.stdout.write(json.dumps(verdict_row(item, repeat, verdict)) + "\n")
        return 0
    sys.stdout.write(table([(item, verdict) for (item, _, _), verdict in verdicts]) + "\n")
    left = len(bank.items) - len({item.id for item, _, _ in answers})
    sys.stdout.write(f"{left} of {len(bank.items)} items of {bank.name} have no answer\n" if left else "")
    return 0


def add_check(parser: argparse.ArgumentParser) -> None:
    """The arguments of `bank check`."""
    parser.add_argument(
        "bank", metavar="BANK", nargs="?", default="builtin", help="`builtin` or a path (default: builtin)"
    )


def check(arguments: argparse.Namespace) -> int:
    """Prove a bank: parameters, evidence, accepts that pass, rejects that do not, and what junk scores."""
    from itembank.bank import load_bank
    from scorers.check import faults
    from scorers.floor import junk_floor

    bank = load_bank(arguments.bank, checked=True)
    found = faults(bank)
    for line in found:
        sys.stdout.write(f"{bank.name}: {line}\n")
    if found:
        sys.stderr.write(f"triplicate: {len(found)} faults in {bank.name}; mend them and check again\n")
        return 2
    sys.stdout.write(f"{bank.name}: {len(bank.items)} items, digest {bank.digest}, no faults\n\njunk floor\n")
    for dimension, (passes, tries) in junk_floor(bank).items():
        sys.stdout.write(f"  {dimension:24} {100 * passes / tries:5.1f} %   {passes} of {tries} junk answers pass\n")
    return 0


def _shown(judged: Iterable[Judged], total: int) -> Iterator[Judged]:
    """The same, with a progress bar where a person watches."""
    from tqdm import tqdm

    yield from tqdm(judged, total=total, unit="answer", file=sys.stderr, disable=not sys.stderr.isatty(), leave=False)


COMMANDS: dict[str, Command] = {"score": (add_score, score), "bank check": (add_check, check)}

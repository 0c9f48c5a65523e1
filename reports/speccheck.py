"""The commands `speccheck` and `load`: the same items under several conditions. Judges by the documents alone."""

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from itembank.errors import UserError
from reports import report_command
from reports.compare import add_margin, show
from runner.commands import add_bank, add_config, add_serving

if TYPE_CHECKING:
    from itembank.bank import Bank
    from reports.passes import PassSet
    from runner.config import ServingConfig

INTERRUPTED, INCOMPLETE = 130, 4


def add_speccheck(parser: argparse.ArgumentParser) -> None:
    """The arguments of `speccheck`."""
    add = parser.add_argument
    add("off", metavar="OFF", help="the serving without speculation: a name in triplicate.toml, or a base URL")
    add("on", metavar="ON", help="the same model with speculation")
    add("--concurrency", type=int, default=8, metavar="C", help="the higher of the two concurrencies (default 8)")
    add("--repeats", type=int, default=5, metavar="N", help="repeats of each condition (default 5)")
    add("--no-ladder", action="store_true", help="leave the short ladder of each side out (default: measure it)")
    _add_common(parser)


def add_load(parser: argparse.ArgumentParser) -> None:
    """The arguments of `load`."""
    add_serving(parser)
    add = parser.add_argument
    add("--concurrency", default="1,16", metavar="LOW,HIGH", help="the two concurrencies (default 1,16)")
    add("--repeats", type=int, default=5, metavar="N", help="repeats at each concurrency (default 5)")
    _add_common(parser, config=False)


def _add_common(parser: argparse.ArgumentParser, config: bool = True) -> None:
    add_margin(parser)
    parser.add_argument("--json", action="store_true", help="print one JSON document")
    parser.add_argument(
        "--wait", type=float, default=300.0, metavar="S", help="seconds to wait for a lost server (default 300)"
    )
    add_bank(parser)
    if config:
        add_config(parser)


def speccheck(arguments: argparse.Namespace) -> int:
    """Check that speculative decoding changes nothing but the speed: quality and defects at two concurrencies."""
    from reports.decision import EXIT_STATUS, MARGIN, Verdict, checked_margin
    from reports.equivalence import equivalence_document
    from reports.equivalence_wording import speccheck_lines
    from reports.passes import Condition, pass_sets
    from runner.config import load_config, serving

    margin = checked_margin(MARGIN if arguments.margin is None else arguments.margin)
    if arguments.concurrency < 2:
        raise UserError(
            f"--concurrency {arguments.concurrency}: known corruptions need more than one request at a time"
        )
    config = load_config(arguments.config)
    servings = [serving(config, arguments.off), serving(config, arguments.on)]
    if servings[0].name == servings[1].name:
        raise UserError(f"OFF and ON are both {servings[0].name}; name two servings")
    conditions = [Condition(concurrency=c, stream=s) for c in (1, arguments.concurrency) for s in (True, False)]
    bank = _bank(arguments, config.bank.source)
    repeats = _repeats(arguments)
    curves = None if arguments.no_ladder else _curves(servings, arguments)
    sets = pass_sets("speculation", servings, conditions, bank, repeats, arguments.out)
    status = _measured(sets, bank, arguments)
    if status:
        return status
    pairs = _read_pairs(sets)
    runs = {(c.concurrency, c.stream): pair for c, pair in zip(conditions, pairs, strict=True)}
    document = equivalence_document(runs, margin=margin, curves=curves)
    show(document, speccheck_lines(document), arguments.json)
    loaded = [folder.path for folder in pairs[conditions.index(Condition(concurrency=arguments.concurrency))]]
    sys.stderr.write(f"{report_command.page_line(loaded, loaded[1] / 'report.html')}\n")
    return EXIT_STATUS[Verdict(document["verdict"])]


def load(arguments: argparse.Namespace) -> int:
    """Measure what load alone does to the answers: the same items at two concurrencies of one server."""
    from reports.comparison import comparison_document
    from reports.decision import EXIT_STATUS, MARGIN, Verdict, checked_margin
    from reports.equivalence_wording import load_lines
    from reports.passes import Condition, pass_sets
    from runner.config import load_config, serving

    margin = checked_margin(MARGIN if arguments.margin is None else arguments.margin)
    low, high = parsed_concurrencies(arguments.concurrency)
    config = load_config(arguments.config)
    bank = _bank(arguments, config.bank.source)
    chosen = serving(config, arguments.serving)
    conditions = [Condition(concurrency=low), Condition(concurrency=high)]
    sets = pass_sets("load", [chosen], conditions, bank, _repeats(arguments), arguments.out)
    status = _measured(sets, bank, arguments)
    if status:
        return status
    at_low, at_high = (_read(folder.path) for folder in sets[0].folders)
    compared = comparison_document(at_low, at_high, margin=margin)
    document = {**compared, "serving": chosen.name, "concurrency": [low, high]}
    show(document, load_lines(document), arguments.json)
    return EXIT_STATUS[Verdict(document["verdict"])]


def parsed_concurrencies(text: str) -> tuple[int, int]:
    """Two rising concurrencies from `1,16`. Raises UserError."""
    try:
        low, high = (int(part) for part in text.split(","))
    except ValueError:
        raise UserError(f"--concurrency {text!r}: give two whole numbers, such as 1,16") from None
    if not 1 <= low < high:
        raise UserError(f"--concurrency {text}: give a lower and a higher number of requests at a time, such as 1,16")
    return low, high


def _curves(servings: "Sequence[ServingConfig]", arguments: argparse.Namespace) -> dict[str, Any]:
    """A short ladder of each side, measured before the passes."""
    from reports.short_ladder import curves_document, measure_short_ladder
    from runner.client import run

    off, on = (run(measure_short_ladder(one, arguments.concurrency, arguments.out)) for one in servings)
    return curves_document(off, on)


def _repeats(arguments: argparse.Namespace) -> int:
    repeats: int = arguments.repeats
    if repeats < 1:
        raise UserError(f"--repeats must be at least 1, not {repeats}")
    return repeats


def _bank(arguments: argparse.Namespace, configured: str) -> "Bank":
    from runner.run import chosen_bank

    return chosen_bank(arguments.bank or configured, arguments.items)


def _measured(sets: "Sequence[PassSet]", bank: "Bank", arguments: argparse.Namespace) -> int:
    """Measure the passes; 0, or the exit status after saying how to go on. The folders are closed."""
    from reports.passes import measure_passes
    from runner.client import run
    from runner.failure import one_line
    from runner.quality import ServingLost

    status = INCOMPLETE
    try:
        run(measure_passes(sets, bank, arguments.repeats, arguments.wait))
        status = 0
    except* ServingLost as lost:
        sys.stderr.write(f"triplicate: {one_line(str(lost.exceptions[0]))}\n")
    except* KeyboardInterrupt:
        status = INTERRUPTED
    finally:
        for folder in (folder for one in sets for folder in one.folders):
            if status and folder.record.status != "complete":
                folder.end("interrupted" if status == INTERRUPTED else "incomplete")
            folder.close()
        if status:
            sys.stderr.write("what was measured is kept; the same command goes on with it\n")
    return status


def _read_pairs(sets: "Sequence[PassSet]") -> list[tuple[Any, Any]]:
    off, on = (one.folders for one in sets)
    return [(_read(a.path), _read(b.path)) for a, b in zip(off, on, strict=True)]


def _read(path: Path) -> Any:
    from runner.store import RunFolder

    return RunFolder.read(path)

"""The command `sweep`: measures concurrency ladders, names their signatures and compares two as a ratio curve.

It decides which level comes next, because that takes reading the curve; the measuring itself is `runner.ladder`'s.
"""

import argparse
import sys
from collections.abc import Callable, Sequence
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any

from itembank.errors import UserError
from runner import DEFAULT_OUT

if TYPE_CHECKING:
    from runner.config import ServingConfig
    from runner.ladder import Ladder, LadderPlan
    from runner.store import RunFolder

COMPLETE, INCOMPLETE, INTERRUPTED = 0, 4, 130
SMALL_GAIN = 1.07
"""Two doublings in a row that gain less end `--until-saturated`."""
LIMITS = {"rounds": (1, 100), "max_tokens": (1, 1_000_000), "workers": (1, 256), "max_level": (1, 65_536)}


def add_sweep(parser: argparse.ArgumentParser) -> None:
    """The arguments of `sweep`."""
    add = parser.add_argument
    add("serving", nargs="*", metavar="SERVING", help="a serving's name in triplicate.toml, or a base URL")
    add("--levels", default="1,2,4,8,16,32,64", metavar="C,...", help="concurrencies (default 1,2,4,8,16,32,64)")
    add(
        "--until-saturated", action="store_true", help="go on doubling until two steps gain less than 7 %% (default no)"
    )
    add("--max-level", type=int, default=512, metavar="C", help="where --until-saturated ends (default 512)")
    add("--max-tokens", type=int, default=256, metavar="N", help="tokens that each reply is to have (default 256)")
    add("--rounds", type=int, default=3, metavar="N", help="bursts at each level (default 3)")
    add(
        "--prompts",
        choices=("identical", "salted"),
        default="identical",
        help="one prompt for all: decode-bound, an upper bound; or a nonce at the start of each (default identical)",
    )
    add("--plateau-s", type=float, default=60.0, metavar="S", help="longest closed loop, seconds (default 60; 0: none)")
    add("--workers", type=int, default=1, metavar="N", help="client processes, for loads beyond one core (default 1)")
    add("--resume", type=Path, metavar="RUN", help="go on with an interrupted ladder's folder, level by level")
    add("--repair", action="store_true", help="with --resume: leave damaged lines out (default: stop)")
    add("--config", type=Path, metavar="FILE", help="configuration (default triplicate.toml here)")
    add("--out", type=Path, default=DEFAULT_OUT, metavar="DIR", help="folder of runs (default runs)")
    add("--json", action="store_true", help="print one JSON document")


def sweep(arguments: argparse.Namespace) -> int:
    """Measure throughput as a curve over concurrency and name what the curve shows."""
    from reports.curve import curve_document
    from reports.ratio import ratio_document
    from reports.sweep_wording import ratio_lines, sweep_lines

    paths: list[Path] = []
    status = _resumed(arguments, paths) if arguments.resume else _started(arguments, paths)
    if status == INTERRUPTED and not any(_has_levels(path) for path in paths):
        return status
    documents = [curve_document(_read(path)) for path in paths]
    ratios = [ratio_document(documents[0], other) for other in documents[1:]]
    if arguments.json:
        whole = documents[0] if len(documents) == 1 else {"sweeps": documents, "ratios": ratios}
        _print_json(whole)
    else:
        lines = [line for document in documents for line in (*sweep_lines(document), "")]
        lines += [line for ratio in ratios for line in (*ratio_lines(ratio), "")]
        sys.stdout.write("\n".join(lines).rstrip("\n") + "\n")
    _point(paths, arguments.json)
    spoiled = any(document["signature"] == "VOID" or document["identity_changes"] for document in documents)
    return status or (INCOMPLETE if spoiled else COMPLETE)


def _started(arguments: argparse.Namespace, paths: list[Path]) -> int:
    from runner.config import load_config, serving

    if not arguments.serving:
        raise UserError("name at least one serving, or --resume RUN; `triplicate sweep --help` shows the rest")
    plan = _plan(arguments)
    config = load_config(arguments.config)
    servings = [serving(config, name) for name in arguments.serving]
    if len({one.name for one in servings}) < len(servings):
        raise UserError("a serving is named twice; each is measured once")
    status = COMPLETE
    for one in servings:
        status = max(status, _guarded(one, plan, arguments.out, None, paths))
        if status == INTERRUPTED:
            break
    return status


def _resumed(arguments: argparse.Namespace, paths: list[Path]) -> int:
    from runner.config import load_config, stored_serving
    from runner.measuring import recorded_plan
    from runner.store import RunFolder

    with RunFolder.resume(arguments.resume, repair=arguments.repair) as folder:
        plan = recorded_plan(folder.record, arguments.resume)
        known = {one.name: one for one in load_config(arguments.config).serving}
        chosen = stored_serving(folder.record, known.get(str(folder.record.serving["name"])))
        return _guarded(chosen, plan, arguments.out, folder, paths)


def _plan(arguments: argparse.Namespace) -> "LadderPlan":
    from runner.ladder import LadderPlan, parsed_levels

    for name, (low, high) in LIMITS.items():
        value = vars(arguments)[name]
        if not low <= value <= high:
            raise UserError(f"--{name.replace('_', '-')} must lie between {low} and {high}, not {value}")
    if not 0 <= arguments.plateau_s <= 86_400:
        raise UserError(f"--plateau-s must lie between 0 and 86400 seconds, not {arguments.plateau_s}")
    return LadderPlan(
        levels=parsed_levels(arguments.levels),
        rounds=arguments.rounds,
        max_tokens=arguments.max_tokens,
        prompts=arguments.prompts,
        until_saturated=arguments.until_saturated,
        max_level=arguments.max_level,
        plateau_s=arguments.plateau_s,
        workers=arguments.workers,
    )


def _guarded(
    serving: "ServingConfig", plan: "LadderPlan", out: Path, folder: "RunFolder | None", paths: list[Path]
) -> int:
    """Measure one ladder to its end, to the loss of its server or to an interruption; its folder goes into `paths`."""
    from runner.client import run

    def note(path: Path) -> None:
        paths.append(path)

    try:
        return run(_measure(serving, plan, out, folder, note))
    except KeyboardInterrupt:
        return INTERRUPTED
    except UserError:
        for path in paths[-1:]:
            sys.stderr.write(f"resume with: triplicate sweep --resume {path}\n")
        raise


async def _measure(
    serving: "ServingConfig", plan: "LadderPlan", out: Path, folder: "RunFolder | None", note: Callable[[Path], None]
) -> int:
    from runner.measuring import measuring

    async with measuring(serving, plan, out=out, folder=folder) as ladder:
        note(ladder.folder.path)
        sys.stderr.write(_client_line(ladder.folder))
        await _climb(ladder)
        return INCOMPLETE if ladder.lost else COMPLETE


async def _climb(ladder: "Ladder") -> None:
    """The ladder, then the closed loops, the confirmation of k, and the lowest level once more."""
    from reports.curve import curve_document

    plan = ladder.plan
    for concurrency in plan.levels:
        await _level(ladder, "ladder", concurrency)
    rows = curve_document(ladder.folder)["levels"]
    while plan.until_saturated and not ladder.lost and not saturated(rows) and 2 * _top(rows) <= plan.max_level:
        await _level(ladder, "ladder", 2 * _top(rows))
        rows = curve_document(ladder.folder)["levels"]
    document = curve_document(ladder.folder)
    k = document["k"]
    loops = [round(k)] if k is not None else []
    for concurrency in dict.fromkeys([*loops, _top(rows)]):
        if plan.plateau_s > 0:
            await ladder.measure_plateau(concurrency)
    if k is not None and document["tier"] == "streams":
        for concurrency in (round(k), round(k) + 1):
            await _level(ladder, "confirm", concurrency)
    await _level(ladder, "control", min(plan.levels))


async def _level(ladder: "Ladder", phase: str, concurrency: int) -> None:
    """Measure one level; once more if nothing but the client's own busy machine spoiled it."""
    from reports.bursts import measured_levels
    from reports.void import worth_repeating

    await ladder.measure_level(phase, concurrency)
    found = [one for one in measured_levels(ladder.folder) if one.phase == phase]
    spoiled = [one for one in found if one.reading.concurrency == concurrency and worth_repeating(one.measured)]
    if spoiled and not ladder.lost:
        sys.stderr.write(f"{phase} {concurrency} again: {spoiled[0].reading.void}\n")
        await ladder.measure_level(phase, concurrency, again=True)


def saturated(rows: Sequence[dict[str, Any]]) -> bool:
    """Whether the last two steps gained less than 7 %, or the top level is void and a higher one would be too."""
    if rows[-1]["void"] is not None:
        return True
    rates = [row["tok_s"] for row in rows[-3:]]
    if len(rates) < 3 or any(rate is None for rate in rates):
        return False
    return all(high < SMALL_GAIN * low for low, high in pairwise(rates))


def _top(rows: Sequence[dict[str, Any]]) -> int:
    return max(int(row["concurrency"]) for row in rows)


def _read(path: Path) -> "RunFolder":
    from runner.store import RunFolder

    return RunFolder.read(path)


def _has_levels(path: Path) -> bool:
    return any(True for _ in _read(path).levels())


def _client_line(folder: "RunFolder") -> str:
    client = dict(folder.record.host.get("client") or {})
    return (
        f"this client sustains {client['events_per_s']} events/s at 70 % of a core"
        f" ({client['cpu_us_per_event']} us each at {client['streams']} streams)\n"
    )


def _print_json(document: Any) -> None:
    import json

    sys.stdout.write(json.dumps(document, ensure_ascii=False, indent=1, allow_nan=False) + "\n")


def _point(paths: Sequence[Path], as_json: bool) -> None:
    """Say where the records are and what to do next; on stderr where stdout holds a document."""
    out = sys.stderr if as_json else sys.stdout
    for path in paths:
        record = _read(path).record
        out.write(f"{path}\n")
        unfinished = record.status != "complete"
        out.write(
            f"resume with: triplicate sweep --resume {path}\n" if unfinished else f"next: triplicate report {path}\n"
        )

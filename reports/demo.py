"""`triplicate demo`: the whole job, by the commands that a user would type, on an engine that it starts itself.

The real engine is a model of 135 million parameters in two weight formats; `--simulated` shows four simulated
configurations instead. It decides nothing that the commands do not decide.
"""

import argparse
import json
import shlex
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from runner.config import ServingConfig

SLOTS = {"one-slot-f16": 1, "eight-slots-q4": 8}
WEIGHTS = {"one-slot-f16": "F16", "eight-slots-q4": "Q4_0"}
CONTEXT = 1024
REAL_LADDER = "--levels 1,2,4,8 --max-tokens 32 --rounds 2 --plateau-s 0"
QUICK_LADDER = "--levels 1,4 --max-tokens 16 --rounds 1 --plateau-s 0"
PRESETS = ("queueing", "capped", "batching", "batching-spec")
SIMULATED_LADDER = "--levels 1,2,4,8,16,32,64 --max-tokens 16 --rounds 2 --plateau-s 2"
HONESTY = (
    "What this is: SmolLM2-135M, a very small model that scores low, on easy items that are not the bank. "
    "F16 here is a re-encoding of the shipped 4-bit file, not better weights; Q4_0 is a second, coarser one. "
    "The figures say how the instrument reads two configurations on this machine, nothing about the model."
)


def add_demo(parser: argparse.ArgumentParser) -> None:
    """The arguments of `demo`."""
    parser.add_argument("--quick", action="store_true", help="a shorter ladder and fewer items (default: all)")
    parser.add_argument(
        "--simulated", action="store_true", help="four simulated configurations instead of the real engine (default no)"
    )
    parser.add_argument(
        "--dir",
        type=Path,
        default=Path("triplicate-demo"),
        metavar="DIR",
        help="where to work (default triplicate-demo)",
    )


def demo(arguments: argparse.Namespace) -> int:
    """Show the whole job on an embedded engine: ask, measure, compare, report."""
    folder = arguments.dir
    servings = simulated_servings() if arguments.simulated else real_servings()
    names = [serving.name for serving in servings]
    write_config(folder, servings)
    report = report_file(folder)
    ladder = SIMULATED_LADDER if arguments.simulated else QUICK_LADDER if arguments.quick else REAL_LADDER
    for command in commands(names, folder, ladder, report, simulated=arguments.simulated, quick=arguments.quick):
        status = typed(command)
        if status not in (0, 1, 3) and not (command[0] == "sweep" and status == 4):
            return status
    sys.stdout.write(f"\n{'' if arguments.simulated else HONESTY}\n")
    sys.stdout.write(f"open {report}\nnext: name your own servings in triplicate.toml\n")
    return 0


def commands(
    names: Sequence[str], folder: Path, ladder: str, report: Path, *, simulated: bool, quick: bool
) -> list[list[str]]:
    """The command lines, in order."""
    from itembank.bank import DATA

    where = ["--config", str(folder / "triplicate.toml"), "--out", str(folder / "runs")]
    bank = ["--bank", "builtin", "--repeats", "3"] if simulated else ["--bank", str(DATA.parent / "demo.yaml")]
    items = ["--items", "*-01"] if quick else []
    asked = [] if simulated else [["run", *names, *bank, *items, *where]]
    lines = [*asked, ["sweep", *names, *ladder.split(), *where]]
    if not simulated:
        lines.append(["compare", *names, "--out", str(folder / "runs")])
    return [*lines, ["report", *names, "--out", str(folder / "runs"), "-o", str(report)]]


def report_file(folder: Path) -> Path:
    """Where the report goes: a page, or text where the packages that draw a page are missing."""
    from reports.formats.html import missing_package

    missing = missing_package()
    if missing:
        sys.stderr.write(f"without {missing} the report is text; pip install 'triplicate[report]' for the page\n")
    return folder / ("report.txt" if missing else "report.html")


def typed(command: Sequence[str]) -> int:
    """Show a command line and do what it says."""
    import reports.commands
    import runner.commands

    sys.stdout.write(f"\n$ triplicate {shlex.join(command)}\n")
    sys.stdout.flush()
    add, act = {**runner.commands.COMMANDS, **reports.commands.COMMANDS}[command[0]]
    parser = argparse.ArgumentParser(prog=f"triplicate {command[0]}")
    add(parser)
    return act(parser.parse_args(command[1:]))


def real_servings() -> list["ServingConfig"]:
    """One slot with F16 weights, eight slots with Q4_0. Raises UserError saying what to install."""
    from runner.local import embedded
    from runner.weights import model_file, require_engine, variant

    require_engine()
    sys.stderr.write("re-encoding the model to F16 and Q4_0 (half a minute, once)\n")
    return [
        embedded(name, variant(model_file(), WEIGHTS[name]), slots=slots, context=CONTEXT)
        for name, slots in SLOTS.items()
    ]


def simulated_servings() -> list["ServingConfig"]:
    """The four presets of the simulator, each started by its own command line."""
    from runner.config import Launch, ServingConfig

    program = str(Path(__file__).parent.parent / "triplicate.py")
    return [
        ServingConfig(
            name=preset,
            gpus=2 if preset in ("queueing", "capped") else 1,
            launch=Launch(command=(sys.executable, program, "simulate", preset, "--port", "{port}")),
        )
        for preset in PRESETS
    ]


def write_config(folder: Path, servings: Sequence["ServingConfig"]) -> None:
    """triplicate.toml of the demo, so that each command line works again by hand."""
    from itembank.errors import UserError

    lines = ["# Written by `triplicate demo`."]
    for serving in servings:
        assert serving.launch is not None
        lines += ["", "[[serving]]", f"name = {json.dumps(serving.name)}"]
        lines += [f"gpus = {serving.gpus}"] if serving.gpus else []
        lines += ["[serving.launch]", f"command = {json.dumps(list(serving.launch.command))}"]
        lines += [f"cwd = {json.dumps(serving.launch.cwd)}"] if serving.launch.cwd else []
        lines += ["[serving.intended]", *(f"{key} = {value}" for key, value in serving.intended.items())]
    try:
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "triplicate.toml").write_text("\n".join(lines) + "\n", "utf-8")
    except OSError as error:
        raise UserError(f"cannot write to {folder}: {error.strerror}; give another folder with --dir") from None

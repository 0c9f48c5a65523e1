"""`triplicate simulate`: serves a simulated engine until it is told to stop. Measures nothing."""

import argparse
import sys
from dataclasses import replace
from typing import TYPE_CHECKING

from runner.simulator_faults import KINDS

if TYPE_CHECKING:
    from runner.simulator import Simulator


def add_simulate(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of `simulate`."""
    add = parser.add_argument
    add("preset", metavar="PRESET", help="queueing, capped, batching, batching-spec or faulty")
    add("--port", type=int, default=0, help="TCP port on loopback (0: a free one)")
    add("--speed", type=float, default=1.0, help="how many times faster than real the engine's time runs (1)")
    add("--name", default="simulated", help="name of the served model (simulated)")
    add("--bank", default="builtin", help="bank whose items it can answer (builtin)")
    add("--score", type=float, default=84.0, help="pass rate to expect over the bank, percent (84)")
    add("--flaky", type=float, default=0.15, help="share of items that pass only now and then (0.15)")
    add("--regress", type=int, default=0, metavar="N", help="items that it fails although its seed knows them (0)")
    add("--seed", type=int, default=0, help="decides which items are known and the engine's jitter (0)")
    add("--noise-seed", type=int, help="decides the draws of flaky items (new ones at every start)")
    kinds = ", ".join(KINDS)
    add("--fault", action="append", default=[], metavar="KIND[=SHARE]", help=f"spoil that share of requests: {kinds}")
    add("--die-after", type=int, metavar="N", help="stop dead after N requests (never)")
    add("--cap", type=int, help="sequences that run at once (the preset's)")
    add("--declared-cap", type=int, help="the cap that it states, true or not (the real one)")
    add("--ragged", type=float, help="answers end early by up to this share of the token cap (0)")
    add("--draft", type=int, help="tokens that a drafter proposes in each step (the preset's)")
    add("--jitter", type=float, help="relative standard deviation of a step's time (0.01)")
    add("--context", type=int, help="context length, tokens (65536)")
    add("--no-prefix-cache", action="store_true", help="compute every prompt anew")


def simulate(arguments: argparse.Namespace) -> int:
    """Serve a simulated engine over HTTP, for trying things out and for tests."""
    from itembank.bank import load_bank
    from runner.client import run
    from runner.simulator import Simulator, preset_named
    from runner.simulator_answers import Model
    from runner.simulator_faults import parsed_faults

    names = {"cap": "cap", "declared_cap": "declared_cap", "ragged": "ragged", "draft": "draft"}
    names |= {"jitter": "jitter", "context": "context_tokens"}
    given = {field: vars(arguments)[name] for name, field in names.items() if vars(arguments)[name] is not None}
    if arguments.no_prefix_cache:
        given["prefix_cache"] = False
    preset = replace(preset_named(arguments.preset), **given)
    _check(arguments)
    model = Model(
        bank=load_bank(arguments.bank),
        score=arguments.score,
        flaky=arguments.flaky,
        regress=arguments.regress,
        seed=arguments.seed,
        noise=arguments.noise_seed,
    )
    server = Simulator(
        preset,
        port=arguments.port,
        speed=arguments.speed,
        model=model,
        faults=parsed_faults(arguments.fault) or None,
        die_after=arguments.die_after,
        name=arguments.name,
        seed=arguments.seed,
    )
    return run(_serve(server))


def _check(arguments: argparse.Namespace) -> None:
    from itembank.errors import UserError

    bounds = {
        "port": (0, 65535),
        "speed": (0.001, 10_000),
        "score": (0, 100),
        "flaky": (0, 1),
        "regress": (0, 10**9),
        "die_after": (1, 10**9),
        "cap": (1, 10**6),
        "declared_cap": (1, 10**6),
        "ragged": (0, 0.99),
        "draft": (0, 64),
        "jitter": (0, 2),
        "context": (16, 10**8),
    }
    for name, (low, high) in bounds.items():
        value = vars(arguments)[name]
        if value is not None and not low <= value <= high:
            raise UserError(f"--{name.replace('_', '-')} must lie between {low} and {high}, not {value}")


async def _serve(server: "Simulator") -> int:
    import asyncio
    import signal

    end = asyncio.Event()
    loop = asyncio.get_running_loop()
    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, end.set)
    async with server:
        sys.stdout.write(f"simulated engine {server.preset.name} at {server.base_url} (Ctrl-C ends it)\n")
        sys.stdout.flush()
        waits = [asyncio.create_task(end.wait()), asyncio.create_task(server.dead.wait())]
        await asyncio.wait(waits, return_when=asyncio.FIRST_COMPLETED)
        for wait in waits:
            wait.cancel()
    return 1 if server.dead.is_set() else 0

"""A simulated engine in a process of its own, so that a client under measurement shares no interpreter with it."""

import contextlib
import multiprocessing
from collections.abc import Iterator
from multiprocessing.connection import Connection
from typing import Any

from runner.simulator_engine import Preset


def _serve(preset: Preset, options: dict[str, Any], pipe: Connection) -> None:
    import asyncio

    from runner.client import run
    from runner.simulator import Simulator

    async def main() -> None:
        async with Simulator(preset, **options) as server:
            pipe.send(server.base_url)
            await asyncio.get_running_loop().run_in_executor(None, pipe.recv)

    with contextlib.suppress(EOFError):
        run(main())


@contextlib.contextmanager
def served(preset: Preset, **options: Any) -> Iterator[str]:
    """The base URL of a simulator with that preset, while the block lasts."""
    context = multiprocessing.get_context("spawn")
    ours, theirs = context.Pipe()
    process = context.Process(target=_serve, args=(preset, options, theirs), daemon=True)
    process.start()
    theirs.close()
    try:
        yield ours.recv()
    finally:
        ours.close()
        process.join(10)


PACED = Preset(
    name="paced", s0_s=0.02, s1_s=0.0, prefill_s=0.0, prefill_token_s=0.0, prefills_per_step=1000, jitter=0.0
)
"""50 tokens a second for every stream, however many there are."""

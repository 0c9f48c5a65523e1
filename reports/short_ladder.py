"""A short concurrency ladder of each side of the speculation check. Reads it with `curve`; names nothing itself."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from reports.curve import curve_document
from reports.ratio import ratio_document
from runner.config import ServingConfig
from runner.ladder import LadderPlan
from runner.measuring import measuring
from runner.store import RunFolder

ROUNDS = 2
MAX_TOKENS = 128


def short_levels(concurrency: int) -> tuple[int, ...]:
    """Doublings from 1 to beyond the concurrency, so that a cap at it shows.

    >>> short_levels(8), short_levels(6)
    ((1, 2, 4, 8, 16), (1, 2, 4, 8))
    """
    levels = [1]
    while levels[-1] <= concurrency:
        levels.append(2 * levels[-1])
    return tuple(levels)


async def measure_short_ladder(serving: ServingConfig, concurrency: int, out: Path) -> Path:
    """The folder of a new short ladder. Raises UserError if the server cannot be asked."""
    plan = LadderPlan(levels=short_levels(concurrency), rounds=ROUNDS, max_tokens=MAX_TOKENS)
    async with measuring(serving, plan, out=out) as ladder:
        for level in plan.levels:
            await ladder.measure_level("ladder", level)
        return ladder.folder.path


def curves_document(off: Path, on: Path) -> dict[str, Any]:
    """`ratio`: the ratio curve; `batching`: signature and k of either side, and whether speculation `cost` it."""
    curves = [curve_document(RunFolder.read(path)) for path in (off, on)]
    sides = {name: {"signature": c["signature"], "k": c["k"]} for name, c in zip(("off", "on"), curves, strict=True)}
    return {"ratio": ratio_document(*curves), "batching": {**sides, "cost": cost(curves[0], curves[1])}}


def cost(off: Mapping[str, Any], on: Mapping[str, Any]) -> bool | None:
    """Whether fewer requests run at once with speculation than without; None where a ladder shows nothing.

    A side whose signature names no k did not make anybody wait at the levels that were measured.
    """
    if "VOID" in (off["signature"], on["signature"]):
        return None
    if on["k"] is None:
        return False
    return off["k"] is None or bool(on["k"] < off["k"])

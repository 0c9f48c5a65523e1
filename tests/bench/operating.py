"""How often the decision rule is right: simulated pairs of configurations through the functions that decide.

94 items in ten dimensions; an item always or never passes (85:15), except a flaky share with p ~ U(.05, .95). A true
difference is made in two ways: a few items break, or all sag. Looks at 3, 5 and 10 repeats.
"""

import time
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from reports.decision import LOOK_ALPHA, LOOKS, ORDER, verdict_codes
from reports.intervals import Side, interval, weights_of

SIZES = (8, 10, 10, 10, 10, 10, 10, 8, 8, 10)
GROUPS = np.repeat(np.arange(len(SIZES)), SIZES)
WEIGHTS = weights_of(GROUPS)
FLAKY = (0.0, 0.05, 0.15, 0.30)
MARGINS = (3.0, 5.0)
SEEDS = (1, 2, 3, 4)
DRAWS = 3000
Floats = NDArray[np.float64]
Codes = NDArray[np.int64]


@dataclass(frozen=True)
class Cell:
    """One case: how unsteady the bank is, and what is truly different."""

    flaky: float
    margin: float
    drop: float
    """In margins: 0, 1 or 2."""
    way: str
    """`broke`: a few items fail always; `sagged`: every item a little less often."""


def cells() -> Iterator[Cell]:
    """Every case of the table."""
    for margin in MARGINS:
        for flaky in FLAKY:
            yield Cell(flaky, margin, 0.0, "none")
            for drop in (1.0, 2.0):
                for way in ("broke", "sagged"):
                    yield Cell(flaky, margin, drop, way)


def chances(cell: Cell, draws: int, rng: np.random.Generator) -> tuple[Floats, Floats]:
    """Pass probabilities (draws x items) of both sides; the weighted means differ by exactly the drop."""
    count = len(GROUPS)
    base = (rng.random((draws, count)) < 0.85).astype(float)
    rank = rng.random((draws, count)).argsort(axis=1)
    base = np.where(rank < round(cell.flaky * count), rng.uniform(0.05, 0.95, (draws, count)), base)
    lost = cell.drop * cell.margin / 100.0
    if cell.way == "sagged":
        return base, base * (1.0 - lost / (base @ WEIGHTS))[:, None]
    if cell.way == "none":
        return base, base
    turn = rng.random((draws, count)).argsort(axis=1)
    worth = np.take_along_axis(base * WEIGHTS, turn, axis=1)
    taken = np.clip(lost - (worth.cumsum(axis=1) - worth), 0.0, worth)
    kept = np.where(worth > 0, 1.0 - taken / np.where(worth > 0, worth, 1.0), 1.0)
    candidate = np.empty_like(base)
    np.put_along_axis(candidate, turn, np.take_along_axis(base, turn, axis=1) * kept, axis=1)
    return base, candidate


def verdicts(passes_a: NDArray[np.bool_], passes_b: NDArray[np.bool_], margin: float) -> Codes:
    """Codes into ORDER for every draw: the first look that decides."""
    result = np.zeros(len(passes_a), np.int64)
    for repeats in LOOKS:
        sides = [Side(passes=passes[..., :repeats], groups=GROUPS) for passes in (passes_a, passes_b)]
        codes = verdict_codes(interval(sides[0], sides[1], LOOK_ALPHA), margin)
        result = np.where(result == 0, codes, result)
    return result


def drawn(cell: Cell, draws: int, seed: int) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
    """Outcomes (draws x items x repeats) of both sides."""
    rng = np.random.default_rng([seed, int(cell.flaky * 100), int(cell.margin), int(cell.drop), len(cell.way)])
    shape = (draws, len(GROUPS), LOOKS[-1])
    a, b = (rng.random(shape, np.float32) < chance[..., None] for chance in chances(cell, draws, rng))
    return a, b


def shares(cell: Cell, draws: int, seed: int) -> dict[str, float]:
    """How often each verdict comes."""
    counts = np.bincount(verdicts(*drawn(cell, draws, seed), cell.margin), minlength=len(ORDER))
    return {str(verdict): float(count) / draws for verdict, count in zip(ORDER, counts, strict=True)}


def bounds(cell: Cell) -> dict[str, tuple[float, float]]:
    """What each share must lie between, by the method's table."""
    if cell.drop == 1.0:
        return {"PARITY": (0.0, 0.065)}
    if cell.drop == 2.0:
        return {"REGRESSION": (0.98, 1.0)}
    least = {
        (0.05, 3.0): 0.99,
        (0.15, 3.0): 0.93,
        (0.15, 5.0): 0.99,
        (0.05, 5.0): 0.99,
        (0.0, 3.0): 0.99,
        (0.0, 5.0): 0.99,
    }
    return {"PARITY": (least.get((cell.flaky, cell.margin), 0.0), 1.0), "REGRESSION": (0.0, 0.03)}


def main() -> int:
    """The whole table for every seed; 1 if a share lies outside its bounds."""
    started, missed = time.perf_counter(), 0
    print(f"{DRAWS} draws a cell; one-sided {LOOK_ALPHA} at {LOOKS} repeats; worst over seeds {SEEDS}")
    print(f"{'m':>3}{'flaky':>7}{'true':>7} {'way':<8}{'PARITY':>16}{'REGRESSION':>16}{'UNDECIDED':>11}")
    for cell in cells():
        found = [shares(cell, DRAWS, seed) for seed in SEEDS]
        low_high = {name: (min(f[name] for f in found), max(f[name] for f in found)) for name in found[0]}
        bad = [n for n, (low, high) in bounds(cell).items() if low_high[n][0] < low or low_high[n][1] > high]
        missed += len(bad)
        text = [f"{low_high[name][0]:.3f} - {low_high[name][1]:.3f}" for name in ("PARITY", "REGRESSION")]
        print(
            f"{cell.margin:>3.0f}{cell.flaky:>7.0%}{0.0 - cell.drop * cell.margin:>7.0f} {cell.way:<8}{text[0]:>16}"
            f"{text[1]:>16}{low_high['UNDECIDED'][1]:>11.3f}{'  MISSED ' + ', '.join(bad) if bad else ''}",
            flush=True,
        )
    print(f"{missed} shares outside their bounds, {time.perf_counter() - started:.0f} s")
    return 1 if missed else 0

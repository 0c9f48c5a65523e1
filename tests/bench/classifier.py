"""The signature rule on fresh random engines: how often wrong, how often refused, how far off in k."""

import argparse
import time

import numpy as np

from reports.reading import level_reading
from reports.signature import Signature, signature
from tests.bench._engines import LADDER, Engine, burst, random_engine

FAMILY = {"QUEUES": "queues", "CAPPED": "capped", "PREFILL_BOUND": "refused", "VOID": "void"}
LIMITS = {False: (0.01, 0.06), True: (0.05, 0.14)}


def read(engine: Engine, rng: np.random.Generator, rounds: int = 1) -> Signature:
    return signature([level_reading(c, [burst(engine, c, rng) for _ in range(rounds)]) for c in LADDER])


def truth(engine: Engine) -> str:
    return "batches" if engine.cap is None else "queues" if engine.cap == 1 else "capped"


def judged(ragged: bool, count: int, seed: int, rounds: int = 1) -> dict[str, float]:
    """Shares of wrong families and of refusals, and the 95th percentile of the relative error of k."""
    rng = np.random.default_rng(seed)
    wrong, refused, errors = 0, 0, []
    for _ in range(count):
        engine = random_engine(rng, ragged)
        found = read(engine, rng, rounds)
        family = FAMILY.get(found.name, "batches")
        refused += family == "refused"
        wrong += family not in ("refused", truth(engine))
        if family in ("queues", "capped") and family == truth(engine):
            assert found.k is not None and engine.cap is not None
            errors.append(abs(found.k - engine.cap) / engine.cap)
    return {
        "wrong": wrong / count,
        "refused": refused / count,
        "k_error_p95": float(np.percentile(errors, 95)) if errors else 0.0,
    }


def main(argv: list[str] | None = None) -> int:
    """Both rows on fresh engines; the seed is printed, so that a run can be repeated."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--engines", type=int, default=900)
    parser.add_argument("--seed", type=int, default=None)
    parser.add_argument("--rounds", type=int, default=1)
    arguments = parser.parse_args(argv or [])
    seed = arguments.seed if arguments.seed is not None else time.time_ns() % 2**32
    good = True
    print(f"classifier: {arguments.engines} engines a row, {arguments.rounds} burst(s) a level, seed {seed}")
    for ragged, (wrong, refused) in LIMITS.items():
        row = judged(ragged, arguments.engines, seed + ragged, arguments.rounds)
        held = row["wrong"] <= wrong and row["refused"] <= refused and row["k_error_p95"] <= 0.05
        good &= held
        print(
            f"  {'ragged' if ragged else 'even':6} wrong {row['wrong']:6.2%} (limit {wrong:.0%})  refused"
            f" {row['refused']:6.2%} (limit {refused:.0%})  k error p95 {row['k_error_p95']:.3f} (limit 0.05)"
            f"  {'holds' if held else 'FAILS'}"
        )
    return 0 if good else 1

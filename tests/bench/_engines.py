"""Random simulated engines, directly and without sockets: a step at a time, as batching engines work.

The family is the one that the classifier's thresholds were judged on: a cap of 1, of 2 to 120 or none, step
cost s0 + s1 * batch, prefill per admitted prompt, noise on every step, client jitter, even or ragged lengths.
"""

from collections import deque
from dataclasses import dataclass
from typing import Any

import numpy as np

from reports.overlap import Served

LADDER = (1, 2, 4, 8, 16, 32, 64, 128)


@dataclass(frozen=True)
class Engine:
    cap: int | None
    s0: float
    s1: float
    prefill: float
    prefills_per_step: int
    tokens: int
    noise: float
    jitter: float
    ragged: bool


def random_engine(rng: Any, ragged: bool) -> Engine:
    kind = rng.integers(3)
    s0 = rng.uniform(0.005, 0.060)
    return Engine(
        cap=[1, int(rng.integers(2, 121)), None][kind],
        s0=s0,
        s1=s0 * 10 ** rng.uniform(-3.5, -0.5),
        prefill=s0 * 10 ** rng.uniform(-2, np.log10(5)),
        prefills_per_step=int(rng.choice([1, 4, 16])),
        tokens=int(rng.choice([128, 256])),
        noise=rng.uniform(0.01, 0.30),
        jitter=rng.uniform(0, 0.020),
        ragged=ragged,
    )


def burst(engine: Engine, concurrency: int, rng: Any) -> list[Served]:
    """One burst of `concurrency` requests: admit, step, finish, until none is left."""
    arrivals = np.sort(rng.uniform(0, engine.jitter, concurrency)) if engine.jitter else np.zeros(concurrency)
    lengths = np.full(concurrency, engine.tokens)
    if engine.ragged:
        lengths = np.clip(np.round(engine.tokens * rng.lognormal(-0.7, 0.6, concurrency)), 4, engine.tokens).astype(int)
    waiting: deque[int] = deque()
    arriving = deque(range(concurrency))
    left: dict[int, int] = {}
    first: dict[int, float] = {}
    last: dict[int, float] = {}
    now = 0.0
    while len(last) < concurrency:
        while arriving and arrivals[arriving[0]] <= now:
            waiting.append(arriving.popleft())
        if not left and not waiting:
            now = float(arrivals[arriving[0]])
            continue
        room = concurrency if engine.cap is None else engine.cap - len(left)
        admitted = [waiting.popleft() for _ in range(min(room, engine.prefills_per_step, len(waiting)))]
        left |= {one: int(lengths[one]) for one in admitted}
        # nothing changes until a request ends, except that prompts wait to be admitted or to arrive
        steps = 1 if admitted or arriving or (waiting and room > 0) else min(left.values())
        noise = np.clip(1 + engine.noise * rng.standard_normal(steps), 0.3, None).sum()
        now += (engine.s0 + engine.s1 * len(left)) * float(noise) + engine.prefill * len(admitted)
        for one in admitted:
            first[one] = now
        for one in list(left):
            left[one] -= steps
            if left[one] <= 0:
                last[one] = now
                del left[one]
    return [
        Served(
            sent_s=float(arrivals[one]),
            first_s=first[one],
            last_s=last[one],
            end_s=last[one],
            tokens=int(lengths[one]),
            full_length=bool(lengths[one] == engine.tokens),
        )
        for one in range(concurrency)
    ]

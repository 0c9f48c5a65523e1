"""The simulated engines that can be had by name. Measures nothing.

The first four have the shape of a published case: the same model behind a server that queues, one that stops at four
sequences, one that batches, and the last one with a drafter. `faulty` batches and misbehaves.
"""

from collections.abc import Mapping
from dataclasses import replace

from runner.simulator_engine import Preset

_BATCHING = Preset(name="batching", s0_s=0.0022726, s1_s=0.00015308, prefill_s=0.0004)

PRESETS: Mapping[str, Preset] = {
    preset.name: preset
    for preset in (
        Preset(name="queueing", cap=1, s0_s=0.0058, s1_s=0.0002088),
        Preset(name="capped", cap=4, s0_s=0.00397, s1_s=0.002013),
        _BATCHING,
        replace(
            _BATCHING,
            name="batching-spec",
            draft=1,
            acceptance=0.85,
            acceptance_halves_at=150.0,
            draft_cost=0.478,
        ),
        replace(_BATCHING, name="faulty"),
    )
}
"""Single-stream rates of 166, 166, 412 and 510 tok/s; 331 tok/s from four sequences on; 5,240 and 5,610 at 64."""

FAULTY: Mapping[str, float] = {
    "cut": 0.04,
    "no-finish": 0.04,
    "429": 0.04,
    "503": 0.04,
    "malformed": 0.03,
    "error-event": 0.03,
    "slow": 0.05,
    "no-usage": 0.05,
    "leak": 0.05,
}
"""What `faulty` does unless told otherwise, as shares of the requests."""

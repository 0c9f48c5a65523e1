"""The step model in virtual time: the published shapes, and what must hold for every engine."""

from dataclasses import replace
from statistics import mean, quantiles

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from runner.simulator_engine import Engine, Job, Preset, simulated_jobs, token_count
from runner.simulator_presets import PRESETS

TOKENS = 256


def burst(preset: Preset, concurrency: int, rounds: int = 5) -> tuple[float, float]:
    """Aggregate tok/s and p95 latency in s over bursts of simultaneous requests."""
    rates, latencies = [], []
    for seed in range(rounds):
        jobs = simulated_jobs(preset, [(0.0, 20, TOKENS)] * concurrency, seed)
        ends = [job.last_s or 0.0 for job in jobs]
        rates.append(concurrency * TOKENS / max(ends))
        latencies += ends
    return mean(rates), quantiles(latencies, n=20, method="inclusive")[-1]


@pytest.mark.parametrize(
    ("name", "concurrency", "tok_s", "p95_s"),
    [
        ("queueing", 1, 166, 1.55),
        ("queueing", 64, 166, 93),
        (
            "capped",
            64,
            330.7,
            47,
        ),  # even lengths in lock step: the last four end together, at 64 * 256 / 330.7 = 49.5 s
        ("batching", 1, 412, None),
        ("batching", 64, 5260, 3.11),
        ("batching-spec", 64, 5613, None),
    ],
)
def test_the_published_figures(name: str, concurrency: int, tok_s: float, p95_s: float | None) -> None:
    rate, p95 = burst(PRESETS[name], concurrency)
    assert rate == pytest.approx(tok_s, rel=0.01)
    if p95_s is not None:
        assert p95 == pytest.approx(p95_s, rel=0.06)


@pytest.mark.long
def test_queueing_is_flat_from_1_to_64() -> None:
    rates = [burst(PRESETS["queueing"], concurrency)[0] for concurrency in (1, 2, 4, 8, 16, 32, 64)]
    assert max(rates) / min(rates) < 1.01


def test_capped_rises_to_four_and_no_further() -> None:
    rates = [burst(PRESETS["capped"], concurrency)[0] for concurrency in (1, 2, 4, 8, 64)]
    assert rates[0] < rates[1] < rates[2]
    assert rates[2:] == pytest.approx([rates[2]] * 3, rel=0.01)


def test_batching_still_rises_at_64_and_its_drafter_is_faster_at_every_level() -> None:
    levels = (1, 2, 4, 8, 16, 32, 64)
    plain = [burst(PRESETS["batching"], concurrency)[0] for concurrency in levels]
    drafted = [burst(PRESETS["batching-spec"], concurrency) for concurrency in levels]
    assert plain == sorted(plain)
    assert plain[-1] > 1.15 * plain[-2]
    assert all(rate > slower for (rate, _), slower in zip(drafted, plain, strict=True))
    assert drafted[-1][1] < 3.0


engines = st.builds(
    Preset,
    name=st.just("any"),
    s0_s=st.floats(0.001, 0.1),
    s1_s=st.floats(0.0, 0.01),
    cap=st.none() | st.integers(1, 8),
    prefill_s=st.floats(0.0, 0.2),
    prefills_per_step=st.integers(1, 8),
    jitter=st.floats(0.0, 0.5),
    draft=st.integers(0, 4),
)
arrivals = st.lists(st.tuples(st.floats(0, 5), st.integers(1, 99), st.integers(1, 40)), min_size=1, max_size=20)


@settings(deadline=None)
@given(engines, arrivals, st.integers(0, 9))
def test_every_request_is_served_in_full_in_turn_and_within_the_cap(
    preset: Preset, asked: list[tuple[float, int, int]], seed: int
) -> None:
    jobs = simulated_jobs(preset, asked, seed)
    for job in jobs:
        assert job.made == job.length
        assert job.admitted_s is not None
        assert job.arrived_s <= job.admitted_s < (job.first_s or 0) <= (job.last_s or 0)
    admissions = [job.admitted_s or 0.0 for job in jobs]
    assert admissions == sorted(admissions)
    for job in jobs if preset.cap else ():
        inside = [o for o in jobs if (o.admitted_s or 0) <= (job.admitted_s or 0) < (o.last_s or 0)]
        assert len(inside) <= (preset.cap or 0)


def test_speculation_loses_acceptance_with_the_batch() -> None:
    shares = []
    for concurrency in (1, 64):
        engine = Engine(PRESETS["batching-spec"])
        for _ in range(concurrency):
            engine.submit(Job(0.0, 1, 2000))
        while engine.step():
            pass
        shares.append(engine.counters.accepted_tokens / engine.counters.drafted_tokens)
        assert engine.counters.generated_tokens == 2000 * concurrency
    assert shares[0] == pytest.approx(0.85, abs=0.03)
    assert shares[1] == pytest.approx(0.85 / (1 + 63 / 150), abs=0.02)


def test_a_request_that_is_cancelled_makes_room() -> None:
    engine = Engine(replace(PRESETS["capped"], cap=1))
    first, second, third = (Job(0.0, 1, 100) for _ in range(3))
    for job in (first, second, third):
        engine.submit(job)
    engine.step()
    engine.cancel(first)
    engine.cancel(second)
    engine.step()
    assert engine.running == [third]


def test_the_prefix_cache_knows_what_it_has_seen_from_the_start() -> None:
    engine = Engine(PRESETS["batching"])
    prompt = "The quick brown fox jumps over the lazy dog. " * 20
    assert engine.cached(prompt) == 0
    assert engine.cached(prompt) == len(prompt) // 64 * 16
    assert engine.cached("nonce" + prompt) == 0
    assert engine.cached(prompt[:200] + "another end" * 20) == 200 // 64 * 16
    assert Engine(replace(PRESETS["batching"], prefix_cache=False)).cached(prompt) == 0


def test_the_cache_forgets_the_oldest(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("runner.simulator_engine.CACHED_BLOCKS", 2)
    engine = Engine(PRESETS["batching"])
    old, new = "a" * 128, "b" * 128
    engine.cached(old)
    engine.cached(new)
    assert engine.cached(new) == 32
    assert engine.cached(old) == 0


def test_uncached_prompts_take_longer() -> None:
    preset = replace(PRESETS["batching"], jitter=0.0)
    engine = Engine(preset)
    jobs = [Job(0.0, 1000, 1), Job(10.0, 1000, 1, cached_tokens=1000)]
    for job in jobs:
        engine.submit(job)
    while engine.step():
        pass
    cold, warm = ((job.first_s or 0) - job.arrived_s for job in jobs)
    assert cold - warm == pytest.approx(1000 * preset.prefill_token_s)


def test_ragged_lengths() -> None:
    engine = Engine(replace(PRESETS["batching"], ragged=0.5))
    lengths = [engine.length(200) for _ in range(500)]
    assert min(lengths) >= 100
    assert max(lengths) <= 200
    assert mean(lengths) == pytest.approx(150, abs=5)
    assert Engine(PRESETS["batching"]).length(200) == 200


def test_four_characters_are_a_token() -> None:
    assert [token_count("x" * count) for count in (0, 1, 4, 5, 8)] == [1, 1, 1, 2, 2]

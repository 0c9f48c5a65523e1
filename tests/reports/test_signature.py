"""The signature of ladders whose truth is stated, and of public measurements whose shape is known."""

from typing import Any

import pytest

from reports.overlap import Served, Waiting
from reports.peak import peak_label
from reports.reading import LevelReading, level_reading, summary_reading
from reports.signature import Signature, signature, waits
from reports.slope import flat_steps, last_slope, slope
from tests.bench.classifier import judged
from tests.reports.ladders import staircase

LADDER = (1, 2, 4, 8, 16, 32, 64)


def summary(*rows: dict[str, Any]) -> tuple[Signature, list[LevelReading]]:
    levels = [summary_reading(row) for row in rows]
    return signature(levels), levels


def throughput(*pairs: tuple[int, float]) -> tuple[Signature, list[LevelReading]]:
    return summary(*({"concurrency": c, "tok_s": x} for c, x in pairs))


def stairs(k: int, levels: tuple[int, ...] = LADDER) -> Signature:
    return signature([level_reading(c, [staircase(c, k)] * 3) for c in levels])


@pytest.mark.parametrize("k", [2, 4, 9, 24, 32, 48])
def test_a_cap_is_named(k: int) -> None:
    found = stairs(k)
    assert (found.name, found.k, found.tier) == ("CAPPED", k, "streams")
    assert found.capped == tuple(c for c in LADDER if c > k)


def test_one_at_a_time_queues() -> None:
    found = stairs(1)
    assert (found.name, found.k) == ("QUEUES", 1)


def test_a_cap_of_32_is_seen_with_one_rung_at_33() -> None:
    assert stairs(32, (1, 2, 4, 8, 16, 32)).name == "NOT_SATURATED"
    assert stairs(32, (1, 2, 4, 8, 16, 32, 33)).k == 32


@pytest.mark.parametrize(
    ("gain", "name"), [(1.30, "NOT_SATURATED"), (1.20, "BATCHES"), (1.02, "SATURATED"), (0.80, "RETROGRADE")]
)
def test_the_last_step_names_what_nobody_waits_for(gain: float, name: str) -> None:
    found, _ = throughput((1, 100.0), (2, 200.0), (4, 200.0 * gain))
    assert found.name == name


def test_two_valid_levels_are_needed() -> None:
    levels = [LevelReading(concurrency=1, tok_s=5.0), LevelReading(concurrency=2, tok_s=9.0, void="the client lagged")]
    assert signature(levels).name == "VOID"
    assert signature([]).name == "VOID"


def test_unknown_throughput_and_nobody_waiting_is_void() -> None:
    found = signature([LevelReading(concurrency=1), LevelReading(concurrency=2)])
    assert found.name == "VOID" and "counts no tokens" in found.notes[-1]


def test_even_lengths_need_no_token_count() -> None:
    """At one length for all, requests a second rise as tokens a second do."""
    bursts = {c: [[Served(sent_s=0, first_s=0.1, last_s=1.1, end_s=1.1, tokens=None)] * c] for c in (1, 2, 4)}
    assert signature([level_reading(c, burst) for c, burst in bursts.items()]).name == "NOT_SATURATED"


def test_a_ramp_of_prefills_names_no_k() -> None:
    """Every prompt takes 1 s, every answer 3 s: at most four overlap, and nothing was capped."""

    def ramp(c: int) -> list[Served]:
        return [Served(sent_s=0, first_s=1 + n, last_s=4.0 + n, end_s=4.0 + n, tokens=301) for n in range(c)]

    found = signature([level_reading(c, [ramp(c)]) for c in LADDER])
    assert (found.name, found.k) == ("PREFILL_BOUND", None)


def test_few_at_once_need_a_clear_gap() -> None:
    def reading(c: int, gap: float) -> LevelReading:
        seen = Waiting(overlap=2, queued=c - 2, late=c - 2, gap=gap, cadence=None)
        return LevelReading(concurrency=c, tok_s=10.0, waiting=seen)

    one = LevelReading(concurrency=1, tok_s=9.0, waiting=Waiting(overlap=1, queued=0, late=0, gap=0.0, cadence=None))
    assert signature([one, reading(8, 0.2)]).name == "PREFILL_BOUND"
    assert signature([one, reading(8, 0.9)]).k == 2


def test_ragged_lengths_have_a_rule_of_their_own() -> None:
    def seen(overlap: int, late: int) -> LevelReading:
        waiting = Waiting(overlap=overlap, queued=0, late=late, gap=0.5, cadence=3.0)
        return LevelReading(concurrency=100, even=False, waiting=waiting)

    assert waits(seen(60, 2))
    assert not waits(seen(60, 1)), "fewer than 2 % of the first tokens after the first completion"
    assert not waits(seen(96, 30)), "nearly all at once"
    assert not waits(LevelReading(concurrency=4))


def test_a_full_house_reached_in_one_ramp_shows_no_limit() -> None:
    ramp = Waiting(overlap=125, queued=3, late=2, gap=0.01, cadence=1.1)
    cap = Waiting(overlap=125, queued=3, late=3, gap=0.9, cadence=9.0)
    assert not waits(LevelReading(concurrency=128, waiting=ramp))
    assert waits(LevelReading(concurrency=128, waiting=cap))


def test_waiting_below_the_top_only_is_a_note() -> None:
    capped = level_reading(4, [staircase(4, 2)])
    free = level_reading(8, [staircase(8, 8)])
    found = signature([level_reading(1, [staircase(1, 1)]), capped, free])
    assert found.name == "NOT_SATURATED" and "waiting at 4" in found.notes[0]


def held_back(c: int, k: int, full: bool = True) -> list[Served]:
    """A capped server behind a proxy that hands each answer over in one piece."""
    return [
        Served(sent_s=0, first_s=one.end_s - 0.001, last_s=one.end_s, end_s=one.end_s, tokens=101, full_length=full)
        for one in staircase(c, k)
    ]


def test_a_buffering_proxy_leaves_whole_latencies() -> None:
    found = signature([level_reading(c, [held_back(c, 8)]) for c in LADDER])
    assert (found.name, found.k, found.tier, found.bracket) == ("CAPPED", 8, "latencies", (8, 15))
    free = signature([level_reading(c, [held_back(c, 64)]) for c in LADDER])
    assert (free.name, free.k) == ("NOT_SATURATED", None)


def test_without_a_stream_uneven_lengths_cannot_be_read() -> None:
    found = signature([level_reading(c, [held_back(c, 8, full=False)]) for c in LADDER])
    assert found.k is None and found.name == "SATURATED" and "uneven lengths" in found.notes[0]


def test_no_stream_at_all() -> None:
    def whole(c: int) -> list[Served]:
        return [
            Served(sent_s=0, first_s=None, last_s=one.end_s, end_s=one.end_s, tokens=101) for one in staircase(c, 1)
        ]

    found = signature([level_reading(c, [whole(c)]) for c in LADDER])
    assert (found.name, found.k, found.tier) == ("QUEUES", 1, "latencies")


def test_waiting_in_the_lowest_level_has_a_bracket_from_one() -> None:
    found = signature([level_reading(c, [held_back(c, 2)]) for c in (4, 8)])
    assert found.bracket == (1, 3) and found.k == 2


def test_slopes() -> None:
    levels = [LevelReading(concurrency=c, tok_s=x) for c, x in ((1, 100.0), (2, 200.0), (4, 190.0), (8, 195.0))]
    assert slope(levels[0], levels[1]) == pytest.approx(1.0)
    assert last_slope(levels) == pytest.approx(slope(levels[1], levels[3])), "a small recovery is no new rise"
    assert flat_steps(levels) == 2
    assert flat_steps(levels[:2]) == 0
    assert slope(LevelReading(concurrency=1, tok_s=5.0), LevelReading(concurrency=2, req_s=5.0)) is None
    assert slope(LevelReading(concurrency=1), LevelReading(concurrency=2, tok_s=5.0)) is None


# Public measurements


def test_tensorrt_llm_1938_queues() -> None:
    found, levels = summary(
        {"concurrency": 1, "tok_s": 12.06, "p50_s": 0.308}, {"concurrency": 5, "tok_s": 12.35, "p50_s": 1.616}
    )
    assert (found.name, found.k) == ("QUEUES", 1)
    assert found.estimate == pytest.approx(0.96, abs=0.01)
    assert peak_label(levels, found) == "ceiling"


def test_vllm_of_the_same_thread_still_scales() -> None:
    found, levels = summary(
        {"concurrency": 1, "tok_s": 21.8, "p50_s": 0.182}, {"concurrency": 5, "tok_s": 80.8, "p50_s": 0.247}
    )
    assert (found.name, found.k) == ("NOT_SATURATED", None)
    assert peak_label(levels, found) == "floor"


@pytest.mark.parametrize("tokens", [123.0, None], ids=["with token counts", "without"])
def test_servebench_ollama_is_capped_at_four(tokens: float | None) -> None:
    """The published service time at 8 is about 1.2 s; below, latencies follow from C = X / G * L."""
    rows = [(1, 188.5, 0.045), (2, 274.0, 0.071), (4, 384.6, 0.101), (8, 375.7, 1.424)]
    found, _ = summary(
        *(
            {"concurrency": c, "tok_s": x, "ttft_p50_s": t, "mean_tokens": tokens, "p50_s": c * 123.0 / x}
            for c, x, t in rows
        )
    )
    assert (found.name, found.k, found.bracket) == ("CAPPED", 4, (4, 7))
    assert found.estimate == pytest.approx(3.7, abs=0.1)


def test_ninfer_217_is_flat_with_a_likely_ceiling() -> None:
    found, levels = throughput((8, 429.0), (16, 556.0), (32, 732.0), (64, 701.0))
    assert (found.name, found.flat_steps) == ("SATURATED", 1)
    assert peak_label(levels, found) == "likely_ceiling"


def test_vllm_49390_falls() -> None:
    found, levels = throughput((64, 1127.0), (128, 904.0), (256, 977.0))
    assert found.name == "RETROGRADE"
    assert peak_label(levels, found) == "ceiling"


def test_summaries_by_the_tail_and_with_gaps() -> None:
    """A few queued requests move only the p95; a latency without its TTFT's service time says nothing."""
    found, _ = summary(
        {"concurrency": 1, "tok_s": 100.0, "ttft_p50_s": 0.1, "p50_s": 1.1},
        {"concurrency": 8, "tok_s": 700.0, "ttft_p50_s": 0.1, "ttft_p95_s": 0.8, "p50_s": 1.1},
    )
    assert found.name == "CAPPED"
    strange, _ = summary(
        {"concurrency": 1, "tok_s": 100.0, "ttft_p50_s": 0.1},
        {"concurrency": 8, "tok_s": 100.0, "ttft_p50_s": 0.9},
    )
    assert strange.name == "SATURATED"
    impossible, _ = summary(
        {"concurrency": 1, "tok_s": 100.0, "ttft_p50_s": 0.1, "p50_s": 2.0},
        {"concurrency": 8, "tok_s": 100.0, "ttft_p50_s": 0.9, "p50_s": 0.9},
    )
    assert impossible.name == "SATURATED"


@pytest.mark.parametrize("ragged", [False, True])
def test_random_engines(ragged: bool) -> None:
    """A quick version of the bench: 60 engines; limits three standard errors wider than those for 900."""
    row = judged(ragged, 60, seed=20260101 + ragged)
    assert row["wrong"] <= (0.05 if not ragged else 0.13)
    assert row["refused"] <= (0.15 if not ragged else 0.27)
    assert row["k_error_p95"] <= 0.05

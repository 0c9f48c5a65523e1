"""The sweep document from run folders written by hand."""

from collections.abc import Callable
from typing import Any

import msgspec
import pytest

from reports.bursts import latest
from reports.cap import running_while_waiting
from reports.curve import curve_document
from reports.peak import hardware_label, peak_document, peak_label
from reports.reading import LevelReading
from reports.signature import Signature, signature
from runner.exchange import FailureKind, LevelExchange
from runner.record import Fact, Identity
from runner.store import RunFolder
from tests.reports.ladders import MS, failed_exchange, made_exchange, made_level

Make = Callable[..., RunFolder]
LEVELS = (1, 2, 4, 8)


def ladder(make_folder: Make, *, intended: int | None = None, found: int | None = None, **changes: Any) -> RunFolder:
    facts = () if found is None else (Fact(name="max_concurrent_sequences", value=found, source="GET /props"),)
    fields: dict[str, Any] = {
        "kind": "ladder",
        "status": "complete",
        "serving": {
            "name": "s",
            "gpus": 2,
            "intended": {} if intended is None else {"max_concurrent_sequences": intended},
        },
        "plan": {"levels": list(LEVELS), "rounds": 3, "max_tokens": 101, "prompts": "identical"},
        "identity_before": Identity(engine="llama_cpp", facts=facts),
        "host": {"client": {"events_per_s": 1e9}},
    }
    return make_folder(**(fields | changes))


def add_burst(
    run: RunFolder,
    c: int,
    k: int,
    *,
    phase: str = "ladder",
    number: int = 1,
    ms: float = 1000.0,
    bad: int = 0,
    exchange: dict[str, Any] | None = None,
    **level: Any,
) -> None:
    """A burst on a server that takes k at a time, each for `ms`, the first token after 1 % of it."""
    index = len(list(run.levels()))
    end = 0.0
    for n in range(c):
        wave = (n // k) * ms * 1.01
        end = max(end, wave + ms * 1.01)
        fields = {"first_ms": wave + 0.01 * ms, "last_ms": wave + 1.01 * ms, "tokens": 101} | (exchange or {})
        one = failed_exchange() if n < bad else made_exchange(**fields)
        run.append(LevelExchange(level=index, exchange=one))
    run.append(made_level(c, index=index, phase=phase, round=number, end_ns=int(end * MS), max_tokens=101, **level))


def capped(make_folder: Make, k: int = 2, **changes: Any) -> RunFolder:
    run = ladder(make_folder, **changes)
    for c in LEVELS:
        for number in (1, 2, 3):
            add_burst(run, c, k, number=number)
    return run


def test_a_capped_server_in_full(make_folder: Make) -> None:
    run = capped(make_folder, intended=2, found=2)
    add_burst(run, 2, 2, phase="plateau")
    for c in (2, 3):
        add_burst(run, c, 2, phase="confirm")
    add_burst(run, 1, 2, phase="control")
    document = curve_document(run)
    assert (document["signature"], document["k"], document["k_bracket"]) == ("CAPPED", 2, None)
    assert document["cap"] == {
        "intended": {"value": 2, "source": "[serving.intended]"},
        "found": {"value": 2, "source": "GET /props"},
        "measured": {"value": 2, "source": "most streams between first and last token at once"},
    }
    assert document["confirmed"] is True and document["drift"] == pytest.approx(0.0)
    assert [row["concurrency"] for row in document["levels"]] == list(LEVELS)
    peak = document["peak"]
    assert peak["tok_s"] == pytest.approx(200.0) and peak["mean_tokens"] == 101 and peak["label"] == "ceiling"
    assert peak["concurrency"] in (2, 4, 8) and peak["prompts"] == "identical" and peak["token_source"] == "usage"
    row = document["levels"][2]
    assert row == row | {"overlap": 2, "queued": 2, "peak_in_flight": 4, "errors": 0, "void": None, "n": 12}
    assert row["p50_s"] == pytest.approx(1.515) and row["ttft_p95_s"] == pytest.approx(1.02)
    assert row["tpot_s"] == pytest.approx(0.01) and row["thin"] == ["p95", "p99"]
    assert (len(document["plateau"]), len(document["confirm"]), document["gpus"]) == (1, 2, 2)
    assert any("high confidence" in line for line in document["findings"])
    assert any("confirmed: nobody waits at 2" in line for line in document["findings"])
    assert b"NaN" not in msgspec.json.encode(document)


def test_a_cap_that_is_not_confirmed_is_said(make_folder: Make) -> None:
    run = capped(make_folder)
    for c in (2, 3):
        add_burst(run, c, 3, phase="confirm")
    document = curve_document(run)
    assert document["confirmed"] is False
    assert any("not confirmed" in line for line in document["findings"])


def test_half_a_confirmation_is_none(make_folder: Make) -> None:
    run = capped(make_folder)
    add_burst(run, 2, 2, phase="confirm")
    assert curve_document(run)["confirmed"] is None


def test_the_three_caps_disagree(make_folder: Make) -> None:
    """Declared 32, found 9, measured 2: each pair is a finding."""
    findings = curve_document(capped(make_folder, intended=32, found=9))["findings"]
    assert "intended cap 32, but the running server says 9" in findings
    assert any("stated cap 9, measured 2" in line for line in findings)


def test_the_servers_own_gauges_are_a_source(make_folder: Make) -> None:
    for running, said in ((2.0, "agrees with the server's running count"), (5.0, "running count reached 5")):
        run = ladder(make_folder)
        busy = {"vllm:num_requests_running": running, "vllm:num_requests_waiting": 2.0}
        idle = {"vllm:num_requests_running": 9.0, "vllm:num_requests_waiting": 0.0}
        for c in LEVELS:
            add_burst(run, c, 2, gauges=(idle, busy, {}) if c == 8 else ())
        assert any(said in line for line in curve_document(run)["findings"])
        run.close()
    assert running_while_waiting([]) is None


def test_a_pool_size_as_cap_is_suspicious(make_folder: Make) -> None:
    run = ladder(make_folder, plan={"levels": [1, 64, 128]})
    for c in (1, 64, 128):
        add_burst(run, c, 100)
    assert any("pool size" in line for line in curve_document(run)["findings"])


def test_a_cap_that_was_not_reached(make_folder: Make) -> None:
    findings = curve_document(capped(make_folder, k=8, found=64))["findings"]
    assert "the ladder ends at 8 and the stated cap is 64: the cap was not reached" in findings
    findings = curve_document(capped(make_folder, k=8, intended=4))["findings"]
    assert "the stated cap is 4, but nobody waited at 8" in findings
    assert not curve_document(capped(make_folder, k=8, found=None))["findings"]


def test_what_was_not_measured_is_void(make_folder: Make) -> None:
    """The server died at level 4: all its requests failed, and 8 was never tried."""
    run = ladder(make_folder, status="incomplete")
    for c in (1, 2):
        add_burst(run, c, c)
    add_burst(run, 4, 4, bad=4)
    document = curve_document(run)
    assert [row["void"] is None for row in document["levels"]] == [True, True, False, False]
    assert "4 of 4 requests failed" in document["levels"][2]["void"] and document["levels"][2]["errors"] == 4
    assert document["levels"][3]["void"] == "not measured"
    assert document["levels"][2]["tok_s"] is None and document["levels"][3]["peak_in_flight"] is None
    assert document["signature"] == "NOT_SATURATED" and document["peak"]["label"] == "floor"


def test_an_empty_folder_is_void(make_folder: Make) -> None:
    document = curve_document(ladder(make_folder, identity_before=None, host={}))
    assert (document["signature"], document["peak"], document["control"]) == ("VOID", None, None)
    nothing = curve_document(ladder(make_folder, plan={}))
    assert nothing["peak"] is None and nothing["levels"] == []


def test_an_interrupted_burst_counts_for_nothing(make_folder: Make) -> None:
    run = ladder(make_folder)
    add_burst(run, 1, 1)
    add_burst(run, 1, 1, number=2, interrupted=True, ms=9000.0)
    add_burst(run, 2, 2, interrupted=True)
    rows = curve_document(run)["levels"]
    assert rows[0]["void"] is None and rows[0]["bursts"] == 1 and rows[0]["p50_s"] == pytest.approx(1.01)
    assert rows[1]["void"] == "interrupted"


def test_a_torn_burst_without_its_line_is_ignored(make_folder: Make) -> None:
    run = capped(make_folder)
    run.append(LevelExchange(level=99, exchange=made_exchange()))
    assert curve_document(run)["levels"][0]["n"] == 3


def test_drift_and_a_cold_first_burst(make_folder: Make) -> None:
    run = ladder(make_folder)
    for c in LEVELS:
        for number, ms in ((1, 1300.0), (2, 1000.0), (3, 1000.0)):
            add_burst(run, c, 8, number=number, ms=ms)
    add_burst(run, 1, 8, phase="control", ms=1100.0)
    document = curve_document(run)
    assert document["drift"] == pytest.approx(1000 / 1100 - 1)
    assert any("control at 1 differs from the start by -9.1%" in line for line in document["findings"])
    assert sum("was not warm" in line for line in document["findings"]) == len(LEVELS)


@pytest.mark.parametrize(
    "control",
    [{"bad": 1}, {"exchange": {"tokens": None}}, {"exchange": {"tokens": None, "finish": "stop"}}],
    ids=["void", "no tokens", "no rate"],
)
def test_a_control_that_cannot_be_compared(make_folder: Make, control: dict[str, Any]) -> None:
    run = capped(make_folder)
    add_burst(run, 1, 1, phase="control", **control)
    assert curve_document(run)["drift"] is None


@pytest.mark.parametrize("first", [{"bad": 1}, {"exchange": {"tokens": None, "finish": "stop"}}, None])
def test_a_start_that_cannot_be_compared(make_folder: Make, first: dict[str, Any] | None) -> None:
    run = ladder(make_folder)
    if first is not None:
        add_burst(run, 1, 1, **first)
    add_burst(run, 2, 2)
    add_burst(run, 1, 1, phase="control")
    assert curve_document(run)["drift"] is None


def test_ragged_and_uncounted_levels_say_so(make_folder: Make) -> None:
    run = ladder(make_folder)
    for c in LEVELS:
        add_burst(run, c, 8, exchange={"finish": "stop", "tokens": None})
    document = curve_document(run)
    assert document["levels"][0]["tok_s"] is None and document["levels"][0]["token_source"] is None
    assert any("ragged" in line for line in document["findings"])
    assert any("no throughput is given" in line for line in document["findings"])
    assert document["signature"] == "VOID" and document["peak"] is None


def test_a_burst_that_completed_nothing_is_told(make_folder: Make) -> None:
    """One of 150 requests failed, and it was a whole burst of one: 1 % is not exceeded."""
    run = ladder(make_folder, plan={"levels": [1]})
    for number in range(1, 151):
        add_burst(run, 1, 1, number=number, bad=int(number == 3))
    document = curve_document(run)
    assert document["levels"][0]["void"] is None
    assert any("read from 149 of 150 bursts" in line for line in document["findings"])


def test_a_buffered_and_a_coarse_stream(make_folder: Make) -> None:
    run = ladder(make_folder)
    for c in LEVELS:
        add_burst(run, c, 8, exchange={"first_ms": 1005.0, "last_ms": 1010.0, "events": 20})
    document = curve_document(run)
    assert document["tier"] == "latencies"
    assert any("buffered on its way" in line for line in document["findings"])
    assert any("5.0 tokens a chunk" in line or "5.1 tokens a chunk" in line for line in document["findings"])


def test_the_peak_without_figures() -> None:
    level = LevelReading(concurrency=4)
    assert peak_document([{"tok_s": None}], [level], Signature(name="VOID")) is None


@pytest.mark.parametrize(
    ("name", "flat_steps", "label"),
    [
        ("NOT_SATURATED", 0, "floor"),
        ("BATCHES", 0, "floor"),
        ("PREFILL_BOUND", 0, "floor"),
        ("SATURATED", 1, "likely_ceiling"),
        ("SATURATED", 2, "ceiling"),
        ("RETROGRADE", 1, "likely_ceiling"),
        ("CAPPED", 0, "ceiling"),
        ("QUEUES", 0, "ceiling"),
    ],
)
def test_peak_labels(name: str, flat_steps: int, label: str) -> None:
    levels = [LevelReading(concurrency=1), LevelReading(concurrency=2)]
    assert peak_label(levels, Signature(name=name, flat_steps=flat_steps)) == label
    voided = [levels[0], LevelReading(concurrency=2, void="lag")]
    assert peak_label(voided, Signature(name=name, flat_steps=flat_steps)) == "floor"


def test_a_capped_peak_says_something_of_the_hardware() -> None:
    def levels(*rates: float) -> list[LevelReading]:
        return [LevelReading(concurrency=2**n, tok_s=rate) for n, rate in enumerate(rates)]

    named = Signature(name="CAPPED", k=4.0)
    assert hardware_label(levels(100, 200, 390, 400), named) == "floor"
    assert hardware_label(levels(100, 200, 210, 210), named) == "ceiling"
    assert hardware_label(levels(100, 100), Signature(name="QUEUES", k=1.0)) == "floor"
    assert hardware_label([LevelReading(concurrency=c) for c in (1, 2, 4)], named) == "floor"
    assert hardware_label(levels(1, 2), signature(levels(1, 2))) is None


def test_refusals_void_a_level(make_folder: Make) -> None:
    run = capped(make_folder)
    refused = failed_exchange(kind=FailureKind.HTTP_STATUS, status=503)
    run.append(LevelExchange(level=0, exchange=refused))
    assert "503" in curve_document(run)["levels"][0]["void"]


def test_of_a_round_measured_twice_the_whole_one_counts() -> None:
    whole, cut, later = made_level(2), made_level(2, index=1, interrupted=True), made_level(2, index=2)
    assert latest([whole, cut]) == [whole]
    assert latest([cut, later]) == [later]
    assert latest([whole, later]) == [later]

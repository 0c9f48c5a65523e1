"""Ladders in words: what must stand beside every throughput, and what no terminal may see."""

from typing import Any

import pytest

from reports.ratio import ratio_document
from reports.sweep_wording import (
    LABELS,
    SENTENCES,
    bound_phrase,
    cap_line,
    peak_sentence,
    ratio_lines,
    signature_sentence,
    sweep_lines,
    table,
    times,
)


def level(c: int, tok_s: float | None, **changes: Any) -> dict[str, Any]:
    row = {
        "concurrency": c,
        "tok_s": tok_s,
        "p50_s": 1.234,
        "p95_s": 12.5,
        "p99_s": 13.0,
        "ttft_p50_s": 0.25,
        "ttft_p95_s": 0.5,
        "tpot_s": 0.0061,
        "overlap": c,
        "peak_in_flight": c,
        "errors": 0,
        "mean_tokens": 256.0,
        "void": None,
        "n": 3 * c,
        "thin": ["p95", "p99"],
        "prompts": "salted",
        "token_source": "usage",
    }
    return row | changes


def document(**changes: Any) -> dict[str, Any]:
    rows = [level(1, 412.3), level(64, 5613.0, n=500, thin=[])]
    peak = {"tok_s": 5613.0, "concurrency": 64, "mean_tokens": 256.0, "label": "floor", "hardware": None}
    fields = {
        "serving": "candidate",
        "simulated": False,
        "gpus": 1,
        "signature": "NOT_SATURATED",
        "k": None,
        "k_bracket": None,
        "prompts": "salted",
        "max_tokens": 256,
        "cap": {"intended": None, "found": {"value": 64, "source": "GET /props"}, "measured": None},
        "peak": peak | {"prompts": "salted", "token_source": "usage"},
        "levels": rows,
        "plateau": [],
        "confirm": [],
        "findings": [],
    }
    return fields | changes


def test_a_peak_carries_all_its_axes() -> None:
    lines = " ".join(sweep_lines(document()))
    assert (
        "5613.0 tok/s at concurrency 64 (mean 256.0 tokens, salted prompts, tokens by usage); a floor: more load may"
    ) in lines
    assert "cap: intended unknown, found 64, measured unknown" in lines


def test_the_table_is_aligned_and_narrow() -> None:
    rows = [level(c, 5613.2, n=1500, p50_s=93.1, p95_s=193.25, p99_s=193.3, ttft_p95_s=100.0) for c in (1, 512)]
    lines = sweep_lines(document(levels=rows, plateau=rows, confirm=rows))
    assert max(map(len, lines)) <= 80
    start = next(number for number, line in enumerate(lines) if line.split()[:2] == ["C", "tok/s"])
    assert len({len(line) for line in lines[start : start + 3]}) == 1
    assert "closed loop" in lines and "confirming k" in lines
    assert "~193.25" in lines[start + 1], "the number of values cannot carry it"


def test_a_void_level_shows_no_figure() -> None:
    rows = [level(1, 412.3), level(2, None, void="the client lagged\x1b[31m", overlap=None)]
    lines = sweep_lines(document(levels=rows, findings=["look\x07 here"]))
    row = next(line for line in lines if line.split()[:2] == ["2", "void"])
    assert set(row.split()[2:-1]) == {"-"} and row.split()[-1] == "6"
    text = "\n".join(lines)
    assert "level 2 is void: the client lagged" in text and "\x1b" not in text and "\x07" not in text


def test_unknown_figures_are_not_zero() -> None:
    rows = [level(1, None, tpot_s=None, overlap=None, mean_tokens=None)]
    lines = sweep_lines(document(levels=rows, peak=None))
    row = next(line for line in lines if line.split()[:1] == ["1"])
    assert row.count("n/a") == 4
    assert "peak: none; no level has a throughput" in lines


def test_a_simulation_says_that_it_is_one() -> None:
    assert sweep_lines(document(simulated=True))[0].startswith("SIMULATED")


@pytest.mark.parametrize("name", SENTENCES)
def test_every_signature_has_its_sentence(name: str) -> None:
    said = signature_sentence(document(signature=name, k=4, k_bracket=[4, 7]))
    assert said.startswith(f"{name}: ") and said.endswith("(k between 4 and 7)") and "{" not in said


def test_a_cap_that_is_no_number_is_printed_safely() -> None:
    cap = {"intended": {"value": "8\x1b", "source": "x"}, "found": None, "measured": {"value": 4, "source": "y"}}
    assert cap_line(cap) == "cap: intended 8�, found unknown, measured 4"


def test_a_capped_peak_says_what_it_bounds() -> None:
    peak = document()["peak"] | {"label": "ceiling", "hardware": "floor"}
    assert peak_sentence(peak).endswith("a ceiling of this configuration, for the hardware a floor")
    assert peak_sentence(peak | {"hardware": None}).endswith("; a ceiling")
    assert peak_sentence(peak | {"label": "likely_ceiling"}).endswith(LABELS["likely_ceiling"])


def test_a_ratio_curve() -> None:
    base = document(serving="production", gpus=2, signature="QUEUES", peak=document()["peak"] | {"tok_s": 330.7})
    base["levels"] = [level(1, 165.0), level(64, None, void="lag")]
    lines = ratio_lines(ratio_document(base, document()))
    assert max(map(len, lines)) <= 80
    text = " ".join(lines)
    assert "candidate over production" in text and "at the peaks 17.0x" in text and "per GPU 33.9x" in text
    assert "330.7 tok/s at concurrency 64 (mean 256.0 tokens, salted prompts, tokens by usage)" in text
    assert "2.5x" in text and "n/a" in text and "- the curves have different shapes" in text


def test_a_ratio_without_peaks() -> None:
    lines = ratio_lines(ratio_document(document(peak=None, gpus=None), document()))
    assert not any("at the peaks" in line or "per GPU" in line for line in lines)


def test_small_things() -> None:
    assert [times(value) for value in (None, 0.456, 2.04)] == ["n/a", "0.46x", "2.0x"]
    assert bound_phrase(None) == "" and bound_phrase("ceiling") == ", at most: the baseline was not saturated"
    assert table([("a", "b"), ("10", "2")]) == [" a  b", "10  2"]
    wide = table([("x" * 40, "y" * 39)])
    assert len(wide[0]) == 80

"""Ratio curves; the published case first."""

from typing import Any

import pytest

from reports.ratio import bound, ratio_document
from tests.reports.ladders import rows_of


def sweep(name: str, signature: str, gpus: int | None, label: str, *levels: tuple[int, float], **more: Any) -> Any:
    best = max(levels, key=lambda level: level[1]) if levels else None
    peak = best and {"tok_s": best[1], "concurrency": best[0], "mean_tokens": 256.0, "label": label}
    document = {"serving": name, "signature": signature, "gpus": gpus, "peak": peak, "levels": rows_of(levels)}
    return document | {"prompts": "identical", "max_tokens": 256} | more


PRODUCTION = sweep("production", "QUEUES", 2, "ceiling", (1, 165.0), (8, 166.0), (64, 166.0))
BATCH_CAPABLE = sweep("batch-capable", "CAPPED", 2, "ceiling", (1, 165.0), (32, 330.7), (64, 322.6))
CANDIDATE = sweep("candidate", "NOT_SATURATED", 1, "floor", (1, 412.0), (32, 3800.0), (64, 5613.0))


def at(document: dict[str, Any], concurrency: int) -> float:
    return next(row["ratio"] for row in document["levels"] if row["concurrency"] == concurrency)


def test_the_published_case() -> None:
    """330.7 tok/s at its peak on two GPUs against 5,613 on one that was not saturated."""
    ratio = ratio_document(BATCH_CAPABLE, CANDIDATE)
    assert round(ratio["peaks"]["ratio"], 1) == 17.0
    assert round(ratio["per_gpu"]["ratio"], 1) == 33.9
    assert round(at(ratio, 64), 1) == 17.4
    assert round(at(ratio, 1), 1) == 2.5
    assert ratio["peaks"]["bound"] == ratio["per_gpu"]["bound"] == "floor"
    assert ratio["peaks"]["candidate"]["concurrency"] == 64 and ratio["peaks"]["baseline"]["concurrency"] == 32
    assert ratio["notes"] == ["the curves have different shapes: CAPPED against NOT_SATURATED"]


def test_against_what_runs_in_production() -> None:
    ratio = ratio_document(PRODUCTION, CANDIDATE)
    assert round(at(ratio, 64), 1) == 33.8 and round(at(ratio, 1), 1) == 2.5
    assert [row["concurrency"] for row in ratio["levels"]] == [1, 64], "levels that both have"


@pytest.mark.parametrize(
    ("baseline", "candidate", "expected"),
    [
        ("ceiling", "ceiling", None),
        ("likely_ceiling", "floor", "floor"),
        ("floor", "ceiling", "ceiling"),
        ("floor", "floor", "open"),
    ],
)
def test_what_a_ratio_bounds(baseline: str, candidate: str, expected: str | None) -> None:
    assert bound(baseline, candidate) == expected


def test_a_side_without_a_figure_has_no_ratio() -> None:
    nothing = sweep("b", "VOID", None, "floor")
    assert ratio_document(CANDIDATE, nothing)["peaks"] is None
    assert ratio_document(CANDIDATE, nothing)["per_gpu"] is None
    void = CANDIDATE | {"levels": [row | {"tok_s": None} for row in CANDIDATE["levels"]]}
    assert at(ratio_document(CANDIDATE, void), 1) is None and at(ratio_document(void, CANDIDATE), 1) is None
    unknown = CANDIDATE | {"peak": CANDIDATE["peak"] | {"tok_s": 0.0}}
    assert ratio_document(unknown, CANDIDATE)["per_gpu"] is None
    assert ratio_document(CANDIDATE, CANDIDATE | {"gpus": None})["per_gpu"] is None


def test_what_makes_two_curves_hard_to_compare_is_said() -> None:
    other = CANDIDATE | {"prompts": "salted", "max_tokens": 128}
    other["levels"] = [row | {"mean_tokens": 100.0} for row in other["levels"]]
    notes = ratio_document(CANDIDATE, other)["notes"]
    assert any("identical against salted" in note for note in notes)
    assert any("256 against 128" in note for note in notes)
    assert any("10 % at 1, 32, 64" in note for note in notes)
    assert ratio_document(CANDIDATE, CANDIDATE)["notes"] == []


def test_c8s_144_a_proxy_buffers_the_stream() -> None:
    """TTFT 22 to 287 ms while the time per token fell from 5.49 to 1.58 ms."""
    direct = sweep("direct", "NOT_SATURATED", 1, "floor", (1, 150.0))
    direct["levels"] = [direct["levels"][0] | {"ttft_p50_s": 0.022, "tpot_s": 0.00549}]
    proxied = direct | {"levels": [direct["levels"][0] | {"ttft_p50_s": 0.287, "tpot_s": 0.00158}]}
    assert any("buffers its stream" in note for note in ratio_document(direct, proxied)["notes"])
    assert ratio_document(proxied, direct)["notes"] == []

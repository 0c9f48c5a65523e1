"""Whole comparisons of two run folders: the cases that other tools got wrong, and the contract's keys."""

import json
import random
from collections.abc import Callable
from typing import Any

import pytest

from itembank.errors import UserError
from reports.comparison import comparison_document, lines
from reports.decision import EXIT_STATUS, Verdict
from runner.store import RunFolder

Make = Callable[..., RunFolder]
KEYS = {
    "verdict",
    "margin",
    "difference",
    "interval",
    "population_interval",
    "look",
    "repeats",
    "reasons",
    "scores",
    "dimensions",
    "excess_flips",
    "defects",
    "identity",
    "throughput",
}


def steady(passing: int, repeats: int, items: int = 94) -> list[str]:
    """The first `passing` items always pass, the rest never."""
    return ["p" * repeats if place < passing else "f" * repeats for place in range(items)]


def test_document_has_the_contracts_keys(make_run: Make, bank94: list[str]) -> None:
    a = make_run("incumbent", steady(80, 5), items=bank94)
    b = make_run("candidate", steady(80, 5), items=bank94)
    document = comparison_document(a, b)
    assert document.keys() >= KEYS
    for side in ("baseline", "candidate"):
        scores = {"mean", "micro", "runs", "min", "max", "range", "sd", "coverage", "band"}
        assert document["scores"][side].keys() >= scores
    row = {"dimension", "baseline", "candidate", "gained", "lost", "unstable", "self_flips"}
    assert all(entry.keys() >= row for entry in document["dimensions"])
    assert document["excess_flips"].keys() >= {"value", "p"}
    assert document["verdict"] == "PARITY"
    assert document["repeats"] == {"baseline": 5, "candidate": 5}
    json.dumps(document, allow_nan=False)
    text = lines(document)
    assert max(map(len, text)) <= 80
    assert text[0].startswith("PARITY")


def test_five_of_five_to_one_of_five_on_every_item_is_a_regression(make_run: Make, bank94: list[str]) -> None:
    a = make_run("a", ["ppppp"] * 94, items=bank94)
    b = make_run("b", ["fpfff", "ffffp"] * 47, items=bank94)
    document = comparison_document(a, b)
    assert document["verdict"] == "REGRESSION"
    assert document["difference"] == pytest.approx(-80.0)


def test_twelve_items_from_five_to_four_is_seen_as_change_and_sized(make_run: Make, bank94: list[str]) -> None:
    a = make_run("a", ["ppppp"] * 94, items=bank94)
    b = make_run(
        "b", ["".join("f" if i < 12 and r == i % 5 else "p" for r in range(5)) for i in range(94)], items=bank94
    )
    document = comparison_document(a, b)
    assert document["excess_flips"]["value"] == pytest.approx(0.0, abs=0.01)
    assert document["scores"]["candidate"]["micro"] == pytest.approx(100 * (470 - 12) / 470)
    assert document["verdict"] in ("PARITY", "UNDECIDED")
    assert (document["verdict"] == "PARITY") == (document["interval"][0] > -3.0)


def test_missing_items_are_never_dropped_silently(make_run: Make, bank94: list[str]) -> None:
    a = make_run("a", ["ppppp"] * 94, items=bank94)
    b = make_run("b", ["ppppp"] * 74 + ["....."] * 20, items=bank94)
    document = comparison_document(a, b)
    assert document["verdict"] == "INVALID"
    assert "100 of 470 responses are missing" in document["reasons"][0]
    c = make_run("c", ["ppppp"] * 74, items=bank94[:74])
    assert comparison_document(a, c)["verdict"] == "INVALID"


def test_no_flip_in_ten_items_certifies_nothing_at_one_point(make_run: Make) -> None:
    a, b = (make_run(name, steady(8, 3, 10)) for name in ("a", "b"))
    document = comparison_document(a, b, margin=1.0)
    assert document["verdict"] == "UNDECIDED"
    low, high = document["population_interval"]
    assert (low, high) == (pytest.approx(-25.89, abs=0.01), pytest.approx(25.89, abs=0.01))


def test_server_errors_never_score(make_run: Make, bank94: list[str]) -> None:
    a = make_run("a", ["ppp"] * 94, items=bank94)
    b = make_run("b", ["ppp"] * 93 + ["ppe"], items=bank94)
    document = comparison_document(a, b)
    assert document["verdict"] == "INVALID"
    assert document["scores"]["candidate"]["mean"] == 100.0
    assert document["scores"]["candidate"]["counts"]["error"] == 1
    assert "http_status" in document["reasons"][0]


def test_truncated_answers_are_not_wrong_answers(make_run: Make, bank94: list[str]) -> None:
    a = make_run("a", ["ppp"] * 94, items=bank94)
    b = make_run("b", ["ppp"] * 66 + ["uuu"] * 28, items=bank94)
    document = comparison_document(a, b)
    assert document["verdict"] == "UNDECIDED"
    assert "unscorable" in document["reasons"][0]
    assert document["scores"]["candidate"]["coverage"] == pytest.approx(66 / 94)
    assert document["worst_case"]["difference"] < -20


@pytest.mark.parametrize("row", ["uuu", "puu"])
def test_a_repeat_without_a_score_cannot_be_compared(make_run: Make, bank94: list[str], row: str) -> None:
    a, b = make_run("a", ["ppp"] * 94, items=bank94), make_run("b", [row] * 94, items=bank94)
    document = comparison_document(a, b)
    assert document["verdict"] == "UNDECIDED" and document["interval"] is None and document["worst_case"] is None
    assert document["reasons"] == ["candidate: a repeat without one scorable response has no score to compare"]
    assert ("nothing to compare" in document["sentence"]) == (row == "uuu")
    assert document["difference"] == (None if row == "uuu" else 0.0)
    assert comparison_document(a, b, looks=(3, 5, 10))["verdict"] == "UNDECIDED"


@pytest.mark.parametrize("repeats", [(1, 1), (1, 5), (2, 2), (5, 2)])
def test_too_few_repeats_get_no_verdict(make_run: Make, bank94: list[str], repeats: tuple[int, int]) -> None:
    a, b = (make_run(name, steady(80, k), items=bank94) for name, k in zip("ab", repeats, strict=True))
    document = comparison_document(a, b)
    assert document["verdict"] == "UNDECIDED"
    assert "repeat before you decide" in document["reasons"][0]
    assert "3 repeats a side" in document["reasons"][1]
    assert EXIT_STATUS[Verdict(document["verdict"])] == 3


@pytest.mark.parametrize("margin", [0.0, -1.0, 100.0, 250.0, float("nan"), float("inf")])
def test_senseless_margins_are_refused(make_run: Make, margin: float) -> None:
    a, b = (make_run(name, steady(8, 3, 10)) for name in ("a", "b"))
    with pytest.raises(UserError, match="makes no sense"):
        comparison_document(a, b, margin=margin)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"sampling": {"temperature": 0.7, "max_tokens": 4096}}, "sampling differs: temperature"),
        ({"bank": {"name": "x", "digest": "other"}}, "banks differ: digest"),
        ({"identity_changes": ("max_concurrent_sequences 4 -> 8",)}, "changed while it was measured"),
        (
            {"serving": {"name": "b", "extra_body": {"chat_template_kwargs": {"enable_thinking": False}}}},
            "chat template differs",
        ),
    ],
)
def test_what_may_not_be_compared_is_invalid(make_run: Make, change: dict[str, Any], words: str) -> None:
    a, b = make_run("a", steady(8, 3, 10)), make_run("b", steady(8, 3, 10), record=change)
    document = comparison_document(a, b)
    assert document["verdict"] == "INVALID"
    assert words in document["reasons"][0]
    assert EXIT_STATUS[Verdict(document["verdict"])] == 4


def test_fifteen_percent_flaky_items_are_no_regression(make_run: Make, bank94: list[str]) -> None:
    rng = random.Random(7)
    chances = [rng.uniform(0.05, 0.95) if place < 14 else float(place % 7 > 0) for place in range(94)]
    sides = []
    for name in ("a", "b"):
        rows = ["".join("p" if rng.random() < p else "f" for _ in range(10)) for p in chances]
        sides.append(make_run(name, rows, items=bank94))
    assert comparison_document(*sides)["verdict"] == "PARITY"

"""The speculative-decoding check on run folders made by hand."""

import json
import random
from collections.abc import Callable
from typing import Any

import pytest

from reports.equivalence import acceptance, equivalence_document
from reports.equivalence_wording import load_lines, speccheck_lines
from reports.ratio import ratio_document
from reports.short_ladder import cost
from reports.sweep_wording import times
from runner.record import Identity
from runner.store import RunFolder

Make = Callable[..., RunFolder]
CONDITIONS = [(1, True), (1, False), (8, True), (8, False)]
SOUND = ["ppppp" if place % 6 else "fffff" for place in range(94)]


def checked(
    make_run: Make, items: list[str], change: Callable[[int, bool], dict[str, Any]], **more: Any
) -> dict[str, Any]:
    """A check in which `change` says what is different with speculation at a condition."""
    runs = {}
    for concurrency, stream in CONDITIONS:
        plan = {"concurrency": concurrency, "stream": stream}
        on = {"rows": SOUND, "plan": plan, **change(concurrency, stream)}
        off_run = make_run("off", SOUND, items=items, plan=plan)
        runs[(concurrency, stream)] = (off_run, make_run("on", on.pop("rows"), items=items, **on))
    document = equivalence_document(runs, margin=3.0, **more)
    json.dumps(document, allow_nan=False)
    return document


def test_nothing_changed_is_the_finding_worth_printing(make_run: Make, bank94: list[str]) -> None:
    document = checked(make_run, bank94, lambda c, s: {})
    assert document["verdict"] == "PARITY"
    lines = speccheck_lines(document)
    assert lines[-1].startswith("no regression")
    assert max(map(len, lines[:-1])) <= 80
    assert [row["completion_length_ratio"] for row in document["conditions"]] == [1.0] * 4
    assert document["speedup"] == {"concurrency": [1, 8], "off": 1.0, "on": 1.0}


def test_a_rare_overrun_under_load_alone_is_found_and_named(make_run: Make, bank94: list[str]) -> None:
    """3 % of the responses at concurrency 8, never at 1."""
    rng = random.Random(5)
    hit = {
        (c, s): {
            (item, repeat): ("control_token", "<|im_end|>")
            for item in bank94
            for repeat in range(1, 6)
            if c == 8 and rng.random() < 0.03
        }
        for c, s in CONDITIONS
    }
    document = checked(make_run, bank94, lambda c, s: {"defects": hit[(c, s)]})
    assert document["verdict"] == "REGRESSION"
    assert "control_token" in document["finding"]
    assert "<|im_end|>" in document["finding"]
    assert "concurrency 8" in document["finding"]
    assert speccheck_lines(document)[-1] == document["finding"]
    assert not any(row["risen"] for row in document["by_concurrency"][0]["defects"])


def test_defects_that_both_sides_show_are_no_regression(make_run: Make, bank94: list[str]) -> None:
    """Items that quote the token show it with and without speculation."""
    always = {(item, repeat): ("control_token", "<s>") for item in bank94[:5] for repeat in range(1, 6)}
    runs = {
        (c, s): tuple(
            make_run(name, SOUND, items=bank94, defects=always, plan={"concurrency": c}) for name in ("off", "on")
        )
        for c, s in CONDITIONS
    }
    document = equivalence_document(runs, margin=3.0)  # type: ignore[arg-type]
    assert document["verdict"] == "PARITY"
    assert document["by_concurrency"][0]["defects"][0]["p"] == 1.0


def test_a_score_that_falls_at_one_condition_is_the_finding(make_run: Make, bank94: list[str]) -> None:
    broken = ["fffff" if place in range(1, 9) else row for place, row in enumerate(SOUND)]
    document = checked(make_run, bank94, lambda c, s: {"rows": broken} if (c, s) == (8, False) else {})
    assert document["verdict"] == "REGRESSION"
    assert "concurrency 8, not streaming" in document["finding"]


def test_a_small_fall_shows_when_the_conditions_are_taken_together(make_run: Make, bank94: list[str]) -> None:
    rng = random.Random(3)
    noisy = [
        "".join("p" if rng.random() < 0.955 else "f" for _ in range(5)) if "f" not in row else row for row in SOUND
    ]
    document = checked(make_run, bank94, lambda c, s: {"rows": noisy} if c == 8 else {})
    assert document["verdict"] in ("REGRESSION", "UNDECIDED")
    assert document["by_concurrency"][0]["verdict"] == "PARITY"


def test_too_few_repeats_are_undecided_and_never_no_regression(make_run: Make, bank94: list[str]) -> None:
    rng = random.Random(11)
    rows = lambda: ["".join(rng.choice("pf") for _ in range(3)) for _ in range(94)]  # noqa: E731
    runs = {
        (c, s): tuple(make_run(name, rows(), items=bank94, plan={"concurrency": c}) for name in ("off", "on"))
        for c, s in CONDITIONS
    }
    document = equivalence_document(runs, margin=3.0)  # type: ignore[arg-type]
    assert document["verdict"] == "UNDECIDED"
    assert "repeat before you decide" in document["finding"]


def test_an_invalid_condition_makes_the_check_invalid(make_run: Make, bank94: list[str]) -> None:
    lost = ["ppppe", *SOUND[1:]]
    document = checked(make_run, bank94, lambda c, s: {"rows": lost} if (c, s) == (1, True) else {})
    assert document["verdict"] == "INVALID"
    assert "concurrency 1, streaming" in document["finding"]


def test_one_concurrency_alone_says_nothing_of_batching(make_run: Make, bank94: list[str]) -> None:
    runs = {(8, True): (make_run("off", SOUND, items=bank94), make_run("on", SOUND, items=bank94, tokens=None))}
    document = equivalence_document(runs, margin=3.0)
    assert document["speedup"] is None
    assert document["batching"] is None
    assert document["conditions"][0]["completion_length_ratio"] is None


def test_without_token_counts_no_gain_is_printed(make_run: Make, bank94: list[str]) -> None:
    document = checked(make_run, bank94, lambda c, s: {"tokens": None})
    assert document["speedup"]["on"] is None
    assert "times as fast" not in "\n".join(speccheck_lines(document))


def identity(drafted: float | None, accepted: float, read_at: str = "1") -> Identity:
    counters = {"accepted_tokens": accepted} | ({} if drafted is None else {"draft_tokens": drafted})
    return Identity(counters=counters, read_at=read_at)


@pytest.mark.parametrize(
    ("before", "after", "expected"),
    [
        (identity(100, 50), identity(300, 150), {"drafted": 200, "accepted": 100, "rate": 0.5}),
        (identity(100, 50), identity(100, 50), {"drafted": 0, "accepted": 0, "rate": None}),
        (identity(100, 50), identity(20, 10), None),
        (identity(None, 50), identity(300, 150), None),
        (None, identity(300, 150), None),
    ],
)
def test_acceptance_is_read_off_the_counters(
    before: Identity | None, after: Identity | None, expected: dict[str, Any] | None
) -> None:
    assert acceptance(before, after) == expected


def test_acceptance_over_all_passes_spans_the_outermost_readings(make_run: Make, bank94: list[str]) -> None:
    def change(concurrency: int, stream: bool) -> dict[str, Any]:
        start = 100 * concurrency + stream
        return {
            "record": {
                "identity_before": identity(start, start / 2, f"{start:04}"),
                "identity_after": identity(start + 10, start / 2 + 5, f"{start + 10:04}"),
            }
        }

    document = checked(make_run, bank94, change)
    assert document["acceptance"] == {"drafted": 711.0, "accepted": 355.5, "rate": 0.5}
    assert "drafted 711 tokens" in "\n".join(speccheck_lines(document))


def curve(signature: str, k: int | None, tok_s: float | None) -> dict[str, Any]:
    level = {"concurrency": 8, "tok_s": tok_s, "mean_tokens": 128.0, "p95_s": 1.0, "ttft_p50_s": 0.1, "tpot_s": 0.01}
    return {"serving": "x", "signature": signature, "k": k, "levels": [level], "peak": None}


@pytest.mark.parametrize(
    ("off", "on", "expected"),
    [
        (("BATCHES", None), ("QUEUES", 1), True),
        (("CAPPED", 8), ("CAPPED", 4), True),
        (("CAPPED", 8), ("CAPPED", 8), False),
        (("CAPPED", 8), ("NOT_SATURATED", None), False),
        (("VOID", None), ("BATCHES", None), None),
    ],
)
def test_fewer_at_once_with_speculation_is_its_price(
    make_run: Make, bank94: list[str], off: tuple[str, int | None], on: tuple[str, int | None], expected: bool | None
) -> None:
    low, high = curve(*off, 100.0), curve(*on, 150.0)
    batching = {
        "off": {"signature": off[0], "k": off[1]},
        "on": {"signature": on[0], "k": on[1]},
        "cost": cost(low, high),
    }
    assert batching["cost"] is expected
    curves = {"ratio": ratio_document(low, high), "batching": batching}
    document = checked(make_run, bank94, lambda c, s: {}, curves=curves)
    assert document["verdict"] == "PARITY"
    assert ("cost the batching" in document["finding"]) == bool(expected)
    text = "\n".join(speccheck_lines(document))
    assert times(1.5) in text
    assert on[0] in text


def test_first_differences_are_shown_without_escapes(make_run: Make, bank94: list[str]) -> None:
    document = checked(make_run, bank94, lambda c, s: {"texts": lambda item, repeat: f"x\x1b[2J {item}"})
    text = "\n".join(speccheck_lines(document))
    assert "first difference of" in text
    assert "\x1b" not in text


def test_load_effect_in_words(make_run: Make, bank94: list[str]) -> None:
    from reports.comparison import comparison_document

    low = make_run("s", SOUND, items=bank94)
    fallen = ["fffff" if place in range(1, 9) else row for place, row in enumerate(SOUND)]
    high = make_run("s", fallen, items=bank94, plan={"concurrency": 16})
    document = {**comparison_document(low, high), "serving": "s", "concurrency": [1, 16]}
    lines = load_lines(document)
    assert "REGRESSION" in lines[2]
    assert any("concurrency 16" in line for line in lines)
    assert max(map(len, lines)) <= 80


def test_a_side_that_never_answered_is_invalid_and_still_printed(make_run: Make, bank94: list[str]) -> None:
    document = checked(make_run, bank94, lambda c, s: {"rows": ["eeeee"] * 94})
    assert document["verdict"] == "INVALID"
    assert speccheck_lines(document)[-1].startswith("INVALID")


def test_single_repeats_under_load_have_no_excess_and_say_what_to_do(make_run: Make) -> None:
    from reports.comparison import comparison_document

    low, high = make_run("s", ["p"] * 4), make_run("s", ["p"] * 4, plan={"concurrency": 16})
    document = {**comparison_document(low, high), "serving": "s", "concurrency": [1, 16]}
    text = "\n".join(load_lines(document))
    assert "repeat before you decide" in text
    assert "excess" not in text

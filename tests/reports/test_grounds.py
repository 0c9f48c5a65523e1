"""The lines beside a verdict."""

from collections.abc import Callable

import pytest

from reports.comparison import comparison_document
from runner.store import RunFolder

Make = Callable[..., RunFolder]


def reasons(a: RunFolder, b: RunFolder, margin: float = 3.0) -> list[str]:
    found: list[str] = comparison_document(a, b, margin=margin)["reasons"]
    return found


def test_an_undecided_comparison_says_how_many_repeats_would_do(make_run: Make) -> None:
    a, b = (make_run(name, ["ppf", "fpp", "pfp", "ppp"] * 10) for name in ("a", "b"))
    found = reasons(a, b)
    assert "holds both a tolerable and an intolerable difference" in found[0]
    assert found[1].startswith("about ")


def test_a_difference_on_the_boundary_says_that_nothing_affordable_decides(make_run: Make) -> None:
    a = make_run("a", ["ppp"] * 100)
    flaky = make_run("c", ["ppp"] * 70 + ["ppf"] * 30)
    assert "lies on the boundary" in reasons(a, flaky, margin=10.0001)[1]


def test_a_verdict_that_stands_on_unscorable_answers_says_so(make_run: Make) -> None:
    a = make_run("a", ["ppppp"] * 100)
    b = make_run("b", ["ppppp"] * 99 + ["ppppu"])
    assert reasons(a, b) == ["it survives the worst case of 1 unscorable responses"]
    low = make_run("c", ["ppppp"] * 80 + ["fffff"] * 20)
    better = make_run("d", ["ppppp"] * 83 + ["fffff"] * 16 + ["uuuuu"])
    found = comparison_document(low, better, margin=3.4)
    assert found["verdict"] in ("PARITY", "IMPROVEMENT")
    assert found["reasons"]


def test_single_runs_without_any_noise_say_what_they_assume(make_run: Make) -> None:
    found = reasons(make_run("a", ["p"] * 4), make_run("b", ["p"] * 4))
    assert "a single run a side" in found[0]
    assert found[1].endswith("if the answers turn out to be steady")


def test_a_rate_that_rose_is_a_warning_beside_the_verdict(make_run: Make) -> None:
    items = [f"d-{place:02}" for place in range(40)]
    hit = {(item, 1): ("control_token", "<|im_end|>") for item in items[:20]}
    a, b = make_run("a", ["ppppp"] * 40, items=items), make_run("b", ["ppppp"] * 40, items=items, defects=hit)
    document = comparison_document(a, b)
    assert document["verdict"] == "PARITY"
    assert any("more often" in line for line in document["warnings"])


def test_the_notes_of_a_record_stand_beside_the_verdict(make_run: Make) -> None:
    a, b = make_run("a", ["ppp"] * 40), make_run("b", ["ppp"] * 40, record={"notes": ("the server was restarted",)})
    assert "candidate: the server was restarted" in comparison_document(a, b)["warnings"]


def test_launched_boots_that_differ_are_a_warning(make_run: Make) -> None:
    record = {"boots": ({"number": 1, "launched": True}, {"number": 2, "launched": True})}
    rows = ["ppppff", "ppppff", "pppppf", "pppfff"]
    a = make_run("a", rows, record=record, boots={5: 2, 6: 2, 4: 2})
    document = comparison_document(a, make_run("b", ["pppppp"] * 4))
    assert document["boots"]["baseline"]["differ"]
    assert any("starts of the server differ" in line for line in document["warnings"])


@pytest.mark.parametrize("margin", [2.0, 3.0])
def test_the_declared_margin_is_kept_unless_another_is_asked(make_run: Make, margin: float) -> None:
    plan = {"pair": "x", "side": "baseline", "looks": [3, 5], "margin": 2.0, "alpha": 0.022}
    a = make_run("a", ["ppp"] * 50, plan=plan)
    b = make_run("b", ["ppp"] * 50, plan={**plan, "side": "candidate"})
    assert comparison_document(a, b)["margin"] == 2.0
    document = comparison_document(a, b, margin=margin)
    assert document["look"]["looks"] == [3, 5]
    assert any("chosen after measuring" in line for line in document["warnings"]) == (margin != 2.0)


def test_a_decide_that_ended_before_its_look_has_no_verdict(make_run: Make) -> None:
    plan = {"pair": "x", "looks": [3, 5], "margin": 0.5, "alpha": 0.022}
    a, b = (make_run(name, ["ppf", "fpp", "pfp"] * 10, plan=plan) for name in ("a", "b"))
    document = comparison_document(a, b)
    assert document["verdict"] == "INVALID"
    assert "before the look at 5 repeats" in document["reasons"][-1]

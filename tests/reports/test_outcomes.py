"""Reading a quality run: what counts as what, and what is refused."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from itembank.bank import Bank
from itembank.errors import UserError
from itembank.item import Item
from reports.outcomes import ERROR, FAIL, MISSING, PASS, UNSCORABLE
from reports.scores import load_outcomes, scores_document
from runner.store import RunFolder

Make = Callable[..., RunFolder]


def test_every_letter_has_its_code(make_run: Make) -> None:
    found = load_outcomes(make_run("a", ["pfue."]))
    assert found.grid.tolist() == [[PASS, FAIL, UNSCORABLE, ERROR, MISSING]]
    assert found.reasons == {(0, 1): "wrong", (0, 2): "truncated", (0, 3): "http_status"}


def test_a_plan_without_its_repeats_is_missing_them(make_run: Make) -> None:
    found = load_outcomes(make_run("a", ["pp"], plan={"repeats": 4}))
    assert found.repeats == 4
    assert found.count(MISSING) == 2


def test_a_plan_with_looks_counts_the_repeats_begun(make_run: Make) -> None:
    assert load_outcomes(make_run("a", ["ppp"], plan={"repeats": 10, "looks": [3, 5, 10]})).repeats == 3


def test_a_trial_without_verdict_is_no_answer(make_run: Make) -> None:
    run = make_run("a", ["pp", "pp"])
    lines = (run.path / "verdicts.jsonl").read_text().splitlines(keepends=True)
    (run.path / "verdicts.jsonl").write_text("".join(lines[:-1]))
    found = load_outcomes(run)
    assert found.count(ERROR) == 1
    assert found.reasons[(1, 1)] == "not_judged"


def test_verdicts_without_their_trial_or_outside_the_plan_do_not_count(make_run: Make) -> None:
    run = make_run("a", ["p."])
    row = json.loads((run.path / "verdicts.jsonl").read_text())
    with (run.path / "verdicts.jsonl").open("a") as file:
        for change in ({"repeat": 2}, {"repeat": 9}, {"item": "other-01"}):
            file.write(json.dumps(row | change) + "\n")
    assert load_outcomes(run).grid.tolist() == [[PASS, MISSING]]


def test_a_rescored_answer_counts_as_judged_last(make_run: Make) -> None:
    run = make_run("a", ["f"], defects={("d0-00", 1): ("control_token", "x")})
    row = json.loads((run.path / "verdicts.jsonl").read_text())
    with (run.path / "verdicts.jsonl").open("a") as file:
        file.write(json.dumps(row | {"outcome": "pass", "reason": "", "defects": []}) + "\n")
    found = load_outcomes(run)
    assert found.grid.tolist() == [[PASS]]
    assert found.reasons == {}
    assert found.defects == {}


@pytest.mark.parametrize("line", ['{"item": "d0-00"}', '{"item":"d0-00","repeat":0,"outcome":"pass","dimension":"d"}'])
def test_a_line_that_is_no_verdict_is_named(make_run: Make, line: str) -> None:
    run = make_run("a", ["p"])
    with (run.path / "verdicts.jsonl").open("a") as file:
        file.write(line + "\n")
    with pytest.raises(UserError, match=r"verdicts\.jsonl:2: no verdict"):
        load_outcomes(run)


def test_ladders_and_plans_without_items_are_refused(make_run: Make) -> None:
    with pytest.raises(UserError, match="is a ladder run"):
        load_outcomes(make_run("a", ["p"], record={"kind": "ladder"}))
    with pytest.raises(UserError, match="names no items"):
        load_outcomes(make_run("a", ["p"], plan={"items": []}))


def test_the_dimension_of_an_unjudged_item_comes_from_bank_or_id(make_run: Make) -> None:
    item = Item(id="odd", dimension="fidelity", messages=(), scorer="text", expect={})
    bank = Bank(name="b", items=(item,))
    run = make_run(
        "a", ["e", "e", "e"], items=["odd", "coding-01", "x-01"], record={"bank": {"dimensions": {"coding": 1}}}
    )
    assert load_outcomes(run, bank).dimensions == ("fidelity", "coding", "unknown")
    assert load_outcomes(run).dimensions == ("unknown", "coding", "unknown")


def test_a_choice_of_items_keeps_its_reasons_and_defects(make_run: Make) -> None:
    found = load_outcomes(make_run("a", ["pf", "fp", "uu"], defects={("d1-01", 2): ("tool_text", "f()")}))
    chosen = found.only(["d0-02", "d1-01"])
    assert chosen.items == ("d0-02", "d1-01")
    assert chosen.reasons == {(0, 0): "truncated", (0, 1): "truncated", (1, 0): "wrong"}
    assert chosen.defects == {(1, 1): (("tool_text", "f()"),)}
    first = chosen.first(1)
    assert first.reasons == {(0, 0): "truncated", (1, 0): "wrong"}
    assert first.defects == {}
    assert first.boots == (1,)


def test_scores_are_means_of_dimensions(make_run: Make) -> None:
    """Dimension a: 1 of 2, then 2 of 2; dimension b: 1 of 1, then nothing that can be scored."""
    run = make_run("x", ["pp", "fp", "pu"], items=["a-01", "a-02", "b-01"])
    found = scores_document(load_outcomes(run))
    assert found["runs"] == [75.0, 100.0]
    assert found["mean"] == 87.5
    assert found["micro"] == 80.0
    assert (found["min"], found["max"], found["range"]) == (75.0, 100.0, 25.0)
    assert found["sd"] == pytest.approx(25 / 2**0.5)
    assert found["coverage"] == pytest.approx(5 / 6)
    assert found["band"] == [62.5, 87.5]
    assert found["dimensions"][1]["runs"] == [100.0, None]
    assert found["unscored_dimensions"] == []


def test_one_repeat_has_no_spread(make_run: Make) -> None:
    found = scores_document(load_outcomes(make_run("x", ["p", "f"])))
    assert found["sd"] is None
    assert found["range"] == 0.0


def test_nothing_scorable_is_no_score_and_says_so(make_run: Make) -> None:
    found = scores_document(load_outcomes(make_run("x", ["uu", "uu"])))
    assert (found["mean"], found["micro"], found["sd"], found["coverage"]) == (None, None, None, 0.0)
    assert found["band"] == [0.0, 100.0]
    assert found["unscored_dimensions"] == ["d0", "d1"]


def test_a_run_without_a_trial_has_no_score(make_run: Make, tmp_path: Path) -> None:
    found = scores_document(load_outcomes(make_run("x", ["."], plan={"looks": [3]})))
    assert (found["mean"], found["coverage"], found["asked"]) == (None, None, 0)

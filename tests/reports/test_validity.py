"""What makes a comparison invalid, what a reader is told beside it, and what is no obstacle."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from itembank.bank import Bank
from reports.comparison import comparison_document
from reports.outcomes import load_outcomes
from reports.validity import identity_document, invalid_reasons, record_differences
from runner.config import Sampling, ServingConfig
from runner.record import Identity
from runner.store import RunFolder

Make = Callable[..., RunFolder]


def reasons(a: RunFolder, b: RunFolder) -> list[str]:
    return invalid_reasons((a.record, load_outcomes(a)), (b.record, load_outcomes(b)))


def test_two_sound_runs_have_no_reason(make_run: Make) -> None:
    assert reasons(make_run("a", ["ppp"]), make_run("b", ["fff"])) == []


def test_another_engine_or_cap_is_what_is_compared_and_no_obstacle(make_run: Make) -> None:
    a = make_run("a", ["ppp"], facts={"max_concurrent_sequences": 1, "pid": 4})
    b = make_run("b", ["ppp"], facts={"max_concurrent_sequences": 8, "pid": 5})
    assert reasons(a, b) == []
    found = identity_document(a.record, b.record)
    assert found["differs"] == [{"name": "max_concurrent_sequences", "baseline": 1, "candidate": 8}]
    assert found["equal"] is False


def test_equal_identities_are_said(make_run: Make) -> None:
    a, b = (make_run(name, ["ppp"] * 4, facts={"dtype": "bfloat16"}) for name in ("a", "b"))
    assert any("nothing was changed" in line for line in comparison_document(a, b)["warnings"])


def test_what_could_not_be_read_is_unknown_and_no_equality(make_run: Make) -> None:
    nothing = {"identity_before": Identity(notes=("GET /v1/models: HTTP 401",))}
    a, b = (make_run(name, ["ppp"], record=nothing) for name in ("a", "b"))
    found = identity_document(a.record, b.record)
    assert found["equal"] is None
    assert found["unknown"] == ["baseline: GET /v1/models: HTTP 401", "candidate: GET /v1/models: HTTP 401"]
    assert identity_document(a.record, make_run("c", ["ppp"]).record)["unknown"][1] == (
        "candidate: the configuration was not read"
    )


def test_a_changed_chat_template_is_another_experiment(make_run: Make) -> None:
    a, b = (make_run(name, ["ppp"], facts={"chat_template_digest": name}) for name in ("a", "b"))
    assert reasons(a, b) == ["chat template differs: chat_template_digest a and b"]
    c = make_run("c", ["ppp"], facts={})
    assert reasons(a, c) == [], "a template that could not be read is unknown, not different"


def test_items_asked_in_another_version_are_another_bank(make_run: Make) -> None:
    a, b = make_run("a", ["ppp"]), make_run("b", ["ppp"])
    outcomes = replace(load_outcomes(b), digests={"d0-00": "other"})
    assert invalid_reasons((a.record, load_outcomes(a)), (b.record, outcomes)) == [
        "banks differ: 1 items were asked in another version (d0-00)"
    ]


def test_scorers_of_two_versions_ask_for_a_rescore(make_run: Make) -> None:
    a, b = make_run("a", ["ppp"]), make_run("b", ["ppp"])
    outcomes = replace(load_outcomes(b), scorers=frozenset({("text", 2)}))
    found = invalid_reasons((a.record, load_outcomes(a)), (b.record, outcomes))
    assert found == ["scorer text judged in versions 1 and 2; run `triplicate rescore` on both first"]


def test_an_empty_run_is_incomplete(make_run: Make) -> None:
    a = make_run("a", ["ppp"])
    b = make_run("b", ["."], plan={"repeats": 1})
    assert any("1 of 1 responses are missing" in line for line in reasons(a, b))


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"sampling": Sampling(temperature=0.5)}, "sampling differs: temperature 0.0 and 0.5"),
        ({"extra_body": {"top_k": 40}}, "sampling differs: top_k unset and 40"),
        (
            {"extra_body": {"chat_template_kwargs": {"x": "y" * 60}}},
            "chat template differs: chat_template_kwargs unset",
        ),
        ({}, "banks differ"),
    ],
)
def test_a_serving_that_is_yet_to_be_asked(make_run: Make, change: dict[str, Any], words: str) -> None:
    record = make_run("a", ["ppp"]).record
    serving = ServingConfig(name="b", base_url="http://127.0.0.1:1/v1", **change)
    found = record_differences(record, serving, Bank(name="x", items=()))
    assert any(line.startswith(words) for line in found)
    assert max(map(len, found)) < 120


def test_names_of_one_serving_twice_are_its_sides(make_run: Make) -> None:
    a, b = make_run("same", ["ppp"]), make_run("same", ["ppe"])
    assert reasons(a, b)[0].startswith("candidate: 1 of 3 requests failed")


def test_one_item_has_no_population_interval(make_run: Make) -> None:
    a, b = make_run("a", ["ppp"]), make_run("b", ["ppp"])
    assert comparison_document(a, b)["population_interval"] is None


def test_identical_repeats_at_a_temperature_are_suspected(make_run: Make) -> None:
    hot = {"sampling": {"temperature": 0.7, "max_tokens": 4096}}
    a, b = (make_run(name, ["ppp"] * 3, record=hot) for name in ("a", "b"))
    assert sum("a cache or a fixed seed" in line for line in comparison_document(a, b)["warnings"]) == 2


def test_boots_that_differ_are_told(make_run: Make) -> None:
    boots = {"boots": ({"number": 1, "launched": True}, {"number": 2, "launched": True})}
    run = make_run("a", ["pppfff", "pppfff", "ppppfp"], record=boots, items=["d-1", "d-2", "d-3"])
    document = comparison_document(run, run)
    assert document["boots"]["baseline"] is None, "every trial here was of boot 1"

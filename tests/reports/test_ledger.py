"""Figures on record with their axes, and whether they still describe what runs."""

import asyncio
import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import triplicate
from reports.ledger import check_document, compared, ledger_document
from runner.config import Config, ServingConfig
from runner.identity import identify
from runner.record import Fact, Identity
from runner.simulator import preset_named, simulated
from runner.store import RunFolder
from tests.reports.conftest import write_run
from tests.reports.test_curve import capped

FACTS = {"model": "m", "max_concurrent_sequences": 9, "quantization": "fp8"}


def made(engine: str | None = "vllm", **values: Any) -> Identity:
    return Identity(engine=engine, facts=tuple(Fact(name=n, value=v, source="s") for n, v in values.items()))


def test_every_figure_has_its_axes(tmp_path: Path, make_folder: Callable[..., RunFolder], capsys: Any) -> None:
    out = tmp_path / "runs"
    write_run(out, "a", ["pp", "pf", "ff"], facts=FACTS)
    write_run(out, "b", ["p"], tokens=None)
    capped(make_folder, k=2, found=2, serving={"name": "c"})
    figures = ledger_document(out)["figures"]
    score = next(row for row in figures if row["serving"] == "a" and row["figure"] == "score")
    assert (score["unit"], score["repeats"], score["concurrency"], score["mean_tokens"]) == ("points", 2, 1, 100)
    assert score["configuration"]["max_concurrent_sequences"] == 9
    assert len(score["configuration"]["digest"]) == 16
    assert score["date"] == "2026-01-01T00:00:00"
    unknown = [row for row in figures if row["serving"] == "b"]
    assert [row["configuration"] for row in unknown] == [None, None]
    levels = [row for row in figures if row["serving"] == "c"]
    assert [row["concurrency"] for row in levels] == [1, 2, 4, 8]
    assert {row["prompts"] for row in levels} == {"identical"}
    assert {row["repeats"] for row in levels} == {3}
    assert [row["peak"] for row in levels].count("ceiling") == 1
    assert all(row["mean_tokens"] == 101 for row in levels)

    assert triplicate.main(["ledger", "list", "--out", str(out)]) == 0
    text = capsys.readouterr().out
    assert "score 50.0 points at concurrency 1, mean 100 tokens, bank items" in text
    assert "throughput none tok/s" in text
    assert "unknown length" in text
    assert "configuration unknown" in text
    assert "(ceiling of the peak)" in text
    assert "cap 9" in text


def test_void_levels_are_no_figures(tmp_path: Path, make_folder: Callable[..., RunFolder]) -> None:
    from tests.reports.test_curve import add_burst, ladder

    run = ladder(make_folder, serving={"name": "c"})
    add_burst(run, 2, 2, bad=2)
    assert ledger_document(tmp_path / "runs")["figures"] == []


def test_a_damaged_folder_is_named_and_stops_nothing(tmp_path: Path, capsys: Any) -> None:
    out = tmp_path / "runs"
    write_run(out, "a", ["p"], facts={"model": "m"})
    (out / "broken").mkdir()
    (out / "broken" / "run.json").write_text("{")
    document = ledger_document(out)
    assert len(document["figures"]) == 2
    assert "run.json" in document["unreadable"][0]["reason"]
    assert triplicate.main(["ledger", "list", "--out", str(out)]) == 0
    text = capsys.readouterr().out
    assert "unreadable: " in text
    assert "cap unknown" in text
    assert triplicate.main(["ledger", "check", "--out", str(out)]) == 0
    assert "0 current, 0 stale, 2 unverifiable" in capsys.readouterr().out


def test_an_empty_ledger(tmp_path: Path, capsys: Any) -> None:
    assert triplicate.main(["ledger", "list", "--out", str(tmp_path / "none")]) == 0
    assert capsys.readouterr().out == "no figures on record\n"


@pytest.mark.parametrize(
    ("before", "now", "state", "words"),
    [
        (made(**FACTS), made(**FACTS), "current", ""),
        (
            made(**FACTS),
            made(**{**FACTS, "max_concurrent_sequences": 32}),
            "stale",
            "max_concurrent_sequences: 9 -> 32",
        ),
        (made(**FACTS), made(model="m", quantization="fp8"), "unverifiable", "max_concurrent_sequences"),
        (made(None, **FACTS), made(**FACTS), "unverifiable", "engine"),
        (made(**FACTS), made(None, **FACTS), "unverifiable", "engine"),
        (made(None, **FACTS), made(None, **{**FACTS, "model": "n"}), "stale", "model: m -> n"),
    ],
)
def test_what_makes_a_figure_stale(before: Identity, now: Identity, state: str, words: str) -> None:
    found, reasons = compared(before, now)
    assert found == state
    assert words in " ".join(reasons)


def test_a_restart_with_another_cap_makes_figures_stale_and_its_return_current(tmp_path: Path, capsys: Any) -> None:
    out, nine = tmp_path / "runs", replace(preset_named("capped"), cap=9)
    with simulated(nine) as server:
        port = server.port
        serving = {"name": "sim", "base_url": server.base_url}
        found = asyncio.run(identify(ServingConfig(**serving)))  # type: ignore[arg-type]
        record = {"serving": {**serving, "model": "auto"}, "identity_before": found, "identity_after": found}
        write_run(out, "sim", ["p"], record=record)
        assert triplicate.main(["ledger", "check", "--out", str(out)]) == 0
        assert "1 current, 0 stale" in capsys.readouterr().out
    with simulated(replace(nine, cap=32), port=port):
        assert triplicate.main(["ledger", "check", "sim", "--out", str(out), "--json"]) == 1
    document = json.loads(capsys.readouterr().out)
    assert document["stale"] == 1
    assert "max_concurrent_sequences: 9 -> 32" in document["runs"][0]["reasons"]
    with simulated(nine, port=port):
        assert triplicate.main(["ledger", "check", "--out", str(out)]) == 0
        assert "1 current" in capsys.readouterr().out
    assert triplicate.main(["ledger", "check", "--out", str(out)]) == 0
    text = capsys.readouterr().out
    assert "no server answers" in text
    assert "1 unverifiable" in text


def test_why_a_figure_cannot_be_verified(tmp_path: Path) -> None:
    launched = ServingConfig(name="l", base_url="", launch=None)
    cases: dict[str, dict[str, Any]] = {
        "no identity": {"record": {"identity_before": None, "identity_after": None}},
        "changed while it was measured": {"record": {"identity_changes": ("dtype: half -> float",)}},
        "not a serving": {"record": {"serving": {"name": "x", "gpus": "many"}}},
        "triplicate starts": {"record": {"serving": {"name": "l"}}},
        "MISSING_KEY is not set": {
            "record": {"serving": {"name": "k", "base_url": "http://127.0.0.1:9/v1", "api_key_env": "MISSING_KEY"}}
        },
    }
    for words, options in cases.items():
        run = write_run(tmp_path / "runs", words.split()[0], ["p"], facts=FACTS, **options)
        document = asyncio.run(check_document([run.path, run.path], Config(serving=(launched,))))
        row = document["runs"][0]
        assert row["state"] == "unverifiable"
        expected = "Expected `int" if words == "not a serving" else words
        assert expected in row["reasons"][0], row


def test_a_run_that_does_not_exist(tmp_path: Path, capsys: Any) -> None:
    assert triplicate.main(["ledger", "check", "nobody", "--out", str(tmp_path)]) == 2
    assert "nobody" in capsys.readouterr().err

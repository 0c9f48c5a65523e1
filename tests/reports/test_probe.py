"""Intended, found and measured side by side, disagreements first, unknown called unknown."""

import json
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import psutil
import pytest

import triplicate
from reports.probe import identity_document, lines, measured_cap
from runner.config import ServingConfig
from runner.record import Fact, Identity
from runner.simulator import preset_named, simulated
from tests.reports.test_curve import add_burst, capped, ladder


def identity(**values: Any) -> Identity:
    return Identity(
        engine=values.get("engine"),
        version=values.get("version"),
        facts=tuple(Fact(name=name, value=value, source=f"GET /{name}") for name, value in values.items()),
        counters={"running": 1.0},
        notes=("a note",),
        read_at="2026-01-01T00:00:00+00:00",
    )


def serving(**intended: Any) -> ServingConfig:
    return ServingConfig(name="mine", base_url="http://u:hunter22x@127.0.0.1:1/v1", intended=intended)


def test_the_document_has_the_contracts_keys() -> None:
    found = identity(engine="vllm", version="0.33.0", max_concurrent_sequences=9)
    document = identity_document(serving(max_concurrent_sequences=32), found)
    assert (document["engine"], document["version"]) == ("vllm", "0.33.0")
    assert {"name": "max_concurrent_sequences", "value": 9, "source": "GET /max_concurrent_sequences"} in document[
        "facts"
    ]
    assert document["cap"] == {
        "intended": {"value": 32, "source": "[serving.intended]"},
        "found": {"value": 9, "source": "GET /max_concurrent_sequences"},
        "measured": None,
    }
    assert document["differs"] == [{"name": "max_concurrent_sequences", "intended": 32, "found": 9}]
    assert "quantization" in document["unknown"]
    assert "gateway" not in document["unknown"]
    assert "hunter22x" not in json.dumps(document)


@pytest.mark.parametrize(
    ("intended", "found", "measured", "expected"),
    [
        (32, 32, 9, [{"name": "max_concurrent_sequences", "intended": 32, "found": 32, "measured": 9}]),
        (32, 9, 9, [{"name": "max_concurrent_sequences", "intended": 32, "found": 9, "measured": 9}]),
        (32, None, 9, [{"name": "max_concurrent_sequences", "intended": 32, "found": None, "measured": 9}]),
        (None, 32, 9, [{"name": "max_concurrent_sequences", "intended": None, "found": 32, "measured": 9}]),
        (9, 9, 9, []),
        (None, None, 9, []),
        (9, None, None, []),
    ],
)
def test_three_columns_of_the_cap(intended: Any, found: Any, measured: Any, expected: list[Any]) -> None:
    chosen = serving(**({"max_concurrent_sequences": intended} if intended else {}))
    known = identity(engine="x", **({"max_concurrent_sequences": found} if found else {}))
    ladder = {"value": measured, "source": "run: streams", "identity": known} if measured else None
    assert identity_document(chosen, known, ladder)["differs"] == expected


def test_a_ladder_of_another_configuration_is_noted() -> None:
    ladder = {"value": 9, "source": "run", "identity": identity(engine="x", max_concurrent_sequences=9)}
    document = identity_document(serving(), identity(engine="x", max_concurrent_sequences=32), ladder)
    assert "the newest ladder measured another configuration: max_concurrent_sequences: 9 -> 32" in document["notes"]


def test_lines_put_disagreements_first_and_say_unknown() -> None:
    found = identity(engine="vllm", prefix_caching=True, chunked_prefill=False, other_flags="x" * 90)
    text = lines(identity_document(serving(max_concurrent_sequences=32, prefix_caching=False, extra=1), found))
    assert text[0] == "mine: vllm"
    assert text[1] == "! prefix_caching: intended no, found yes"
    rows = {row.split()[0] if row[0] != "!" else row.split()[1]: row for row in text[4:] if row}
    assert rows["prefix_caching"].startswith("!")
    assert rows["max_concurrent_sequences"].split() == ["max_concurrent_sequences", "32", "unknown", "-"]
    assert rows["extra"].split() == ["extra", "1", "unknown", "-"]
    assert rows["chunked_prefill"].split() == ["chunked_prefill", "-", "no", "-", "GET", "/chunked_prefill"]
    assert "…" in rows["other_flags"]
    assert text[-2] == "note: a note"
    assert text[-1].startswith("unknown: version")


def test_of_two_sources_the_first_is_shown() -> None:
    facts = tuple(Fact(name="dtype", value=value, source=value) for value in ("half", "float"))
    text = lines(identity_document(serving(), Identity(facts=facts)))
    assert any(row.split()[:3] == ["dtype", "-", "half"] for row in text)
    assert text[0] == "mine: unknown engine"


def test_nothing_unknown() -> None:
    document = identity_document(serving(), identity(engine="x"))
    assert lines({**document, "unknown": []})[-1] == "unknown: nothing"


def test_the_newest_ladder_gives_the_measured_cap(tmp_path: Path, make_folder: Any) -> None:
    out = tmp_path / "runs"
    assert measured_cap("mine", out) is None
    capped(make_folder, k=4, serving={"name": "mine"})
    found = measured_cap("mine", out)
    assert found is not None
    assert found["value"] == 4
    assert str(out) in found["source"]
    run = ladder(make_folder, serving={"name": "other"})
    add_burst(run, 1, 1)
    assert measured_cap("other", out) is None


def test_the_command_reads_a_running_server(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with simulated(replace(preset_named("capped"), declared_cap=32)) as server:
        config = tmp_path / "triplicate.toml"
        config.write_text(
            f'[[serving]]\nname = "sim"\nbase_url = "{server.base_url}"\n'
            "[serving.intended]\nmax_concurrent_sequences = 32\n"
        )
        arguments = ["probe", "sim", "--config", str(config), "--out", str(tmp_path), "--json"]
        assert triplicate.main(arguments) == 0
    document = json.loads(capsys.readouterr().out)
    assert document["engine"] == "triplicate-simulator"
    assert document["cap"]["found"]["value"] == 32
    assert document["differs"] == []


def test_the_command_says_that_nobody_answers(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert triplicate.main(["probe", "http://127.0.0.1:9/v1", "--out", str(tmp_path)]) == 2
    assert "no answer to GET /v1/models" in capsys.readouterr().out


def test_the_command_starts_what_is_ours_to_start(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    config = tmp_path / "triplicate.toml"
    command = [sys.executable, str(Path(triplicate.__file__)), "simulate", "capped", "--cap", "9", "--port", "{port}"]
    config.write_text(f'[[serving]]\nname = "own"\n[serving.launch]\ncommand = {json.dumps(command)}\n')
    assert triplicate.main(["probe", "own", "--config", str(config), "--out", str(tmp_path), "--json"]) == 0
    document = json.loads(capsys.readouterr().out)
    assert document["cap"]["found"]["value"] == 9
    pid = next(fact["value"] for fact in document["facts"] if fact["name"] == "pid")
    assert not psutil.pid_exists(pid)

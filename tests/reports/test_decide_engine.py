"""`decide` on the embedded real engine: slots change nothing, and what weights change a second run confirms."""

import json
from pathlib import Path
from typing import Any

import pytest

import triplicate
from runner.find import run_folders
from runner.local import embedded
from runner.store import RunFolder
from runner.weights import model_file, variant

pytestmark = [pytest.mark.engine, pytest.mark.soak]

NAMES = ["Ana", "Tom", "Li", "Omar", "Eva", "Raj", "Mia", "Ken"]
CITIES = ["Lisbon", "Oslo", "Quito", "Cairo", "Perth", "Kyoto", "Turin", "Lyon"]
LEAST = 60
"""Items that are needed: with three repeats a side and no flips, 60 items bound a difference within 3 points."""


def rows() -> list[dict[str, Any]]:
    """96 short questions in three dimensions."""
    made = []
    for n in range(32):
        name, city = NAMES[n // 4], CITIES[n % 8]
        moved = f'"In {1900 + n * 7} {name} moved to {city}."'
        for dimension, prompt, right in (
            ("addition", f"What is {7 + 3 * n} + {5 + 2 * n}? Reply with the number only.", str(12 + 5 * n)),
            ("stories", f"{name} has {3 + n} cups and buys {2 + n % 5} more. How many?", str(5 + n + n % 5)),
            ("reading", f"Which city is named here? {moved} Reply with the city only.", city),
        ):
            made.append(
                {
                    "id": f"{dimension}-{n + 1:02}",
                    "dimension": dimension,
                    "prompt": prompt,
                    "max_tokens": 96,
                    "scorer": "constraints",
                    "expect": {"checks": [{"kind": "contains", "text": right}]},
                }
            )
    return made


@pytest.fixture
def bank(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Servings in triplicate.toml, and a bank of the questions whose answers this small model brings to an end."""
    monkeypatch.chdir(tmp_path)
    fine, coarse = variant(model_file(), "F16"), variant(model_file(), "Q4_0")
    lines = []
    for name, weights, slots in (("one-slot", coarse, 1), ("eight-slots", coarse, 8), ("f16", fine, 8)):
        launch = embedded(name, weights, slots=slots).launch
        assert launch is not None
        lines += ["[[serving]]", f'name = "{name}"', "[serving.launch]"]
        lines += [f"command = {json.dumps(list(launch.command))}", f"cwd = {json.dumps(launch.cwd)}"]
    Path("triplicate.toml").write_text("\n".join(lines) + "\n")
    every = {row["id"]: row for row in rows()}
    Path("all.jsonl").write_text("\n".join(map(json.dumps, every.values())) + "\n")
    ended = set(every)
    for name in ("eight-slots", "f16"):
        words = ["run", name, "--bank", "all.jsonl", "--repeats", "1", "--concurrency", "8", "--out", "pilot"]
        assert triplicate.main(words) == 0
    for path in run_folders(Path("pilot")):
        answered = [(trial.item_id, trial.exchange.response) for trial in RunFolder.read(path).trials()]
        ended &= {item for item, response in answered if response and response.finish_reason == "stop"}
    assert len(ended) >= LEAST
    whole = tmp_path / "whole.jsonl"
    whole.write_text("\n".join(json.dumps(row) for item, row in every.items() if item in ended) + "\n")
    return whole


def decided(bank: Path, capsys: pytest.CaptureFixture[str], out: str, *sides: str) -> dict[str, Any]:
    """The document of one `decide` at eight requests in flight."""
    capsys.readouterr()
    triplicate.main(
        ["decide", *sides, "--bank", str(bank), "--concurrency", "8", "--looks", "3,5", "--out", out, "--json"]
    )
    document: dict[str, Any] = json.loads(capsys.readouterr().out)
    return document


def test_slots_are_parity_without_a_flip(bank: Path, capsys: pytest.CaptureFixture[str]) -> None:
    document = decided(bank, capsys, "runs", "one-slot", "eight-slots")
    assert document["verdict"] == "PARITY"
    assert document["flips"] == []
    assert document["difference"] == 0


def test_weights_flip_items_and_a_second_run_says_the_same(bank: Path, capsys: pytest.CaptureFixture[str]) -> None:
    first, second = (decided(bank, capsys, out, "f16", "eight-slots") for out in ("first", "second"))
    assert first["flips"]
    assert first["verdict"] == second["verdict"]
    assert first["difference"] == pytest.approx(second["difference"])
    assert [flip["item"] for flip in first["flips"]] == [flip["item"] for flip in second["flips"]]

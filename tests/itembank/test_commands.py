"""`bank list`, `bank show`, `bank export`: through the command line, as a user meets them."""

import json
from pathlib import Path

import pytest

from itembank.bank import load_bank
from triplicate import main

HOSTILE = {
    "id": "h-01",
    "dimension": "h",
    "prompt": "Say \x1b[31m7\x07.",
    "scorer": "number",
    "expect": {"value": "7"},
    "tools": [{"type": "function", "function": {"name": "f", "parameters": {}}}],
}


def test_list_counts_every_item(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["bank", "list"]) == 0
    bank = load_bank()
    lines = capsys.readouterr().out.splitlines()
    counts = {line.split()[0]: int(line.split()[1]) for line in lines[1:-1]}
    assert sum(counts.values()) == len(bank.items)
    assert set(counts) == {item.dimension for item in bank.items}
    assert bank.digest in lines[-1]


def test_list_as_json_has_spread_and_languages(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["bank", "list", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    bank = load_bank()
    assert (found["items"], found["digest"]) == (len(bank.items), bank.digest)
    for row in found["dimensions"]:
        assert sum(row["difficulty"].values()) == row["items"]
    tagged = sum(tag.startswith("lang:") for item in bank.items for tag in item.tags)
    assert sum(sum(row["languages"].values()) for row in found["dimensions"]) == tagged


def test_show_prints_prompt_gold_and_examples(capsys: pytest.CaptureFixture[str]) -> None:
    item = load_bank().by_id["long_context-01"]
    assert main(["bank", "show", item.id]) == 0
    shown = capsys.readouterr().out
    assert item.messages[0]["content"] in shown
    for text in (*item.expect["values"], *item.accept, *item.reject, item.rationale):
        assert text in shown
    assert main(["bank", "show", item.id, "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["expect"] == item.expect


def test_show_of_an_unknown_item_names_the_nearest(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["bank", "show", "fidelty-01"]) == 2
    assert "did you mean 'fidelity-01'?" in capsys.readouterr().err


def test_show_takes_control_characters_out(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "b.jsonl"
    path.write_text(json.dumps(HOSTILE) + "\n", "utf-8")
    assert main(["bank", "show", "h-01", "--bank", str(path)]) == 0
    shown = capsys.readouterr().out
    assert "\x1b" not in shown
    assert "\x07" not in shown
    assert "[31m7" in shown
    assert '"name": "f"' in shown


@pytest.mark.parametrize("suffix", ["jsonl", "parquet"])
def test_export_reads_back_as_the_same_bank(tmp_path: Path, suffix: str, capsys: pytest.CaptureFixture[str]) -> None:
    if suffix == "parquet":
        pytest.importorskip("datasets")
    path = tmp_path / f"out.{suffix}"
    assert main(["bank", "export", "-o", str(path)]) == 0
    bank = load_bank()
    assert f"{len(bank.items)} items, digest {bank.digest}" in capsys.readouterr().out
    back = load_bank(str(path))
    assert back.digest == bank.digest
    assert back.items == bank.items


def test_export_refuses_what_it_cannot_write(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["bank", "export", "-o", str(tmp_path / "out.xlsx")]) == 2
    assert "must end in .jsonl or .parquet" in capsys.readouterr().err
    assert main(["bank", "export", "-o", str(tmp_path / "no" / "out.jsonl")]) == 2
    assert "there is no folder" in capsys.readouterr().err
    (tmp_path / "dir.jsonl").mkdir()
    assert main(["bank", "export", "-o", str(tmp_path / "dir.jsonl")]) == 2
    assert "cannot be written" in capsys.readouterr().err
    assert main(["bank", "export", str(tmp_path / "none.yaml"), "-o", str(tmp_path / "out.jsonl")]) == 2
    assert "no bank at" in capsys.readouterr().err


def test_export_without_datasets_says_what_to_install(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    import sys

    monkeypatch.setitem(sys.modules, "datasets", None)
    assert main(["bank", "export", "-o", str(tmp_path / "out.parquet")]) == 2
    assert "pip install 'triplicate[hub]'" in capsys.readouterr().err

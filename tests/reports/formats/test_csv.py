import csv as csv_module
import io
from pathlib import Path

import pytest

from reports.formats import csv
from reports.report import Report, write


@pytest.mark.parametrize("text", ["=1+1", "+1", "-1", "@SUM(A1)", "\t=1", "\r=1", "=cmd|'/C calc'!A0"])
def test_a_formula_becomes_text(text: str) -> None:
    [row] = csv_module.DictReader(io.StringIO(csv.table([{"name": text}])))
    assert row["name"] == f"'{text}".replace("\r", "\n")


def test_negative_numbers_stay_numbers() -> None:
    assert csv.table([{"difference": -3.5, "count": 0, "none": None, "yes": True}]) == (
        "difference,count,none,yes\n-3.5,0,,true\n"
    )


def test_pointers_escape_their_separators() -> None:
    assert dict(csv.leaves({"a/b": {"~": [1]}})) == {"/a~1b/~0/0": 1}


def read(path: Path) -> list[dict[str, str]]:
    return list(csv_module.DictReader(io.StringIO(path.read_text("utf-8"))))


def test_tables_beside_the_file_hold_every_observation(golden: Report, tmp_path: Path) -> None:
    paths = write(golden, "csv", tmp_path / "r.csv")
    assert [path.name for path in paths] == ["r.csv", "r.scores.csv", "r.items.csv", "r.flips.csv", "r.levels.csv"]
    document = golden.document
    scores = read(tmp_path / "r.scores.csv")
    for row in document["configurations"]:
        mine = [each for each in scores if each["configuration"] == row["name"]]
        overall = [float(each["score"]) for each in mine if each["dimension"] == "all"]
        assert overall == row["quality"]["scores"]["runs"]
        assert len(mine) == len(overall) * (1 + len(row["quality"]["scores"]["dimensions"]))
    items = read(tmp_path / "r.items.csv")
    assert len(items) == 2 * 7 * 3
    assert {"unscorable", "pass", "fail"} == {row["outcome"] for row in items}
    flips = read(tmp_path / "r.flips.csv")
    assert [row["item"] for row in flips] == [flip["item"] for flip in document["comparisons"][0]["flips"]]
    levels = read(tmp_path / "r.levels.csv")
    for row in document["configurations"]:
        ladder = [each for each in levels if each["configuration"] == row["name"] and each["phase"] == "ladder"]
        measured = [level["tok_s"] for level in row["curve"]["levels"]]
        assert [float(each["tok_s"]) if each["tok_s"] else None for each in ladder] == measured


def test_nothing_gives_an_empty_table() -> None:
    assert csv.table([]) == ""

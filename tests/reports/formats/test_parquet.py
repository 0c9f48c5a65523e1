import json
from pathlib import Path
from typing import Any

import pytest

from itembank.errors import UserError
from reports.formats import parquet
from reports.report import Report, report_of, write
from tests.reports.formats.conftest import GOLDEN

datasets = pytest.importorskip("datasets")


def loaded(path: Path, cache: Path) -> Any:
    return datasets.load_dataset("parquet", data_files=str(path), split="train", cache_dir=str(cache))


def test_file_is_loadable_and_holds_every_trial_with_its_verdict(golden: Report, tmp_path: Path) -> None:
    [path] = write(golden, "parquet", tmp_path / "r.parquet")
    rows = list(loaded(path, tmp_path / "cache"))
    expected = []
    for configuration in golden.configurations:
        assert configuration.quality
        verdicts = {(row["item"], row["repeat"]): row for row in configuration.quality.verdicts()}
        for trial in configuration.quality.trials():
            verdict = verdicts[trial.item_id, trial.repeat]
            expected.append((configuration.name, trial.item_id, trial.repeat, verdict["outcome"], trial.exchange.raw))
    assert [(r["configuration"], r["item"], r["repeat"], r["outcome"], r["raw"]) for r in rows] == expected
    assert json.loads(rows[0]["request"])["messages"]
    assert {row["defects"] for row in rows} == {None, '[{"kind": "control_token", "text": "<|im_end|>"}]'}


def test_hostile_texts_survive(hostile: Report, tmp_path: Path) -> None:
    path = tmp_path / "r.parquet"
    path.write_bytes(parquet.render(hostile))
    answers = {row["answer"] for row in loaded(path, tmp_path / "cache")}
    assert "x" * 1_000_000 in answers


def test_bytes_that_were_no_unicode_become_escapes() -> None:
    assert parquet._storable("a\udcff\U0001f600") == "a\\udcff\U0001f600"


def test_push_uses_the_same_table(golden: Report, monkeypatch: pytest.MonkeyPatch) -> None:
    pushed: dict[str, Any] = {}
    monkeypatch.setattr(datasets.Dataset, "push_to_hub", lambda self, name: pushed.update({name: self.num_rows}))
    assert parquet.push(golden, "hub:owner/name") == "owner/name"
    assert pushed == {"owner/name": 42}


@pytest.mark.parametrize("target", ["owner/name", "hub:name", "hub:/name", "hub:a/b/c", "file:a/b"])
def test_push_wants_a_hubs_name(golden: Report, target: str) -> None:
    with pytest.raises(UserError, match="give hub:owner/name"):
        parquet.push(golden, target)


def test_push_that_is_refused_is_one_line(golden: Report, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(self: object, name: str) -> None:
        raise ConnectionError("no route\n" * 100)

    monkeypatch.setattr(datasets.Dataset, "push_to_hub", refuse)
    with pytest.raises(UserError, match="ConnectionError: no route"):
        parquet.push(golden, "hub:owner/name")


def test_ladders_alone_have_no_answers() -> None:
    report = report_of(list((GOLDEN / "candidate").glob("*-ladder")))
    with pytest.raises(UserError, match="hold no answers"):
        parquet.render(report)


def test_missing_extra_is_named(golden: Report, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(__import__("sys").modules, "datasets", None)
    with pytest.raises(UserError, match=r"triplicate\[hub\]"):
        parquet.render(golden)

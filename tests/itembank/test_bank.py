"""Banks load from everywhere alike, and every fault is one line that names place, item and field."""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml

from itembank import sources
from itembank.authored import row_fault
from itembank.bank import DATA, load_bank
from itembank.errors import UserError

ROOT = Path(__file__).parent.parent.parent
CANARY = "5a1f0c9e-6b0d-4c52-9f43-2d7f7f1e8a64"
ROW = {"id": "a-01", "dimension": "a", "prompt": "Say 7.", "scorer": "number", "expect": {"value": "7"}}
FILES = sorted(DATA.glob("*.yaml"))
COUNTS = {
    "reasoning": 8,
    "mathematics": 10,
    "coding": 10,
    "structured_output": 10,
    "instruction_following": 10,
    "extraction": 10,
    "classification": 10,
    "tool_use": 8,
    "long_context": 8,
    "fidelity": 10,
}


def written(path: Path, rows: list[Any]) -> Path:
    if path.suffix == ".jsonl":
        path.write_text("".join(json.dumps(row) + "\n" for row in rows), "utf-8")
    else:
        path.write_text(yaml.safe_dump(rows, allow_unicode=True), "utf-8")
    return path


def fault(source: Path | str) -> str:
    with pytest.raises(UserError) as caught:
        load_bank(str(source))
    line = str(caught.value)
    assert "\n" not in line
    return line


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_every_data_file_starts_with_the_canary(path: Path) -> None:
    first = path.read_text("utf-8").splitlines()[0]
    assert first == f"# triplicate canary {CANARY} — this file must not be used for training"


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_every_shipped_row_has_the_form(path: Path) -> None:
    for row in yaml.safe_load(path.read_text("utf-8")):
        assert row_fault(row) is None, row["id"]
        assert row["dimension"] == path.stem
        assert row["id"].rpartition("-")[0] == path.stem
        assert row["id"].rpartition("-")[2].isdigit()
        assert len(row["accept"]) >= 3, row["id"]
        assert len(row["reject"]) >= 3, row["id"]
        assert row["rationale"], row["id"]


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_a_dimension_is_complete_and_spread(path: Path) -> None:
    items = [item for item in load_bank().items if item.dimension == path.stem]
    assert len(items) == COUNTS[path.stem]
    assert [item.id for item in items] == [f"{path.stem}-{n:02d}" for n in range(1, len(items) + 1)]
    levels = [item.difficulty for item in items]
    assert levels.count(5) >= 2
    assert levels.count(1) <= 2
    assert len(set(levels)) >= 3


def test_the_shipped_bank_is_whole() -> None:
    bank = load_bank()
    assert len(bank.items) == sum(COUNTS.values()) == 94
    assert {path.stem for path in FILES} == set(COUNTS)
    spoken = {item.id: {tag for tag in item.tags if tag.startswith("lang:")} for item in bank.items}
    foreign = [item for item in bank.items if spoken[item.id]]
    assert len(foreign) >= 14
    assert len({item.dimension for item in foreign}) >= 6
    languages = set().union(*spoken.values())
    assert languages >= {f"lang:{code}" for code in ("de", "fr", "es", "ja", "zh", "ar", "hi", "ru")}


def test_the_method_page_has_the_canary() -> None:
    assert CANARY in (ROOT / "METHOD.md").read_text("utf-8")


def test_digest_is_the_same_in_every_process() -> None:
    code = "from itembank.bank import load_bank; print(load_bank().digest)"
    digests = {
        subprocess.run(
            [sys.executable, "-c", code],
            env={**os.environ, "PYTHONHASHSEED": seed},
            capture_output=True,
            text=True,
            check=True,
            timeout=120,
        ).stdout.strip()
        for seed in ("1", "2")
    }
    assert digests == {load_bank().digest}


def test_digest_sees_content_and_not_order_or_examples(tmp_path: Path) -> None:
    other = {**ROW, "id": "a-02"}
    digest = load_bank(str(written(tmp_path / "1.yaml", [ROW, other]))).digest
    assert load_bank(str(written(tmp_path / "2.jsonl", [{**other, "accept": ["x"]}, ROW]))).digest == digest
    assert load_bank(str(written(tmp_path / "3.yaml", [ROW, {**other, "prompt": "Say 8."}]))).digest != digest


def test_loading_the_shipped_bank_imports_no_heavy_library() -> None:
    code = (
        "import sys; from itembank.bank import load_bank; load_bank();"
        "print({'jsonschema', 'datasets', 'numpy', 'sympy', 'httpx'} & set(sys.modules))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=120)
    assert done.stdout.strip() == "set()"


def test_select() -> None:
    bank = load_bank()
    assert {item.dimension for item in bank.select("fidelity-*,extraction-0?").items} == {"fidelity", "extraction"}
    with pytest.raises(UserError, match="no item of builtin matches 'nothing-\\*'"):
        bank.select("nothing-*")


def test_context_is_filled_into_every_message(tmp_path: Path) -> None:
    row = {key: value for key, value in ROW.items() if key != "prompt"}
    row["messages"] = [{"role": "system", "content": "Read {context}"}, {"role": "user", "content": "Sum?"}]
    row["context"] = {"name": "ledger", "seed": 1, "tokens": 500}
    item = load_bank(str(written(tmp_path / "b.yaml", [row]))).items[0]
    assert item.messages[0]["content"].startswith("Read ACCOUNT BOOK")
    assert item.messages[1]["content"] == "Sum?"


@pytest.mark.parametrize("suffix", ["yaml", "yml", "jsonl"])
def test_text_forms(tmp_path: Path, suffix: str) -> None:
    bank = load_bank(str(written(tmp_path / f"b.{suffix}", [ROW])))
    assert bank.items[0].expect == {"value": "7"}
    assert bank.items[0].messages == ({"role": "user", "content": "Say 7."},)


def test_csv(tmp_path: Path) -> None:
    path = tmp_path / "b.csv"
    path.write_text(
        "\ufeffid,dimension,prompt,scorer,expect,max_tokens,accept\n"
        '007,a,"Say\n7, please",number,"{""value"": ""7""}",64,\n',
        "utf-8",
    )
    item = load_bank(str(path)).items[0]
    assert (item.id, item.messages[0]["content"], item.max_tokens) == ("007", "Say\n7, please", 64)
    assert item.expect == {"value": "7"}
    path.write_text("id,dimension,prompt,scorer,expect,max_tokens\nq,a,p,number,{},many\n", "utf-8")
    assert "b.csv:2: item 'q': max_tokens: 'many' is no integer" in fault(path)
    path.write_text("id,dimension,prompt,scorer,expect\nq,a,p,number,{oops\n", "utf-8")
    assert "b.csv:2: item 'q': expect: not JSON" in fault(path)
    path.write_text("id,dimension,prompt,scorer\nq,a,p,number\n", "utf-8")
    assert "no column 'expect'; the columns are: id, dimension, prompt, scorer" in fault(path)
    path.write_text("id,dimension,scorer,expect\nq,a,number,{}\n", "utf-8")
    assert "no column 'prompt'" in fault(path)
    path.write_text("id,dimension,prompt,scorer,expect\nq,a,p,number,{},more\n", "utf-8")
    assert "item 'q': more cells than columns" in fault(path)
    path.write_text('id,dimension,prompt,scorer,expect\nq,a,"p"x,number,{}\n', "utf-8")
    assert "not CSV" in fault(path)


def test_parquet_with_structs_and_with_json_text(tmp_path: Path) -> None:
    datasets = pytest.importorskip("datasets")
    rows = [ROW, {**ROW, "id": "a-02", "expect": {"value": "8", "units": ["m"]}}]
    for name, forms in (("s", rows), ("t", [{**row, "expect": json.dumps(row["expect"])} for row in rows])):
        path = tmp_path / f"{name}.parquet"
        datasets.Dataset.from_list(forms).to_parquet(str(path))
        first, second = load_bank(str(path)).items
        assert first.expect == {"value": "7"}
        assert second.expect == {"value": "8", "units": ["m"]}
    lacking = tmp_path / "l.parquet"
    datasets.Dataset.from_list([{"id": "a", "prompt": "p"}]).to_parquet(str(lacking))
    assert "no column 'dimension'; the columns are: id, prompt" in fault(lacking)
    lacking.write_bytes(b"PAR1 but not really")
    assert "cannot be read as a dataset" in fault(lacking)


def test_hub_on_a_local_dataset_directory(tmp_path: Path) -> None:
    pytest.importorskip("datasets")
    one = tmp_path / "one"
    one.mkdir()
    written(one / "train.jsonl", [ROW])
    assert load_bank(f"hub:{one}").items == load_bank(str(one / "train.jsonl")).items
    written(one / "validation.jsonl", [{**ROW, "id": "v-01"}])
    assert "has the splits train, validation" in fault(f"hub:{one}")
    assert load_bank(f"hub:{one}:validation").items[0].id == "v-01"
    assert "no split 'test'; there are: train, validation" in fault(f"hub:{one}:test")
    assert "name the dataset" in fault("hub:")
    assert "cannot be read as a dataset" in fault(f"hub:{tmp_path / 'none'}")


def test_a_dataset_never_changes_the_bank(tmp_path: Path) -> None:
    """Nulls in a right answer survive mixed columns, and where a column's shape hides them the row is refused."""
    pytest.importorskip("datasets")
    bank = load_bank()
    rows = [
        {
            "id": item.id,
            "dimension": item.dimension,
            "messages": list(item.messages),
            "scorer": item.scorer,
            "expect": item.expect,
            "max_tokens": item.max_tokens,
        }
        for item in bank.items
        if item.dimension in ("extraction", "fidelity", "classification", "mathematics")
    ]
    written(tmp_path / "mixed.jsonl", rows)
    assert load_bank(f"hub:{tmp_path}").digest == load_bank(str(tmp_path / "mixed.jsonl")).digest
    one = tmp_path / "one"
    one.mkdir()
    written(one / "b.jsonl", [{**ROW, "expect": {"value": {"a": None, "b": 1}}}])
    assert "row 1: item 'a-01': expect.value: null here may mean absent" in fault(f"hub:{one}")


def test_hub_without_datasets_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "datasets", None)
    assert "pip install 'triplicate[hub]'" in fault("hub:owner/name")


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"id": None}, "id: None is not of type 'string'"),
        ({"id": "two words"}, "id: 'two words' does not match"),
        ({"expect": "7"}, "item 'a-01': expect: '7' is not of type 'object'"),
        ({"surprise": 1}, "'surprise' was unexpected"),
        ({"messages": [{"role": "user"}]}, "item 'a-01': prompt: give either `prompt` or `messages`"),
        ({"max_tokens": 0}, "max_tokens: 0 is less than the minimum"),
        ({"difficulty": 6}, "difficulty: 6 is greater"),
        ({"accept": [7]}, "accept.0: 7 is not of type"),
        ({"tags": "lang:de"}, "tags: 'lang:de' is not of type 'array'"),
        ({"context": {"name": "ledger", "seed": 1}}, "context: 'tokens' is a required property"),
        ({"context": {"name": "ledger", "seed": 1, "tokens": 500}}, "context: no message holds the mark {context}"),
        ({"prompt": "{context}", "context": {"name": "ledgr", "seed": 1, "tokens": 500}}, "did you mean 'ledger'?"),
        ({"prompt": "{context}", "context": {"name": "ledger", "seed": 1, "tokens": 500, "hue": 2}}, "context: "),
    ],
)
def test_faults_of_form_name_item_and_field(tmp_path: Path, change: dict[str, Any], said: str) -> None:
    for name in ("b.yaml", "b.jsonl"):
        line = fault(written(tmp_path / name, [{**ROW, **change}]))
        assert said in line
        assert line.startswith("b.")


@pytest.mark.parametrize("missing", ["id", "dimension", "prompt", "scorer", "expect"])
def test_missing_fields(tmp_path: Path, missing: str) -> None:
    row = {key: value for key, value in ROW.items() if key != missing}
    said = "prompt: give either" if missing == "prompt" else f"'{missing}' is a required property"
    assert said in fault(written(tmp_path / "b.yaml", [row]))


@pytest.mark.parametrize("row", [None, 7, "text", [], [ROW]])
def test_rows_that_are_no_mappings(tmp_path: Path, row: Any) -> None:
    assert "is not of type 'object'" in fault(written(tmp_path / "b.jsonl", [row]))


def test_duplicate_id(tmp_path: Path) -> None:
    line = fault(written(tmp_path / "b.yaml", [ROW, {**ROW, "id": "a-02"}, ROW]))
    assert line == "b.yaml, item 3: item 'a-01': id: used twice; ids must be unique"


def test_files_that_cannot_be_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert "no bank at" in fault(tmp_path / "none.yaml")
    assert "no bank at" in fault(tmp_path)
    path = tmp_path / "b.yaml"
    path.write_text("- id: a\n\tprompt: p\n", "utf-8")
    assert "b.yaml:2: not YAML" in fault(path)
    assert "holds a tab, indent with spaces" in fault(path)
    path.write_text("- id: [a\n", "utf-8")
    assert "b.yaml:" in fault(path)
    path.write_text("id: a\n", "utf-8")
    assert "must be a list of items" in fault(path)
    path.write_text("[]\n", "utf-8")
    assert "holds no items" in fault(path)
    path.write_bytes(b"- id: \xff\n")
    assert "byte 6 is not UTF-8" in fault(path)
    path.write_bytes(b"- id: \x00\n")
    assert "not YAML" in fault(path)
    path.rename(tmp_path / "b.txt")
    assert "a bank is a file that ends in .yaml" in fault(tmp_path / "b.txt")
    lines = tmp_path / "b.jsonl"
    lines.write_text('\n{"id": "a",\n', "utf-8")
    assert "b.jsonl:2: not JSON" in fault(lines)
    lines.write_text('{"id": NaN}\n', "utf-8")
    assert "NaN is no JSON number" in fault(lines)
    lines.write_text("[" * 100_000 + "\n", "utf-8")
    assert "b.jsonl:1: not JSON" in fault(lines)


def test_a_file_that_may_not_be_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = written(tmp_path / "b.yaml", [ROW])

    def refused(*_: object) -> str:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(Path, "read_text", refused)
    assert fault(path) == f"{path}: cannot be read: Permission denied"


def test_yaml_values_that_json_lacks(tmp_path: Path) -> None:
    path = tmp_path / "b.yaml"
    head = "- {id: a, dimension: a, prompt: p, scorer: text, expect: "
    path.write_text(head + "{answers: [2031-01-02]}}\n", "utf-8")
    assert "item 'a': expect.answers.0: datetime.date(2031, 1, 2) is no JSON value; quote it" in fault(path)
    path.write_text(head + "{value: {1: x}}}\n", "utf-8")
    assert "expect.value: the key 1 is no text; quote it" in fault(path)
    path.write_text(head + "{value: .nan}}\n", "utf-8")
    assert "expect.value: nan is no JSON value" in fault(path)


def test_a_huge_file_is_refused_unread(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "b.jsonl"
    with path.open("wb") as file:
        file.truncate(200_000_000)
    assert fault(path) == f"{path} has 200 MB; a bank may have 67 MB: split it"
    monkeypatch.setattr(sources, "MAX_ROWS", 2)
    assert "more than 2 items" in fault(written(path, [{**ROW, "id": f"a-{i}"} for i in range(3)]))

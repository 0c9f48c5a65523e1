import io
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import triplicate
from scorers import commands
from scorers.floor import FIXED

BANK = [
    {"id": "n-1", "dimension": "numbers", "prompt": "6 * 7?", "scorer": "number", "expect": {"value": "42"}},
    {"id": "t-1", "dimension": "words", "prompt": "?", "scorer": "text", "expect": {"answers": ["Canberra"]}},
]
ANSWERS = [
    {"item": "t-1", "text": "ANSWER: Canberra"},
    {"item": "n-1", "text": "ANSWER: 41", "repeat": 2},
    {"item": "n-1", "text": "ANSWER: 42<|im_end|>"},
    {"item": "n-1", "text": "", "repeat": 3, "finish_reason": "length"},
]


@pytest.fixture
def bank(tmp_path: Path) -> Path:
    return lines(tmp_path / "bank.jsonl", BANK)


def lines(path: Path, rows: list[Any]) -> Path:
    path.write_text("".join((row if isinstance(row, str) else json.dumps(row)) + "\n" for row in rows), "utf-8")
    return path


def score(bank: Path, answers: Path, *more: str) -> int:
    return triplicate.main(["score", str(bank), str(answers), *more])


def test_json_lines_in_the_order_of_the_file(bank: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert score(bank, lines(tmp_path / "a.jsonl", ANSWERS), "--json", "--workers", "2") == 0
    out, err = capsys.readouterr()
    rows = [json.loads(line) for line in out.splitlines()]
    assert [(row["item"], row["repeat"], row["outcome"]) for row in rows] == [
        ("t-1", 1, "pass"),
        ("n-1", 2, "fail"),
        ("n-1", 1, "pass"),
        ("n-1", 3, "unscorable"),
    ]
    assert err == ""


def test_the_table_counts_by_dimension(bank: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert score(bank, lines(tmp_path / "a.jsonl", ANSWERS)) == 0
    out = capsys.readouterr().out
    rows = {line.split()[0]: line.split()[1:] for line in out.splitlines() if line}
    assert rows["words"][:5] == ["1", "0", "0", "100.0", "1/1"]
    assert rows["numbers"] == ["1", "1", "1", "50.0", "2/3", "33.3", "to", "66.7"]
    assert "score: 75.0, the mean of 2 dimensions (band 66.7 to 83.3)" in out
    assert "reasons: wrong 1, truncated 1" in out
    assert "defects: control_token 1" in out
    assert "have no answer" not in out


def test_items_without_an_answer_are_counted(bank: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert score(bank, lines(tmp_path / "a.jsonl", ANSWERS[:1])) == 0
    assert f"1 of 2 items of {bank} have no answer" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("row", "words"),
    [
        ("{", "line 2: not JSON"),
        ("[" * 100_000, "line 2: not JSON"),
        ("\xff", "line 2: not JSON"),
        ([1], "line 2: not a JSON object"),
        ({"item": "n-1"}, "line 2: text is missing"),
        ({"text": "x"}, "line 2: item is missing"),
        ({"item": "n-1", "text": 5}, "line 2: text is 5, not text or null"),
        ({"item": "n-1", "text": "", "repeat": "1"}, 'line 2: repeat is "1", not a whole number'),
        ({"item": "n-1", "text": "", "repeat": True}, "line 2: repeat is true"),
        ({"item": "n-1", "text": "", "completion_tokens": 1.5}, "line 2: completion_tokens"),
        ({"item": "n-1", "text": "", "tool_calls": "f"}, "line 2: tool_calls"),
        ({"item": "n-1", "text": "", "tool_calls": [1]}, "line 2: a tool call without a name"),
        ({"item": "n-1", "text": "", "tool_calls": [{"name": 1}]}, "line 2: a tool call without a name"),
        ({"item": "n-1", "text": "", "tool_calls": [{"name": "f", "arguments": 1}]}, "line 2: the arguments of 'f'"),
        ({"item": "n-2", "text": ""}, "line 2: no item 'n-2' in"),
        ({"item": "t-1", "text": ""}, "line 2: a second answer to item 't-1', repeat 1"),
    ],
)
def test_a_bad_line_is_named_and_nothing_is_printed(
    bank: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], row: Any, words: str
) -> None:
    answers = lines(tmp_path / "a.jsonl", [ANSWERS[0], row])
    if row == "\xff":
        answers.write_bytes(json.dumps(ANSWERS[0]).encode() + b"\n\xff\n")
    for more in ([], ["--json"]):
        assert score(bank, answers, *more) == 2
        out, err = capsys.readouterr()
        assert out == ""
        assert words in err and len(err.splitlines()) == 1


def test_files_that_hold_no_answers(bank: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert score(bank, lines(tmp_path / "a.jsonl", ["", " "])) == 2
    assert "holds no responses" in capsys.readouterr().err
    assert score(bank, tmp_path / "absent.jsonl") == 2
    assert "cannot be read" in capsys.readouterr().err


def test_lines_as_programs_write_them(bank: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    row = json.dumps({"item": "t-1", "text": "a\u2028b\x85\nANSWER: Canberra", "extra": 1}, ensure_ascii=False)
    (tmp_path / "a.jsonl").write_bytes(b"\xef\xbb\xbf\r\n" + row.encode() + b"\r\n\n")
    assert score(bank, tmp_path / "a.jsonl", "--json") == 0
    assert json.loads(capsys.readouterr().out)["outcome"] == "pass"


def test_responses_from_standard_input(
    bank: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(json.dumps(ANSWERS[0]).encode())))
    assert score(bank, Path("-"), "--json") == 0
    assert json.loads(capsys.readouterr().out)["outcome"] == "pass"


def test_a_lone_surrogate_is_printed_as_json(bank: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert score(bank, lines(tmp_path / "a.jsonl", [{"item": "t-1", "text": "ANSWER: \ud800"}]), "--json") == 0
    assert json.loads(capsys.readouterr().out)["extracted"] == "\ud800"


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"scorer": "numbr"}, "item 'n-1': scorer: no scorer 'numbr'; did you mean 'number'?"),
        ({"expect": {"value": []}}, "item 'n-1': expect.value: [] is not of type"),
        ({"expect": {"value": "4 2"}}, "item 'n-1': expect: value '4 2' is no number"),
    ],
)
def test_a_bank_that_cannot_be_judged_is_named(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], change: dict[str, Any], words: str
) -> None:
    bank = lines(tmp_path / "bank.jsonl", [{**BANK[0], **change}])
    assert score(bank, lines(tmp_path / "a.jsonl", [ANSWERS[2]])) == 2
    out, err = capsys.readouterr()
    assert out == "" and words in err


def test_progress_is_shown_to_a_person_only(monkeypatch: pytest.MonkeyPatch) -> None:
    for terminal in (True, False):
        screen = io.StringIO()
        monkeypatch.setattr(screen, "isatty", lambda terminal=terminal: terminal)
        monkeypatch.setattr(commands.sys, "stderr", screen)
        assert list(commands._shown([1, 2], 2)) == [1, 2]
        assert bool(screen.getvalue()) == terminal


GOOD = {"accept": ["ANSWER: 42", "**ANSWER: 42**", "Answer: 42.0"], "reject": ["42", "ANSWER: 41", "ANSWER: -42"]}


def test_a_bank_is_proved(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    easy = {**BANK[0], "id": "n-2", "expect": {"value": "0"}, "accept": ["ANSWER: 0", "ANSWER: -0", "ANSWER: 0."]}
    bank = lines(tmp_path / "bank.jsonl", [{**BANK[0], **GOOD}, {**easy, "reject": ["0", "ANSWER: 1", "ANSWER:"]}])
    assert triplicate.main(["bank", "check", str(bank)]) == 0
    out = capsys.readouterr().out
    assert "2 items, digest" in out and "no faults" in out
    tries = 2 * (len(FIXED) + len(["the prompt", "the other item's answer"]))
    assert "numbers" in out and f"1 of {tries} junk answers pass" in out


def test_every_fault_of_a_bank_is_one_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    rows = [
        {**BANK[0], **GOOD, "accept": ["ANSWER: 42", "ANSWER: 41", "ANSWER: 42"]},
        {**BANK[0], **GOOD, "id": "n-2", "reject": ["ANSWER: 42"]},
        {**BANK[0], **GOOD, "id": "n-3", "accept": [*GOOD["accept"], {"tool_calls": [{}]}, {"text": "ANSWER: 42"}]},
        {**BANK[0], **GOOD, "id": "n-4", "expect": {"value": "x"}},
    ]
    assert triplicate.main(["bank", "check", str(lines(tmp_path / "bank.jsonl", rows))]) == 2
    out, err = capsys.readouterr()
    told = [line.split(": ", 1)[1] for line in out.splitlines()]
    assert sorted(told) == [
        "item 'n-1': accept 2: must pass: fail wrong expected 42",
        "item 'n-2': reject 1: must not pass: pass",
        "item 'n-2': reject: 1 entries, at least 3 are asked",
        "item 'n-3': accept 4: a tool call without a name",
        "item 'n-4': expect: value 'x' is no number that this scorer reads",
    ]
    assert "5 faults" in err


def test_importing_is_cheap() -> None:
    code = (
        "import sys, time; start = time.process_time(); import scorers.commands; spent = time.process_time() - start;"
        "heavy = {'sympy', 'jsonschema', 're2', 'numpy', 'tqdm', 'hypothesis'} & set(sys.modules); print(spent, heavy)"
    )
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    spent, heavy = run.stdout.split(" ", 1)
    assert float(spent) < 0.05
    assert heavy.strip() == "set()"

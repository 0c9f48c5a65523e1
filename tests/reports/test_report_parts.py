"""Items in groups, transcripts in a compact form, and the data that a page embeds."""

import base64
import json
import zlib
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from itembank.bank import load_bank
from reports import report_page
from reports.report import report_of
from reports.report_items import flip_kinds, grouped_items
from reports.report_transcripts import Texts, asked, bank_of, cut_middle, transcripts
from runner.store import RunFolder
from tests.conftest import make_trial


def all_transcripts(names: list[str], runs: list[RunFolder]) -> dict[str, Any]:
    found = transcripts(names, runs)
    assert found is not None
    return found


def test_flips_stand_together_and_first(make_run: Callable[..., RunFolder]) -> None:
    items = ["a-01", "a-02", "a-03", "a-04", "a-05", "a-06"]
    base = make_run("base", ["ppp", "ppf", "fff", "fpf", "ppf", "ppp"], items=items)
    candidate = make_run("candidate", ["fff", "pff", "ppp", "ppf", "ppp", "ppp"], items=items)
    assert grouped_items(report_of([base.path, candidate.path]).document) == [
        ("lost in every repeat", ["a-01"]),
        ("lost, unstable", ["a-02"]),
        ("gained in every repeat", ["a-03"]),
        ("gained, unstable", ["a-04"]),
        ("differs between repeats", ["a-05"]),
        ("the same throughout", ["a-06"]),
    ]


def test_of_several_candidates_the_gravest_flip_counts() -> None:
    flips = [
        {"flips": [{"item": "a", "kind": "unstable", "direction": "gained"}]},
        {"flips": [{"item": "a", "kind": "persistent", "direction": "lost"}]},
    ]
    assert flip_kinds(flips) == {"a": "lost in every repeat"}


def test_an_item_that_only_one_side_was_asked_is_missing_on_the_other(make_run: Callable[..., RunFolder]) -> None:
    runs = [make_run("a", ["ppp"], items=["a-01"]), make_run("b", ["fff", "ppp"], items=["a-01", "a-02"])]
    rows = [row for group in report_page.grid(report_of([run.path for run in runs]).document) for row in group["rows"]]
    [row] = [row for row in rows if row["item"] == "a-02"]
    assert [cell["outcome"] for cell in row["cells"][0]] == ["missing"] * 3
    assert [cell["outcome"] for cell in row["cells"][1]] == ["pass"] * 3


def test_equal_texts_are_kept_once() -> None:
    texts = Texts(100)
    assert [texts.number(text) for text in ("a", "b", "a", "", None)] == [0, 1, 0, None, None]
    assert texts.all == ["a", "b"]


@pytest.mark.parametrize("limit", [1, 2, 5, 9])
def test_what_is_cut_says_so(limit: int) -> None:
    text = cut_middle("0123456789", limit)
    head, _, tail = text.partition(f"\n[... {10 - limit} characters left out ...]\n")
    assert "0123456789".startswith(head) and "0123456789".endswith(tail) and len(head + tail) == limit


def test_what_was_asked_shows_roles_parts_and_tools() -> None:
    request = {
        "messages": [{"role": "system", "content": "s"}, {"role": "user", "content": [{"type": "text", "text": "ü"}]}],
        "tools": [{"function": {"name": "f"}}],
    }
    text = asked(request)
    assert text.startswith("[system]\ns\n\n[user]\n") and "ü" in text and text.endswith("[tools offered]\nf")
    assert asked({}) == ""


def test_gold_is_shown_only_for_the_item_that_was_asked(make_folder: Callable[..., RunFolder]) -> None:
    item = load_bank("builtin").items[0]
    folder = make_folder(bank={"name": "builtin"}, plan={"repeats": 1, "items": [item.id]})
    folder.append(replace(make_trial(item.id), item_digest=item.digest))
    other = make_folder(bank={"name": "builtin"}, plan={"repeats": 1, "items": [item.id]})
    other.append(replace(make_trial(item.id), item_digest="another"))
    for run, known in ((folder, True), (other, False)):
        data = all_transcripts(["a"], [run])
        gold = data["items"][item.id]["gold"]
        assert (gold is not None) is known
        if known:
            assert json.loads(data["texts"][gold]) == json.loads(json.dumps(dict(item.expect)))


@pytest.mark.parametrize("name", ["", "hub:owner/name", "/nowhere/bank.yaml"])
def test_a_bank_that_is_not_at_hand_is_none(make_folder: Callable[..., RunFolder], name: str) -> None:
    assert bank_of(make_folder(bank={"name": name})) is None


def test_failures_and_second_tries_are_rows(make_run: Callable[..., RunFolder], tmp_path: Path) -> None:
    run = make_run("a", ["pe"])
    [rows] = all_transcripts(["a"], [run])["sides"][0]["trials"].values()
    assert [(row["repeat"], row["outcome"], row.get("reason")) for row in rows] == [
        (1, "pass", None),
        (2, "error", "http_status"),
    ]


def test_of_two_trials_of_a_repeat_the_later_counts(make_folder: Callable[..., RunFolder]) -> None:
    folder = make_folder()
    folder.append(make_trial(text="first"))
    folder.append(make_trial(text="second"))
    data = all_transcripts(["a"], [folder])
    [[row]] = data["sides"][0]["trials"].values()
    assert data["texts"][row["answer"]] == "second"


def unpacked(text: str) -> dict[str, Any]:
    data: dict[str, Any] = json.loads(zlib.decompress(base64.b64decode(text)))
    return data


def test_data_that_is_too_long_is_cut_until_it_fits(make_run: Callable[..., RunFolder]) -> None:
    import random

    chosen = random.Random(0)

    def noise(item: str, repeat: int) -> str:
        return "".join(chosen.choices("abcdefghijklmnopqrstuvwxyz", k=5000))

    report = report_of([make_run("a", ["ppp"] * 4, texts=noise).path])
    whole, short = report_page.embedded(report), report_page.embedded(report, most=20_000)
    assert len(short) <= 20_000 < len(whole)
    assert max(map(len, unpacked(whole)["texts"])) == 5000
    assert any("characters left out" in text for text in unpacked(short)["texts"])
    assert report_page.embedded(report, most=1)


def test_texts_that_would_fill_the_memory_are_cut_before_they_are_held(
    make_run: Callable[..., RunFolder], monkeypatch: pytest.MonkeyPatch
) -> None:
    run = make_run("a", ["ppp"] * 4, texts=lambda item, repeat: f"{item} {repeat} " + "long " * 2000)
    assert transcripts(["a"], [run], most=100_000) is None, "12 texts of 10,000 characters"
    assert transcripts(["a"], [run], most=200_000) is not None
    monkeypatch.setattr(report_page, "TEXT_BYTES", 100_000)
    monkeypatch.setattr(report_page, "TEXT_CHARACTERS", 20_000)
    found = unpacked(report_page.embedded(report_of([run.path])))
    assert found["limit"] == 5000
    assert sum("characters left out" in text for text in found["texts"]) == 12
    monkeypatch.setattr(report_page, "TEXT_BYTES", 1)
    assert unpacked(report_page.embedded(report_of([run.path])))["limit"] <= 50, "the shortest texts are always shown"


def test_cells_are_marked_by_outcome_defect_and_side() -> None:
    passed = {"repeat": 1, "outcome": "pass", "defects": []}
    failed = {"repeat": 2, "outcome": "fail", "defects": ["tool_text"]}
    assert report_page.cell_markup([[passed, failed], [failed]]) == (
        '<td class="p side" data-s="0" data-r="1">P</td><td class="f d" data-s="0" data-r="2">F</td>'
        '<td class="f d side" data-s="1" data-r="2">F</td>'
    )

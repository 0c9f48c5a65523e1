"""Labels: computed where the cases are figures; elsewhere the rationale quotes the deciding words of the prompt."""

import datetime
import re
from pathlib import Path

import pytest

from itembank.bank import load_bank

ITEMS = {item.id: item for item in load_bank().items if item.dimension == "classification"}
BY_WORDS = ("01", "03", "04", "05", "07", "09")


def prompt(name: str) -> str:
    return str(ITEMS[name].messages[0]["content"])


def numbered(text: str) -> list[str]:
    """The numbered cases at the end of the prompt; rules above them may be numbered too."""
    lines = re.findall(r"^(\d+)\. (.+)$", text, re.MULTILINE)
    start = max(i for i, (number, _) in enumerate(lines) if number == "1")
    assert [int(number) for number, _ in lines[start:]] == list(range(1, len(lines) - start + 1))
    return [case for _, case in lines[start:]]


@pytest.mark.parametrize("name", ITEMS)
def test_every_case_has_a_label_and_every_label_occurs(name: str) -> None:
    expect = ITEMS[name].expect
    assert expect["order"] == "exact"
    cases = numbered(prompt(name))
    assert len(expect["values"]) == len(cases) >= 8
    kinds = set(expect["values"])
    assert len(kinds) >= 4, "a guess at random must stay far below one in four"
    for label in kinds:
        assert re.search(rf"(?<!\w){label}(?!\w)", prompt(name))
        assert expect["values"].count(label) <= len(cases) / 2


@pytest.mark.parametrize("number", BY_WORDS)
def test_the_rationale_quotes_the_deciding_words(number: str) -> None:
    """One paragraph for each case, with words that stand in that very case, and the gold label."""
    item = ITEMS[f"classification-{number}"]
    cases = numbered(prompt(item.id))
    notes = re.split(r"(?:(?<=^)|(?<=[.;] ))(?=\d+ )", item.rationale)
    notes = [note for note in notes if note]
    assert [int(note.split()[0]) for note in notes] == list(range(1, len(cases) + 1))
    for case, note, label in zip(cases, notes, item.expect["values"], strict=True):
        quoted = re.findall(r'"([^"]+)"', note)
        assert quoted, note
        for words in quoted:
            assert words in case, (words, case)
        assert re.search(rf"(?<!\w){label}(?!\w)", note), (label, note)


def minutes(clock: str) -> int:
    hours, _, rest = clock.partition(":")
    return int(hours) * 60 + int(rest)


def test_ferry_claims() -> None:
    labels = []
    for case in numbered(prompt("classification-02")):
        fare, planned, arrived, sailed = re.fullmatch(
            r"Tarifa (\w+); salida prevista a las ([\d:]+); el viajero llegó al muelle a las ([\d:]+)"
            r"(?: de la víspera)?; (.+)\.",
            case,
        ).groups()
        early = (minutes(planned) - minutes(arrived)) % 1440
        clock = re.search(r"zarpó a las ([\d:]+)", sailed)
        delay = (minutes(clock[1]) - minutes(planned)) % 1440 if clock else None
        if early < 20:
            labels.append("NADA")
        elif delay is None or delay > 180:
            labels.append("TOTAL")
        elif delay > 60 and fare == "reducida":
            labels.append("VALE")
        else:
            labels.append("PARCIAL" if delay >= 60 else "NADA")
    assert labels == ITEMS["classification-02"].expect["values"]


def test_berth_classes() -> None:
    """Lengths in centimetres, so that no border is blurred."""
    order = ["S", "M", "L", "X"]
    labels = []
    for case in numbered(prompt("classification-06")):
        found = re.fullmatch(
            r"length ([\d.]+) m, draught ([\d.]+) m, (\w+), beam ([\d.]+) m, (\d) nights?, member: (\w+), "
            r"pilot on board: (\w+)",
            case,
        )
        length, draught, beam = (round(float(found[i]) * 100) for i in (1, 2, 4))
        place = sum(length >= border for border in (800, 1200, 1800))
        deep = draught > 210
        place += deep
        place = min(place, 3) + (found[3] == "multihull" and beam > 550)
        place = min(place, 3)
        if int(found[5]) < 3 and not deep:
            place = max(place - 1, 0)
        label = order[place]
        if label == "X" and found[7] == "no":
            label = "HOLD"
        labels.append("L" if found[6] == "yes" and label in ("X", "HOLD") else label)
    assert labels == ITEMS["classification-06"].expect["values"]


def test_cold_store() -> None:
    labels = []
    for case in numbered(prompt("classification-08")):
        found = re.fullmatch(
            r"\w+：到货温度零下([\d.]+)度，实点(\d+)箱，单据(\d+)箱，破损(\d+)箱，距保质期到期(\d+)天。", case
        )
        below = float(found[1])
        counted, listed, broken, days = (int(found[i]) for i in (2, 3, 4, 5))
        if below < 12:
            labels.append("拒收")
        elif 50 * broken > counted or listed != counted:
            labels.append("复检")
        else:
            labels.append("急出" if days < 30 else "普通")
    assert labels == ITEMS["classification-08"].expect["values"]


def test_six_weeks_of_the_allotment() -> None:
    days = (datetime.date(2031, 6, 12) - datetime.date(2031, 5, 1)).days
    assert days == 42
    assert "(42 days)" in prompt("classification-09")


def test_lock_gate() -> None:
    labels: list[str] = []
    kinds: list[str] = []
    for case in numbered(prompt("classification-10")):
        kind, load, toll = re.fullmatch(r"(\w+), load (\d+) %, toll (\w+)", case).groups()
        last_three, last_two, last = labels[-3:], labels[-2:], labels[-1:]
        if toll == "unpaid" and last_three.count("TURN") == 0:
            labels.append("TURN")
        elif int(load) > 90 and last != ["TOW"]:
            labels.append("TOW")
        elif kinds[-1:] == [kind] or last_two == ["PASS"] * 2:
            labels.append("WAIT")
        else:
            labels.append("PASS")
        kinds.append(kind)
    assert labels == ITEMS["classification-10"].expect["values"]


def test_every_item_is_derived_or_quoted() -> None:
    computed = set(re.findall(r"classification-\d\d", Path(__file__).read_text("utf-8")))
    assert computed | {f"classification-{number}" for number in BY_WORDS} == set(ITEMS)

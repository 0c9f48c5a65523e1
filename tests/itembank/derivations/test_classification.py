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


def claim_label(found: re.Match[str]) -> str:
    """One claim by the rules 1 to 7, before rule 5 counts its cases."""
    car, children, cheap = (found[key] for key in ("car", "children", "fare"))
    if "suprimió" in found["end"]:
        return "NADA" if found["end"].endswith("víspera") else "TOTAL"
    early = (minutes(found["planned"]) - minutes(found["arrived"])) % 1440
    delay = (minutes(re.search(r"[\d:]+", found["end"])[0]) - minutes(found["planned"])) % 1440
    if early < {"con": 30, "sin": 20}[car]:
        return "NADA"
    if delay > {"reducida": 150, "normal": 180}[cheap]:
        return "TOTAL"
    if cheap == "reducida" and delay > 60:
        return "VALE"
    if delay >= {"con": 45, "sin": 60}[children]:
        return "PARCIAL"
    return "AVISO" if car == "con" and delay >= 30 else "NADA"


def test_ferry_claims() -> None:
    pattern = (
        r"Tarifa (?P<fare>\w+), (?P<car>\w+) coche, (?P<children>\w+) niños; "
        r"salida prevista a las (?P<planned>[\d:]+); "
        r"el viajero llegó al muelle a las (?P<arrived>[\d:]+)(?: de la víspera)?; (?P<end>.+)\."
    )
    labels = [claim_label(re.fullmatch(pattern, case)) for case in numbered(prompt("classification-02"))]
    assert len(labels) == 24
    fifth = [place for place, label in enumerate(labels) if label == "PARCIAL"]
    for place in fifth[2::3]:
        labels[place] = "VALE"
    assert labels == ITEMS["classification-02"].expect["values"]


def berth_class(case: str, before: list[str]) -> str:
    """One boat through the steps A to I; lengths in tenths of a metre, so that no border is blurred."""
    pattern = (
        r"length (\d+\.\d) m, draught (\d\.\d) m, (\w+), beam (\d\.\d) m, (\d) nights?, member: (\w+), "
        r"pilot on board: (\w+), shore power: (\w+), arrives (\d\d:\d\d)"
    )
    length, draught, hull, beam, nights, member, pilot, power, arrival = re.fullmatch(pattern, case).groups()
    tenths = {name: int(text.replace(".", "")) for name, text in (("l", length), ("d", draught), ("b", beam))}
    place = 1 if tenths["l"] < 80 else 2 if tenths["l"] < 120 else 3 if tenths["l"] < 180 else 4
    deep, wide = tenths["d"] >= 22, hull == "multihull" and tenths["b"] >= 56
    for raised in (deep, wide, arrival > "20:00" and deep == wide):
        place = min(4, place + raised)
    if nights in "12" and not deep:
        place = max(1, place - 1)
    if power == "yes":
        place = max(2, place)
    if len(before) > 1 and {*before[-2:]} == {"SMLX"[place - 1]}:
        place = max(1, place - 1)
    if place == 4 and member == "yes" and hull == "monohull":
        place = 3
    return "HOLD" if place == 4 and pilot == "no" else "SMLX"[place - 1]


def test_berth_classes() -> None:
    labels: list[str] = []
    for case in numbered(prompt("classification-06")):
        labels.append(berth_class(case, labels))
    assert len(labels) == 30
    assert labels == ITEMS["classification-06"].expect["values"]


def batch_label(found: re.Match[str], last: dict[str, str]) -> str:
    """One batch by the five rules, temperatures as tenths of a degree below zero: higher means less."""
    name, thawed = found["name"], found["thawed"] == "复冻过"
    below, off, counted, listed, broken, days = (
        round(float(found[key]) * (10 if key == "below" else 1))
        for key in ("below", "off", "counted", "listed", "broken", "days")
    )
    needed = 150 if name in {"扇贝", "蛤蜊", "牡蛎"} else 120
    if off in range(1, 30):
        needed -= 30
    if below < needed:
        return "拒收"
    if broken * 100 > counted * 2 or counted not in (listed, listed + 1):
        return "复检"
    fresh = 20 if name in {"海带结", "虾皮"} else 30
    if days < (45 if thawed else fresh):
        return "急出"
    return "留样" if last.get(name) in {"拒收", "复检"} else "普通"


def test_cold_store() -> None:
    labels: list[str] = []
    last: dict[str, str] = {}
    pattern = (
        r"(?P<name>\w+)：到货温度零下(?P<below>[\d.]+)度，途中停电(?P<off>\d+)分钟，实点(?P<counted>\d+)箱，"
        r"单据(?P<listed>\d+)箱，破损(?P<broken>\d+)箱，(?P<thawed>未复冻|复冻过)，距到期(?P<days>\d+)天。"
    )
    for case in numbered(prompt("classification-08")):
        found = re.fullmatch(pattern, case)
        labels.append(batch_label(found, last))
        last[found["name"]] = labels[-1]
    assert len(labels) == 26
    assert labels == ITEMS["classification-08"].expect["values"]


def test_six_weeks_of_the_allotment() -> None:
    days = (datetime.date(2031, 6, 12) - datetime.date(2031, 5, 1)).days
    assert days == 42
    assert "(42 days)" in prompt("classification-09")


def test_lock_gate() -> None:
    """Kept as the gate would: a clock since the last TURN, a board with each kind's last label, a tally of TOW."""
    labels: list[str] = []
    board: dict[str, str] = {}
    since_turn, tows, kind_before, passes = 99, 0, "", 0
    for case in numbered(prompt("classification-10")):
        kind, load, toll = re.fullmatch(r"(\w+), load (\d+) %, toll (\w+)", case).groups()
        limit = {"barge": 80}.get(kind, 90)
        if toll == "unpaid" and since_turn >= 3:
            label = "TURN"
        elif toll == "paid" and board.get(kind) == "TURN":
            label = "HOLD"
        elif int(load) > limit and labels[-1:] != ["TOW"]:
            label = "TOW"
        elif kind == kind_before or passes >= 2:
            label = "WAIT"
        else:
            label = "SKIP" if int(load) < 30 and tows % 2 else "PASS"
        since_turn = 0 if label == "TURN" else since_turn + 1
        tows += label == "TOW"
        passes = passes + 1 if label == "PASS" else 0
        board[kind], kind_before = label, kind
        labels.append(label)
    assert len(labels) == 44
    assert labels == ITEMS["classification-10"].expect["values"]


def test_every_item_is_derived_or_quoted() -> None:
    computed = set(re.findall(r"classification-\d\d", Path(__file__).read_text("utf-8")))
    assert computed | {f"classification-{number}" for number in BY_WORDS} == set(ITEMS)

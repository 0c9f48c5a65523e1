"""Extraction golds, derived from the structure of the documents; the letters quote their deciding words."""

import itertools
import re
from fractions import Fraction
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from itembank.bank import load_bank

ITEMS = {item.id: item for item in load_bank().items if item.dimension == "extraction"}
BY_WORDS = ("02", "04", "05", "06", "08")


def prompt(name: str) -> str:
    return str(ITEMS[name].messages[0]["content"])


def values(name: str) -> list[str]:
    assert ITEMS[name].expect["order"] == "exact"
    return list(ITEMS[name].expect["values"])


def table(text: str) -> list[list[str]]:
    rows = [[cell.strip() for cell in line.split("|")] for line in text.splitlines() if line.count("|") > 2]
    return rows[1:]


def decimals(value: Fraction) -> str:
    cents = value * 100
    assert cents.denominator == 1
    return f"{cents.numerator // 100}.{cents.numerator % 100:02d}"


@pytest.mark.parametrize("number", BY_WORDS)
def test_the_rationale_quotes_the_prompt(number: str) -> None:
    item = ITEMS[f"extraction-{number}"]
    text = " ".join(prompt(item.id).split())
    quoted = re.findall(r'"([^"]+)"', item.rationale)
    assert len(quoted) >= 3
    for words in quoted:
        assert words in text, words


@pytest.mark.parametrize("name", [name for name, item in ITEMS.items() if item.scorer == "json"])
def test_json_golds_fit_their_own_schema_and_prompt(name: str) -> None:
    expect = ITEMS[name].expect
    jsonschema.Draft202012Validator.check_schema(expect["schema"])
    jsonschema.validate(expect["value"], expect["schema"])
    assert set(expect["value"]) == set(re.findall(r'^- "(\w+)":', prompt(name), re.MULTILINE))
    assert None in expect["value"].values(), "one key asks for what is not told"


def test_cargo_list() -> None:
    lots: dict[str, dict[str, Any]] = {}
    for hold, lot, goods, casks, kg, notes in table(prompt("extraction-01")):
        number = int(kg.replace(",", ""))
        lots[lot] = {"hold": hold, "goods": goods, "casks": int(casks), "kg": number, "notes": notes.split(", ")}
    gross = max(lots, key=lambda lot: lots[lot]["kg"])
    for lot in lots.values():
        lot["net"] = lot["kg"] - 120 * ("1" in lot["notes"])
        lot["casks"] -= "2" in lot["notes"]
        lot["hold"] = "B" if "4" in lot["notes"] else lot["hold"]
    assert ITEMS["extraction-01"].expect["value"] == {
        "hold_b_casks": sum(lot["casks"] for lot in lots.values() if lot["hold"] == "B"),
        "olive_oil_casks": sum(lot["casks"] for lot in lots.values() if lot["goods"] == "olive oil"),
        "lot_413_kg_without_pallets": lots["413"]["net"],
        "lot_421_kg_after_recount": None,
        "heaviest_lot": gross,
    }


def test_walk_and_beamer() -> None:
    day, hour, place, people, bringer, key = values("extraction-02")
    assert int(people) == 11 - 2 + 1
    assert (day, hour, place, bringer, key) == ("14", "10:15", "Schleuse West", "Ahlwardt", "NICHT GENANNT")
    assert bringer != "Alwardt"
    assert prompt("extraction-02").count("Ahlwardt") == 1


def test_weighbridge() -> None:
    """Line by line, in exact fractions; what the prompt says is checked against it before it is used."""
    text = prompt("extraction-03")
    rows = {}
    for line in text.splitlines():
        if line.count("|") == 5:
            number, wagon, goods, reading, mark, _ = (cell.strip() for cell in line.split("|"))
            rows[int(number)] = {"wagon": wagon, "goods": goods, "reading": reading.split(), "mark": mark}
    assert list(rows) == list(range(1, 35))
    tares = dict(re.findall(r"wagon (\d+): (\d+)", text))
    assert len(tares) == 7
    assert (rows[6]["wagon"], rows[27]["wagon"], rows[30]["mark"]) == ("2", "13", "D")
    rows[6]["wagon"] = "12"  # correction 1, moved by 3
    for field in ("reading", "mark"):  # correction 2, changed by 6
        rows[8][field], rows[19][field] = rows[19][field], rows[8][field]
    for number in range(11, 20):
        if rows[number]["wagon"] == "4":
            rows[number]["goods"] = "soda"
    del rows[21]  # correction 7 instead of 4
    rows[27]["wagon"] = "3"
    rows[30]["mark"] = ""
    net = {}
    for number, row in rows.items():
        figure, unit = row["reading"]
        weight = Fraction(figure) * {"kg": 1, "cwt": 50}[unit]
        tare = int(tares[row["wagon"]])
        if row["wagon"] == "3" and number > 12:
            tare = 452
        elif row["wagon"] == "11" and number > 23:
            tare = int(tares["12"])
        off = 80 * (row["mark"] == "D") + 6 * (9 <= number <= 17) if unit == "kg" else 0
        net[number] = weight - tare - off
    totals = [
        sum(net[number] for number, row in rows.items() if row["goods"] == goods)
        for goods in ("salt", "soda", "lime", "slag")
    ]
    assert sum(totals) == sum(net.values())
    best = sorted(net, key=lambda number: net[number])[-2:]
    assert net[best[0]] < net[best[1]]
    loads = sum(row["wagon"] == "3" for row in rows.values())
    assert values("extraction-03") == [str(value) for value in (*totals, loads, best[1])]


def test_works_on_the_third_pier() -> None:
    value = ITEMS["extraction-04"].expect["value"]
    days = [day for day in range(10, 17) if day != 15]
    assert value["work_days"] == len(days)
    assert value["last_day"] == max(days)
    assert value["total_hours"] == sum(17 - (13 if day == 11 else 9) for day in days)
    assert "円" in prompt("extraction-04").split("キー")[1]
    assert not re.search("[0-9一二三四五六七八九十万千百]円", prompt("extraction-04"))


def test_boxes_of_books() -> None:
    boxes, pier, fee, day, driver = values("extraction-05")
    assert int(boxes) == 17 - 1
    assert (pier, fee, day, driver) == ("17", "240", "الخميس", "غير مذكور")
    assert prompt("extraction-05").count(day) == 1


def test_standstill() -> None:
    stop, start = (int(h) * 60 + int(m) for h, m in (("02", "15"), ("03", "50")))
    value = ITEMS["extraction-06"].expect["value"]
    assert value["p101b_standstill_min"] == start - stop
    assert value["p110b_tag"] != "3381"


def test_landings() -> None:
    rows = []
    for line in prompt("extraction-07").splitlines():
        if line.count("|") == 5:
            number, boat, species, boxes, kg, notes = (cell.strip() for cell in line.split("|"))
            rows.append([int(number), boat, species, int(boxes), kg, set(notes.replace(" ", "").split(",")) - {""}])
    assert [row[0] for row in rows] == list(range(1, 33))
    for row, following in itertools.pairwise(rows):
        if "e" in row[5]:
            row[4], following[4] = following[4], row[4]
        if "f" in following[5]:
            assert row[1:5] == following[1:5]
    weighed_later = {9: Fraction(412), 24: Fraction(388)}
    assert {row[0] for row in rows if row[4].startswith("(")} == set(weighed_later)
    kg = dict.fromkeys(("cod", "haddock", "saithe", "ling", "hake"), Fraction(0))
    rose, marie, haddock = 0, 0, []
    for number, boat, species, boxes, figure, notes in rows:
        if notes & {"d", "f"}:
            continue
        weight = weighed_later.get(number) or Fraction(figure) * (50 if "b" in notes else 1)
        weight -= 3 * boxes * ("a" in notes) + 50 * ("c" in notes)
        species = "saithe" if "g" in notes else species
        kg[species] += weight
        rose += boat == "Sea Rose"
        marie += boxes * (boat == "Marie")
        if species == "haddock" and weight > 400:
            haddock.append(str(number))
    assert values("extraction-07") == [*map(str, kg.values()), str(rose), str(marie), "/".join(haddock)]


def test_lease_with_three_amendments() -> None:
    articles: dict[str, Any] = {"fee": 840, "deposit": 2, "owner": "3 months", "tenant": "6 weeks", "places": 8}
    before = dict(articles)
    articles |= {"fee": 880, "owner": articles["tenant"], "tenant": articles["owner"]}
    articles |= {"owner": before["owner"], "tenant": before["tenant"], "places": 10}
    articles |= {"deposit": 3}
    assert values("extraction-08") == [
        str(articles["fee"] * 3 // 4),
        str(articles["fee"] * articles["deposit"]),
        articles["owner"].split()[0],
        str(articles["places"] - 4),
        "NON PRÉVU",
    ]
    assert "pénalité" in prompt("extraction-08").split("Selon le texte")[1]
    assert "pénalité" not in prompt("extraction-08").split("Selon le texte")[0]


def test_rigging_list() -> None:
    found = re.findall(r"^(\d+) (.+), (\d+) mm, ([\d.]+) m$", prompt("extraction-09"), re.MULTILINE)
    wires = {number: [name, int(mm), Fraction(length)] for number, name, mm, length in found}
    assert list(wires) == [str(number) for number in range(1, 14)]
    wires["4"][2] = Fraction("12.06")  # errata 1 as errata 2 rewrites it
    del wires["7"]
    wires["2a"] = ["inner forestay", 6, Fraction("11.08")]  # errata 2 as errata 7 rewrites it
    wires["2a"][1] = wires["1"][1]  # errata 3: what errata 4 leaves, before errata 7 touches the forestay alone
    wires["8"][2] = Fraction("20.10")  # errata 3, saved by errata 6
    wires["5"][2] = Fraction("7.53")
    wires["10"][1], wires["11"][1], wires["9"][1] = wires["9"][1], wires["9"][1], wires["10"][1]
    wires["12"][2] = Fraction("11.52")
    wires["13"][2] = wires["12"][2] + Fraction("0.40")
    wires["1"][1] = 10

    def together(diameter: int) -> str:
        return decimals(sum((length for _, mm, length in wires.values() if mm == diameter), Fraction(0)))

    assert values("extraction-09") == [
        together(8),
        together(10),
        str(len(wires)),
        decimals(wires["8"][2]),
        str(wires["9"][1]),
        decimals(wires["13"][2]),
    ]


def corrected_entries(text: str) -> list[str]:
    """The entries of the key book as they read in the end; the one that did not happen is left out."""
    log, _, rest = text.partition("Corrections, ")
    entries = dict(re.findall(r"^(\d+)\. (.+)$", log, re.MULTILINE))
    assert list(entries) == [str(number) for number in range(1, 44)]
    said = dict(re.findall(r"^([A-G])\. (.+)$", rest, re.MULTILINE))
    gone = re.search(r"about entry (\d+); entry (\d+) did happen", said["D"])
    assert said["B"] == f"Entry {gone[2]} did not happen."
    withdrawn = re.fullmatch(r"Entry (\d+): .+", said["E"])[1]
    assert said["G"] == f"Correction E is withdrawn; entry {withdrawn} stands as printed."
    for letter in "ACF":
        number, old, new = re.fullmatch(r'Entry (\d+): for "?(.+?)"? read "?(.+?)"?\.', said[letter]).groups()
        assert len(re.findall(rf"\b{old}\b", entries[number])) == 1
        entries[number] = re.sub(rf"\b{old}\b", new, entries[number])
    del entries[gone[1]]
    return list(entries.values())


def test_key_book() -> None:
    text = prompt("extraction-10")
    rings = {name: set(map(int, own.split(", "))) for name, own in re.findall(r"^- (\w+): (.+)$", text, re.MULTILINE)}
    assert sorted(key for ring in rings.values() for key in ring) == list(range(1, 17))

    def hand(giver: str, keys: set[int], taker: str) -> None:
        assert giver != taker
        assert keys <= rings[giver]
        rings[giver] -= keys
        rings[taker] |= keys

    for entry in corrected_entries(text):
        if found := re.fullmatch(r"(\w+) gives key (\d+) to (\w+)\.", entry):
            hand(found[1], {int(found[2])}, found[3])
        elif found := re.fullmatch(r"(\w+) and (\w+) exchange keys: \1 gives (\d+), \2 gives (\d+)\.", entry):
            hand(found[1], {int(found[3])}, found[2])
            hand(found[2], {int(found[4])}, found[1])
        elif found := re.fullmatch(r"(\w+) gives the key with the (\w+) number that \1 has to (\w+)\.", entry):
            assert len(rings[found[1]]) > 1
            hand(found[1], {{"lowest": min, "highest": max}[found[2]](rings[found[1]])}, found[3])
        elif found := re.fullmatch(r"Whoever has key (\d+) hands it to (\w+)\.", entry):
            key = int(found[1])
            hand(next(name for name, ring in rings.items() if key in ring), {key}, found[2])
        else:
            giver, taker = re.fullmatch(r"(\w+) hands every key that \1 has to (\w+)\.", entry).groups()
            hand(giver, set(rings[giver]), taker)
    holders = {key: name for name, ring in rings.items() for key in ring}
    assert values("extraction-10") == [*(holders[key] for key in range(1, 17)), str(len(rings["Rowe"]))]


def test_every_item_is_derived() -> None:
    assert set(re.findall(r"extraction-\d\d", Path(__file__).read_text("utf-8"))) == set(ITEMS)

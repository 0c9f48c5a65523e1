"""The gold objects of the structured_output items: valid under their schemas, and built again from the prompts."""

import copy
import json
import re
from collections.abc import Callable
from datetime import UTC, date, datetime, timedelta
from decimal import ROUND_HALF_UP, Decimal
from fractions import Fraction
from typing import Any

import jsonschema
import pytest

from itembank.bank import load_bank
from itembank.item import Item

ITEMS = [item for item in load_bank().items if item.dimension == "structured_output"]
BLOCK = re.compile(r"^```\w*\n(.*?)^```", re.MULTILINE | re.DOTALL)


@pytest.fixture(scope="module")
def prompt() -> Callable[[int], str]:
    return lambda number: str(ITEMS[number - 1].messages[0]["content"])


@pytest.fixture(scope="module")
def gold() -> Callable[[int], Any]:
    return lambda number: ITEMS[number - 1].expect["value"]


def _same(left: Any, right: Any) -> None:
    assert json.dumps(left, sort_keys=True, ensure_ascii=False) == json.dumps(right, sort_keys=True, ensure_ascii=False)


@pytest.mark.parametrize("item", ITEMS, ids=lambda item: item.id)
def test_gold_fits_its_schema(item: Item) -> None:
    validator = jsonschema.Draft202012Validator
    validator.check_schema(item.expect["schema"])
    validator(item.expect["schema"], format_checker=validator.FORMAT_CHECKER).validate(item.expect["value"])


@pytest.mark.parametrize("item", ITEMS, ids=lambda item: item.id)
def test_a_printed_schema_is_the_schema_that_judges(item: Item) -> None:
    printed = [b for b in BLOCK.findall(item.messages[0]["content"]) if '"additionalProperties"' in b]
    assert [json.loads(b) for b in printed] == [item.expect["schema"]] * len(printed)
    assert bool(printed) == (
        "schema" in item.messages[0]["content"].casefold()
        or "schéma" in str(item.messages)
        or "المخطط" in str(item.messages)
    )


def test_note(prompt: Callable[[int], str], gold: Callable[[int], Any]) -> None:
    note = prompt(1).split("--- note ---\n")[1].split("\n--- end of note ---")[0].split("\n")
    fields = dict(line.split(": ", 1) for line in note[:3])
    _same(gold(1), {**fields, "lines": note[4:]})


def _cents(euros: Decimal) -> int:
    return int((euros * 100).quantize(Decimal(1), ROUND_HALF_UP))


def _rows(text: str, columns: int) -> list[list[str]]:
    """The body rows of all tables with that many columns, one after the other."""
    rows = [[cell.strip() for cell in line.strip("|").split("|")] for line in text.splitlines() if line[:1] == "|"]
    return [row for row in rows if len(row) == columns and row[0] not in ("---", "Art.", "Nr.", "site", "no.")]


def _german(text: str) -> Decimal:
    return Decimal(text.replace(".", "").replace(",", ".").replace("2½", "2.5"))


GERMAN_UNITS: dict[str, tuple[str, Decimal]] = {
    word: (unit, Decimal(factor))
    for unit, factors in {
        "m": {"m": "1", "cm": "0.01", "km": "1000"},
        "kg": {"g": "0.001", "t": "1000"},
        "l": {"l": "1", "ml": "0.001"},
        "Stück": {"Stück": "1", "Dtzd.": "12", "Gros": "144"},
    }.items()
    for word, factor in factors.items()
}


def _amount(text: str) -> tuple[Decimal, str]:
    if match := re.fullmatch(r"(\d+) Dosen à (.*)", text):
        each, unit = _amount(match[2])
        return int(match[1]) * each, unit
    number, word = text.split(" ")
    unit, factor = GERMAN_UNITS[word]
    return _german(number) * factor, unit


def _plain(number: Decimal) -> int | float:
    return int(number) if number == int(number) else float(number)


def _billed(deliveries: list[list[str]], prices: dict[str, list[str]]) -> list[dict[str, Any]]:
    lines = []
    for number, day, article, text in deliveries:
        amount, unit = _amount(text)
        _, kind, old, new, tax = prices[article]
        assert unit == kind
        price = _german((old if day < "15" else new).split()[0])
        steps = ((1000, 7), (300, 4)) if article == "S4" else ((250, 5), (100, 3))
        percent = next((p for least, p in steps if amount >= least), 0) if tax == "19 %" else 0
        net = _cents(amount * price - amount * price * percent / 100)
        lines.append({"nr": int(number), "menge": amount, "rabatt_prozent": percent, "netto_cent": net, "art": article})
    return lines


def test_invoice(prompt: Callable[[int], str], gold: Callable[[int], Any]) -> None:
    prices = {row[0]: row[1:] for row in _rows(prompt(2), 6)}
    booked = {row[0]: row for row in _rows(prompt(2), 4)}
    assert (len(prices), len(booked)) == (6, 18)
    booked["7"][1], booked["5"][3], booked["11"][3], booked["12"][2] = "15.03.", "4.250 g", "100 l", "N6"
    del booked["13"]
    lines = _billed(list(booked.values()), prices)
    articles = []
    taxes = {"7": {"netto_cent": 0, "ust_cent": 0}, "19": {"netto_cent": 0, "ust_cent": 0}}
    for article in sorted(prices):
        mine = [line for line in lines if line["art"] == article]
        net = sum(line["netto_cent"] for line in mine)
        articles.append({"art": article, "menge": _plain(sum(line["menge"] for line in mine)), "netto_cent": net})
        taxes[prices[article][4].split()[0]]["netto_cent"] += net
    for rate, tax in taxes.items():
        tax["ust_cent"] = _cents(Decimal(tax["netto_cent"] * int(rate)) / 10000)
    gross = sum(sum(tax.values()) for tax in taxes.values())
    discount = _cents(Decimal(gross) / 5000)
    shown = [{**line, "menge": _plain(line["menge"])} for line in sorted(lines, key=lambda line: -line["netto_cent"])]
    for line in shown:
        del line["art"]
    expected = {
        "lieferungen": shown,
        "artikel": articles,
        "steuer": taxes,
        "brutto_cent": gross,
        "skonto_cent": discount,
        "zahlbetrag_cent": gross - discount,
    }
    _same(gold(2), expected)
    assert len({line["netto_cent"] for line in lines}) == len(lines) == 17


def _instant(site: list[str], local: str) -> datetime:
    """The instant at which a clock of the site shows that time; there is exactly one."""
    read = re.fullmatch(r"(\d+) (April|May) ([\d:]+)", local)
    assert read
    day, month, clock = read.groups()
    naive = f"2027-{4 if month == 'April' else 5:02d}-{int(day):02d}T{clock}"
    change = datetime.max.replace(tzinfo=UTC) if site[2] == "never" else datetime.fromisoformat(site[2])
    before = datetime.fromisoformat(naive + site[1])
    found = [before] if before < change else []
    if site[2] != "never" and (after := datetime.fromisoformat(naive + site[3])) >= change:
        found.append(after)
    assert len(found) == 1
    return found[0].astimezone(UTC)


def _planned(prompt: str) -> dict[int, tuple[str, datetime, datetime]]:
    rows = _rows(prompt, 4)
    sites = {row[0]: row for row in rows if not row[0].isdigit()}
    plan = {}
    for number, site, start, text in (row for row in rows if row[0].isdigit()):
        begin = _instant(sites[site], start)
        length = re.fullmatch(r"lasts (\d+) min", text)
        end = begin + timedelta(minutes=int(length[1])) if length else _instant(sites[site], text[len("until ") :])
        plan[int(number)] = (site, begin, end)
    assert list(plan) == list(range(1, 15))
    return plan


def _moved(plan: dict[int, tuple[str, datetime, datetime]]) -> None:
    """The changes that the prompt lists: minutes that are added to start and end."""
    for number, first, second in ((3, 0, 35), (4, 25, 0), (9, 0, 110 - 165), (10, -40, -40)):
        site, begin, end = plan[number]
        plan[number] = (site, begin + timedelta(minutes=first), end + timedelta(minutes=second))
    del plan[7]
    plan[13] = ("Corum", plan[12][2], plan[12][2] + timedelta(minutes=55))


def test_windows(prompt: Callable[[int], str], gold: Callable[[int], Any]) -> None:
    plan = _planned(prompt(3))
    _moved(plan)

    def shown(instant: datetime) -> str:
        return instant.strftime("%Y-%m-%dT%H:%MZ")

    first, last = min(p[1] for p in plan.values()), max(p[2] for p in plan.values())
    minutes = [first + timedelta(minutes=m) for m in range(int((last - first).total_seconds()) // 60)]
    held = [{n for n, (_, begin, end) in plan.items() if begin <= minute < end} for minute in minutes]
    windows = []
    for number, (_, begin, end) in sorted(plan.items(), key=lambda pair: pair[1][1]):
        others = sorted(set().union(*(h for h in held if number in h)) - {number})
        length = sum(number in h for h in held)
        windows.append({"no": number, "start": shown(begin), "end": shown(end), "minutes": length, "overlaps": others})
    starts = [i for i, h in enumerate(held) if not h and held[i - 1]]
    ends = [i + 1 for i, h in enumerate(held) if not h and held[i + 1]]
    busiest = max(map(len, held))
    expected = {
        "windows": windows,
        "site_minutes": {
            s: sum(plan[n][0] == s for h in held for n in h) for s in ("Arvik", "Belloc", "Corum", "Dabra")
        },
        "gaps": [{"from": shown(minutes[i]), "to": shown(minutes[k])} for i, k in zip(starts, ends, strict=True)],
        "double_minutes": sum(len(h) >= 2 for h in held),
        "most": {
            "number": busiest,
            "from": shown(next(m for m, h in zip(minutes, held, strict=True) if len(h) == busiest)),
        },
    }
    _same(gold(3), expected)


def test_arabic_stock(prompt: Callable[[int], str], gold: Callable[[int], Any]) -> None:
    digits = str.maketrans("٠١٢٣٤٥٦٧٨٩٫", "0123456789.", "٬")
    names = re.findall(r"^- ([^:`]+):", prompt(4), re.MULTILINE)
    numbers = [
        re.findall(r"\d+(?:\.\d+)?", line.translate(digits)) for line in prompt(4).splitlines() if line[:3] == "- ا"
    ]
    assert numbers[:4] == [["3", "250", "18.50"], ["7.25"], ["1250", "4.75"], []]
    values = [Decimal("18.50") * 4 * 1000, Decimal("7.25") * 2 * 1000, Decimal("4.75") * 1250, Decimal(0)]
    fils = [int(value.quantize(Decimal(1), ROUND_HALF_UP)) for value in values]
    kinds = [("tin", 4, 4 * 250), ("tin", 2, 2 * 500), ("loose", None, 1250), ("none", None, 0)]
    items = []
    for name, (packaging, count, grams), value in zip(names[:4], kinds, fils, strict=True):
        items.append({"name": name, "packaging": packaging, "grams": grams, "value_fils": value})
        if count:
            items[-1]["count"] = count
    _same(gold(4), {"date": "2027-03-07", "items": items, "total_fils": sum(fils)})


class _Parser:
    """Recursive descent over the rules that the prompt gives."""

    def __init__(self, text: str) -> None:
        self.tokens = re.findall(r"\d+|\w+|\S", text)

    def take(self, *wanted: str) -> str | None:
        return self.tokens.pop(0) if self.tokens and self.tokens[0] in wanted else None

    def chain(self, operators: str, operand: Callable[[], Any]) -> Any:
        node = operand()
        while operator := self.take(*operators):
            node = {"op": operator, "args": [node, operand()]}
        return node

    def total(self) -> Any:
        return self.chain("+-", lambda: self.chain("*/", self.signed))

    def signed(self) -> Any:
        return {"op": "neg", "args": [self.signed()]} if self.take("-") else self.power()

    def power(self) -> Any:
        left = self.atom()
        return {"op": "^", "args": [left, self.signed()]} if self.take("^") else left

    def atom(self) -> Any:
        if self.take("("):
            node = self.total()
            assert self.take(")")
            return node
        token = self.tokens.pop(0)
        if token.isdigit():
            return {"num": int(token)}
        if not self.take("("):
            return {"var": token}
        arguments = [self.total()]
        while self.take(","):
            arguments.append(self.total())
        assert self.take(")")
        return {"call": token, "args": arguments}


def test_expression(prompt: Callable[[int], str], gold: Callable[[int], Any]) -> None:
    text = next(line for line in prompt(5).splitlines() if line.startswith("    "))
    parser = _Parser(text)
    tree = parser.total()
    assert not parser.tokens

    def levels(nodes: list[Any]) -> list[int]:
        return [len(nodes), *levels([a for n in nodes for a in n.get("args", ())])] if nodes else []

    _same(gold(5), {"tree": tree, "nodes": sum(levels([tree])), "depth": len(levels([tree]))})


def _pointer(path: str) -> list[str]:
    return [part.replace("~1", "/").replace("~0", "~") for part in path.split("/")[1:]]


def _patched(document: Any, patch: list[dict[str, Any]]) -> Any:
    def parent(path: str) -> tuple[Any, Any]:
        *above, last = _pointer(path)
        target = document
        for part in above:
            target = target[int(part)] if isinstance(target, list) else target[part]
        if isinstance(target, list):
            return target, len(target) if last == "-" else int(last)
        return target, last

    for step in patch:
        value = step.get("value")
        if "from" in step:
            source, key = parent(step["from"])
            value = copy.deepcopy(source[key]) if step["op"] == "copy" else source.pop(key)
        target, key = parent(step["path"])
        if step["op"] == "remove":
            del target[key]
        elif isinstance(target, list) and step["op"] != "replace":
            assert key <= len(target)
            target.insert(key, value)
        else:
            assert key in target if step["op"] == "replace" and isinstance(target, dict) else True
            target[key] = value
    return document


def test_patch(prompt: Callable[[int], str], gold: Callable[[int], Any]) -> None:
    document, patch = map(json.loads, BLOCK.findall(prompt(6)))
    assert len(patch) == 12
    _same(gold(6), _patched(document, patch))


def test_stations(prompt: Callable[[int], str], gold: Callable[[int], Any]) -> None:
    names = re.findall(r"^\| ([^|]+?)\*? \|", prompt(7), re.MULTILINE)[1:]
    facts = {
        "Étang « Sec »": (-4, 0, Fraction(0), date(2027, 3, 1) - timedelta(days=1), "active"),
        "Bois-Noir": (980, 750, Fraction(3, 16), date(2027, 1, 28), "active"),
        "Côte d’Hiver": (312, None, None, date(2025, 11, 30), "fermee"),
        "Aigue-Vive": (1240, 3500, Fraction(125, 1000), date(2027, 2, 3), "active"),
    }
    assert set(names) == set(facts)
    stations = []
    for name in sorted(names, key=lambda n: -facts[n][0]):
        height, flow, share, read, state = facts[name]
        part = None if share is None else int(share) if share.denominator == 1 else float(share)
        stations.append(
            {
                "nom": name,
                "altitude_m": height,
                "debit_l_s": flow,
                "part": part,
                "releve": read.isoformat(),
                "etat": state,
            }
        )
    active = [Decimal(f[0]) for f in facts.values() if f[4] == "active"]
    mean = (sum(active, Decimal(0)) / len(active)).quantize(Decimal("0.1"), ROUND_HALF_UP)
    total = sum(f[1] or 0 for f in facts.values())
    _same(gold(7), {"stations": stations, "debit_total_l_s": total, "altitude_moyenne_m": float(mean)})


def test_card(prompt: Callable[[int], str], gold: Callable[[int], Any]) -> None:
    text = re.search(r"^> (.*)$", prompt(8), re.MULTILINE)
    assert text
    said = re.search(
        r"^([\w ]+), (\d+), moved from \w+ to (\w+).*speaks (\w+), (\w+) and (\w+)\. She is a member", text[1]
    )
    assert said
    card = {"name": said[1], "age": int(said[2]), "city": said[3], "languages": sorted(said.groups()[3:])}
    assert "@" not in text[1]
    _same(gold(8), {**card, "member": True, "email": None})


def _celsius(value: str) -> Decimal | None:
    match = re.fullmatch(r"(-?[0-9]+(?:\.[0-9]+)?)([CF])", value)
    if not match:
        return None
    degrees = Decimal(match[1]) if match[2] == "C" else (Decimal(match[1]) - 32) / Decimal("1.8")
    return degrees.quantize(Decimal("0.1"), ROUND_HALF_UP)


def _read_log(lines: list[str]) -> tuple[list[tuple[int, int, str, str]], list[dict[str, Any]]]:
    """The lines that count as (line, seconds, sensor, value), and the rejected ones."""
    kept: list[tuple[int, int, str, str]] = []
    rejected = []
    shut: dict[str, bool] = {}
    for number, line in enumerate(lines, 1):
        clock, sensor, kind, value = line.split(" ", 3)
        hours, minutes, seconds = map(int, clock.split(":"))
        at = (hours * 60 + minutes) * 60 + seconds + (86400 if hours < 22 else 0)
        fits = {
            "temp": _celsius(value) is not None,
            "door": value in ("open", "closed"),
            "msg": len(value) > 1 and value[0] == value[-1] == '"',
        }
        faults = {
            "time": hours > 23 or minutes > 59 or seconds > 59,
            "sensor": {"temp": "T", "door": "D", "msg": "M"}[kind] != sensor[0],
            "value": not fits[kind],
            "order": bool(kept) and at < kept[-1][1],
            "repeat": kind == "door" and shut.get(sensor, True) == (value == "closed"),
        }
        if any(faults.values()):
            rejected.append({"line": number, "why": next(why for why, found in faults.items() if found)})
            continue
        kept.append((number, at, sensor, value))
        if kind == "door":
            shut[sensor] = value == "closed"
    return kept, rejected


def test_log(prompt: Callable[[int], str], gold: Callable[[int], Any]) -> None:
    kept, rejected = _read_log(BLOCK.findall(prompt(9))[0].splitlines())
    assert {r["why"] for r in rejected} == {"time", "sensor", "value", "order", "repeat"}
    last = kept[-1][1]
    temperatures: list[dict[str, Any]] = []
    doors: list[dict[str, Any]] = []
    for sensor in {line[2] for line in kept}:
        mine = [line for line in kept if line[2] == sensor]
        if sensor[0] == "T":
            degrees = [d for line in mine if (d := _celsius(line[3])) is not None]
            mean = (sum(degrees, Decimal(0)) / len(degrees)).quantize(Decimal("0.01"), ROUND_HALF_UP)
            values = {"lowest": min(degrees), "highest": max(degrees), "mean": mean}
            numbers = {key: _plain(value) for key, value in values.items()}
            temperatures.append({"sensor": sensor, "readings": len(degrees), **numbers})
        if sensor[0] == "D":
            times = [line[1] for line in mine] + [last] * (len(mine) % 2)
            spans = [end - begin for begin, end in zip(times[::2], times[1::2], strict=True)]
            sums = {"open_seconds": sum(spans), "longest_seconds": max(spans)}
            doors.append({"sensor": sensor, "openings": len(spans), **sums})
    messages = []
    for number, at, sensor, value in kept:
        if sensor[0] == "M":
            text = re.sub(r'\\"', '"', value[1:-1])
            messages.append({"line": number, "at": at, "text": text, "length": len(text)})
    expected = {
        "rejected": rejected,
        "temperatures": sorted(temperatures, key=lambda entry: entry["mean"]),
        "doors": sorted(doors, key=lambda entry: entry["open_seconds"], reverse=True),
        "messages": messages,
        "last_at": last,
    }
    _same(gold(9), expected)


def _merged(below: Any, layer: dict[str, Any]) -> dict[str, Any]:
    result = dict(below) if isinstance(below, dict) else {}
    for key, value in layer.items():
        if value is None:
            result.pop(key, None)
        elif key.endswith("+"):
            result[key[:-1]] = result.get(key[:-1], []) + value
        elif key.endswith("!"):
            result[key[:-1]] = _merged({}, value)
        elif isinstance(value, dict):
            result[key] = _merged(result.get(key), value)
        else:
            result[key] = value
    return result


def _resolved(value: Any, root: dict[str, Any]) -> Any:
    def look_up(name: str) -> Any:
        target: Any = root
        for part in name.split("."):
            target = target[part]
        return _resolved(target, root)

    if isinstance(value, dict):
        return {key: _resolved(inner, root) for key, inner in value.items()}
    if isinstance(value, list):
        return [_resolved(inner, root) for inner in value]
    if not isinstance(value, str):
        return value
    if whole := re.fullmatch(r"\$\{([\w.]+)\}", value):
        return look_up(whole[1])
    return re.sub(r"\$\{([\w.]+)\}", lambda match: str(look_up(match[1])), value)


def test_layers(prompt: Callable[[int], str], gold: Callable[[int], Any]) -> None:
    merged: dict[str, Any] = {}
    layers = [json.loads(block) for block in BLOCK.findall(prompt(10))]
    assert len(layers) == 3
    for layer in layers:
        merged = _merged(merged, layer)
    _same(gold(10), _resolved(merged, merged))

"""The gold objects of the structured_output items: valid under their schemas, and built again from the prompts."""

import copy
import json
import re
from collections.abc import Callable
from datetime import UTC, date, datetime, timedelta, timezone
from decimal import ROUND_HALF_UP, Decimal
from fractions import Fraction
from itertools import pairwise
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


def test_invoice(prompt: Callable[[int], str], gold: Callable[[int], Any]) -> None:
    rows = [
        [c.strip() for c in line.strip("|").split("|")] for line in re.findall(r"^\| \d.*$", prompt(2), re.MULTILINE)
    ]
    lines = []
    net: dict[str, int] = {}
    for number, article, amount, price, discount, tax in rows:
        value = Decimal(amount.replace(",", ".")) * Decimal(price.split()[0].replace(",", "."))
        value *= 1 - (Decimal(0) if discount == "–" else Decimal(discount.split()[0]) / 100)
        rate = tax.split()[0]
        lines.append({"pos": int(number), "artikel": article, "netto_cent": _cents(value), "ust_prozent": int(rate)})
        net[rate] = net.get(rate, 0) + _cents(value)
    tax_cents = {rate: _cents(Decimal(cents) * int(rate) / 10000) for rate, cents in net.items()}
    day = date(2028, 1, 31)
    expected = {
        "kunde": {"art": "firma", "name": "Böhm & Söhne GmbH", "ust_id": "DE811569869"},
        "positionen": lines,
        "summe": {
            "netto_cent": sum(net.values()),
            "ust_cent": tax_cents,
            "brutto_cent": sum(net.values()) + sum(tax_cents.values()),
        },
        "faellig": (day + timedelta(days=30)).isoformat(),
        "skonto": {"prozent": 2, "bis": (day + timedelta(days=10)).isoformat()},
    }
    _same(gold(2), expected)


def test_windows(gold: Callable[[int], Any]) -> None:
    def start(hours: float, day: int, month: int, hour: int, minute: int) -> datetime:
        return datetime(2027, month, day, hour, minute, tzinfo=timezone(timedelta(hours=hours)))

    upgrade, router = 150, 45
    plan = [
        ("Perth", "upgrade", start(8, 1, 5, 1, 30), upgrade),
        ("Quito", "replacement", start(-5, 30, 4, 23, 0), router),
        ("Nuuk", "drill", start(-2, 30, 4, 22, 10), 115),
        ("Pune", "test", start(5.5, 1, 5, 10, 15), 120),
        ("Perth", "drill", start(8, 1, 5, 1, 30) + timedelta(minutes=upgrade), 2 * router),
    ]
    windows = []
    for site, kind, begin, minutes in sorted(plan, key=lambda entry: entry[2]):
        hours, rest = divmod(minutes, 60)
        window: dict[str, Any] = {"site": site, "kind": kind, "cancelled": site == "Pune"}
        window["start"] = begin.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
        window["duration"] = "PT" + (f"{hours}H" if hours else "") + (f"{rest}M" if rest else "")
        if window["cancelled"]:
            window["reason"] = "no operator on site"
        windows.append(window)
    held = sorted((begin, begin + timedelta(minutes=m)) for site, _, begin, m in plan if site != "Pune")
    gaps = [int((later[0] - earlier[1]).total_seconds()) // 60 for earlier, later in pairwise(held)]
    total = sum(m for site, _, _, m in plan if site != "Pune")
    _same(gold(3), {"windows": windows, "total_minutes": total, "longest_gap_minutes": max(gaps)})


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


def test_log(prompt: Callable[[int], str], gold: Callable[[int], Any]) -> None:
    readings: list[dict[str, Any]] = []
    rejected = []
    for number, line in enumerate(BLOCK.findall(prompt(9))[0].splitlines(), 1):
        clock, sensor, kind, value = line.split(" ", 3)
        hours, minutes, seconds = map(int, clock.split(":"))
        reading = {"line": number, "at": hours * 3600 + minutes * 60 + seconds, "sensor": sensor, "kind": kind}
        if hours > 23 or minutes > 59 or seconds > 59:
            rejected.append({"line": number, "why": "time"})
        elif {"T": "temp", "D": "door", "M": "msg"}[sensor[0]] != kind:
            rejected.append({"line": number, "why": "sensor"})
        elif kind == "temp" and (match := re.fullmatch(r"(-?\d+(?:\.\d+)?)([CF])", value)):
            degrees = Decimal(match[1])
            if match[2] == "F":
                degrees = (degrees - 32) * 5 / 9
            degrees = degrees.quantize(Decimal("0.1"), ROUND_HALF_UP)
            readings.append({**reading, "celsius": int(degrees) if degrees == int(degrees) else float(degrees)})
        elif kind == "door" and value in ("open", "closed"):
            readings.append({**reading, "open": value == "open"})
        elif kind == "msg" and len(value) > 1 and value[0] == value[-1] == '"':
            readings.append({**reading, "text": value[1:-1].replace('\\"', '"')})
        else:
            rejected.append({"line": number, "why": "value"})
    counts = {kind: sum(r["kind"] == kind for r in readings) for kind in ("temp", "door", "msg")}
    _same(gold(9), {"readings": readings, "rejected": rejected, "counts": counts})


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

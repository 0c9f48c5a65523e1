"""The gold calls of the tool_use items: valid under the offered schemas, and derived again from the conversation."""

import json
import re
from collections.abc import Callable
from datetime import UTC, date, datetime, timedelta, timezone
from math import ceil
from typing import Any

import jsonschema
import pytest

from itembank.bank import load_bank
from itembank.item import Item

ITEMS = [item for item in load_bank().items if item.dimension == "tool_use"]


@pytest.fixture(scope="module")
def item() -> Callable[[int], Item]:
    return lambda number: next(i for i in ITEMS if i.id == f"tool_use-{number:02d}")


def _results(item: Item) -> list[Any]:
    return [json.loads(message["content"]) for message in item.messages if message["role"] == "tool"]


def _gold(item: Item, name: str) -> list[dict[str, Any]]:
    return [call["arguments"] for call in item.expect["calls"] if call["name"] == name]


@pytest.mark.parametrize("item", ITEMS, ids=lambda item: item.id)
def test_calls_fit_the_offered_tools(item: Item) -> None:
    schemas = {tool["function"]["name"]: tool["function"]["parameters"] for tool in item.tools}
    for schema in schemas.values():
        jsonschema.Draft202012Validator.check_schema(schema)
    past = [call["function"] for message in item.messages for call in message.get("tool_calls", ())]
    for call in past:
        jsonschema.validate(json.loads(call["arguments"]), schemas[call["name"]])
    for call in item.expect.get("calls", ()):
        jsonschema.validate(call["arguments"], schemas[call["name"]])
    answered = [message["tool_call_id"] for message in item.messages if message["role"] == "tool"]
    assert answered == [call["id"] for message in item.messages for call in message.get("tool_calls", ())]


@pytest.mark.parametrize("item", ITEMS, ids=lambda item: item.id)
def test_a_distractor_is_offered(item: Item) -> None:
    called = {call["name"] for call in item.expect.get("calls", ())}
    assert len(item.tools) - len(called) >= 2


def test_greenhouse(item: Callable[[int], Item]) -> None:
    request = item(1).messages[-1]["content"]
    said = re.findall(r"bay (\d+) to ([\d.]+) degrees Celsius(?: until (\d\d:\d\d))?", request)
    calls = _gold(item(1), "set_bay_temperature")
    assert [(call["bay"], f"{call['celsius']:g}", call.get("until", "")) for call in calls] == said
    assert len(item(1).expect["calls"]) == 2


def test_journey(item: Callable[[int], Item]) -> None:
    (journeys,) = _results(item(2))
    fitting = [j for j in journeys if j["arrives"] < "12:00" and j["changes"] <= 1]
    best = min(fitting, key=lambda j: j["adult_price_cents"])
    each = ceil(best["adult_price_cents"] / 2 / 10) * 10
    (call,) = _gold(item(2), "book_journey")
    assert (call["journey"], call["total_cents"]) == (best["journey"], 2 * each)
    assert call["deliver_to"] in item(2).messages[1]["content"]
    assert [p["name"] for p in call["passengers"]] == ["Mara Lindqvist", "Ida Lindqvist"]


def test_event(item: Callable[[int], Item]) -> None:
    (call,) = _gold(item(3), "create_event")
    day = max(d for n in range(1, 32) if (d := date(2027, 3, n)).weekday() == 4)
    assert date(2027, 3, 9).strftime("%A") == "Tuesday"
    local = datetime(day.year, day.month, day.day, 16, 45, tzinfo=timezone(timedelta(hours=5, minutes=30)))
    assert call["start"] == local.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
    (contacts,) = _results(item(3))
    wanted = [("Lena Kim", "Optics"), ("Otto Brandt", "Optics"), ("Noor Haddad", "Quality")]
    assert call["attendees"] == sorted(c["id"] for c in contacts if (c["name"], c["department"]) in wanted)
    assert [c["utc_offset"] for c in contacts if c["id"] == "0071"] == ["+05:30"]
    last = item(3).messages[-1]["content"]
    assert call["title"] == last[last.index("<") + 1 : -1]
    assert call["minutes"] == 60 + 35
    assert call["reminders_minutes"] == [24 * 60, 15]


def test_library(item: Callable[[int], Item]) -> None:
    (loans,) = _results(item(4))
    closed = {date(2027, 5, day) for day in (17, 22, 25)}
    extended, refused = [], []
    for loan in loans:
        if loan["title"] == "Purani haveli":
            continue
        if loan["extensions"] >= 2 or loan["reserved_by_other"]:
            refused.append(loan["copy"])
            continue
        due = date.fromisoformat(loan["due"]) + timedelta(days=14)
        while due in closed or due.weekday() == 6:
            due += timedelta(days=1)
        extended.append({"copy": loan["copy"], "new_due": due.isoformat()})
    assert _gold(item(4), "extend_loan") == extended
    (handed,) = _gold(item(4), "hand_over")
    assert handed["copies"] == sorted(refused)
    assert handed["member"] in item(4).messages[1]["content"]


def test_stock(item: Callable[[int], Item]) -> None:
    available: dict[tuple[str, str], int] = {}
    for warehouse, rows in zip(("Lyon", "Porto", "Graz"), _results(item(5)), strict=True):
        for row in rows:
            pieces = row["boxes"] * row["pieces_per_box"] - row["reserved_pieces"]
            available[warehouse, row["article"]] = pieces
    places = ("Lyon", "Porto", "Graz")
    gaps = {place: abs(available[place, "X-40"] - available[place, "X-04"]) for place in places}
    values = [
        str(available["Lyon", "X-40"] + available["Porto", "X-40"]),
        str(sum(available[place, "X-04"] for place in places)),
        min(gaps, key=lambda place: gaps[place]),
    ]
    assert item(5).expect["values"] == values
    assert len(set(gaps.values())) == 3


def test_runbook(item: Callable[[int], Item]) -> None:
    (report,) = _results(item(6))
    now = datetime.fromisoformat(report["time"])
    calls: list[dict[str, Any]] = []
    both = []
    for host in report["hosts"]:
        if host["state"] == "maintenance":
            continue
        full = 100 * host["disk_used_gib"] >= 90 * host["disk_gib"]
        if full and host["role"] == "db":
            sizes = range(50, 5000, 50)
            add = next(s for s in sizes if 100 * host["disk_used_gib"] < 75 * (host["disk_gib"] + s))
            calls.append({"name": "expand_volume", "arguments": {"host": host["host"], "add_gib": add}})
        elif full:
            days = {"web": 7, "batch": 3}[host["role"]]
            calls.append({"name": "purge_logs", "arguments": {"host": host["host"], "keep_days": days}})
        old = now - datetime.fromisoformat(host["last_backup"]) > timedelta(hours=24)
        if old:
            week = now - datetime.fromisoformat(host["last_full"]) > timedelta(days=7)
            mode = "full" if week else "incremental"
            calls.append({"name": "start_backup", "arguments": {"host": host["host"], "mode": mode}})
        if full and old:
            both.append(host)
    severity = 1 if any(host["role"] == "db" for host in both) else 2
    ticket = {"hosts": [host["host"] for host in both], "severity": severity}
    calls.append({"name": "open_ticket", "arguments": ticket})
    key = json.dumps
    assert sorted(calls, key=key) == sorted(item(6).expect["calls"], key=key)


def test_order(item: Callable[[int], Item]) -> None:
    (order,) = _gold(item(7), "crear_pedido")
    assert [line["piezas"] for line in order["lineas"]] == [2 * 12, 12 // 2, 10]
    assert [line.get("descuento") for line in order["lineas"]] == [None, 12.5 / 100, None]
    assert date(2027, 3, 15).weekday() == 0
    assert order["entrega"]["fecha"] == (date(2027, 3, 15) + timedelta(days=1)).isoformat()
    (message,) = _gold(item(7), "enviar_mensaje")
    assert item(7).messages[-1]["content"].split("|")[1] == message["texto"]


def test_filter(item: Callable[[int], Item]) -> None:
    (call,) = _gold(item(8), "count_tickets")
    arguments = call["filter"]["args"]
    first = date.fromisocalendar(2026, 53, 1)
    assert [a["value"] for a in arguments if a.get("field") == "opened"] == [
        first.isoformat(),
        (first + timedelta(days=7)).isoformat(),
    ]
    assert all(a["op"] == "or" for a in arguments if "op" in a)
    assert arguments[-1]["args"][1]["value"] in item(8).messages[-1]["content"]

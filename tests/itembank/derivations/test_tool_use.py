"""The gold calls of the tool_use items: valid under the offered schemas, and derived again from the conversation."""

import json
import re
from collections.abc import Callable
from datetime import UTC, date, datetime, timedelta
from fractions import Fraction
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


def _age(born: date, day: date) -> int:
    return max(n for n in range(100) if born.replace(year=born.year + n) <= day)


def _tens(cents: Fraction) -> int:
    return ceil(cents / 10) * 10


def _booking(journey: dict[str, Any], day: date, seats: dict[str, str], bicycles: int) -> dict[str, Any]:
    born = {"Ida Lindqvist": date(2011, 6, 12), "Pia Lindqvist": date(2021, 6, 13)}
    cards = {"Mara Lindqvist": date(2027, 12, 31), "Jon Ek": date(2027, 6, 12)}
    fares = {}
    for name in ("Mara Lindqvist", "Jon Ek", "Ida Lindqvist", "Pia Lindqvist", "Oskar Lind"):
        age = _age(born[name], day) if name in born else 66 if name == "Oskar Lind" else 40
        fare = "free" if age < 6 else "child" if age < 16 else "senior" if age >= 65 else "full"
        fares[name] = "half_card" if fare == "full" and name in cards and day <= cards[name] else fare
    parts = {"free": 0, "child": 50, "half_card": 50, "senior": 70, "full": 100}
    group = 90 if sum(fare != "free" for fare in fares.values()) >= 5 else 100
    price = journey["adult_price_cents"]
    total = sum(_tens(Fraction(price * parts[fare] * group, 10_000)) for fare in fares.values())
    total += 350 * sum(fares[name] != "free" for name in seats) + bicycles * _tens(Fraction(price, 4))
    passengers = [{"name": name, "fare": fare} for name, fare in fares.items()]
    for passenger in passengers:
        if passenger["name"] in seats:
            passenger["seat"] = seats[passenger["name"]]
    booking = {"journey": journey["journey"], "date": day.isoformat(), "passengers": passengers, "total_cents": total}
    return booking | ({"bicycles": bicycles} if bicycles else {})


def test_journeys(item: Callable[[int], Item]) -> None:
    out, back, old = _results(item(2))

    def fitting(journeys: list[Any]) -> list[Any]:
        return [j for j in journeys if j["changes"] <= 1 and (j["shortest_transfer_minutes"] or 99) >= 12]

    there = min(
        (j for j in fitting(out) if j["arrives"] < "12:00"), key=lambda j: (j["adult_price_cents"], j["arrives"])
    )
    late = [j for j in fitting(back) if j["departs"] >= "15:00" and j["arrives"] <= "20:00"]
    cheapest = min(late, key=lambda j: j["adult_price_cents"])
    direct = [j for j in late if not j["changes"] and j["adult_price_cents"] <= cheapest["adult_price_cents"] + 600]
    (home,) = direct
    now = datetime(2027, 6, 7, 10, tzinfo=UTC)
    assert now.strftime("%A") == "Monday"
    assert date(2027, 6, 11).strftime("%A") == "Friday"
    fee = Fraction(
        old["paid_cents"] * (10 if datetime.fromisoformat(old["departs"] + "Z") - now >= timedelta(hours=72) else 25),
        100,
    )
    (cancelled,) = _gold(item(2), "cancel_booking")
    assert cancelled == {"booking": "B-2207", "refund_cents": old["paid_cents"] - max(1500, _tens(fee))}
    friday = {"Ida Lindqvist": "window", "Oskar Lind": "aisle"}
    sunday = {"Pia Lindqvist": "window", "Oskar Lind": "aisle"}
    assert _gold(item(2), "book_journey") == [
        _booking(there, date(2027, 6, 11), friday, 1),
        _booking(home, date(2027, 6, 13), sunday, 0),
    ]
    both = [there["journey"], home["journey"]]
    assert [call["journeys"] for call in _gold(item(2), "send_itinerary")] == [both, both[:1]]
    assert all(call["to"] in item(2).messages[-1]["content"] for call in _gold(item(2), "send_itinerary"))


def _occupied(calendar: dict[str, Any], entries: list[dict[str, Any]], origin: datetime) -> list[set[int]]:
    """The minutes since `origin` outside the working hours, and those of firm entries that stay."""
    first, last = calendar["hours"].split("-")
    minutes = [origin + timedelta(minutes=m) for m in range(2 * 1440)]
    zone = datetime.strptime(calendar["utc_offset"], "%z").tzinfo
    clocks = [m.astimezone(zone).strftime("%Y-%m-%d %H:%M") for m in minutes]
    outside = {n for n, clock in enumerate(clocks) if not first <= clock[11:] < last}
    firm = [e for e in entries if e["status"] == "firm" and e["entry"] != "e-317"]
    busy = {
        n
        for n, clock in enumerate(clocks)
        for e in firm
        if e["date"] == clock[:10] and e["start"] <= clock[11:] < e["end"]
    }
    return [outside, busy]


def test_meetings(item: Callable[[int], Item]) -> None:
    contacts, calendars = _results(item(3))
    wanted = [("Lena Kim", "Optics"), ("Otto Brandt", "Optics"), ("Noor Haddad", "Quality")]
    lena, otto, noor = [c["id"] for pair in wanted for c in contacts if (c["name"], c["department"]) == pair]
    origin = datetime(2027, 3, 25, tzinfo=UTC)
    assert origin.strftime("%A") == "Thursday"
    taken = {c["id"]: _occupied(c, calendars[c["id"]], origin) for c in contacts if c["id"] in calendars}
    outside, mine = _occupied(calendars["owner"], calendars["owner"]["entries"], origin)
    events = []
    for people, length in (([lena, noor], 50), ([lena, otto], 75), ([lena, noor, otto], 40)):
        for start in range(0, 2 * 1440, 15):
            span = set(range(start, start + length))
            wide = set(range(start - 15, start + length + 15))
            if not (span & outside or wide & mine or any(span & part for p in people for part in taken[p])):
                break
        mine |= span
        for person in people:
            taken[person][1] |= span
        events.append((start, length, sorted(people)))
    shown = [((origin + timedelta(minutes=s)).strftime("%Y-%m-%dT%H:%M:%SZ"), n, people) for s, n, people in events]
    calls = _gold(item(3), "create_event")
    assert [(c["start"], c["minutes"], c["attendees"]) for c in calls] == shown
    titles = item(3).messages[-1]["content"].split("||")[1::2]
    (task,) = _gold(item(3), "create_task")
    assert [*(c["title"] for c in calls), task["title"]] == titles
    assert [c.get("reminders_minutes") for c in calls] == [[24 * 60, 15], None, None]
    end = origin + timedelta(minutes=max(s + n for s, n, _ in events), hours=36)
    assert task["due"] == end.strftime("%Y-%m-%dT%H:%M:%SZ")
    (deleted,) = _gold(item(3), "delete_entry")
    (entry,) = [e for e in calendars["owner"]["entries"] if (e["date"], e["start"]) == ("2027-03-25", "12:15")]
    assert deleted == {"entry": entry["entry"]}


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


def _disk_call(host: dict[str, Any]) -> dict[str, Any] | None:
    used, size, growth = host["disk_used_gib"], host["disk_gib"], host["growth_gib_per_day"]
    if Fraction(used, size) < Fraction(9, 10) and not size - used < 5 * growth:
        return None
    if host["role"] == "db":
        enough = max(Fraction(4 * used, 3), Fraction(used + 30 * growth))
        add = next(a for a in range(50, 5000, 50) if size + a >= enough and 4 * used < 3 * (size + a))
        return {"name": "expand_volume", "arguments": {"host": host["host"], "add_gib": add}}
    days = {"web": 7, "batch": 3}[host["role"]]
    days = days // 2 if Fraction(used, size) >= Fraction(97, 100) else days
    return {"name": "purge_logs", "arguments": {"host": host["host"], "keep_days": days}}


def _backup_call(host: dict[str, Any], now: datetime, disk: bool) -> dict[str, Any] | None:
    hours = {"db": 12, "web": 24, "batch": 36}[host["role"]]
    if datetime.fromisoformat(host["last_backup"]) >= now - timedelta(hours=hours):
        return None
    week = datetime.fromisoformat(host["last_full"]) < now - timedelta(days=7)
    arguments: dict[str, Any] = {"host": host["host"], "mode": "full" if week else "incremental"}
    if disk:
        arguments["delay_minutes"] = ceil(Fraction(host["disk_used_gib"], 20)) * 5
    return {"name": "start_backup", "arguments": arguments}


def test_runbook(item: Callable[[int], Item]) -> None:
    (report,) = _results(item(6))
    now = datetime.fromisoformat(report["time"])
    calls: list[dict[str, Any]] = []
    expiring: dict[str, list[dict[str, Any]]] = {}
    rules: list[tuple[int, dict[str, Any]]] = []
    for host in (h for h in report["hosts"] if h["state"] == "active"):
        disk = _disk_call(host)
        backup = _backup_call(host, now, disk is not None)
        calls += [call for call in (disk, backup) if call]
        soon = date.fromisoformat(host["certificate_until"]) < now.date() + timedelta(days=21)
        if soon:
            expiring.setdefault(host["role"], []).append(host)
        rules.append((bool(disk) + bool(backup) + soon, host))
    for role, hosts in expiring.items():
        names = [h["host"] for h in sorted(hosts, key=lambda h: h["certificate_until"])]
        calls.append({"name": "renew_certificates", "arguments": {"role": role, "hosts": names}})
    ticket = [(number, host) for wanted in (3, 2) for number, host in rules if number == wanted]
    databases = [number for number, host in ticket if host["role"] == "db"]
    severity = 1 if 3 in databases or len(databases) > 1 else 2
    arguments = {"hosts": [host["host"] for _, host in ticket], "severity": severity}
    calls.append({"name": "open_ticket", "arguments": arguments})
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

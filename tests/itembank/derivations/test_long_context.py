"""Every answer to a long document is derived again from the facts that the document was written from."""

import re
from collections.abc import Callable
from types import ModuleType, SimpleNamespace
from typing import Any

import pytest

from itembank.bank import load_bank
from itembank.contexts import incident_log, ledger, minutes, source_tree
from itembank.contexts._document import Document, estimated_tokens

ITEMS = {item.id: item for item in load_bank().items if item.dimension == "long_context"}


def book(document: Document) -> dict[int, dict[str, Any]]:
    """The entries that stand at the end, by number."""
    entries = {payment["number"]: dict(payment) for payment in document.facts["payments"]}
    for change in document.facts["changes"]:
        if change["kind"] == "void":
            entries.pop(change["target"], None)
        elif change["target"] in entries:
            entries[change["target"]][change["kind"]] = change["value"]
    return entries


def total(entries: list[dict[str, Any]]) -> str:
    cents = sum(entry["cents"] for entry in entries)
    return f"{cents // 100}.{cents % 100:02d}"


def works(document: Document) -> dict[str, dict[str, Any]]:
    """What holds in the end for each work, by its name."""
    by_ref = {decision["ref"]: dict(decision) for decision in document.facts["decisions"]}
    for change in document.facts["changes"]:
        by_ref[change["target"]][change["field"]] = change["value"]
    return {work["work"]: work for work in by_ref.values()}


def lost_by(document: Document, mover: str) -> str:
    return str(sum(motion["mover"] == mover for motion in document.facts["lost"]))


def alarms(document: Document) -> dict[int, dict[str, Any]]:
    """The state of every alarm at the end of the log."""
    state: dict[int, dict[str, Any]] = {}
    for event in document.facts["events"]:
        alarm = state.setdefault(event["alarm"], {"into": None})
        alarm.update({key: value for key, value in event.items() if key in ("service", "severity", "team", "into")})
        if event["kind"] in ("opened", "reopened"):
            alarm["open"] = True
        elif event["kind"] in ("closed", "merged"):
            alarm["open"] = False
    return state


def end_of_chain(state: dict[int, dict[str, Any]], number: int) -> int:
    seen = []
    while state[number]["into"] is not None:
        assert number not in seen
        seen.append(number)
        number = state[number]["into"]
    assert len(seen) >= 2
    return number


def extension(document: Document, team: str) -> str:
    return [line["extension"] for line in document.facts["roster"] if line["team"] == team][-1]


def open_at(state: dict[int, dict[str, Any]], **wanted: Any) -> list[int]:
    return [n for n, alarm in state.items() if alarm["open"] and all(alarm[k] == v for k, v in wanted.items())]


def constants(document: Document, path: str) -> dict[str, int]:
    """The names of one module with their values after import, from the facts."""
    values: dict[str, int] = {}
    for statement in document.facts["modules"][path]:
        if "import" in statement:
            values[statement["as"]] = constants(document, statement["from"])[statement["import"]]
        elif "value" in statement:
            values[statement["name"]] = statement["value"]
        elif "base" in statement:
            values[statement["name"]] = values[statement["base"]] + statement["plus"]
    return values


def result(document: Document, call: str) -> str:
    path, function, night = re.fullmatch(r"tern\.(.+)\.(\w+)\((night=True)?\)", call).groups()
    path = path.replace(".", "/") + ".py"
    found = [s for s in document.facts["modules"][path] if s.get("function") == function]
    if not found:
        return "MISSING"
    return str(constants(document, path)[found[0]["name"]] * (found[0]["times"] if night else 1))


def result_by_running(text: str, call: str) -> str:
    """The same by executing the text of the tree: our own generated code, imports resolved among its own modules."""
    sources = dict(re.findall(r"==> (tern/\S+)\.py <==\n(.*?)(?=\n==> |\Z)", text, re.DOTALL))
    loaded: dict[str, SimpleNamespace] = {}

    def module(name: str) -> SimpleNamespace:
        if name not in loaded:
            names: dict[str, Any] = {}
            for source, wanted, alias in re.findall(
                r"^from (\S+) import (\w+)(?: as (\w+))?$", sources[name.replace(".", "/")], re.MULTILINE
            ):
                names[alias or wanted] = getattr(module(source), wanted)
            body = re.sub(r"^from .*$", "", sources[name.replace(".", "/")], flags=re.MULTILINE)
            exec(compile(body, name, "exec"), names)
            loaded[name] = SimpleNamespace(**{key: value for key, value in names.items() if key[0] != "_"})
        return loaded[name]

    path, function, night = re.fullmatch(r"(tern\..+)\.(\w+)\((night=True)?\)", call).groups()
    if not hasattr(module(path), function):
        return "MISSING"
    return str(getattr(module(path), function)(bool(night)))


def calls(prompt: str) -> list[str]:
    return re.findall(r"^\d\. (tern\.\S+\(.*?\))$", prompt, re.MULTILINE)


def ledger_01(document: Document, prompt: str) -> list[str]:
    entries = book(document)
    mine = [entry for entry in entries.values() if entry["party"] == "Oduya Marine"]
    repairs = [entry for entry in entries.values() if entry["account"] == "Repairs"]
    gone = str(len(document.facts["payments"]) - len(entries))
    return [str(len(repairs)), total(repairs), str(len(mine)), total(mine), gone]


def minutes_02(document: Document, prompt: str) -> list[str]:
    found = works(document)
    assert "net loft roof" not in found
    assert "net loft floor" in found
    return [str(found["fish hall doors"]["sum"]), found["ice house ladder"]["person"], "NOT MINUTED"]


def log_03(document: Document, prompt: str) -> list[str]:
    state = alarms(document)
    last = end_of_chain(state, 1007)
    worst = open_at(state, severity=1)
    assert len(worst) >= 3
    return [
        f"ALM-{last}",
        state[last]["service"],
        extension(document, state[last]["team"]),
        "/".join(
            str(len(open_at(state, team=team))) for team in ("Heron", "Herring", "Osprey", "Curlew", "Plover", "Petrel")
        ),
        str(sum(worst)),
        str(sum(open_at(state, severity=2))),
    ]


def tree_04(document: Document, prompt: str) -> list[str]:
    return [result(document, call) for call in calls(prompt)]


def ledger_05(document: Document, prompt: str) -> list[str]:
    entries = book(document)
    mine = [entry for entry in entries.values() if (entry["party"], entry["account"]) == ("Brand, Ilse", "Wages")]
    vouchers = {payment["voucher"] for payment in document.facts["payments"]}
    assert "M-6841" not in vouchers
    assert {"K-6841", "L-6841"} <= vouchers
    food = [entry for entry in entries.values() if entry["account"] == "Provisions"]
    chandlers = [entry for entry in food if entry["party"] == "Marrow Lane Chandlers"]
    gone = str(len(document.facts["payments"]) - len(entries))
    return [str(len(food)), total(food), str(len(chandlers)), total(mine), gone, "NONE"]


def minutes_06(document: Document, prompt: str) -> list[str]:
    found = works(document)
    assert not any("heating" in name or "chart room" in name for name in found)
    regranted = {change["target"] for change in document.facts["changes"] if change["field"] == "sum"}
    persons = [work["person"] for work in found.values()]
    return [
        str(sum(work["sum"] for work in found.values())),
        str(len(found) - len(regranted)),
        found["lighting of pier 14"]["due"],
        lost_by(document, "Selma Brook"),
        lost_by(document, "Selma Brooke"),
        *(str(persons.count(name)) for name in ("Jon Marlow", "Jon Marlowe", "Theo Varga")),
        "NOT MINUTED",
    ]


def log_07(document: Document, prompt: str) -> list[str]:
    state = alarms(document)
    last = end_of_chain(state, 1696)
    assert 2051 not in state
    heron = open_at(state, team="Heron")
    return [
        str(len(open_at(state, service="berth-planner"))),
        f"ALM-{last}",
        extension(document, state[last]["team"]),
        str(len(heron)),
        str(sum(heron)),
        str(sum(open_at(state, severity=1))),
        str(sum(alarm["into"] is not None for alarm in state.values())),
        "NONE",
    ]


DERIVED: dict[str, tuple[ModuleType, int, int, Callable[[Document, str], list[str]]]] = {
    "long_context-01": (ledger, 53, 4000, ledger_01),
    "long_context-02": (minutes, 7, 4000, minutes_02),
    "long_context-03": (incident_log, 437, 8000, log_03),
    "long_context-04": (source_tree, 6, 8000, tree_04),
    "long_context-05": (ledger, 506, 16000, ledger_05),
    "long_context-06": (minutes, 31, 16000, minutes_06),
    "long_context-07": (incident_log, 5, 32000, log_07),
    "long_context-08": (source_tree, 25, 32000, tree_04),
}


def test_every_item_is_derived() -> None:
    assert set(DERIVED) == set(ITEMS)


@pytest.mark.parametrize("name", DERIVED)
def test_gold(name: str) -> None:
    module, seed, tokens, derivation = DERIVED[name]
    document = module.document(seed=seed, tokens=tokens)
    prompt = ITEMS[name].messages[0]["content"]
    assert document.text in prompt
    assert ITEMS[name].expect["order"] == "exact"
    assert ITEMS[name].expect["values"] == derivation(document, prompt)


def cents(text: str) -> int:
    return int(re.sub(r"[,.]", "", text))


@pytest.mark.parametrize(("name", "account"), [("long_context-01", "Repairs"), ("long_context-05", "Provisions")])
def test_totals_by_reading_the_book(name: str, account: str) -> None:
    """The account's entries and their total from the lines of the prompt alone, without the generator's facts."""
    entries: dict[str, list[str]] = {}
    for line in ITEMS[name].messages[0]["content"].splitlines():
        if payment := re.fullmatch(r"(\d{4}) \| [^|]+ \| ([^|]+) \| [^|]+ \| ([\d,.]+) \| voucher .+", line):
            entries[payment[1]] = [payment[2], payment[3]]
        elif void := re.fullmatch(r"\d{4} \| [^|]+ \| voids (\d{4})", line):
            entries.pop(void[1], None)
        elif change := re.fullmatch(r"\d{4} \| [^|]+ \| corrects (\d{4}): the (account|sum) is (.+)", line):
            entries.get(change[1], ["", ""])[change[2] == "sum"] = change[3]
    sums = [cents(text) for found, text in entries.values() if found == account]
    values = ITEMS[name].expect["values"]
    assert [str(len(sums)), sum(sums)] == [values[0], cents(values[1])]


def test_grants_by_reading_the_minutes() -> None:
    grants: dict[str, int] = {}
    for point in re.split(r"\n(?=\d+\.\d )", ITEMS["long_context-06"].messages[0]["content"]):
        ref = point.partition(" ")[0]
        if found := re.search(r"Resolved: ([\d,]+) marks are granted", point):
            grants[ref] = cents(found[1])
        elif found := re.search(
            r"minute (\d+\.\d)\)?, the committee carried the change: the grant is ([\d,]+) marks", point
        ):
            grants[found[1]] = cents(found[2])
    assert str(sum(grants.values())) == ITEMS["long_context-06"].expect["values"][0]


@pytest.mark.parametrize("name", ["long_context-04", "long_context-08"])
def test_gold_by_running_the_tree(name: str) -> None:
    prompt = ITEMS[name].messages[0]["content"]
    assert len(calls(prompt)) == len(ITEMS[name].expect["values"])
    module, seed, tokens, _ = DERIVED[name]
    text = module.document(seed=seed, tokens=tokens).text
    assert [result_by_running(text, call) for call in calls(prompt)] == ITEMS[name].expect["values"]


def test_two_items_of_each_size() -> None:
    sizes = sorted(tokens for _, _, tokens, _ in DERIVED.values())
    assert sizes == [4000, 4000, 8000, 8000, 16000, 16000, 32000, 32000]
    for name, (_, _, tokens, _) in DERIVED.items():
        assert abs(estimated_tokens(ITEMS[name].messages[0]["content"]) - tokens) < 0.1 * tokens + 300

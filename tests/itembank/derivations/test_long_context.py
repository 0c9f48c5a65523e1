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
    return [str(len(mine)), total(mine), str(len(document.facts["payments"]) - len(entries))]


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
        str(len(open_at(state, team="Herring"))),
        str(sum(worst)),
    ]


def tree_04(document: Document, prompt: str) -> list[str]:
    return [result(document, call) for call in calls(prompt)]


def ledger_05(document: Document, prompt: str) -> list[str]:
    entries = book(document)
    mine = [entry for entry in entries.values() if (entry["party"], entry["account"]) == ("Brand, Ilse", "Wages")]
    vouchers = {payment["voucher"] for payment in document.facts["payments"]}
    assert "M-6841" not in vouchers
    assert {"K-6841", "L-6841"} <= vouchers
    return [str(len(mine)), total(mine), str(len(document.facts["payments"]) - len(entries)), "NONE"]


def minutes_06(document: Document, prompt: str) -> list[str]:
    found = works(document)
    assert not any("heating" in name or "chart room" in name for name in found)
    return [
        found["dredging of the inner basin"]["person"],
        found["lighting of pier 14"]["due"],
        str(found["ferry shelter glazing"]["sum"]),
        lost_by(document, "Selma Brook"),
        str(sum(work["person"] == "Theo Varga" for work in found.values())),
        "NOT MINUTED",
    ]


def log_07(document: Document, prompt: str) -> list[str]:
    state = alarms(document)
    last = end_of_chain(state, 1696)
    assert 2051 not in state
    return [
        str(len(open_at(state, service="berth-planner"))),
        f"ALM-{last}",
        extension(document, state[last]["team"]),
        str(len(open_at(state, team="Petrel", severity=1))),
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

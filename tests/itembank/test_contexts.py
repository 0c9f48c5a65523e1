"""Generated documents: same seed, same bytes; the stated size holds; the facts are what the text says."""

import ast
import hashlib
import re
import subprocess
import sys
import time

import pytest

import itembank.contexts
from itembank import plugins
from itembank.bank import context_text
from itembank.contexts import incident_log, ledger, minutes, source_tree
from itembank.contexts._document import Dice, estimated_tokens, swapped_digits

NAMES = plugins.names(itembank.contexts)


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("tokens", [1000, 4000, 8000, 16000, 32000])
def test_size_holds(name: str, tokens: int) -> None:
    for seed in (1, 2):
        text = context_text({"name": name, "seed": seed, "tokens": tokens})
        assert abs(estimated_tokens(text) - tokens) <= tokens * 0.1


@pytest.mark.parametrize("name", NAMES)
def test_same_seed_same_bytes(name: str) -> None:
    """Also in another process with other hash seeds."""
    context = {"name": name, "seed": 77, "tokens": 3000}
    here = hashlib.sha256(context_text(context).encode()).hexdigest()
    code = (
        "import hashlib; from itembank.bank import context_text as text;"
        f"print(hashlib.sha256(text({context!r}).encode()).hexdigest())"
    )
    there = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=60)
    assert there.stdout.strip() == here
    assert context_text({**context, "seed": 78}) != context_text(context)


@pytest.mark.parametrize("name", NAMES)
def test_text_is_readable(name: str) -> None:
    text = context_text({"name": name, "seed": 5, "tokens": 4000})
    assert text.isascii()
    assert text.endswith("\n")
    assert max(len(line) for line in text.splitlines()) <= 900
    assert "{" not in text or name == "source_tree"


def test_rule_of_thumb_on_known_texts() -> None:
    """Counts as byte-pair tokenizers cut: words, groups of three digits, runs of marks."""
    assert estimated_tokens("the cat sat") == 3
    assert estimated_tokens("12345678") == 3
    assert estimated_tokens("extraordinarily") == 3
    assert estimated_tokens("day 01") == 3
    assert estimated_tokens("a    b") == 3
    assert estimated_tokens("a, b.\n") == 5
    assert estimated_tokens("") == 0


def test_dice_keep_their_sequence() -> None:
    dice = Dice(3)
    low_high = [dice.between(1, 3) for _ in range(300)]
    assert set(low_high) == {1, 2, 3}
    assert sorted(dice.shuffled("abc")) == ["a", "b", "c"]
    assert not dice.chance(0.0)
    assert Dice(4).pick("xyz") == Dice(4).pick("xyz")


def test_a_slip_of_the_pen_changes_the_number() -> None:
    dice = Dice(9)
    for value in (1284, 128450, 98765432):
        slip = swapped_digits(value, dice)
        assert slip != value
        assert sorted(str(slip)) == sorted(str(value))
    assert swapped_digits(1111, dice) == 1120
    assert swapped_digits(7, dice) == 16


def test_all_kinds_together_are_fast() -> None:
    """A guard against accidents of another order of magnitude; the real figure is measured by `make bench`."""
    started = time.process_time()
    for name in NAMES:
        context_text({"name": name, "seed": 1, "tokens": 32000})
    assert time.process_time() - started < 2


def cents(text: str) -> int:
    return int(text.replace(",", "").replace(".", ""))


@pytest.mark.parametrize("seed", [1, 53, 506])
def test_the_ledger_says_what_its_facts_say(seed: int) -> None:
    """A reader of the text alone finds the very payments and changes."""
    document = ledger.document(seed=seed, tokens=9000)
    payments, changes = [], []
    for line in document.text.splitlines():
        cells = [cell.strip() for cell in line.split("|")]
        if len(cells) == 6:
            number, day, account, party, money, voucher = cells
            payments.append((int(number), day, account, party, cents(money), voucher.removeprefix("voucher ")))
        elif len(cells) == 3:
            found = re.fullmatch(r"voids (\d+)|corrects (\d+): the (sum|account|payee) is (.+)", cells[2])
            assert found, line
            kind = {None: "void", "sum": "cents", "account": "account", "payee": "party"}[found[3]]
            value = cents(found[4]) if kind == "cents" else found[4]
            changes.append({"number": int(cells[0]), "target": int(found[1] or found[2]), "kind": kind, "value": value})
    assert payments == [tuple(payment.values()) for payment in document.facts["payments"]]
    assert changes == document.facts["changes"]
    numbers = sorted([p[0] for p in payments] + [c["number"] for c in changes])
    assert numbers == list(range(1, len(numbers) + 1))


@pytest.mark.parametrize("seed", [1, 7, 31])
def test_the_minutes_say_what_their_facts_say(seed: int) -> None:
    document = minutes.document(seed=seed, tokens=9000)
    decisions, changes, lost = [], [], []
    for ref, body in re.findall(r"^(\d+\.\d+) (.+)$", document.text, re.MULTILINE):
        if found := re.search(
            r"Resolved: ([\d,]+) marks are granted for the (.+); (.+) is responsible and reports by (.+? \d{4})\.", body
        ):
            money, work, person, due = found.groups()
            row = {"ref": ref, "work": work, "sum": int(money.replace(",", "")), "person": person, "due": due}
            decisions.append(row)
            assert body.lower().startswith(work.lower() + ".")
        elif "carried the change" in body:
            found = re.search(r"minute (\d+\.\d+)\)?, the committee carried the change: (.+?)\.(?: |$)", body)
            assert found, body
            said = found[2]
            if money := re.fullmatch(r"the grant is ([\d,]+) marks from now on", said):
                field, value = "sum", int(money[1].replace(",", ""))
            elif person := re.fullmatch(r"(.+) is responsible from now on", said):
                field, value = "person", person[1]
            else:
                field, value = "due", re.fullmatch(r"the report is due by (.+) instead", said)[1]
            changes.append({"ref": ref, "target": found[1], "field": field, "value": value})
        else:
            mover, target = re.search(r"\. ([A-Z]\w+ \w+) moved to .+\(minute (\d+\.\d+)\)", body).groups()
            assert "The motion was lost by" in body
            lost.append({"ref": ref, "target": target, "mover": mover})
    assert decisions == document.facts["decisions"]
    assert changes == document.facts["changes"]
    assert lost == document.facts["lost"]
    assert len({d["work"] for d in decisions}) == len(decisions)
    chairs = re.findall(r"^Chair: (.+?)\. Present: (.+)\.$", document.text, re.MULTILINE)
    assert [[chair, *rest.split(", ")] for chair, rest in chairs] == [m["present"] for m in document.facts["meetings"]]


@pytest.mark.parametrize("seed", [1, 5, 12])
def test_the_log_says_what_its_facts_say(seed: int) -> None:
    document = incident_log.document(seed=seed, tokens=9000)
    events, roster, seen = [], [], set()
    for day, hour, minute, rest in re.findall(r"^day (\d+) (\d+):(\d+)  (.+)$", document.text, re.MULTILINE):
        at = (int(day) - 1) * 1440 + int(hour) * 60 + int(minute)
        if found := re.fullmatch(r"roster     team (\w+) is reached under extension (\d+)", rest):
            roster.append({"minute": at, "team": found[1], "extension": found[2]})
        elif found := re.fullmatch(r"ALM-(\d+)   (.+)", rest):
            events.append({"minute": at, "alarm": int(found[1]), **event(found[2])})
            assert (events[-1]["kind"] == "opened") == (events[-1]["alarm"] not in seen)
            seen.add(events[-1]["alarm"])
    assert events == document.facts["events"]
    assert roster == document.facts["roster"]


def event(text: str) -> dict[str, object]:
    if found := re.fullmatch(r"opened: (.+), (.+), severity (\d), assigned to team (\w+)", text):
        keys = ("service", "cause", "severity", "team")
        return {"kind": "opened", **dict(zip(keys, found.groups(), strict=True)), "severity": int(found[3])}
    if found := re.fullmatch(r"severity is now (\d)", text):
        return {"kind": "severity", "severity": int(found[1])}
    if found := re.fullmatch(r"assigned to team (\w+)", text):
        return {"kind": "assigned", "team": found[1]}
    if found := re.fullmatch(r"merged into ALM-(\d+)", text):
        return {"kind": "merged", "into": int(found[1])}
    assert re.fullmatch(r"closed by team \w+|reopened, the cause is back", text), text
    return {"kind": text.split()[0].strip(",")}


@pytest.mark.parametrize("seed", [1, 3, 8])
def test_the_source_tree_says_what_its_facts_say(seed: int) -> None:
    """The text, taken apart by Python's own parser, holds the very statements."""
    document = source_tree.document(seed=seed, tokens=9000)
    modules = {}
    for path, source in re.findall(r"==> tern/(\S+) <==\n(.*?)(?=\n==> |\Z)", document.text, re.DOTALL):
        modules[path] = [statement for node in ast.parse(source).body[1:] if (statement := as_fact(node))]
    assert modules == document.facts["modules"]


def as_fact(node: ast.stmt) -> dict[str, object]:
    if isinstance(node, ast.ImportFrom):
        name = node.names[0]
        path = node.module.removeprefix("tern.").replace(".", "/") + ".py"
        return {"import": name.name, "from": path, "as": name.asname or name.name}
    if isinstance(node, ast.FunctionDef):
        night = node.body[1].body[0].value
        assert node.body[2].value.id == night.left.id
        return {"function": node.name, "name": night.left.id, "times": night.right.value}
    target, value = node.targets[0].id, node.value
    if isinstance(value, ast.Constant):
        return {"name": target, "value": value.value}
    return {"name": target, "base": value.left.id, "plus": value.right.value}

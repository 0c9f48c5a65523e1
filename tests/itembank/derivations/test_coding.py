"""The coding items: two solutions pass every test, and every mutant of the first solution fails at least one."""

import copy
import re
from collections.abc import Callable
from typing import Any

import pytest

from itembank.bank import load_bank
from itembank.item import Item

ITEMS = {item.id: item for item in load_bank().items if item.dimension == "coding"}

MUTANTS: dict[str, list[tuple[str, str]]] = {
    "coding-01": [
        ("cursor = max(cursor, end)", "cursor = end"),
        (">= minimum:\n            slots", "> minimum:\n            slots"),
        ("        if start == end:\n            continue\n", ""),
        ("stop = min(start, closes)", "stop = start"),
        ("if closes - cursor >= minimum", "if closes - cursor > minimum"),
        ("sorted(busy)", "busy"),
        ("start > end:", "start >= end:"),
    ],
    "coding-02": [
        ("len(line) + 1 + len(word) <= width", "len(line) + len(word) <= width"),
        ('filter(None, paragraph.split(" "))', "paragraph.split()"),
        ('if line or not paragraph.strip(" "):', "if line:"),
        ("            if line:\n                lines.append(line)\n            while", "            while"),
        ('if line or not paragraph.strip(" "):', "if line or not paragraph:"),
        ("<= width:\n                line +=", "< width:\n                line +="),
    ],
    "coding-03": [
        ('unicodedata.normalize("NFC", raw)', "raw"),
        ('in "WF"', 'in "W"'),
        ("if unicodedata.combining(char) == 0:", "if True:"),
        ('.rstrip(" ") + "\\u2026"', ' + "\\u2026"'),
        ("label.casefold() in taken", "label in {r for r in result}"),
        ("_cut(name, limit - len(suffix)) + suffix", "_cut(name, limit)[: limit - len(suffix)] + suffix"),
        ("if _width(name) <= limit:", "if len(name) <= limit:"),
        ("if limit < 4", "if limit < 3"),
        ('or "?"', ""),
        ("taken.add(label.casefold())", "taken.add(name.casefold())"),
        ("limit - 1:", "limit:"),
        (".casefold() in taken", ".lower() in taken"),
    ],
    "coding-04": [
        ("unicodedata.combining(char) != 0\n", "False\n"),
        ('or previous == "\\u200D"\n', "or False\n"),
        ("flags % 2 == 1", "flags > 0"),
        ("flags + 1 if regional else 0", "flags + regional"),
        ("if size > limit", "if size >= limit"),
        ('(previous == "\\r" and char == "\\n")', '(previous in "\\r\\n" and char in "\\r\\n")'),
        ('char in "\\uFE0F\\u200D"', 'char in "\\uFE0F"'),
        ('len(char.encode("utf-8"))', "1"),
    ],
    "coding-05": [
        ("undo = undo[-4:]", "pass"),
        ("undo = undo[-4:]", "undo = undo[-5:]"),
        ("steps += 1 if steps < 0 else -1", "pass"),
        ("redo = []\n        if", "pass\n        if"),
        ("changed = new[0] != text", "changed = new != state"),
        ('(name == "paste" and clip)', 'name == "paste"'),
        ("None if anchor is None else low)", "None)"),
        ("low + len(piece), None if", "high, None if"),
        ('before = "type" if changed else None', "before = kind if changed else None"),
        ('kind = "back" if low == high else None', 'kind = "back"'),
        ("low if low < high else max", "max"),
        ('{" ", "\\n"} & set(piece)', '{" "} & set(piece)'),
        (
            '            before = None\n            continue\n        elif name == "redo"',
            '            continue\n        elif name == "redo"',
        ),
    ],
    "coding-06": [
        ("t - customers[i][0] > customers[i][3]", "t - customers[i][0] >= customers[i][3]"),
        ("(served[k], k)", "k"),
        ("t - arrival > 15", "t - arrival >= 15"),
        ("t + length <= closes + 5", "t + length <= closes"),
        ("t - arrival >= 10", "t - arrival > 10"),
        ('not long and kind != "p"', 'kind != "p"'),
        ("t + length + (2 if", "t + length + (1 if"),
        ('if last[k] == "p" and', "if False and"),
        ('if last[k] == "p" and any(customers[c[3]][2] != "p" for c in choice)', 'if last[k] == "p"'),
        ("opens <= t < closes", "opens <= t <= closes"),
        ("t + length <= closes + 5", "t + minutes <= closes + 5"),
    ],
    "coding-07": [
        ('.strip(" ") or None', ".strip() or None"),
        ('value = text[start:position].strip(" ") or None', 'value = text[start:position].strip(" ")'),
        (
            '                    if text[position] == "\'":\n                        raise ValueError("stray quote")\n',
            "",
        ),
        ('if text[first] == "#"', 'if text[position] == "#"'),
        ("if position < length and not line_end(position):", "if False:"),
        ("        if line_end(first):\n            position = first + line_end(first)\n            continue\n", ""),
        (
            'return 1 if text.startswith("\\n", at) else 0',
            'return 1 if text[at:at + 1] in ("\\n", "\\r") and at < length else 0',
        ),
        ('        if result and len(result[0]) != len(row):\n            raise ValueError("number of fields")\n', ""),
    ],
    "coding-08": [
        ('return (0, "")', 'return (4, "")'),
        ('r"([0-9]+)"', 'r"(\\d+)"'),
        ("if char.isascii() and char.isalpha()", "if char.isalpha()"),
        ("return (2, char.lower())", "return (2, char)"),
        ("return (result, len(label), label)", "return (result, label)"),
        ('+ [(1, "")])', '+ [(-1, "")])'),
        ('result.append((len(piece.lstrip("0")), piece.lstrip("0")))', "result.append(float(piece))"),
        ("return (result, len(label), label)", "return (result, -len(label), label)"),
    ],
    "coding-09": [
        ("(-parts[i][1], -weights[i], i)", "(-parts[i][1], i)"),
        ("(-parts[i][1], -weights[i], i)", "(-weights[i], i)"),
        ("sign * (quotient + (i in extra))", "sign * quotient + (i in extra)"),
        ("divmod(abs(total) * weight, whole)", "divmod(int(abs(total) * (weight / whole)) * whole, whole)"),
        ("any(weight < 0 for weight in weights) or sum(weights) == 0", "sum(weights) == 0"),
        ("any(weight < 0 for weight in weights) or sum(weights) == 0", "any(weight < 0 for weight in weights)"),
        ("-parts[i][1]", "parts[i][1]"),
    ],
    "coding-10": [
        ("hours % 24:02d", "hours:02d"),
        ("{hours % 24:02d}", "{hours % 24}"),
        ("{rest:02d}", "{rest}"),
        ("divmod(minutes, 60)", "divmod(abs(minutes), 60)"),
        ("hours % 24", "hours % 12"),
        ("divmod(minutes, 60)", "(int(minutes / 60), minutes % 60)"),
    ],
}
"""What is replaced, once, in the solution that the first `accept` ends with."""


def _solution(item: Item, number: int) -> str:
    return str(re.findall(r"^```python\n(.*?)^```", item.accept[number], re.MULTILINE | re.DOTALL)[-1])


def _function(code: str, entry: str) -> Callable[..., Any]:
    names: dict[str, Any] = {}
    exec(compile(code, entry, "exec"), names)
    function: Callable[..., Any] = names[entry]
    return function


def _equal(left: Any, right: Any) -> bool:
    if isinstance(left, list | tuple) and isinstance(right, list | tuple):
        return len(left) == len(right) and all(map(_equal, left, right))
    return left == right and isinstance(left, bool) == isinstance(right, bool)


def _failures(code: str, item: Item) -> list[Any]:
    function = _function(code, item.expect["entry"])
    failed = []
    for test in item.expect["tests"]:
        try:
            result = function(*copy.deepcopy(test["args"]))
            right = "returns" in test and _equal(result, test["returns"])
        except Exception as error:  # noqa: BLE001 - whatever a mutant raises is its result
            right = test.get("raises") in [kind.__name__ for kind in type(error).__mro__]
        if not right:
            failed.append(test)
    return failed


@pytest.mark.parametrize("item", ITEMS.values(), ids=ITEMS)
def test_both_solutions_pass(item: Item) -> None:
    first, second = _solution(item, 0), _solution(item, 1)
    assert first != second
    assert _failures(first, item) == []
    assert _failures(second, item) == []


@pytest.mark.parametrize(("name", "old", "new"), [(name, *pair) for name, pairs in MUTANTS.items() for pair in pairs])
def test_every_mutant_is_killed(name: str, old: str, new: str) -> None:
    solution = _solution(ITEMS[name], 0)
    assert old in solution
    assert _failures(solution.replace(old, new, 1), ITEMS[name])


@pytest.mark.parametrize("item", ITEMS.values(), ids=ITEMS)
def test_mutants_and_tests_are_enough(item: Item) -> None:
    assert len(MUTANTS[item.id]) >= 4
    assert len(item.expect["tests"]) >= 8


@pytest.mark.parametrize("item", ITEMS.values(), ids=ITEMS)
def test_every_test_tells_the_rejected_from_nothing(item: Item) -> None:
    """No constant passes: the tests expect at least three different outcomes."""
    assert len({repr(test.get("returns", "raises")) for test in item.expect["tests"]}) >= 3

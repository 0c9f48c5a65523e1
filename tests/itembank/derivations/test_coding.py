"""The coding items: two solutions pass every test, and every mutant of the first solution fails at least one."""

import copy
import re
from collections.abc import Callable
from itertools import pairwise
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
        ("(-?)", "([-+]?) ?"),
        ("if any(b <= a", "if any(b < a"),
        ("[0-9]+[wdhms] ?)*", "[0-9]+[wdhms] *)*"),
        ("SHAPE.fullmatch(text)", "SHAPE.match(text)"),
        ("Fraction(number) * UNITS[unit]", "Fraction(float(number)) * UNITS[unit]"),
        ("(-?)((?:[0-9]+", "(-?)((?:[0-9]+(?:\\.[0-9]+)?"),
        ('    if text == "0":\n        return 0\n', ""),
        ('[wdhms])")', '[wdhms])", re.IGNORECASE)'),
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
        ("_below(high + 1)", "_below(high)"),
        ("(None, 0) if last is None and d == 0 else", "(None, 0) if d == 0 and rest == 0 else"),
        ("(None, 0) if last is None and d == 0 else", ""),
        ("            if last == d:\n                return\n", ""),
        ("tight = None if last == digit else", "tight ="),
        ("for d in range(10):", "for d in range(1, 10):"),
    ],
    "coding-06": [
        ("heap = [(0, 0, [start], False)]", "heap = [(0, 0, [start], True)]"),
        (
            "heapq.heappush(heap, (cost, hops + 1, path + [other], True))",
            "heapq.heappush(heap, (cost + price // 2, hops + 1, path + [other], True))",
        ),
        ("(town, used) in done", "(town, used) in done or (town, not used) in done"),
        ("(cost + price, hops + 1, path + [other], used)", "(cost + price, 0, path + [other], used)"),
        ("    return None", "    return []"),
        ("for a, b, price in roads:", "for a, b, price in {(a, b): (a, b, price) for a, b, price in roads}.values():"),
        ("(cost, hops + 1, path + [other], True)", "(cost, -hops, path + [other], True)"),
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


def test_small_digit_counts_by_brute_force() -> None:
    for test in ITEMS["coding-05"].expect["tests"]:
        low, high = test["args"]
        if high < 10**6:
            texts = [str(n) for n in range(low, high + 1) if sum(map(int, str(n))) % 7 == 0]
            fitting = [t for t in texts if all(a != b for a, b in pairwise(t))]
            assert test["returns"] == len(fitting)


def _simple_trips(roads: list[Any], towns: list[str], prices: list[int], goal: str) -> list[Any]:
    if towns[-1] == goal:
        return [(sum(prices) - max(prices, default=0), len(prices), towns)]
    onward = [(b, price) for a, b, price in roads if a == towns[-1] and b not in towns]
    return [trip for b, price in onward for trip in _simple_trips(roads, [*towns, b], [*prices, price], goal)]


def test_cheapest_trips_by_enumeration() -> None:
    for test in ITEMS["coding-06"].expect["tests"]:
        roads, start, goal = test["args"]
        if len(roads) > 40:  # a ladder of parallel roads: the cheaper one of each step, and the dearest step is free
            steps: dict[str, int] = {}
            for a, _, price in roads:
                steps[a] = min(price, steps.get(a, price))
            assert test["returns"] == [sum(steps.values()) - max(steps.values()), [*steps, goal]]
            continue
        trips = _simple_trips(roads, [start], [], goal)
        assert test["returns"] == ([min(trips)[0], min(trips)[2]] if trips else None)

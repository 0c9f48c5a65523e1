"""The gold answers of the reasoning items, found by exhaustive search or by simulation."""

import re
from collections import Counter
from collections.abc import Callable, Iterator
from itertools import permutations, product
from math import ceil, factorial, isqrt
from typing import Any

import pytest

from itembank.bank import load_bank


@pytest.fixture(scope="module")
def expect() -> Callable[[int], Any]:
    items = load_bank().by_id
    return lambda number: items[f"reasoning-{number:02d}"].expect


@pytest.fixture(scope="module")
def prompt() -> Callable[[int], str]:
    items = load_bank().by_id
    return lambda number: str(items[f"reasoning-{number:02d}"].messages[0]["content"])


def test_ages_have_exactly_one_order(expect: Callable[[int], Any]) -> None:
    found = []
    for order in permutations(["Ana", "Ben", "Cem", "Dita", "Eli"]):
        rank = {name: position for position, name in enumerate(order)}
        if rank["Eli"] < rank["Ana"] < rank["Dita"] and rank["Cem"] == 4 and rank["Ben"] < rank["Eli"]:
            found.append(list(order))
    assert found == [expect(1)["values"]]


def _exchange(row: str, first: int, second: int) -> str:
    """The row with the cards at two positions, counted from 1, exchanged."""
    pair = row[first - 1] + row[second - 1]
    return row.translate(str.maketrans(pair, pair[::-1]))


def _one_pass(row: str, number: int) -> tuple[str, list[bool]]:
    row = _exchange(row, 3, 12)
    row = row[1:] + row[0] if number % 2 else row[0] + row[2:] + row[1]
    row = row[:3] + row[9:2:-1] + row[10:]
    left = row.index("E") < row.index("B")
    at = row.index("E") + 1
    row = _exchange(row, at, at + 1) if left else row[8] + row[:8] + row[9:]
    block = 3 if set("AP") & set(row[-4:]) else 4
    row = row[-block:] + row[:-block]
    vowel = row[5] in "AEO"
    row = _exchange(row, 6, 13) if vowel else _exchange(row, 1, 15)
    near = bool(re.search("F.?K|K.?F", row))
    if not near:
        row = row.replace("K", "").replace("F", "FK")
        row = re.sub("(.)(.)", r"\2\1", row)
    turned = row.index("N") < row.index("H")
    return row[::-1] if turned else row, [left, vowel, near, turned]


def test_cards_after_eight_passes(expect: Callable[[int], Any]) -> None:
    row, taken = "ABCDEFGHKLMNOPQ", []
    for number in range(1, 9):
        row, branches = _one_pass(row, number)
        taken.append(branches)
    counts = [sum(column) for column in zip(*taken, strict=True)]
    assert [*row, *map(str, counts)] == expect(2)["values"]
    assert all(3 <= count <= 5 for count in counts)


def _vell(expression: str) -> str:
    def chain(tokens: list[Any], operators: str) -> int:
        value = tokens[-1] if isinstance(tokens[-1], int) else chain(tokens[-1], "+-")
        for operator, left in zip(tokens[-2::-2], tokens[-3::-2], strict=True):
            assert operator in operators
            left = left if isinstance(left, int) else chain(left, "+-")
            value = {"+": left + value, "-": left - value, "*": left * value}[operator]
        return int(value)

    factors: list[Any] = []
    for part in expression.split(" * "):
        words = part.split()
        factors += [[int(w[::-1]) if w.isdigit() else w for w in words], "*"]
    value = chain(factors[:-1], "*")
    return "-" * (value < 0) + str(abs(value))[::-1]


def test_vell_arithmetic(expect: Callable[[int], Any]) -> None:
    lines = ["02 - 8 - 3 * 21 + 1", "61 - 9 + 5 - 01 * 3 * 4 - 7", "001 - 52 - 03 - 5 * 2 + 2 + 21"]
    assert [_vell(line) for line in lines] == expect(3)["values"]
    assert int(expect(3)["values"][1].lstrip("-")[::-1]) == 108


def _neighbours(one: int, other: int) -> bool:
    return abs(one - other) == 1 and one + other != 7


def _seated(seat: dict[str, int]) -> bool:
    a, b, c, d, e, f, g = (seat[name] for name in "ABCDEFG")
    return (
        not _neighbours(a, b)
        and c < d
        and f - e in (2, 3)
        and g in (1, 4, 6)
        and not _neighbours(g, a)
        and not (b in (1, 7) and _neighbours(c, d))
        and not (_neighbours(b, d) and g < b)
        and not (a <= 3 and f <= 4)
    )


def _placings() -> Iterator[dict[str, int]]:
    """Arrangements person by person: E with F first, then G, A, B, and C and D take what is left in order."""
    sides = [{1, 2, 3}, {4, 5, 6, 7}]
    beside = {s: {n for side in sides if s in side for n in side & {s - 1, s + 1}} for s in range(1, 8)}
    for e, gap in product(range(1, 8), (2, 3)):
        for g in {1, 4, 6} - {e, e + gap} if e + gap <= 7 else set():
            for a in set(range(1, 8)) - {e, e + gap, g} - beside[g]:
                if a <= 3 and e + gap < 5:
                    continue
                for b in set(range(1, 8)) - {e, e + gap, g, a} - beside[a]:
                    c, d = sorted(set(range(1, 8)) - {e, e + gap, g, a, b})
                    if (b in (1, 7) and d in beside[c]) or (d in beside[b] and g < b):
                        continue
                    yield {"A": a, "B": b, "C": c, "D": d, "E": e, "F": e + gap, "G": g}


def test_seats_by_all_orders_and_by_placing(expect: Callable[[int], Any]) -> None:
    tried = [dict(zip(order, range(1, 8), strict=True)) for order in permutations("ABCDEFG")]
    found = [seat for seat in tried if _seated(seat)]
    assert {frozenset(s.items()) for s in found} == {frozenset(s.items()) for s in _placings()}
    assert [str(sum(seat["B"] == place for seat in found)) for place in range(1, 8)] == expect(4)["values"]


def test_islanders_have_exactly_one_reading(expect: Callable[[int], Any]) -> None:
    found = []
    for kinds in product("WLM", repeat=5):
        anna, bruno, clara, dirk, eva = kinds
        number = Counter(kinds)
        said = [
            (clara != dirk, number["M"] == 2),
            (number["L"] > number["M"], eva != bruno),
            (number["W"] > number["L"], anna != eva),
            (anna != "L", bruno == eva),
            (clara == "M", clara != "W"),
        ]
        if all(sum(pair) == {"W": 2, "L": 0, "M": 1}[kind] for kind, pair in zip(kinds, said, strict=True)):
            found.append(list(kinds))
    assert found == [expect(5)["values"]]


def _may_start(machine: str, minutes: int, now: int) -> bool:
    inside = any(now < end and now + minutes > begin for begin, end in ((14, 18), (31, 35)))
    return machine != "Q" or (minutes <= 6 and not inside)


def _workshop(jobs: dict[str, tuple[int, str]]) -> dict[str, str]:
    """From what the finished jobs set free: a job leaves `waits` for `ready`, and `ready` when it starts."""
    waits = {job: set(after) for job, (_, after) in jobs.items()}
    ready = {job: 0 for job, after in waits.items() if not after}
    free, result, ends = dict.fromkeys("PQR", 0), dict[str, str](), dict[str, int]()
    for now in range(200):
        for job in [j for j, end in ends.items() if end == now]:
            for other in [o for o, after in waits.items() if job in after]:
                waits[other].remove(job)
                if not waits[other]:
                    ready[other] = now
        for machine in [m for m in "PQR" if free[m] <= now]:
            fitting = [(ready[j], j) for j in ready if _may_start(machine, jobs[j][0], now)]
            if not fitting:
                continue
            ripe = [pair for pair in fitting if pair[0] + 5 <= now]
            job = min(ripe)[1] if ripe else min((-jobs[j][0], j) for _, j in fitting)[1]
            del ready[job]
            ends[job] = now + (ceil(jobs[job][0] * 1.5) if machine == "R" else jobs[job][0])
            free[machine] = ends[job] + 2 * (machine == "P")
            result[job] = f"{machine}{ends[job]}"
    return result


def test_workshop_simulation(prompt: Callable[[int], str], expect: Callable[[int], Any]) -> None:
    rows = re.findall(r"^\| (\w) \| (\d+) \|([\w ]*)\|$", prompt(6), re.MULTILINE)
    jobs = {job: (int(minutes), after.replace("and", "").replace(" ", "")) for job, minutes, after in rows}
    assert "".join(jobs) == "abcdefghijklmnopqrst"
    result = _workshop(jobs)
    assert [result[job] for job in sorted(jobs)] == expect(6)["values"]


def _prime(n: int) -> bool:
    return n > 1 and all(n % d for d in range(2, isqrt(n) + 1))


def test_first_counterexamples(expect: Callable[[int], Any]) -> None:
    claims: list[tuple[int, int, Callable[[int], bool]]] = [
        (1, 100, lambda n: _prime(3 * n * n + 3 * n + 23)),
        (1, 2000, lambda n: (n**5 - n) % 30 == 0),
        (1, 8, lambda n: _prime(factorial(n) + 1) or isqrt(factorial(n) + 1) ** 2 == factorial(n) + 1),
        (2, 100, lambda n: (3**n - 3) % n != 0 or _prime(n)),
        (1, 100, lambda n: sum(map(int, str(11 * n))) % 2 == 0),
        (2, 2000, lambda n: (n * n - 2 * n + 2) * (n * n + 2 * n + 2) == n**4 + 4 and n * n - 2 * n + 2 > 1),
    ]
    answers = []
    for first, last, holds in claims:
        refuting = [n for n in range(first, last) if not holds(n)]
        answers.append(str(refuting[0]) if refuting else "cierta")
    assert answers == expect(7)["values"]


def test_house_has_exactly_one_arrangement(expect: Callable[[int], Any]) -> None:
    found = []
    for people in permutations(["青木", "石田", "上野", "江口", "小川"]):
        for instruments in permutations(["ピアノ", "フルート", "チェロ", "太鼓", "琴"]):
            floor = {name: level for level, name in enumerate(people, 1)}
            plays = {name: level for level, name in enumerate(instruments, 1)}
            if (
                floor["青木"] == plays["琴"] + 2
                and plays["チェロ"] == floor["青木"] + 1
                and plays["チェロ"] % 2 == 0
                and floor["石田"] not in (plays["ピアノ"], plays["太鼓"])
                and abs(floor["上野"] - floor["江口"]) != 1
                and 5 > plays["フルート"] > floor["小川"]
                and plays["太鼓"] == floor["石田"] - 1
                and floor["江口"] not in (1, 5)
            ):
                found.append([f"{p}={i}" for p, i in zip(people, instruments, strict=True)])
    assert found == [expect(8)["values"]]

"""The gold answers of the reasoning items, found by exhaustive search or by simulation."""

from collections import Counter
from collections.abc import Callable
from fractions import Fraction
from itertools import permutations, product
from math import comb, factorial, isqrt
from typing import Any

import pytest

from itembank.bank import load_bank


@pytest.fixture(scope="module")
def expect() -> Callable[[int], Any]:
    items = load_bank().by_id
    return lambda number: items[f"reasoning-{number:02d}"].expect


def test_ages_have_exactly_one_order(expect: Callable[[int], Any]) -> None:
    found = []
    for order in permutations(["Ana", "Ben", "Cem", "Dita", "Eli"]):
        rank = {name: position for position, name in enumerate(order)}
        if rank["Eli"] < rank["Ana"] < rank["Dita"] and rank["Cem"] == 4 and rank["Ben"] < rank["Eli"]:
            found.append(list(order))
    assert found == [expect(1)["values"]]


def _one_pass(row: str) -> str:
    row = row[0] + row[6] + row[2:6] + row[1] + row[7:]
    row = row[1:] + row[0]
    row = row[:2] + row[2:6][::-1] + row[6:]
    moved = row[4] + row[:4] + row[5:]
    row = row.translate(str.maketrans("EK", "KE")) if row.index("E") < row.index("B") else moved
    row = row[-3:] + row[:-3]
    first, second = (3, 7) if row[3] in "AE" else (0, 8)
    row = row.translate(str.maketrans(row[first] + row[second], row[second] + row[first]))
    row = row.replace("B", "").replace("F", "FB")
    return "".join(row[i + 1] + row[i] for i in range(0, 8, 2)) + row[8]


def test_cards_after_three_passes(expect: Callable[[int], Any]) -> None:
    row = "ABCDEFGHK"
    for _ in range(3):
        row = _one_pass(row)
    assert list(row) == expect(2)["values"]


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


def test_socks_by_sequences_and_by_counting(expect: Callable[[int], Any]) -> None:
    socks = "bbbbbgggww"
    stopped: Counter[bool] = Counter()
    for sequence, ways in Counter(map("".join, set(permutations(socks, 5)))).items():
        weight = ways
        left = Counter(socks)
        for sock in sequence:
            weight *= left[sock]
            left[sock] -= 1
        pairs = [sum(n // 2 for n in Counter(sequence[:k]).values()) for k in (4, 5)]
        if pairs == [1, 2]:
            stopped[max(Counter(sequence).values()) >= 4] += weight
    assert Fraction(stopped[True], stopped.total()) == Fraction(expect(4)["value"])
    # Second route: the hand after four draws, then the fifth sock. Same colour: three black and one other, then black.
    same = Fraction(comb(5, 3) * 5, comb(10, 4)) * Fraction(2, 6)
    assert same == Fraction(stopped[True], factorial(10) // factorial(5))


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


def test_workshop_simulation(expect: Callable[[int], Any]) -> None:
    minutes = dict(zip("abcdefghi", (5, 3, 6, 4, 2, 7, 3, 4, 5), strict=True))
    after = {"c": "a", "d": "b", "e": "b", "f": "ad", "g": "e", "h": "cg", "i": "d"}
    finished: dict[str, int] = {}
    free = {"P": 0, "Q": 0}
    for now in range(100):
        for machine in "PQ":
            if free[machine] > now:
                continue
            ready = [
                job
                for job in minutes
                if job not in finished and all(finished.get(other, 999) <= now for other in after.get(job, ""))
            ]
            if machine == "Q":
                ready = [j for j in ready if minutes[j] <= 6 and (now >= 18 or now + minutes[j] <= 14)]
            if ready:
                job = min(ready, key=lambda name: (-minutes[name], name))
                finished[job] = now + minutes[job]
                free[machine] = finished[job] + 2 * (machine == "P")
    assert [str(finished[job]) for job in sorted(minutes)] == expect(6)["values"]


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

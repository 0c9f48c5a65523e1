"""The gold answers of the mathematics items, each along a second route and checked by number."""

from collections.abc import Callable
from fractions import Fraction
from functools import reduce
from itertools import product
from math import comb, gcd
from typing import Any

import mpmath
import pytest
import sympy

from itembank.bank import load_bank

x = sympy.Symbol("x")


@pytest.fixture(scope="module")
def gold() -> Callable[[int], str]:
    items = load_bank().by_id
    return lambda number: str(items[f"mathematics-{number:02d}"].expect["value"])


def _read(text: str) -> Any:
    return sympy.sympify(text, rational=True)


def _coverings(free: frozenset[tuple[int, int]]) -> int:
    if not free:
        return 1
    row, column = min(free)
    rest = free - {(row, column)}
    return sum(_coverings(rest - {other}) for other in ((row, column + 1), (row + 1, column)) if other in rest)


def test_dominoes_by_first_square_and_by_profile(gold: Callable[[int], str]) -> None:
    squares = [(row, column) for row in range(1, 6) for column in range(1, 7)]
    cut = {(2, 3), (4, 4)}
    assert _coverings(frozenset(squares) - cut) == int(gold(1))
    assert _coverings(frozenset(squares)) == 1183
    # Profile: bit c - 1 is set where the next square to be visited in column c is covered already.
    profiles = {0: 1}
    for row, column in squares:
        bit, following = 1 << (column - 1), dict[int, int]()

        def add(profile: int, ways: int, following: dict[int, int] = following) -> None:
            following[profile] = following.get(profile, 0) + ways

        for profile, ways in profiles.items():
            if (row, column) in cut:
                if not profile & bit:
                    add(profile, ways)
            elif profile & bit:
                add(profile & ~bit, ways)
            else:
                add(profile | bit, ways)
                if column < 6 and not profile & (bit << 1) and (row, column + 1) not in cut:
                    add(profile | (bit << 1), ways)
        profiles = following
    assert profiles[0] == int(gold(1))


def test_integral_by_quadrature_and_by_fourier_coefficients(gold: Callable[[int], str]) -> None:
    with mpmath.workdps(30):
        number = mpmath.quad(
            lambda t: (t + mpmath.cos(3 * t)) * mpmath.log(5 - 4 * mpmath.cos(t)), [0, 3, 2 * mpmath.pi]
        )
        assert mpmath.almosteq(number, mpmath.mpf(str(sympy.N(_read(gold(2)), 30))), 1e-24)
    # ln(5 - 4 cos t) = ln 4 + ln|1 - e^(it)/2|^2, whose k-th cosine coefficient is -2 (1/2)^k / k.
    third = -2 * sympy.Rational(1, 2) ** 3 / 3 * sympy.pi
    assert sympy.simplify(sympy.pi * 2 * sympy.pi * sympy.log(4) + third - _read(gold(2))) == 0


def test_congruence_by_search_and_by_prime_powers(gold: Callable[[int], str]) -> None:
    solutions = [n for n in range(10080) if (n**4 - n**2) % 10080 == 0]
    assert (len(solutions), min(n for n in solutions if n > 1)) == tuple(_read(gold(3)))
    parts = [sum((n**4 - n**2) % m == 0 for n in range(m)) for m in (32, 9, 5, 7)]
    assert parts == [8, 5, 3, 3]
    assert reduce(int.__mul__, parts) == len(solutions)


def _rings() -> list[tuple[int, ...]]:
    rings = [(0,), (1,), (2,)]
    for _ in range(11):
        rings = [(*r, c) for r in rings for c in range(3) if r[-1] != c and r.count(c) < 4]
    return [r for r in rings if r[0] != r[-1]]


def test_necklaces_by_orbits_and_by_burnside(gold: Callable[[int], str]) -> None:
    rings = _rings()
    turns = [lambda r, k=k: r[k:] + r[:k] for k in range(12)]
    symmetries = turns + [lambda r, t=t: t(r)[::-1] for t in turns]
    assert len({min(s(r) for s in symmetries) for r in rings}) == int(gold(4))
    assert sum(s(r) == r for r in rings for s in symmetries) == 24 * int(gold(4))


def test_least_right_inverse_is_orthogonal_to_the_kernel(gold: Callable[[int], str]) -> None:
    found = sympy.Matrix(_read(gold(5)))
    wide = sympy.Matrix([[1, 2, 0], [3, -1, 2]])
    kernel = wide.nullspace()
    assert wide * found == sympy.eye(2)
    assert len(kernel) == 1
    assert kernel[0].T * found == sympy.zeros(1, 2)


def test_disphenoid_by_cayley_menger_and_coordinates(gold: Callable[[int], str]) -> None:
    volume, inner, outer = _read(gold(6))
    squares = {(0, 1): 25, (2, 3): 25, (0, 2): 36, (1, 3): 36, (0, 3): 49, (1, 2): 49}
    menger = sympy.ones(5, 5) - sympy.eye(5)
    for (i, j), square in squares.items():
        menger[i, j] = menger[j, i] = square
    assert sympy.simplify(volume**2 - menger.det() / 288) == 0
    semi = sympy.Rational(5 + 6 + 7, 2)
    face = sympy.sqrt(semi * (semi - 5) * (semi - 6) * (semi - 7))
    assert sympy.simplify(3 * volume / (4 * face) - inner) == 0
    box = [sympy.sqrt(s) for s in (6, 19, 30)]
    corners = [
        sympy.Matrix([s * c / 2 for s, c in zip(signs, box, strict=True)]) for signs in product((1, -1), repeat=3)
    ]
    apexes = [c for c in corners if sympy.prod(c) > 0]
    lengths = sorted((apexes[i] - apexes[j]).norm() for i in range(4) for j in range(i))
    assert lengths == [5, 5, 6, 6, 7, 7]
    assert all(sympy.simplify(a.norm() - outer) == 0 for a in apexes)


def test_inequalities_by_solver_and_on_a_grid(gold: Callable[[int], str]) -> None:
    assert gold(7) == "(-3, -1) U [sqrt(10)/2, 3)"
    bound = sympy.sqrt(10) / 2
    stated = sympy.Union(sympy.Interval.open(-3, -1), sympy.Interval.Ropen(bound, 3))
    real = sympy.Symbol("real", real=True)
    left = sympy.Interval.open(-3, -1)  # the quotient is at most 0 there, the right side at least 0
    right = sympy.solveset((real**2 - 4) ** 2 <= (real**2 - 1) ** 2, real, sympy.Interval.open(-1, 3))
    assert sympy.Union(left, right) == stated
    for k in range(-5000, 5000):
        point = Fraction(k, 1000)
        if point != -1:
            holds = abs(point**2 - 4) / (point + 1) <= abs(point - 1) and point**2 - abs(point) < 6
            assert holds == (-3 < point < -1 or (2 * point**2 >= 5 and 0 < point < 3))


def test_coefficient_by_convolution_and_by_evaluation(gold: Callable[[int], str]) -> None:
    power = [1]
    for _ in range(6):
        power = [
            sum(power[i] * c for i in range(len(power)) if 0 <= (j := k - i) < 4 for c in [(2, -3, 1, 4)[j]])
            for k in range(len(power) + 3)
        ]
    assert power[9] == int(gold(8))
    # Kronecker: at a base far above twice every coefficient the digits are the coefficients.
    base = 10**12
    shifted = (2 - 3 * base + base**2 + 4 * base**3) ** 6 + sum(base // 2 * base**k for k in range(19))
    assert shifted // base**9 % base - base // 2 == int(gold(8))


def test_rising_triple_by_states_and_by_clusters(gold: Callable[[int], str]) -> None:
    # Probability that no triple has risen after n throws, by counting; their sum is the expectation.
    z = Fraction(1, 6)
    series = 1 / (1 - 6 * z + comb(6, 3) * z**3 - comb(6, 4) * z**4 + comb(6, 6) * z**6)
    assert series == Fraction(gold(9))
    assert gcd(*map(int, gold(9).split("/"))) == 1
    alive = {(v, 1): Fraction(1, 6) for v in range(6)}
    expectation = Fraction(1)
    for _ in range(200):
        expectation += sum(alive.values())
        following: dict[tuple[int, int], Fraction] = {}
        for (last, run), chance in alive.items():
            for value in range(6):
                if value <= last or run < 2:
                    state = (value, run + 1 if value > last else 1)
                    following[state] = following.get(state, Fraction(0)) + chance / 6
        alive = following
    assert abs(float(expectation) - float(series)) < 1e-6


def test_bisector_by_distances_and_by_points(gold: Callable[[int], str]) -> None:
    left, right = gold(10).split(" = ")
    y = sympy.Symbol("y")
    difference = (x - 1) ** 2 + (y - 2) ** 2 - (x - 5) ** 2 - (y - 4) ** 2
    assert sympy.expand(difference - 4 * (_read(left) - int(right))) == 0
    for point in ((3, 3), (3 - 1, 3 + 2)):
        assert _read(left).subs({"x": point[0], "y": point[1]}) == int(right)

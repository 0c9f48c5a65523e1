"""The gold answers of the mathematics items, each along a second route and checked by number."""

from collections.abc import Callable
from fractions import Fraction
from functools import cache, reduce
from itertools import product, zip_longest
from math import comb, gcd, isqrt
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


@cache
def _coverings(free: frozenset[tuple[int, int]]) -> tuple[int, int]:
    """How many coverings there are, and how many upright dominoes they have together."""
    if not free:
        return 1, 0
    column, row = min((column, row) for row, column in free)
    rest = free - {(row, column)}
    number = upright = 0
    for other in rest & {(row + 1, column), (row, column + 1)}:
        ways, sum_upright = _coverings(rest - {other})
        number += ways
        upright += sum_upright + ways * (other[1] == column)
    return number, upright


def test_dominoes_by_first_square_and_by_profile(gold: Callable[[int], str]) -> None:
    squares = [(row, column) for row in range(1, 6) for column in range(1, 9)]
    cut = {(2, 3), (4, 4)}
    assert _coverings(frozenset(squares) - cut) == tuple(_read(gold(1)))
    # Profile: bit c - 1 is set where the next square to be visited in column c is covered already. Its ways are a
    # polynomial in u, the mark of an upright domino; the derivative at 1 is the sum of the upright dominoes.
    profiles = {0: [1]}
    for row, column in squares:
        bit, following = 1 << (column - 1), dict[int, list[int]]()

        def add(profile: int, ways: list[int], following: dict[int, list[int]] = following) -> None:
            old = following.get(profile, [])
            following[profile] = [a + b for a, b in zip_longest(old, ways, fillvalue=0)]

        for profile, ways in profiles.items():
            if (row, column) in cut:
                if not profile & bit:
                    add(profile, ways)
            elif profile & bit:
                add(profile & ~bit, ways)
            else:
                add(profile | bit, [0, *ways])
                if column < 8 and not profile & (bit << 1) and (row, column + 1) not in cut:
                    add(profile | (bit << 1), ways)
        profiles = following
    assert (sum(profiles[0]), sum(k * ways for k, ways in enumerate(profiles[0]))) == tuple(_read(gold(1)))


def test_integral_by_quadrature_and_by_fourier_coefficients(gold: Callable[[int], str]) -> None:
    with mpmath.workdps(30):
        number = mpmath.quad(
            lambda t: (t + mpmath.cos(3 * t)) * mpmath.log(5 - 4 * mpmath.cos(t)), [0, 3, 2 * mpmath.pi]
        )
        assert mpmath.almosteq(number, mpmath.mpf(str(sympy.N(_read(gold(2)), 30))), 1e-24)
    # ln(5 - 4 cos t) = ln 4 + ln|1 - e^(it)/2|^2, whose k-th cosine coefficient is -2 (1/2)^k / k.
    third = -2 * sympy.Rational(1, 2) ** 3 / 3 * sympy.pi
    assert sympy.simplify(sympy.pi * 2 * sympy.pi * sympy.log(4) + third - _read(gold(2))) == 0


def test_power_and_inverse_along_two_routes(gold: Callable[[int], str]) -> None:
    p = 10**7 - 9
    assert all(p % divisor for divisor in range(2, isqrt(p) + 1))
    power = 1
    for digits in ("1", "234", "567"):
        power = power**1000 * 7 ** int(digits) % p
    coefficients, rests = (0, 1), (p, 1234577)
    while rests[1]:
        quotient = rests[0] // rests[1]
        rests = rests[1], rests[0] - quotient * rests[1]
        coefficients = coefficients[1], coefficients[0] - quotient * coefficients[1]
    assert (power, coefficients[0] % p) == tuple(_read(gold(3)))
    assert tuple(_read(gold(3))) == (pow(7, 1234567, p), pow(1234577, p - 2, p))


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


def _product(left: list[int], right: list[int]) -> list[int]:
    size = len(left) + len(right) - 1
    return [sum(left[i] * right[k - i] for i in range(len(left)) if 0 <= k - i < len(right)) for k in range(size)]


def test_coefficients_by_convolution_and_by_evaluation(gold: Callable[[int], str]) -> None:
    expansion = reduce(_product, [[2, -3, 1, 4]] * 6 + [[1, 2, 0, -1, 3]] * 5)
    assert tuple(expansion[15:18]) == tuple(_read(gold(8)))
    # Kronecker: at a base far above twice every coefficient the digits are the coefficients.
    base = 10**15
    number = (2 - 3 * base + base**2 + 4 * base**3) ** 6 * (1 + 2 * base - base**3 + 3 * base**4) ** 5
    shifted = number + sum(base // 2 * base**k for k in range(39))
    assert tuple(shifted // base**k % base - base // 2 for k in (15, 16, 17)) == tuple(_read(gold(8)))


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

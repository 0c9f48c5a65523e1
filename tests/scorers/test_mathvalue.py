"""Exact values, digits, and the judge that a worker uses, here in this process."""

from fractions import Fraction
from typing import Any

import pytest
import sympy

from scorers import mathnumeric, mathworker
from scorers.mathcompare import MOST_MEMBERS, Rational, UnsettledError, equal, points
from scorers.mathforms import form
from scorers.mathgrammar import tree
from scorers.mathtokens import MathError
from scorers.mathvalue import UndefinedError, bound, exact
from scorers.mathworker import Numeric, decide, refuted
from tests.scorers.methods.math_cases import DIFFERENT, EQUAL


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("8^{2/3}", 4),
        ("(-8)^{1/3}", -2),
        ("(4/9)^{-1/2}", Fraction(3, 2)),
        ("\\sqrt{10^{400}}", 10**200),
        ("\\sqrt[3]{10^{600}}", None),
        ("\\sqrt[90]{7}", None),
        ("\\sqrt{2}", None),
        ("\\sqrt{-4}", None),
        ("root(8, -3)", None),
        ("(5/2)!", None),
        ("\\binom{5/2}{2}", None),
        ("\\binom{3}{5}", 0),
        ("sign(-3) + max(1, 2) - min(1, 2)", 0),
        ("lcm(4, 6)", 12),
        ("gcd(1/2, 3)", None),
        ("\\lfloor -1.5 \\rfloor + \\lceil 1.5 \\rceil", 0),
        ("3^{9999}\\cdot 3^{-9999}", 1),
        ("(3^{9999})^{9999 - 9970}", None),
        ("30°", None),
        ("2^{\\sqrt2}", None),
    ],
)
def test_exact_values(text: str, value: Any) -> None:
    assert exact(tree(text), {}) == value


@pytest.mark.parametrize("text", ["1/0", "0^0", "0^{-1}", "(-3)!"])
def test_there_is_no_value(text: str) -> None:
    with pytest.raises(UndefinedError):
        exact(tree(text), {})


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("\\sin \\pi", "0.0"),
        ("10^{-9000}\\pi", None),
        ("\\arccot 1 + arcsec 2", "1.83259571459405"),
        ("3!! + 0.5", "3.5"),
        ("\\lfloor \\sqrt2^2 \\rfloor + ceil(\\pi)", "6.0"),
        ("\\max(\\pi, e) - \\min(\\pi, e)", "0.423310825130748"),
        ("\\gcd(\\sqrt{4}\\sqrt{9}, 4)", "2.0"),
        ("abs(3 + 4i)", "5.0"),
        ("\\conjugate(i) + \\Re(2+i) + \\Im(2+i)", "(3.0 - 1.0j)"),
        ("root(2, \\pi)", "1.24686898890064"),
        ("\\log_2 3", "1.58496250072116"),
        ("arsinh(1)", "0.881373587019543"),
        ("\\sqrt2^{\\sqrt2}", "1.63252691943815"),
        ("\\sqrt[3]{-\\pi}", "-1.46459188756152"),
        ("\\sqrt[3]{\\pi}", "1.46459188756152"),
    ],
)
def test_digits(text: str, value: str | None) -> None:
    found = mathnumeric.value(tree(text), {}, 60)
    assert value is None or str(found) == value


@pytest.mark.parametrize("text", ["1/(\\pi-\\pi)", "oo - oo", "\\max(i, 1)", "\\gcd(\\pi, 2)", "(\\pi-\\pi)^0"])
def test_no_digits_where_there_is_no_value(text: str) -> None:
    with pytest.raises(UndefinedError):
        mathnumeric.value(tree(text), {}, 60)


@pytest.mark.parametrize(("kind", "pairs"), EQUAL.items())
def test_a_worker_finds_equal_what_is(kind: str, pairs: list[tuple[str, str]]) -> None:
    for answer, gold in pairs:
        assert decide(("digits", form(gold, kind), form(answer, kind))) is True, (answer, gold)


@pytest.mark.parametrize(("kind", "pairs"), DIFFERENT.items())
def test_a_worker_finds_different_what_is(kind: str, pairs: list[tuple[str, str]]) -> None:
    for answer, gold in pairs:
        assert decide(("proof", form(gold, kind), form(answer, kind))) is not True, (answer, gold)


def test_a_worker_says_why_there_is_no_answer() -> None:
    assert decide(("digits", form("[i, 1]", "interval"), form("[0, 1]", "interval"))) == (
        "an end of an interval is not real"
    )


def test_a_worker_finds_no_value_equal_to_none() -> None:
    assert decide(("digits", form("1/(\\pi - \\pi)", "expression"), form("\\pi", "expression"))) is False
    assert decide(("digits", form("\\sqrt{-1-x^2}", "expression"), form("i\\sqrt{1+x^2}", "expression"))) is True


def test_proof_goes_beyond_digits() -> None:
    near = tree("\\sqrt2 + 10^{-400}")
    assert Numeric(set(), 60).same(near, tree("\\sqrt2"))
    assert not Numeric(set(), 60, refuted).same(near, tree("\\sqrt2"))
    assert not refuted(tree("x"), tree("y"))
    assert not refuted(tree("oo"), tree("1"))
    assert not refuted(tree("\\lfloor 1.5 \\rfloor"), tree("2"))
    assert mathworker.sympified(tree("(-8)^{1/3} + \\sqrt{4} \\cdot i")) == 2 * sympy.I - 2
    assert refuted(tree("\\ln 2 - \\arctan 1"), tree("\\log_2 3 / \\pi"))
    assert not refuted(tree("\\sqrt{\\pi^2}"), tree("\\pi"))


def test_the_rational_judge_leaves_the_rest_to_others() -> None:
    for left, right in (("\\pi", "3"), ("3", "\\pi")):
        with pytest.raises(UnsettledError):
            Rational(set()).same(tree(left), tree(right))
    with pytest.raises(UnsettledError):
        Rational(set()).ordered([tree("\\pi")])
    assert not Rational({"x"}).same(tree("1/(x-x)"), tree("1/(x-x)"))
    assert not Rational({"x"}).proportional(tree("1/(x-x)"), tree("x"))
    assert not Numeric({"x"}, 60).proportional(tree("\\pi - \\pi + x - x"), tree("x"))


def test_points_are_always_the_same_and_first_positive() -> None:
    assert list(points({"x", "y"})) == list(points({"y", "x"}))
    first, *others = points({"x"})
    assert first["x"] > 0 and any(point["x"] < 0 for point in others)


def test_forms_of_other_kinds_or_sizes_differ() -> None:
    judge = Rational(set())
    assert not equal(form("1", "expression"), form("{1}", "set"), judge)
    with pytest.raises(MathError, match="members"):
        equal(form("{1}", "set"), ("set", *[("value", ("n", n, 1)) for n in range(MOST_MEMBERS + 1)]), judge)
    with pytest.raises(MathError, match="tuples"):
        equal(form("[0,1]", "set"), form("{(1,2)}", "set"), judge)
    assert not equal(form("[a, b]", "interval"), form("[a, b)", "interval"), Rational({"a", "b"}))
    assert equal(form("(a, oo)", "interval"), form("x > a", "interval"), Rational({"a", "x"}))


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("[1, 2, 3]", "interval"),
        ("x < y + 1 < 3 < 4", "interval"),
        ("1 < 2", "interval"),
        ("[\\pm 1, 2]", "interval"),
        ("2x + 1", "equation"),
        ("5", "matrix"),
        ("[[1, 2], [3]]", "matrix"),
        ("\\{1, x > 2\\}", "set"),
    ],
)
def test_what_is_no_such_form(text: str, kind: str) -> None:
    with pytest.raises(MathError):
        form(text, kind)


def test_bounds_hold_inside_forms() -> None:
    for text, kind in (
        ("[0, 2^{99999}]", "interval"),
        ("{\\sinh(10^9)}", "set"),
        ("(1, 10^{9999} 10^{9999} 10^{99999})", "tuple"),
    ):
        with pytest.raises(MathError):
            bound(form(text, kind))
    bound(form("\\binom{n}{2} + e^x + 2^{1/3} + 1^{500}", "expression"))
    assert mathworker.PROVABLE


@pytest.mark.parametrize(
    ("text", "kind", "same"),
    [
        ("1 < x > 2", "interval", "(2, \\infty)"),
        ("x < 1 or x > 3", "set", "(-\\infty, 1) \\cup (3, \\infty)"),
    ],
)
def test_inequalities_that_bound_one_side_twice_or_in_parts(text: str, kind: str, same: str) -> None:
    assert equal(form(text, kind), form(same, "interval"), Rational(set()))
    assert not equal(form(text, kind), form("(1, \\infty)", "interval"), Rational(set()))

"""The grammar on any text: never another exception, never deep, and what is printed is read back."""

from contextlib import suppress
from fractions import Fraction
from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from scorers import mathgrammar, mathlists, mathtokens
from scorers.mathforms import form
from scorers.mathgrammar import tree
from scorers.mathtokens import MathError, tokens
from scorers.mathvalue import UndefinedError, bound, exact

KINDS = ("expression", "set", "interval", "tuple", "matrix", "equation")
PARTS = r"\frac { } ^ _ ( ) [ ] | ! \sqrt \sin \ln \log_ + - * / x y e i \pi \infty 0 1 2 9 10000 999! = < \le \pm \mp"
PARTS += (
    r" \circ ° % , ; or and \cup \setminus \{ \} \in \mathbb{R} \begin{pmatrix} \end{pmatrix} & \\ \max( \gcd( \arg"
)
PARTS += (
    r" floor( \binom \text{ ½ ² \overline{3} . \operatorname{arsinh} 0.5 ^{1/3} log( root( !! lcm( \langle \rangle : ∪"
)
PIECES = st.sampled_from(sorted({*PARTS.split(" ")}))
TEXTS = st.one_of(
    st.lists(PIECES, max_size=14).map(" ".join), st.lists(PIECES, max_size=14).map("".join), st.text(max_size=40)
)


def depth(node: Any) -> int:
    return 1 + max(map(depth, node), default=0) if isinstance(node, tuple) else 0


@pytest.mark.long
@given(TEXTS, st.sampled_from(KINDS))
@settings(max_examples=1500, deadline=None)
@example("1\\frac00", "expression")
@example("{1x \\ne 0, 2}", "set")
@example("lcm()", "tuple")
def test_any_text_is_a_form_or_a_math_error(text: str, kind: str) -> None:
    try:
        found = form(text, kind)
        bound(found)
    except MathError:
        return
    assert depth(found) < 400


@pytest.mark.parametrize(
    "text", ["1+" * 999 + "1", "x" * 1999, "-" * 1999 + "1", "(1+" * 660, "2^" * 999 + "2", "5" + "!" * 999]
)
@pytest.mark.parametrize("kind", KINDS)
def test_long_texts_are_bounded(text: str, kind: str) -> None:
    with suppress(MathError):
        assert depth(form(text, kind)) < 400


EXPRESSIONS = st.recursive(
    st.integers(0, 10**30).map(str) | st.fractions(0, 99).map(lambda f: f"({f.numerator}/{f.denominator})"),
    lambda inner: st.one_of(
        st.tuples(inner, st.sampled_from("+-*"), inner).map(lambda parts: "({}{}{})".format(*parts)),
        inner.map(lambda text: f"(-{text})"),
        st.tuples(inner, st.integers(0, 3)).map(lambda pair: f"({pair[0]}^{{{pair[1]}}} + 1)"),
        st.tuples(inner, inner).map(lambda pair: "\\frac{{{}}}{{{}^2+1}}".format(*pair)),
    ),
    max_leaves=8,
)


@given(EXPRESSIONS)
@settings(max_examples=300, deadline=None)
def test_rational_arithmetic_is_python_s(text: str) -> None:
    """Python's own arithmetic on fractions is the reference; it sees the text in its own spelling."""
    spelled = text
    while "\\frac" in spelled:
        at = spelled.rindex("\\frac{")
        top, bottom, end = _groups(spelled, at + 5)
        spelled = f"{spelled[:at]}(({top})/({bottom})){spelled[end:]}"
    spelled = spelled.replace("^{", "**(").replace("}", ")").replace("^2", "**2")
    try:
        reference = eval(_fractions(spelled), {"Fraction": Fraction})
    except ZeroDivisionError:
        return
    try:
        assert exact(tree(text), {}) == reference
    except UndefinedError:
        assert "^{0}" in text


def _groups(text: str, at: int) -> tuple[str, str, int]:
    found = []
    for _ in range(2):
        level, start = 0, at
        while True:
            level += (text[at] == "{") - (text[at] == "}")
            at += 1
            if not level:
                break
        found.append(text[start + 1 : at - 1])
    return found[0], found[1], at


def _fractions(text: str) -> str:
    import re

    return re.sub(r"\d+", lambda match: f"Fraction({match.group()})", text)


SHOWN = {"+": "({} + {})", "*": "({} \\cdot {})", "/": "\\frac{{{}}}{{{}}}", "^": "{{{}}}^{{{}}}"}


def printed(node: Any) -> str:
    if node[0] == "n":
        return f"({node[1]}/{node[2]})" if node[2] != 1 else f"({node[1]})"
    if node[0] in "cv":
        return {"pi": "\\pi", "oo": "\\infty"}.get(node[1], node[1])
    if node[0] == "f":
        if node[1] == "root":
            return f"\\sqrt[{printed(node[3])}]{{{printed(node[2])}}}"
        return f"\\{node[1]}({', '.join(map(printed, node[2:]))})"
    return SHOWN[node[0]].format(*map(printed, node[1:]))


LEAVES = st.one_of(
    st.integers(0, 10**9).map(lambda n: ("n", n, 1)),
    st.sampled_from([("c", "pi"), ("c", "e"), ("c", "i"), ("v", "x"), ("v", "y_1")]),
)
TREES = st.recursive(
    LEAVES,
    lambda inner: st.one_of(
        st.tuples(st.sampled_from("+*/^"), inner, inner),
        st.tuples(st.just("f"), st.sampled_from(["sin", "ln", "exp", "arctan"]), inner),
        st.tuples(st.just("f"), st.just("root"), inner, st.just(("n", 3, 1))),
    ),
    max_leaves=12,
)


@given(TREES)
@settings(max_examples=300, deadline=None)
def test_what_is_printed_is_read_back(node: Any) -> None:
    assert tree(printed(node)) == node


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("a ? b", "means nothing"),
        ("0.\\overline{" + "3" * 1001 + "}", "more than 1000 digits"),
        ("1e10001", "exponent"),
        ("\\pm\\pm 1", "two open signs"),
        ("\\pm1\\pm1\\pm1\\pm1\\pm1", "more than 4 signs"),
        ("{1}" + "\\cup{1}" * 40, "sets in a row"),
        ("5" + "!" * 99, "signs in a row"),
        ("\\log(1,2,3)", "number of arguments"),
        ("\\begin{cases} 1 \\end{cases}", "not read"),
        ("or", "wrong place"),
        ("2 + ", "too early"),
        ("(2", "too early"),
        ("x_", "too early"),
        ("\\left(" * 80 + "1", "too deeply"),
        ("\\begin{pmatrix}1\\end{pmatrix}\\begin{pmatrix}1\\end{pmatrix}", "product of matrices"),
        ("{1,2} + 1", "missing"),
        ("1 < x", "relation"),
    ],
)
def test_refusals_say_why(text: str, sentence: str) -> None:
    with pytest.raises(MathError, match=sentence):
        bound(form(text, "expression"))


def test_indices_and_arrays() -> None:
    assert tree("x_{n+1}") == ("v", "x_n+1")
    assert tree("x_2 y") == ("*", ("v", "x_2"), ("v", "y"))
    assert tree("\\begin{array}{cc} 1 & 2 \\end{array}") == ("matrix", ((("n", 1, 1), ("n", 2, 1)),))
    assert tree("\\binom{5}{2}") == tree("binomial(5, 2)")
    assert tree("5\\frac{7}{4}") == ("*", ("n", 5, 1), ("/", ("n", 7, 1), ("n", 4, 1)))
    assert tree("x^{\\circ}") == ("deg", ("v", "x"))
    assert tokens("x", grouped=True)[-1].kind == "end"
    with pytest.raises(NotImplementedError):
        mathlists.Lists([], False).relation()
    with pytest.raises(NotImplementedError):
        mathlists.Lists([], False).sum()
    assert mathgrammar.MOST_IN_A_ROW < mathtokens.LONGEST

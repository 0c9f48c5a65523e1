import pytest

from scorers.methods import math
from scorers.methods.math import fault, score
from scorers.response import Response
from scorers.verdict import Example, Outcome, Verdict


def judged(answer: str, gold: str, kind: str = "expression") -> Verdict:
    return score({"value": gold, "kind": kind}, Response(text=f"ANSWER: {answer}"))


@pytest.mark.parametrize("example", math.EXAMPLES)
def test_examples(example: Example) -> None:
    assert isinstance(example.response, str)
    verdict = score(example.expect, Response(text=example.response))
    assert (verdict.outcome, verdict.reason) == (example.outcome, example.reason), verdict.detail


EQUAL = {
    "expression": [
        ("1\\,000", "1000"),
        ("1 000", "1000"),
        ("1,000", "1000"),
        ("1{,}000", "1000"),
        ("–5", "-5"),
        ("−5", "-5"),
        ("1.5e3", "1500"),
        ("11 5/6", "71/6"),
        ("5\\frac{3}{4}", "23/4"),
        ("-5\\frac34", "-23/4"),
        ("2½", "5/2"),
        ("74°", "74"),
        ("74^\\circ", "74^\\circ"),
        ("74°", "74^{\\circ}"),
        ("90^\\circ", "pi/2"),
        ("\\sin 30^\\circ", "1/2"),
        ("-1+exp(16)", "e^{16}-1"),
        ("pi/2", "\\pi/2"),
        ("π/2", "pi/2"),
        ("10²", "100"),
        ("33.5\\%", "0.335"),
        ("\\text{13}", "13"),
        ("0.\\overline{3}", "1/3"),
        ("0.1\\overline{6}", "1/6"),
        ("\\frac12", "0.5"),
        ("\\dfrac{\\sqrt{3}}{2}", "sqrt(3)/2"),
        ("\\frac{1}{\\sqrt2}", "sqrt(2)/2"),
        ("2\\sqrt3", "sqrt(12)"),
        ("\\sqrt[3]{-8}", "-2"),
        ("(-8)^{1/3}", "-2"),
        ("\\sqrt{5+2\\sqrt6}", "sqrt(2)+sqrt(3)"),
        ("x(x+1)", "x^2 + x"),
        ("(x+1)(x-1)", "x^2 - 1"),
        ("\\frac{x^2-1}{x-1}", "x + 1"),
        ("\\sin^2 x + \\cos^2 x", "1"),
        ("2\\sin x\\cos x", "sin(2*x)"),
        ("\\ln(x^2)", "2*ln(x)"),
        ("\\log x", "ln(x)"),
        ("\\log_2 8", "3"),
        ("\\log_{10} 1000", "3"),
        ("\\lg 100", "2"),
        ("\\arctan 1", "pi/4"),
        ("\\tan^{-1} 1", "\\pi/4"),
        ("\\binom{10}{3}", "120"),
        ("7!", "5040"),
        ("7!!", "105"),
        ("\\lfloor 3.7 \\rfloor", "3"),
        ("⌈3.2⌉", "4"),
        ("|{-3}|", "3"),
        ("\\left|x-1\\right|", "abs(1-x)"),
        ("e^{i\\pi}", "-1"),
        ("(1+i)^2", "2*i"),
        ("\\sqrt{-4}", "2i"),
        ("x = 5", "5"),
        ("f(x) = 2x", "2*x"),
        ("f(x, y) = xy", "x*y"),
        ("\\text{Area} = 5", "5"),
        ("\\frac{2}{4} = 0.5", "1/2"),
        ("\\frac13 \\approx 0.333", "1/3"),
        ("x = \\pm 3", "\\pm 3"),
        ("x = 3 \\text{ or } x = -3", "\\pm 3"),
        ("2 \\pm \\sqrt 3", "2 \\mp \\sqrt{3}"),
        ("\\infty", "oo"),
        ("2 \\cdot 10^{-7}", "2e-7"),
        ("a_1 + a_{2}", "a_2 + a_1"),
        ("\\alpha + β", "beta + alpha"),
        ("\\frac{a}{b}c", "a*c/b"),
        ("2^{3^2}", "512"),
        ("{5}", "5"),
        ("5.", "5"),
        ("$$\\boxed{5}$$", "5"),
        ("\\max(2, 3)", "3"),
        ("\\gcd(12, 18)", "6"),
        ("\\cosh x", "(e^x + e^{-x})/2"),
        ("1/2^{98}", "2^{-98}"),
        ("\\frac{\\pi}{4} + k\\pi, k \\in \\mathbb{Z}", "pi/4 + k*pi"),
        ("\\overline{AB} = 5", "5"),
        ("\\frac{dy}{dx} = 2x", "2*x"),
        ("f^{-1}(x) = \\sqrt{x}", "sqrt(x)"),
    ],
    "set": [
        ("\\{2, 1\\}", "{1, 2}"),
        ("2, 1", "{1, 2}"),
        ("1 and 2", "{1, 2}"),
        ("x = 1 or x = 2", "{1, 2}"),
        ("x = 1, x = 2", "{1, 2}"),
        ("x \\in \\{1, 2\\}", "{1, 2}"),
        ("S = \\{1, 2\\}", "{1, 2}"),
        ("\\left\\{\\frac12, \\sqrt2\\right\\}", "{sqrt(2), 0.5}"),
        ("\\pm\\sqrt2", "{-sqrt(2), sqrt(2)}"),
        ("{1, 1, 2}", "{1, 2}"),
        ("\\emptyset", "{}"),
        ("∅", "\\emptyset"),
        ("\\{\\}", "\\emptyset"),
        ("\\{(1,2),(3,4)\\}", "{(3, 4), (1, 2)}"),
        ("(1, 2)", "{(1, 2)}"),
        ("7", "{7}"),
        ("[0, 1]", "[0, 1]"),
        ("\\{x : 0 < x < 1\\}", "(0,1) \\cup \\emptyset"),
        ("\\{1\\} \\cup \\{2\\}", "{1, 2}"),
        ("1, 2, \\text{ and } 3", "{1, 2, 3}"),
        ("{1,000, 2}", "{1, 0, 2}"),
    ],
    "interval": [
        ("[0,1[", "[0, 1)"),
        ("]0,1]", "(0, 1]"),
        ("0 \\le x < 1", "[0, 1)"),
        ("1 > x ≥ 0", "[0, 1)"),
        ("x > 3", "(3, oo)"),
        ("x \\geq 3", "[3, \\infty)"),
        ("x < 1 \\text{ or } x > 2", "(-oo, 1) U (2, oo)"),
        ("x > 1 and x < 2", "(1, 2)"),
        ("(-\\infty,1)\\cup(2,\\infty)", "(2, oo) \\cup (-oo, 1)"),
        ("[0, 1] \\cup [1, 2]", "[0, 2]"),
        ("\\mathbb{R}", "(-oo, oo)"),
        ("\\mathbb{R} \\setminus \\{0\\}", "(-oo, 0) U (0, oo)"),
        ("x \\ne 0", "(-oo, 0) U (0, oo)"),
        ("x \\in \\left[-\\sqrt2, \\frac{1}{2}\\right)", "[-sqrt(2), 0.5)"),
        ("\\{x \\mid x > 0\\}", "(0, oo)"),
        ("[0,1) ∪ {1}", "[0,1]"),
        ("\\emptyset", "(1, 1)"),
        ("[a, b)", "a \\le x < b"),
        ("\\{x \\in \\mathbb{R} \\mid x > 0, x < 2\\}", "(0, 2)"),
        ("\\{x \\mid x \\in \\mathbb{R}, x \\neq 2\\}", "(-oo, 2) U (2, oo)"),
        ("(-\\infty, +\\infty)", "\\mathbb{R}"),
    ],
    "tuple": [
        ("(1, 2)", "(1, 2)"),
        ("\\langle 1, 2 \\rangle", "(1, 2)"),
        ("(x, y) = \\left(\\frac12, 2\\right)", "(0.5, 2)"),
        ("\\begin{pmatrix} 1 \\\\ 2 \\end{pmatrix}", "(1, 2)"),
        ("1, 2", "(1, 2)"),
        ("((1,2),3)", "((1, 2), 3)"),
        ("x = 1, y = 2", "(1, 2)"),
    ],
    "matrix": [
        ("\\begin{pmatrix} 1 & 2 \\\\ 3 & 4 \\end{pmatrix}", "[[1, 2], [3, 4]]"),
        ("A = \\begin{bmatrix} 1/2 & x^2 \\\\ 3 & \\sqrt4 \\\\ \\end{bmatrix}", "[[0.5, x*x], [3, 2]]"),
        ("\\left[\\begin{array}{cc} 1 & 2 \\\\ 3 & 4 \\end{array}\\right]", "[[1, 2], [3, 4]]"),
        ("Matrix([[1, 2]])", "[[1, 2]]"),
        ("\\frac12 \\begin{pmatrix} 2 & 4 \\end{pmatrix}", "[[1, 2]]"),
        ("\\begin{pmatrix} 1 & 2 \\\\[2pt] -3 & 4 \\\\[0.5em] \\end{pmatrix}", "[[1, 2], [-3, 4]]"),
    ],
    "equation": [
        ("2y = 4x + 2", "y = 2*x + 1"),
        ("y - 2x - 1 = 0", "y = 2*x + 1"),
        ("x^2 + y^2 = 4", "4 = y^2 + x^2"),
        ("\\frac{x^2}{4} + \\frac{y^2}{9} = 1", "9x^2 + 4y^2 = 36"),
        ("\\sqrt2 y = 2x", "y = sqrt(2)*x"),
    ],
}


@pytest.mark.parametrize(("kind", "answer", "gold"), [(kind, *pair) for kind, pairs in EQUAL.items() for pair in pairs])
def test_equal_both_ways(kind: str, answer: str, gold: str) -> None:
    assert fault({"value": gold, "kind": kind}) == ""
    assert judged(answer, gold, kind).outcome is Outcome.PASS, judged(answer, gold, kind).detail
    assert judged(gold, answer, kind).outcome is Outcome.PASS


DIFFERENT = {
    "expression": [
        ("4\\sqrt(2)", "4"),
        ("1/2006!", "1/2004!"),
        ("1/906!", "1/904!"),
        ("1/2^98", "1/2^99"),
        ("2e-7", "1e-7"),
        ("2 2/3", "2"),
        ("0.33333333", "1/3"),
        ("0.333", "1/3"),
        ("60\\%", "60"),
        ("1.4142135623730950488016887242096980785696718753769480731766797379907324784621", "sqrt(2)"),
        ("3.141592653589793238462643383279502884197169399375105820974944592307816406286", "pi"),
        ("\\pi + 10^{-80}", "pi"),
        ("e^{\\pi\\sqrt{163}}", "262537412640768744"),
        ("711", "11"),
        ("x + 1", "x - 1"),
        ("x^2", "x"),
        ("sqrt(x^2)", "x"),
        ("X", "x"),
        ("5", "x"),
        ("\\pm 3", "3"),
        ("\\frac{2}{4} = 0.6", "1/2"),
        ("oo", "-oo"),
        ("1 + i", "1 - i"),
        ("1/0", "0"),
        ("2 \\cdot 3", "5"),
        ("ln(2)", "0.6931471805599453"),
        ("\\text{thirteen}", "13"),
    ],
    "set": [("{1, 2}", "{1, 2, 3}"), ("{1, 3}", "{1, 2}"), ("\\{1\\}", "{}"), ("(1, 2)", "{1, 2}"), ("[1,2]", "{1,2}")],
    "interval": [("[0, 1]", "[0, 1)"), ("(0, 1)", "[0, 1)"), ("x > 0", "[0, oo)"), ("[0,1) U (1,2]", "[0, 2]")],
    "tuple": [("(2, 1)", "(1, 2)"), ("(1, 2, 3)", "(1, 2)"), ("(1, (2, 3))", "(1, 2, 3)")],
    "matrix": [
        ("[[1, 2], [3, 5]]", "[[1, 2], [3, 4]]"),
        ("[[1, 2]]", "[[1], [2]]"),
        ("[[1, 2, 3]]", "[[1, 2]]"),
    ],
    "equation": [
        ("y = 2x + 2", "y = 2x + 1"),
        ("0 = 0", "y = 2x"),
        ("x = x", "y = 2x"),
        ("1 = 2", "y = x"),
        ("xy = 2x^2", "y = 2x"),
        ("y = \\sqrt2 x + 1", "y = \\sqrt3 x + 1"),
    ],
}


@pytest.mark.parametrize(
    ("kind", "answer", "gold"), [(kind, *pair) for kind, pairs in DIFFERENT.items() for pair in pairs]
)
def test_different(kind: str, answer: str, gold: str) -> None:
    assert judged(answer, gold, kind).outcome is Outcome.FAIL


@pytest.mark.parametrize(
    "answer",
    [
        "5^{(5^{(5^{(5^5)}-4)}-5)/16}",
        "10^{10^{10}}",
        "2^{10001}",
        "1001!",
        "((9!)!)!",
        "e^{10^9}",
        "9" * 1001,
        "(" * 500 + "1" + ")" * 500,
        "x" * 3000,
        "1e99999",
        "\\frac{\\dfrac{5^{(5^{(5^{(5^5)})}-4)}-5}{16}}{1}",
        "(2^{10000})^{10000}",
        "\\binom{10^9}{10^8}",
        "2 +",
        "2 3",
        "x ] y",
        "__import__('os').system('true')",
        "\\input{/etc/passwd}",
        "1 < 2",
    ],
)
def test_what_is_too_large_or_no_mathematics_is_malformed(answer: str) -> None:
    assert judged(answer, "1").reason == "malformed"


def test_an_e_behind_a_number_may_be_either() -> None:
    assert judged("2e-1", "2*e - 1").outcome is Outcome.PASS
    assert judged("2e-1", "0.2").outcome is Outcome.PASS
    assert judged("2e-1", "e").outcome is Outcome.FAIL


def test_a_value_that_cannot_be_read_is_the_item_s_fault() -> None:
    assert fault({"value": "2 +"}) != ""
    assert fault({"value": "1/0"}) != ""
    assert fault({"value": "1/2004!"}) == ""
    with pytest.raises(ValueError, match="not read as expression"):
        judged("1", "2 +")

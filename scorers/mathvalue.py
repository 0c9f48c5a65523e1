"""Bounds what an expression would cost, and evaluates it exactly where that stays within the rational numbers.

Nothing here is irrational: `exact` returns None and leaves that to `mathnumeric`.
"""

import math
from collections.abc import Callable, Iterator, Mapping
from fractions import Fraction
from typing import Any

from scorers.mathtokens import MathError
from scorers.mathtree import EXPRESSIONS, MOST_EXPONENT, Tree, variables

Point = Mapping[str, Fraction]

MOST_FACTORIAL = 1000
MOST_BITS = 200_000
GROWING = ("exp", "sinh", "cosh", "sech", "csch", "tanh", "coth")


class UndefinedError(Exception):
    """The expression has no value there."""


def expressions(form: Any) -> Iterator[Tree]:
    """Every expression in a form or a tree that holds some."""
    if isinstance(form, tuple) and form and form[0] in EXPRESSIONS:
        yield form
    elif isinstance(form, tuple):
        for part in form:
            yield from expressions(part)


def bound(form: Any, slack: int = 1) -> None:
    """Raises MathError where evaluating would take too long: power towers, large factorials, exponents and numbers.

    `slack` multiplies the limits on factorials and exponents.
    """
    for expression in expressions(form):
        _bits(expression, slack)


def _size(node: Tree) -> float | None:
    """About how large a constant is, infinite where it is beyond a float; None if variables are in it."""
    if variables(node):
        return None
    try:
        return float(abs(_about(node)))
    except (OverflowError, ZeroDivisionError, ValueError):
        return math.inf


def _about(node: Tree) -> complex:
    word = node[0]
    if word == "n":
        return complex(node[1] / node[2])
    if word == "c":
        return {"pi": math.pi, "e": math.e, "i": 1j, "oo": math.inf}[node[1]]
    if word == "f":
        inner = abs(_about(node[2]))
        grown = {"factorial": lambda: math.gamma(inner + 1), "exp": lambda: math.exp(inner)}
        about: float = grown.get(node[1], lambda: inner + 2)()
        return about
    if word == "deg":
        return _about(node[1])
    left, right = _about(node[1]), _about(node[2])
    if word == "^":
        raised: complex = left**right
        return raised
    return left + right if word == "+" else left * right if word == "*" else left / right


def _over(node: Tree, limit: float) -> bool:
    size = _size(node)
    return size is not None and not size <= limit


def _bits(node: Tree, slack: int) -> float:
    """About how many bits the exact value has. Raises MathError beyond the limits."""
    if node[0] == "n":
        return float(max(node[1].bit_length(), node[2].bit_length()))
    if node[0] in ("c", "v"):
        return 1
    parts = [_bits(part, slack) for part in node[1:] if isinstance(part, tuple)]
    bits = sum(parts) + 1
    if node[0] == "^":
        bits = _power_bits(node, parts[0], slack)
    elif node[0] == "f":
        bits = _function_bits(node, bits, slack)
    if bits > MOST_BITS * slack:
        raise MathError("a number too large to evaluate")
    return bits


def _power_bits(node: Tree, base: float, slack: int) -> float:
    if _over(node[2], MOST_EXPONENT * slack):
        raise MathError(f"an exponent over {MOST_EXPONENT}")
    return max(1, base) * max(1.0, _size(node[2]) or 1.0) if base > 1 else base


def _function_bits(node: Tree, bits: float, slack: int) -> float:
    name, argument = node[1], node[2]
    if name in ("factorial", "factorial2"):
        if _over(argument, MOST_FACTORIAL * slack):
            raise MathError(f"a factorial over {MOST_FACTORIAL}")
        return 10 * (_size(argument) or 1) + bits
    if name in GROWING and _over(argument, MOST_EXPONENT * slack):
        raise MathError(f"an exponent over {MOST_EXPONENT}")
    if name == "binomial" and len(node) == 4:
        chosen, size = _size(node[3]), _size(argument)
        if chosen is not None and size is not None:
            chosen = min(chosen, abs(size - chosen))
            if not chosen <= MOST_EXPONENT:
                raise MathError("a binomial coefficient too large to evaluate")
            return chosen * math.log2(size + 2) + bits
    return bits


def exact(node: Tree, point: Point) -> Fraction | None:
    """The rational value at a point; None where it is not rational or not found. Raises UndefinedError without one."""
    word = node[0]
    if word == "n":
        return Fraction(node[1], node[2])
    if word == "v":
        return point[node[1]]
    if word in ("c", "deg", "pm", "mp"):
        return None
    found = [exact(part, point) for part in node[1:] if isinstance(part, tuple)]
    values = [value for value in found if value is not None]
    if len(values) < len(found):
        return None
    if word == "f":
        return FUNCTIONS[node[1]](*values) if node[1] in FUNCTIONS else None
    left, right = values
    if word == "/" and not right:
        raise UndefinedError("division by zero")
    if word == "^":
        return power(left, right)
    return {"+": Fraction.__add__, "*": Fraction.__mul__, "/": Fraction.__truediv__}[word](left, right)


def power(base: Fraction, exponent: Fraction) -> Fraction | None:
    """A rational power; None where it is irrational or beyond the limit. Odd roots of negative numbers are negative."""
    if base == 0 and exponent <= 0:
        raise UndefinedError("zero to the power of zero or less")
    root = _root(base, exponent.denominator)
    if root is None:
        return None
    bits = max(root.numerator.bit_length(), root.denominator.bit_length())
    if bits > 1 and bits * abs(exponent.numerator) > MOST_BITS:
        return None
    return Fraction(root**exponent.numerator)


def _root(value: Fraction, degree: int) -> Fraction | None:
    if degree == 1:
        return value
    if value < 0:
        positive = _root(-value, degree) if degree % 2 else None
        return None if positive is None else -positive
    top, bottom = _whole_root(value.numerator, degree), _whole_root(value.denominator, degree)
    return None if top is None or bottom is None else Fraction(top, bottom)


def _whole_root(value: int, degree: int) -> int | None:
    """The integer root of an integer; None if it has none."""
    if value < 2:
        return value
    if degree == 2:
        root = math.isqrt(value)
    elif degree >= value.bit_length() or value.bit_length() > 1000:
        return None
    else:
        root = round(math.exp(math.log(value) / degree))
    return root if root**degree == value else None


def _natural(value: Fraction) -> int | None:
    return int(value) if value.denominator == 1 and 0 <= value <= MOST_FACTORIAL * 10 else None


def _factorial(value: Fraction) -> Fraction | None:
    number = _natural(value)
    if number is None and value.denominator == 1:
        raise UndefinedError("the factorial of a negative number")
    return None if number is None else Fraction(math.factorial(number))


def _binomial(top: Fraction, bottom: Fraction) -> Fraction | None:
    if top.denominator != 1 or bottom.denominator != 1 or top < 0 or bottom < 0 or min(bottom, top - bottom) > 10_000:
        return None
    return Fraction(math.comb(int(top), int(bottom)))


def _integers(combine: Callable[..., int]) -> Callable[..., Fraction | None]:
    def combined(*values: Fraction) -> Fraction | None:
        whole = all(value.denominator == 1 for value in values)
        return Fraction(combine(*(int(value) for value in values))) if whole else None

    return combined


FUNCTIONS: dict[str, Callable[..., Fraction | None]] = {
    "abs": lambda value: abs(value),
    "floor": lambda value: Fraction(math.floor(value)),
    "ceil": lambda value: Fraction(math.ceil(value)),
    "sign": lambda value: Fraction((value > 0) - (value < 0)),
    "max": lambda *values: max(values),
    "min": lambda *values: min(values),
    "gcd": _integers(math.gcd),
    "lcm": _integers(math.lcm),
    "factorial": _factorial,
    "binomial": _binomial,
    "root": lambda value, degree: power(value, 1 / degree) if degree > 0 else None,
}

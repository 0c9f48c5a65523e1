"""Values of expressions at a point to many digits, with mpmath. Proves nothing: it can show that two values differ."""

from collections.abc import Callable
from typing import Any

from scorers.mathtree import Tree
from scorers.mathvalue import Point, UndefinedError, exact

DIGITS = 60
MOST_DIGITS = 240
SPARE = 15
"""How many of the digits may be lost to rounding."""
MORE = 100
"""How many more digits show whether a tiny value is one or is nothing but rounding."""
SAME = {"arsinh": "asinh", "arcosh": "acosh", "artanh": "atanh", "conjugate": "conj", "Re": "re", "Im": "im"}
DIRECT = (
    *("sin", "cos", "tan", "cot", "sec", "csc", "sinh", "cosh", "tanh", "coth", "sech", "csch", "exp", "ln", "arg"),
    *("sign", "factorial", "binomial"),
)


def digits(*trees: Any) -> int:
    """How many digits tell the constants apart: more where they have longer numbers; beyond that only proof can."""
    return DIGITS + min(MOST_DIGITS, max(map(_longest, trees)))


def _longest(node: Any) -> int:
    if not isinstance(node, tuple) or not node:
        return 0
    if node[0] == "n":
        return int(max(node[1].bit_length(), node[2].bit_length()) * 0.30103) + 1
    return max((_longest(part) for part in node), default=0)


def value(node: Tree, point: Point, places: int) -> Any:
    """The value to that many digits, an mpf or an mpc; exactly 0 where it vanishes ever more with more digits.

    Raises UndefinedError where there is none.
    """
    from mpmath import mp

    with mp.workdps(places):
        found = _defined(node, point)
        if not found or abs(found) > mp.mpf(10) ** (-places // 2):
            return found
    with mp.workdps(places + MORE):
        finer = _defined(node, point)
        return mp.mpf(0) if abs(finer) < abs(found) * mp.mpf(10) ** (-MORE // 2) else finer


def alike(left: Any, right: Any, places: int) -> bool:
    """Whether two values agree in all digits but the spare ones, relative to the larger."""
    from mpmath import mp

    with mp.workdps(places):
        if mp.isinf(left) or mp.isinf(right):
            return bool(left == right)
        return bool(abs(left - right) <= max(abs(left), abs(right)) * mp.mpf(10) ** (SPARE - places))


def is_real(number: Any) -> bool:
    """Whether a value has no imaginary part."""
    from mpmath import mp

    return not isinstance(number, mp.mpc) or not number.imag


def _defined(node: Tree, point: Point) -> Any:
    from mpmath import mp

    try:
        found = mp.mpmathify(_value(node, point))
    except (ArithmeticError, ValueError, TypeError, NotImplementedError, mp.NoConvergence):
        raise UndefinedError("no value") from None
    if mp.isnan(found) or (isinstance(found, mp.mpc) and mp.isinf(found)):
        raise UndefinedError("no value")
    if isinstance(found, mp.mpc) and abs(found.imag) <= abs(found) * mp.mpf(10) ** (SPARE - mp.dps):
        return found.real
    return found


def _value(node: Tree, point: Point) -> Any:
    from mpmath import mp

    word = node[0]
    if word == "n":
        return mp.mpf(node[1]) / node[2]
    if word == "v":
        return mp.mpf(point[node[1]].numerator) / point[node[1]].denominator
    if word == "c":
        return {"pi": mp.pi, "e": mp.e, "i": mp.j, "oo": mp.inf}[node[1]] * 1
    if word == "deg":
        return _value(node[1], point) * mp.pi / 180
    if word == "f":
        return _function(node, point)
    if word == "^":
        return _power(node, point)
    left, right = _value(node[1], point), _value(node[2], point)
    return left + right if word == "+" else left * right if word == "*" else left / right


def _power(node: Tree, point: Point) -> Any:
    base, exponent = _value(node[1], point), _value(node[2], point)
    fraction = exact(node[2], point)
    if not base and not (exponent.real > 0):
        raise UndefinedError("zero to the power of zero or less")
    if fraction is not None and fraction.denominator > 1:
        return _real_root(base, fraction.denominator) ** fraction.numerator
    return base ** (fraction.numerator if fraction is not None else exponent)


def _real_root(base: Any, degree: int) -> Any:
    """A root; of a negative number to an odd degree the negative one."""
    from mpmath import mp

    if degree % 2 and is_real(base) and mp.re(base) < 0:
        return -mp.root(-mp.re(base), degree)
    return mp.root(base, degree)


def _root(argument: Any, degree: Any) -> Any:
    whole = int(degree)
    return _real_root(argument, whole) if whole == degree and whole > 0 else argument ** (1 / degree)


def _whole(round_down: bool) -> Callable[[Any], Any]:
    """Floor or ceiling, of the nearest integer where a value is one but for rounding."""
    from mpmath import mp

    def rounded(argument: Any) -> Any:
        nearest = mp.nint(argument)
        if abs(argument - nearest) < mp.mpf(10) ** (-mp.dps // 2):
            return nearest
        return mp.floor(argument) if round_down else mp.ceil(argument)

    return rounded


def _integers(combine: Callable[..., int]) -> Callable[..., Any]:
    def combined(*values: Any) -> Any:
        if any(number != int(number.real) for number in values):
            raise UndefinedError("not an integer")
        return combine(*(int(number.real) for number in values))

    return combined


def _function(node: Tree, point: Point) -> Any:
    import math

    from mpmath import mp

    name, arguments = node[1], [_value(part, point) for part in node[2:]]
    if name in DIRECT:
        return getattr(mp, name)(*arguments)
    special: dict[str, Callable[..., Any]] = {
        "abs": lambda argument: abs(argument),
        "log": lambda argument, base: mp.ln(argument) / mp.ln(base),
        "root": _root,
        "factorial2": mp.fac2,
        "floor": _whole(True),
        "ceil": _whole(False),
        "max": lambda *values: max(values),
        "min": lambda *values: min(values),
        "gcd": _integers(math.gcd),
        "lcm": _integers(math.lcm),
        "arccot": lambda argument: mp.pi / 2 - mp.atan(argument),
    }
    if name in special:
        return special[name](*arguments)
    return getattr(mp, SAME.get(name, name.replace("arc", "a")))(*arguments)

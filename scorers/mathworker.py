"""Compares forms beyond the rational numbers: to many digits, or by proof. Runs in a process that can be killed.

Only such processes import it, and it imports sympy at once, so that no comparison is charged for that.
"""

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import sympy

from scorers import mathnumeric
from scorers.mathcompare import POINTS, Rational, UnsettledError, equal
from scorers.mathforms import Form
from scorers.mathtokens import MathError
from scorers.mathtree import Tree, variables
from scorers.mathvalue import UndefinedError

PROVABLE = ("n", "c", "+", "*", "/", "^", "f")
PROVABLE_FUNCTIONS = ("root", "exp", "ln", "log", "sin", "cos", "tan", "arcsin", "arccos", "arctan")


class Numeric(Rational):
    """The judge of everything else: rational where that suffices, else to many digits, else by proof."""

    def __init__(self, names: set[str], places: int, refuted: Callable[[Tree, Tree], bool] | None = None) -> None:
        super().__init__(names)
        self.places = places
        self.refuted = refuted
        self.known: dict[tuple[Tree, int], Any] = {}

    def value(self, node: Tree, number: int) -> Any:
        """The value at a numbered point; None where there is none."""
        key = node, number
        if key not in self.known:
            try:
                self.known[key] = mathnumeric.value(node, self.points[number], self.places)
            except UndefinedError:
                self.known[key] = None
        return self.known[key]

    def pairs(self, left: Tree, right: Tree) -> Iterator[tuple[Any, Any]]:
        """Both values where both are real; where that is nowhere, both complex values."""
        complex_pairs, found = [], 0
        for number in range(len(self.points)):
            one, other = self.value(left, number), self.value(right, number)
            if one is None or other is None:
                continue
            if mathnumeric.is_real(one) and mathnumeric.is_real(other):
                found += 1
                yield one, other
            else:
                complex_pairs.append((one, other))
            if found == POINTS:
                return
        if not found:
            yield from complex_pairs

    def same(self, left: Tree, right: Tree) -> bool:
        """See Judge."""
        try:
            return super().same(left, right)
        except UnsettledError:
            found = False
        for one, other in self.pairs(left, right):
            if not mathnumeric.alike(one, other, self.places):
                return False
            found = True
        return found and not (self.refuted and self.refuted(left, right))

    def proportional(self, left: Tree, right: Tree) -> bool:
        """See Judge."""
        try:
            return super().proportional(left, right)
        except UnsettledError:
            found = list(self.pairs(left, right))
        if len(found) < POINTS or not all(one and other for one, other in found):
            return False
        ratios = [one / other for one, other in found]
        return all(mathnumeric.alike(ratio, ratios[0], self.places) for ratio in ratios)

    def ordered(self, nodes: Sequence[Tree]) -> list[list[Tree]]:
        """See Judge."""
        values = [(mathnumeric.value(node, {}, self.places), node) for node in nodes]
        if not all(mathnumeric.is_real(value) for value, _ in values):
            raise UndefinedError("an end of an interval is not real")
        groups: list[tuple[Any, list[Tree]]] = []
        for value, node in sorted(values, key=lambda pair: pair[0]):
            if groups and self.same(groups[-1][1][0], node):
                groups[-1][1].append(node)
            else:
                groups.append((value, [node]))
        return [group for _, group in groups]


def decide(request: tuple[str, Form, Form]) -> bool | str:
    """Whether two forms mean the same, by the `digits` or by `proof`; a sentence where one of them has no value."""
    means, gold, answer = request
    names, places = variables(gold) | variables(answer), mathnumeric.digits(gold, answer)
    try:
        return equal(gold, answer, Numeric(names, places, refuted if means == "proof" else None))
    except (MathError, UndefinedError) as error:
        return str(error)


def refuted(left: Tree, right: Tree) -> bool:
    """Whether sympy proves that two constants differ; False where it does not know."""
    if not (_provable(left) and _provable(right)):
        return False
    difference = sympified(left) - sympified(right)
    return difference.equals(0) is False


def _provable(node: Any) -> bool:
    """Whether sympy means the same by a constant as we do."""
    if node[0] not in PROVABLE or (node[0] == "f" and node[1] not in PROVABLE_FUNCTIONS) or node == ("c", "oo"):
        return False
    return all(_provable(part) for part in node[1:] if isinstance(part, tuple))


def sympified(node: Tree) -> Any:
    """A provable tree as a sympy expression."""
    word = node[0]
    if word == "n":
        return sympy.Rational(node[1], node[2])
    if word == "c":
        return {"pi": sympy.pi, "e": sympy.E, "i": sympy.I}[node[1]]
    parts = [sympified(part) for part in node[1:] if isinstance(part, tuple)]
    if word == "f":
        name = node[1].replace("arc", "a").replace("ln", "log")
        return _power(parts[0], 1 / parts[1]) if name == "root" else getattr(sympy, name)(*parts)
    left, right = parts
    if word == "^":
        return _power(left, right)
    return left + right if word == "+" else left * right if word == "*" else left / right


def _power(base: Any, exponent: Any) -> Any:
    """A power; a root of a negative number to an odd degree is negative."""
    if exponent.is_Rational and exponent.q % 2 and base.is_negative:
        return (-1) ** exponent.p * (-base) ** exponent
    return base**exponent

"""Decides whether two forms mean the same. Takes the values of expressions from a judge of pairs; has no notation.

`Rational` is the judge within the rational numbers; it raises UnsettledError on anything else, and the judge of
`mathworker` goes on from there. At random points two different rational functions agree with a probability below 2^-40.
"""

import random
from collections.abc import Iterator, Sequence
from fractions import Fraction
from typing import Protocol

from scorers.mathforms import Form
from scorers.mathregions import joined
from scorers.mathtokens import MathError
from scorers.mathtree import MINUS_ONE, Tree, holds, variables
from scorers.mathvalue import Point, UndefinedError, exact

POINTS = 3
MOST_TRIED = 12
MOST_MEMBERS = 100
INFINITE = float("inf")


class UnsettledError(Exception):
    """The judge cannot tell; another one may."""


class Judge(Protocol):
    """Compares expressions."""

    def same(self, left: Tree, right: Tree) -> bool:
        """Whether two expressions are equal wherever both are real."""

    def proportional(self, left: Tree, right: Tree) -> bool:
        """Whether one is the other times a constant that is not zero, and neither vanishes."""

    def ordered(self, nodes: Sequence[Tree]) -> list[list[Tree]]:
        """Constants in ascending order, equal ones together. Raises UndefinedError if one is not real."""


def points(names: set[str]) -> Iterator[Point]:
    """Points for the variables: always the same for the same names, the first with positive coordinates only."""
    source = random.Random(f"triplicate {sorted(names)}")
    for number in range(MOST_TRIED):
        yield {
            name: Fraction(source.randrange(1 << 38, 3 << 40), 1 << 40) * (source.choice((1, -1)) if number else 1)
            for name in sorted(names)
        }


class Rational:
    """The judge of rational functions."""

    def __init__(self, names: set[str]) -> None:
        self.points = list(points(names)) if names else [{}]

    def values(self, left: Tree, right: Tree) -> Iterator[tuple[Fraction, Fraction]]:
        """Both values at points where both exist. Raises UnsettledError if one is not rational."""
        for point in self.points:
            try:
                pair = exact(left, point), exact(right, point)
            except UndefinedError:
                continue
            if pair[0] is None or pair[1] is None:
                raise UnsettledError
            yield pair[0], pair[1]

    def same(self, left: Tree, right: Tree) -> bool:
        """See Judge."""
        found = list(self.values(left, right))
        return bool(found) and all(one == other for one, other in found)

    def proportional(self, left: Tree, right: Tree) -> bool:
        """See Judge."""
        found = list(self.values(left, right))
        if len(found) < POINTS or not all(one and other for one, other in found):
            return False
        return len({one / other for one, other in found}) == 1

    def ordered(self, nodes: Sequence[Tree]) -> list[list[Tree]]:
        """See Judge."""
        groups: dict[Fraction, list[Tree]] = {}
        for node in nodes:
            value = exact(node, {})
            if value is None:
                raise UnsettledError
            groups.setdefault(value, []).append(node)
        return [groups[value] for value in sorted(groups)]


def equal(gold: Form, answer: Form, judge: Judge) -> bool:
    """Whether two forms mean the same; the order of the two does not matter."""
    kinds = {gold[0], answer[0]}
    if kinds == {"set", "region"}:
        gold, answer = _as_region(gold), _as_region(answer)
        kinds = {"region"}
    if len(kinds) > 1:
        return False
    parts, others = gold[1:], answer[1:]
    kind = gold[0]
    if kind == "value":
        return all(_same_value(part, other, judge) for part in parts for other in others)
    if kind == "region":
        return _same_region(parts[0], others[0], judge)
    if kind == "equation":
        return _same_equation(gold, answer, judge)
    if kind == "set":
        return _same_set(parts, others, judge)
    if len(parts) != len(others):
        return False
    if kind == "tuple":
        return all(equal(part, other, judge) for part, other in zip(parts, others, strict=True))
    return all(
        len(row) == len(line) and all(_same_value(*cells, judge) for cells in zip(row, line, strict=True))
        for row, line in zip(parts, others, strict=True)
    )


def _same_value(left: Tree, right: Tree, judge: Judge) -> bool:
    """Equal, where a degree sign on one side only counts if the other side speaks of pi."""
    if _in_degrees(left) != _in_degrees(right):
        plain = right if _in_degrees(left) else left
        if not holds(plain, ("c", "pi")):
            left, right = _without_degrees(left), _without_degrees(right)
    return judge.same(left, right)


def _in_degrees(node: Tree) -> bool:
    """Whether a degree sign stands outside all functions."""
    if node[0] in ("+", "*", "/"):
        return any(_in_degrees(part) for part in node[1:])
    return bool(node[0] == "deg")


def _without_degrees(node: Tree) -> Tree:
    if node[0] == "deg":
        inner: Tree = node[1]
        return inner
    if node[0] in ("+", "*", "/"):
        return (node[0], *map(_without_degrees, node[1:]))
    return node


def _same_set(parts: Sequence[Form], others: Sequence[Form], judge: Judge) -> bool:
    if max(len(parts), len(others)) > MOST_MEMBERS:
        raise MathError(f"a set of more than {MOST_MEMBERS} members")
    return all(any(equal(part, other, judge) for other in others) for part in parts) and all(
        any(equal(part, other, judge) for part in parts) for other in others
    )


def _same_equation(gold: Form, answer: Form, judge: Judge) -> bool:
    if not variables(gold) or not variables(answer):
        return False
    left, right = (("+", form[1], ("*", MINUS_ONE, form[2])) for form in (gold, answer))
    return judge.proportional(left, right)


def _as_region(form: Form) -> Form:
    if form[0] == "region":
        return form
    if any(member[0] != "value" for member in form[1:]):
        raise MathError("a set of tuples is no set of numbers")
    return ("region", joined("cup", [("point", member[1]) for member in form[1:]]))


def _same_region(left: Tree, right: Tree, judge: Judge) -> bool:
    """Equal at every end and between every two neighbouring ends of both."""
    if variables(left) or variables(right):
        return _same_pieces(list(_pieces(left)), list(_pieces(right)), judge)
    ends = [
        end for region in (left, right) for piece in _pieces(region) for end in piece[1:3] if isinstance(end, tuple)
    ]
    finite = [end for end in ends if _infinite(end) is None]
    groups = judge.ordered(finite)
    places: dict[Tree, float] = {node: 2 * rank + 1 for rank, group in enumerate(groups) for node in group}
    places |= {end: sign * INFINITE for end in ends if (sign := _infinite(end)) is not None}
    return all(_within(left, at, places) == _within(right, at, places) for at in range(2 * len(groups) + 1))


def _infinite(node: Tree) -> int | None:
    """1 or -1 for an infinite end; None for a finite one."""
    if node == ("c", "oo"):
        return 1
    return -1 if node == ("*", MINUS_ONE, ("c", "oo")) else None


def _pieces(region: Tree) -> Iterator[Tree]:
    """The intervals and points of which a region is made."""
    if region[0] in ("cup", "cap", "setminus"):
        yield from _pieces(region[1])
        yield from _pieces(region[2])
    elif region[0] != "empty":
        yield region


def _within(region: Tree, at: float, places: dict[Tree, float]) -> bool:
    """Whether a place is in a region; odd places are ends, even ones lie between them."""
    word = region[0]
    if word == "empty":
        return False
    if word == "point":
        return places[region[1]] == at
    if word == "interval":
        low, high = places[region[1]], places[region[2]]
        return (low < at or (low == at and not region[3])) and (at < high or (at == high and not region[4]))
    left, right = _within(region[1], at, places), _within(region[2], at, places)
    return left or right if word == "cup" else left and right if word == "cap" else left and not right


def _same_pieces(left: list[Tree], right: list[Tree], judge: Judge) -> bool:
    """Whether two regions with variables in their ends are made of the same pieces."""

    def same(piece: Tree, other: Tree) -> bool:
        if piece[0] != other[0] or piece[3:] != other[3:]:
            return False
        ends = zip(piece[1:3], other[1:3], strict=True)
        return all(end == mate or (_infinite(end) == _infinite(mate) and judge.same(end, mate)) for end, mate in ends)

    return len(left) == len(right) and all(any(same(piece, other) for other in right) for piece in left)

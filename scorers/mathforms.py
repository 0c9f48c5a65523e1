"""Reads a text as the kind of mathematics that an item asks for: what is to be compared, without notation.

    ("value", a, ...)          an expression; several where `a = b` chains them, and then all must be right
    ("set", form, ...)         finitely many values or tuples
    ("tuple", form, ...)
    ("matrix", (a, ...), ...)
    ("equation", a, b)
    ("region", r)              a set of reals: ("interval", a, b, open below, open above), ("point", a),
                               ("cup" | "cap" | "setminus", r, s), ("empty",)

Compares nothing.
"""

import re
from itertools import product
from typing import Any

from scorers.mathgrammar import tree
from scorers.mathtokens import MathError, one_spelling
from scorers.mathtree import Tree, scalar

Form = tuple[Any, ...]

MOST_SIGNS = 4
INFINITY: Tree = ("c", "oo")
MINUS_INFINITY: Tree = ("*", ("n", -1, 1), INFINITY)
OPEN_BELOW = {"(": True, "]": True, "[": False}
OPEN_ABOVE = {")": True, "[": True, "]": False}
BRACES = ("{", "set{")
NAME = re.compile(
    r"[A-Za-z\\][A-Za-z\\ ]*+(?:_(?:\{[^{}=<>]*\}|[A-Za-z0-9]))?'*(?:\^\{?-1\}?)?\s*"
    r"(?:\([^()=<>\[\]]*\))?\s*[=:]\s*(?!=)"
)


def form(text: str, kind: str, *, euler: bool = False) -> Form:
    """The text as one of the kinds of the contract. Raises MathError if it is none.

    >>> form("x = 5", "expression")
    ('value', ('n', 5, 1))
    """
    text = one_spelling(text)
    if kind == "equation":
        return _equation(tree(text, euler=euler))
    named = NAME.match(text)
    if named and text[named.end() :].strip():
        text = text[named.end() :]
    sets = kind in ("set", "interval")
    found = tree(text, enumerates=kind != "expression", mirrored=sets, euler=euler)
    read = {"expression": _expression, "set": _set, "interval": _interval, "tuple": _tuple, "matrix": _matrix}[kind]
    return read(found)


def _equation(node: Tree) -> Form:
    if node[0] != "rel" or node[1] != ("=",):
        raise MathError("this is not one equation")
    return ("equation", scalar(node[2]), scalar(node[3]))


def _expression(node: Tree) -> Form:
    r"""A value, or the set of the values that `\pm` or an enumeration gives."""
    parts = node[1:] if node[0] in ("seq", "or", "and") else (node,)
    values = [value for part in parts for value in _values(part)]
    return values[0] if len(values) == 1 else ("set", *values)


def _values(node: Tree) -> list[Form]:
    """The values of a chain of equalities, one for each choice of signs, without a name before and roundings behind."""
    parts: tuple[Tree, ...] = (node,)
    if node[0] == "rel":
        operators: tuple[str, ...] = node[1]
        if not set(operators) <= {"=", "approx"}:
            raise MathError("this is a relation, not a value")
        rounded = operators.index("approx") + 1 if "approx" in operators else len(operators) + 1
        named = _is_name(node[2])
        parts = node[2 + named : 2 + max(rounded, 1 + named)]
    scalars = [scalar(part) for part in parts]
    if len(scalars) > 1:
        return [("value", *(one for part in scalars for one in _signs(part)[:1]))]
    return [("value", one) for one in _signs(scalars[0])]


def _is_name(node: Tree) -> bool:
    return node[0] == "v" or (node[0] == "*" and _is_name(node[1]) and _is_name(node[2]))


def _names(node: Tree) -> bool:
    return _is_name(node) or (node[0] == "list" and all(map(_is_name, node[3:])))


def _signs(node: Tree) -> list[Tree]:
    r"""The expression once for each choice of its signs; with `\mp` in it, all signs turn together."""
    count, together = _count(node)
    if not count:
        return [node]
    if count > MOST_SIGNS:
        raise MathError(f"more than {MOST_SIGNS} signs that are open")
    choices = [(True,) * count, (False,) * count] if together else list(product((True, False), repeat=count))
    return list(dict.fromkeys(_chosen(node, list(choice)) for choice in choices))


def _count(node: Tree) -> tuple[int, bool]:
    r"""How many signs are open in an expression, and whether one of them is `\mp`."""
    inner = [_count(part) for part in node[1:] if isinstance(part, tuple)]
    own = node[0] in ("pm", "mp")
    return sum(count for count, _ in inner) + own, node[0] == "mp" or any(mp for _, mp in inner)


def _chosen(node: Tree, plus: list[bool]) -> Tree:
    if node[0] in ("pm", "mp"):
        positive = plus.pop(0) == (node[0] == "pm")
        inner = _chosen(node[1], plus)
        return inner if positive else ("*", ("n", -1, 1), inner)
    return (node[0], *(_chosen(part, plus) if isinstance(part, tuple) else part for part in node[1:]))


def _set(node: Tree) -> Form:
    """A finite set, with or without braces, or a region."""
    node = _right_of_name(node)
    if node[0] == "empty":
        return ("set",)
    if node[0] in ("seq", "or", "and") or (node[0] == "list" and node[1] in BRACES):
        parts = node[1:] if node[0] != "list" else node[3:]
        if not any(part[0] in ("cup", "cap", "setminus") or _is_inequality(part) for part in parts):
            return ("set", *(one for part in parts for one in _members(part)))
    if node[0] in ("cup", "cap", "setminus", "builder", "RR", "or", "and") or _is_inequality(node):
        return ("region", _region(node))
    if node[0] == "list" and node[1] in ("[", "]"):
        return ("region", _region(node))
    return ("set", *_members(node))


def _members(node: Tree) -> list[Form]:
    """What one part of an enumeration puts into a set."""
    node = _right_of_name(node)
    if node[0] == "list" and len(node) > 4:
        return [_set(node) if node[1] in BRACES else _tuple(node)]
    return _values(node)


def _right_of_name(node: Tree) -> Tree:
    r"""What stands behind `x =`, `(x, y) =` or `x \in`; anything else as it is."""
    named = node[0] == "rel" and (node[1] == ("in",) or (node[1] == ("=",) and _names(node[2])))
    found: Tree = node[3] if named else node
    return found


def _is_inequality(node: Tree) -> bool:
    return node[0] == "rel" and set(node[1]) <= {"<", ">", "le", "ge", "ne"}


def _interval(node: Tree) -> Form:
    return ("region", _region(node))


def _region(node: Tree) -> Tree:
    """A set of reals: an interval, inequalities, points, or several of them joined."""
    node = _right_of_name(node)
    if node[0] in ("cup", "cap", "setminus"):
        return (node[0], _region(node[1]), _region(node[2]))
    if node[0] in ("or", "seq", "and"):
        inequalities = all(map(_is_inequality, node[1:]))
        return _joined("cap" if node[0] == "and" and inequalities else "cup", [_region(part) for part in node[1:]])
    if node[0] in ("empty", "RR"):
        return node if node[0] == "empty" else ("interval", MINUS_INFINITY, INFINITY, True, True)
    if node[0] == "builder":
        return _region(node[2])
    if _is_inequality(node):
        return _inequality(node)
    if node[0] == "list" and node[1] in OPEN_BELOW:
        if len(node) != 5:
            raise MathError("an interval has two ends")
        return ("interval", scalar(node[3]), scalar(node[4]), OPEN_BELOW[node[1]], OPEN_ABOVE[node[2]])
    if node[0] == "list" and node[1] in BRACES:
        return _joined("cup", [_region(part) if part[0] != "n" else ("point", part) for part in node[3:]])
    return _joined("cup", [("point", value[1]) for value in _values(node)])


def _joined(word: str, regions: list[Tree]) -> Tree:
    found: Tree = regions[0] if regions else ("empty",)
    for region in regions[1:]:
        found = (word, found, region)
    return found


def _inequality(node: Tree) -> Tree:
    r"""The reals for which a chain as `0 \le x < 1` holds; one of its parts is the variable."""
    parts, operators = node[2:], node[1]
    middle = 1 if len(parts) == 3 or parts[0][0] != "v" else 0
    if len(parts) > 3 or parts[middle][0] != "v":
        raise MathError("an inequality is about one variable between its bounds")
    found: list[Tree] = []
    for place, operator in enumerate(operators):
        bound = scalar(parts[place + 1] if place == middle else parts[place])
        if operator == "ne":
            real: Tree = ("interval", MINUS_INFINITY, INFINITY, True, True)
            found.append(("setminus", real, ("point", bound)))
        elif (operator in (">", "ge")) == (place == middle):
            found.append(("interval", bound, INFINITY, operator in ("<", ">"), True))
        else:
            found.append(("interval", MINUS_INFINITY, bound, True, operator in ("<", ">")))
    if len(found) == 2 and all(piece[0] == "interval" for piece in found) and found[0][1] != found[1][1]:
        low, high = sorted(found, key=lambda piece: bool(piece[1] == MINUS_INFINITY))
        if high[1] == MINUS_INFINITY and low[2] == INFINITY:
            return ("interval", low[1], high[2], low[3], high[4])
    return _joined("cap", found)


def _tuple(node: Tree) -> Form:
    """A tuple in any brackets or none, or a matrix of one row or one column."""
    node = _right_of_name(node)
    if node[0] == "matrix" and (len(node[1]) == 1 or all(len(row) == 1 for row in node[1])):
        return ("tuple", *(_values(cell)[0] for row in node[1] for cell in row))
    if node[0] == "list" and node[1] not in BRACES:
        return ("tuple", *map(_tuple_part, node[3:]))
    if node[0] in ("seq", "and"):
        return ("tuple", *map(_tuple_part, node[1:]))
    return ("tuple", *_values(node))


def _tuple_part(node: Tree) -> Form:
    return _tuple(node) if node[0] in ("list", "matrix") else _values(node)[0]


def _matrix(node: Tree) -> Form:
    """A LaTeX matrix, or a list of rows."""
    node = _right_of_name(node)
    if node[0] == "list" and len(node) == 4 and node[3][0] == "matrix":
        node = node[3]
    if node[0] == "list" and all(part[0] == "list" for part in node[3:]):
        rows: tuple[Tree, ...] = tuple(part[3:] for part in node[3:])
    elif node[0] == "matrix":
        rows = node[1]
    else:
        raise MathError("this is no matrix")
    if not rows or len({len(row) for row in rows}) != 1:
        raise MathError("the rows of a matrix are of one length")
    return ("matrix", *(tuple(scalar(cell) for cell in row) for row in rows))

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
from collections.abc import Callable
from typing import Any

from scorers.mathgrammar import tree
from scorers.mathregions import BRACES, is_region, region
from scorers.mathsigns import behind_name, open_signs, values
from scorers.mathtokens import MathError, one_spelling
from scorers.mathtree import Tree, scalar

Form = tuple[Any, ...]

DOMAINS = (("RR",), *(("v", letter) for letter in "ZNQC"))
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
    named = NAME.match(text) if kind != "equation" else None
    if named and text[named.end() :].strip():
        text = text[named.end() :]
    sets = kind in ("set", "interval")
    node = tree(text, enumerates=kind not in ("expression", "equation"), mirrored=sets, euler=euler)
    found = READERS[kind](_without_domain(node))
    if open_signs(found)[0]:
        raise MathError("an open sign stands where one value is asked for")
    return found


def _without_domain(node: Tree) -> Tree:
    r"""An enumeration without parts as `k \in \mathbb{Z}`, which say where a variable comes from."""
    if node[0] not in ("seq", "and"):
        return node
    parts = [part for part in node[1:] if part[:2] != ("rel", ("in",)) or part[3] not in DOMAINS]
    return (node[0], *parts) if len(parts) > 1 else parts[0] if parts else node


def _equation(node: Tree) -> Form:
    if node[0] != "rel" or node[1] != ("=",):
        raise MathError("this is not one equation")
    return ("equation", scalar(node[2]), scalar(node[3]))


def _expression(node: Tree) -> Form:
    r"""A value, or the set of the values that `\pm` or an enumeration gives."""
    parts = node[1:] if node[0] in ("seq", "or", "and") else (node,)
    found = [value for part in parts for value in values(part)]
    return found[0] if len(found) == 1 else ("set", *found)


def _set(node: Tree) -> Form:
    """A finite set, with or without braces, or a region."""
    node = behind_name(node)
    if node[0] == "empty":
        return ("set",)
    if node[0] in ("seq", "or", "and") or (node[0] == "list" and node[1] in BRACES):
        parts = node[1:] if node[0] != "list" else node[3:]
        if not any(map(is_region, parts)):
            return ("set", *(one for part in parts for one in _members(part)))
        if node[0] == "list":
            raise MathError("a set of values holds a relation")
    if is_region(node) or node[0] in ("seq", "or", "and"):
        return ("region", region(node))
    return ("set", *_members(node))


def _interval(node: Tree) -> Form:
    return ("region", region(node))


def _members(node: Tree) -> list[Form]:
    """What one part of an enumeration puts into a set."""
    node = behind_name(node)
    if node[0] == "list" and len(node) > 4:
        return [_set(node) if node[1] in BRACES else _tuple(node)]
    return values(node)


def _tuple(node: Tree) -> Form:
    """A tuple in any brackets or none, or a matrix of one row or one column."""
    node = behind_name(node)
    if node[0] == "matrix" and (len(node[1]) == 1 or all(len(row) == 1 for row in node[1])):
        return ("tuple", *(values(cell)[0] for row in node[1] for cell in row))
    if node[0] == "list" and node[1] not in BRACES:
        return ("tuple", *map(_tuple_part, node[3:]))
    if node[0] in ("seq", "and"):
        return ("tuple", *map(_tuple_part, node[1:]))
    return ("tuple", *values(node))


def _tuple_part(node: Tree) -> Form:
    return _tuple(node) if node[0] in ("list", "matrix") else values(node)[0]


def _matrix(node: Tree) -> Form:
    """A LaTeX matrix, or a list of rows."""
    node = behind_name(node)
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


READERS: dict[str, Callable[[Tree], Form]] = {
    "expression": _expression,
    "set": _set,
    "interval": _interval,
    "tuple": _tuple,
    "matrix": _matrix,
    "equation": _equation,
}

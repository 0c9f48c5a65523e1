"""The tree into which mathematics is read, and the few things that are true of every tree. Reads no text.

A tree is a tuple of a word and its parts:

    ("n", top, bottom)  ("c", "pi" | "e" | "i" | "oo")  ("v", name)                       numbers, constants, variables
    ("+", a, b)  ("*", a, b)  ("/", a, b)  ("^", a, b)  ("f", name, a, ...)  ("deg", a)    expressions
    ("pm", a)  ("mp", a)                                                                  either sign
    ("list", opening, closing, a, ...)  ("seq" | "or" | "and", a, ...)                    brackets; bare enumerations
    ("rel", (operator, ...), a, b, ...)  ("cup" | "cap" | "setminus", a, b)               relations, operations on sets
    ("builder", a, condition)  ("matrix", (row, ...))  ("empty",)  ("RR",)
"""

from collections.abc import Sequence
from fractions import Fraction
from typing import Any

from scorers.mathtokens import MathError

Tree = tuple[Any, ...]

MOST_EXPONENT = 10_000
MINUS_ONE: Tree = ("n", -1, 1)
EXPRESSIONS = ("n", "c", "v", "+", "*", "/", "^", "f", "deg", "pm", "mp")


def number(text: str) -> Tree:
    """A number token's exact value. Raises MathError if its exponent is too large."""
    digits, _, exponent = text.lower().partition("e")
    if exponent and abs(int(exponent)) > MOST_EXPONENT:
        raise MathError(f"an exponent over {MOST_EXPONENT}")
    value = Fraction(digits) * Fraction(10) ** int(exponent or 0)
    return ("n", value.numerator, value.denominator)


def negative(node: Tree) -> Tree:
    """The tree's negative; a number's own sign, for anything else a factor -1."""
    return ("n", -node[1], node[2]) if node[0] == "n" else ("*", MINUS_ONE, node)


def balanced(word: str, parts: Sequence[Tree]) -> Tree:
    """The parts joined by an associative operation, no deeper than need be."""
    while len(parts) > 1:
        pairs = [(word, *parts[at : at + 2]) for at in range(0, len(parts) - 1, 2)]
        parts = [*pairs, *parts[len(parts) & ~1 :]]
    return parts[0]


def product(above: Sequence[Tree], below: Sequence[Tree] = ()) -> Tree:
    """The product of some factors over that of others; one of those above may be a matrix."""
    matrices = [factor for factor in above if factor[0] == "matrix"]
    top = [scalar(factor) for factor in above if factor not in matrices]
    found = balanced("*", top) if top else ("n", 1, 1)
    if below:
        found = ("/", found, balanced("*", [scalar(factor) for factor in below]))
    if not matrices:
        return found
    if len(matrices) > 1:
        raise MathError("a product of matrices is not read")
    return ("matrix", tuple(tuple(("*", found, scalar(cell)) for cell in row) for row in matrices[0][1]))


def scalar(node: Tree) -> Tree:
    """An expression out of its brackets. Raises MathError if the tree is none."""
    while node[0] == "list" and len(node) == 4 and node[1] in ("(", "{", "["):
        node = node[3]
    if node[0] not in EXPRESSIONS:
        raise MathError("an expression is missing")
    return node


def variables(node: Any) -> set[str]:
    """The names of the variables in a tree, or in anything that holds trees."""
    if not isinstance(node, tuple) or not node:
        return set()
    if node[0] == "v":
        return {node[1]}
    return set().union(*(variables(part) for part in node))


def holds(node: Any, part: Tree) -> bool:
    """Whether a tree, or anything that holds trees, contains that one."""
    return isinstance(node, tuple) and (node == part or any(holds(inner, part) for inner in node))

"""Sets of real numbers: intervals with open and closed ends, inequalities, points, and what is joined from them."""

from scorers.mathsigns import behind_name, values
from scorers.mathtokens import MathError
from scorers.mathtree import MINUS_ONE, Tree, balanced, scalar

INFINITY: Tree = ("c", "oo")
MINUS_INFINITY: Tree = ("*", MINUS_ONE, INFINITY)
OPEN_BELOW = {"(": True, "]": True, "[": False}
OPEN_ABOVE = {")": True, "[": True, "]": False}
BRACES = ("{", "set{")


def region(node: Tree) -> Tree:
    """A set of reals: an interval, inequalities, points, or several of them joined."""
    node = behind_name(node)
    if node[0] in ("cup", "cap", "setminus"):
        return (node[0], region(node[1]), region(node[2]))
    if node[0] in ("or", "seq", "and"):
        inequalities = all(map(is_inequality, node[1:]))
        return joined("cap" if node[0] == "and" and inequalities else "cup", [region(part) for part in node[1:]])
    if node[0] in ("empty", "RR"):
        return node if node[0] == "empty" else ("interval", MINUS_INFINITY, INFINITY, True, True)
    if node[0] == "builder":
        conditions = node[2][1:] if node[2][0] == "seq" else node[2:]
        places = node[1:2] if node[1][0] == "rel" else ()
        return joined("cap", [region(part) for part in (*places, *conditions)])
    if is_inequality(node):
        return _inequality(node)
    if node[0] == "list" and node[1] in OPEN_BELOW:
        if len(node) != 5:
            raise MathError("an interval has two ends")
        return ("interval", scalar(node[3]), scalar(node[4]), OPEN_BELOW[node[1]], OPEN_ABOVE[node[2]])
    if node[0] == "list" and node[1] in BRACES:
        return joined("cup", [region(part) if part[0] != "n" else ("point", part) for part in node[3:]])
    return joined("cup", [("point", value[1]) for value in values(node)])


def joined(word: str, regions: list[Tree]) -> Tree:
    """The union or the intersection of regions; empty where there are none."""
    return balanced(word, regions) if regions else ("empty",)


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
    return joined("cap", found)


def is_region(node: Tree) -> bool:
    """Whether a tree can only be a set of reals, not a value."""
    if node[0] == "list":
        return node[1] in ("[", "]")
    return node[0] in ("cup", "cap", "setminus", "builder", "RR") or is_inequality(node)


def is_inequality(node: Tree) -> bool:
    """Whether a tree is a chain of inequalities."""
    return node[0] == "rel" and set(node[1]) <= {"<", ">", "le", "ge", "ne"}

"""The values that an expression stands for: without a name before it, once for each choice of its signs."""

from itertools import product

from scorers.mathtokens import MathError
from scorers.mathtree import Tree, scalar

MOST_SIGNS = 4


def values(node: Tree) -> list[Tree]:
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
    return node[0] == "v" or (node[0] in ("*", "/") and _is_name(node[1]) and _is_name(node[2]))


def _names(node: Tree) -> bool:
    return _is_name(node) or (node[0] == "list" and all(map(_is_name, node[3:])))


def _signs(node: Tree) -> list[Tree]:
    r"""The expression once for each choice of its signs; with `\mp` in it, all signs turn together."""
    count, together = open_signs(node)
    if not count:
        return [node]
    if count > MOST_SIGNS:
        raise MathError(f"more than {MOST_SIGNS} signs that are open")
    choices = [(True,) * count, (False,) * count] if together else list(product((True, False), repeat=count))
    return list(dict.fromkeys(_chosen(node, list(choice)) for choice in choices))


def open_signs(node: Tree) -> tuple[int, bool]:
    r"""How many signs are open in an expression, and whether one of them is `\mp`."""
    inner = [open_signs(part) for part in node if isinstance(part, tuple)]
    own = node[:1] in (("pm",), ("mp",))
    return sum(count for count, _ in inner) + own, node[:1] == ("mp",) or any(mp for _, mp in inner)


def _chosen(node: Tree, plus: list[bool]) -> Tree:
    if node[0] in ("pm", "mp"):
        positive = plus.pop(0) == (node[0] == "pm")
        inner = _chosen(node[1], plus)
        return inner if positive else ("*", ("n", -1, 1), inner)
    return (node[0], *(_chosen(part, plus) if isinstance(part, tuple) else part for part in node[1:]))


def behind_name(node: Tree) -> Tree:
    r"""What stands behind `x =`, `(x, y) =` or `x \in`; anything else as it is."""
    named = node[0] == "rel" and (node[1] == ("in",) or (node[1] == ("=",) and _names(node[2])))
    found: Tree = node[3] if named else node
    return found

"""Reads mathematics, LaTeX or plain, into a small tree. A whitelist: what is not in the grammar is not read.

The trees are described in `mathtree`. Evaluates nothing.
"""

from typing import Any

from scorers.mathlists import Lists
from scorers.mathnames import FUNCTIONS
from scorers.mathtokens import MathError, Token, tokens
from scorers.mathtree import MINUS_ONE, Tree, balanced, negative, number, product, scalar

RELATIONS = ("=", "<", ">", "le", "ge", "ne", "approx", "in")
SET_WORDS = ("cup", "cap", "setminus")
SIGNS = ("+", "-", "pm", "mp")
MOST_IN_A_ROW = 30
ARGUMENTS = {"log": (1, 2), "ln": (1, 2), "binomial": (2, 2), "root": (2, 2)}
"""The fewest and the most arguments of functions that do not take one."""
VARIADIC = ("max", "min", "gcd", "lcm")
WORDS_BETWEEN = ("or", "and", "in", "cup", "deg")
INVERSES = {
    **{name: f"arc{name}" for name in ("sin", "cos", "tan", "cot", "sec", "csc")},
    **{name: f"ar{name}" for name in ("sinh", "cosh", "tanh")},
}


def tree(text: str, *, enumerates: bool = False, mirrored: bool = False, euler: bool = False) -> Tree:
    """The tree of a whole text. Raises MathError if the text is not wholly in the grammar.

    `enumerates`: a comma separates, it does not group digits. `mirrored`: `]0, 1[` is an interval.

    >>> tree("2x^2 + 1")
    ('+', ('*', ('n', 2, 1), ('^', ('v', 'x'), ('n', 2, 1))), ('n', 1, 1))
    """
    parser = Parser(tokens(text, grouped=not enumerates, euler=euler), mirrored)
    found = parser.sequence()
    parser.take("", kind="end")
    return found


class Parser(Lists):
    """Recursive descent over tokens; each method reads one construct from the current token on."""

    def relation(self) -> Tree:
        """Sums, sets and relations between them."""
        parts, operators = [self.union()], []
        while self.now.text in RELATIONS:
            operators.append(self.next().text)
            parts.append(self.union())
        return ("rel", tuple(operators), *parts) if operators else parts[0]

    def union(self) -> Tree:
        """A sum, or sets joined by operations on sets."""
        left = self.sum()
        for _ in range(MOST_IN_A_ROW):
            if self.now.text not in SET_WORDS and not (self.mirrored and self.now.text == "U"):
                return left
            word = self.next().text
            left = ("cup" if word == "U" else word, left, self.sum())
        raise MathError(f"more than {MOST_IN_A_ROW} sets in a row")

    def sum(self) -> Tree:
        """Terms with their signs."""
        with self.deeper():
            terms = [self.signed()]
            while self.now.text in SIGNS:
                terms.append(self.signed())
            return terms[0] if len(terms) == 1 else balanced("+", [scalar(term) for term in terms])

    def signed(self) -> Tree:
        """A term behind any number of signs, few of them open."""
        minus, either = False, ""
        while self.now.text in SIGNS:
            sign = self.next().text
            if either and sign in ("pm", "mp"):
                raise MathError("two open signs in a row")
            either = sign if sign in ("pm", "mp") else either
            minus ^= sign == "-"
        found = self.term()
        if either:
            found = (either, scalar(found))
        return negative(scalar(found)) if minus else found

    def term(self) -> Tree:
        """Factors with `*`, `/` or nothing between them, from left to right."""
        above: list[Tree] = [self.factor()]
        below: list[Tree] = []
        while True:
            if self.now.text in ("*", "/"):
                side = above if self.next().text == "*" else below
                side.append(self.negated(self.factor))
            elif self.starts_factor() and self.now.kind != "num":
                above.append(self.factor())
            else:
                return product(above, below) if len(above) + len(below) > 1 else above[0]

    def negated(self, read: Any) -> Tree:
        """What `read` reads, behind any number of minus and plus signs."""
        minus = False
        while self.now.text in ("+", "-"):
            minus ^= self.next().text == "-"
        return negative(scalar(read())) if minus else read()

    def factor(self) -> Tree:
        r"""A power, or a mixed number as `5 3/4` and `5\frac{3}{4}` are."""
        whole = self.now
        found = self.power()
        if whole.kind != "num" or found[0] != "n" or found[2] != 1 or not whole.text.isdigit():
            return found
        mark = self.at
        if self.now.kind == "num" and self.now.spaced and self.peek(1).text == "/" and self.peek(2).kind == "num":
            top, _, bottom = self.next(), self.next(), self.next()
            if top.text.isdigit() and bottom.text.isdigit() and int(top.text) < int(bottom.text):
                return ("+", found, ("/", ("n", int(top.text), 1), ("n", int(bottom.text), 1)))
        elif self.now.text == "frac":
            part = self.power()
            if part[0] == "/" and part[1][0] == part[2][0] == "n" and 0 <= part[1][1] < part[2][1]:
                return ("+", found, part)
        self.at = mark
        return found

    def power(self) -> Tree:
        """An atom with exponents, factorials, per cent and degrees behind it."""
        base = self.atom()
        for _ in range(MOST_IN_A_ROW):
            if self.now.text == "!":
                self.next()
                double = self.now.text == "!" and self.next()
                base = ("f", "factorial2" if double else "factorial", scalar(base))
            elif self.now.text == "%":
                self.next()
                base = ("/", scalar(base), ("n", 100, 1))
            elif self.now.text == "deg":
                self.next()
                base = ("deg", scalar(base))
            elif self.now.text == "^":
                self.next()
                raised = self.exponent()
                base = ("deg", scalar(base)) if raised is None else ("^", scalar(base), raised)
            else:
                return base
        raise MathError(f"more than {MOST_IN_A_ROW} signs in a row")

    def exponent(self) -> Tree | None:
        """What stands behind `^`; None for the degree sign."""
        if self.now.text == "deg" or (self.now.text == "{" and self.peek(1).text == "deg"):
            braced = self.next().text == "{"
            if braced:
                self.next()
                self.take("}")
            return None
        with self.deeper():
            return scalar(self.negated(self.brace if self.now.text == "{" else self.power))

    def atom(self) -> Tree:
        """A number, a name, a function of something, or something in brackets."""
        with self.deeper():
            token = self.now
            if token.kind == "num":
                return number(self.next().text)
            if token.kind == "name":
                return self.function() if token.text in FUNCTIONS else self.name()
            if token.text == "frac":
                self.next()
                return ("/", self.argument(digit=True), self.argument(digit=True))
            return self.bracketed()

    def name(self) -> Tree:
        """A constant, or a variable with its index."""
        text = self.next().text
        if text in ("e", "i", "pi", "oo"):
            return ("c", text)
        if text in ("RR", "emptyset"):
            return ("RR",) if text == "RR" else ("empty",)
        if text == "Matrix":
            return self.bracketed()
        if text in WORDS_BETWEEN:
            raise MathError(f"{text!r} is in the wrong place")
        return ("v", text + self.index())

    def index(self) -> str:
        """The letters and digits of an index, `_` in front; empty where there is none."""
        if self.now.text != "_":
            return ""
        self.next()
        if self.now.text != "{":
            return "_" + self.next().text
        self.next()
        inner = []
        while self.now.kind in ("name", "num") or self.now.text in (",", "+", "-"):
            inner.append(self.next().text)
        self.take("}")
        return "_" + "".join(inner)

    def function(self) -> Tree:
        """A function with its base or index, its exponent and its arguments."""
        name = self.next().text
        if name in ("sqrt", "cbrt"):
            return self.root(name)
        base: Tree | None = {"lg": ("n", 10, 1), "log10": ("n", 10, 1), "log2": ("n", 2, 1)}.get(name)
        if name == "log" and self.now.text == "_":
            self.next()
            base = self.argument()
        if name == "binomial" and self.now.text == "{":
            return ("f", name, self.argument(), self.argument())
        raised = self.exponent() if self.now.text == "^" and self.next() else None
        if raised == MINUS_ONE and name in INVERSES:
            name, raised = INVERSES[name], None
        arguments = self.arguments()
        if name in ("log", "lg", "log2", "log10"):
            name, arguments = "ln", arguments if base is None else (*arguments, base)
        fewest, most = (1, 50) if name in VARIADIC else ARGUMENTS.get(name, (1, 1))
        if not fewest <= len(arguments) <= most:
            raise MathError(f"{name} takes another number of arguments")
        found: Tree = ("f", "log" if name == "ln" and len(arguments) == 2 else name, *arguments)
        return found if raised is None else ("^", found, raised)

    def root(self, name: str) -> Tree:
        r"""A root; `\sqrt[3]{x}` and `\sqrt(2)` too."""
        index: Tree = ("n", 3 if name == "cbrt" else 2, 1)
        if self.now.text == "[":
            self.next()
            index = scalar(self.sum())
            self.take("]")
        return ("f", "root", self.argument(), index)

    def arguments(self) -> Tree:
        """What a function is applied to: a bracket, or the factors that follow."""
        if self.now.text in ("(", "{", "["):
            found = self.bracketed()
            return tuple(map(scalar, found[3:])) if found[0] == "list" else (scalar(found),)
        factors = [self.negated(self.power)]
        while (
            self.starts_factor() and self.now.text not in FUNCTIONS - {"sqrt"} and self.now.text not in ("(", "[", "|")
        ):
            factors.append(self.power())
        return (product(factors),)

    def argument(self, *, digit: bool = False) -> Tree:
        """One argument of a LaTeX command: a group, or one atom; of a bare number only the first digit, if so asked."""
        if digit and self.now.kind == "num" and self.now.text.isdigit():
            first, rest = self.now.text[0], self.now.text[1:]
            self.tokens[self.at : self.at + 1] = [Token("num", part) for part in (first, rest) if part]
            return number(self.next().text)
        return scalar(self.negated(self.atom))

"""The part of the grammar that walks over tokens and reads brackets, enumerations and matrices. Knows no arithmetic."""

from collections.abc import Iterator
from contextlib import contextmanager

from scorers.mathtokens import MathError, Token
from scorers.mathtree import Tree, scalar

DEEPEST = 60
SEPARATORS = (",", ";", "or", "and")
CLOSINGS = {"(": (")", "]", "["), "[": ("]", ")", "["), "]": ("[", "]", ")")}
PLAIN_CLOSINGS = {"(": (")", "]"), "[": ("]", ")")}
PAIRS = {"|": "|", "lfloor": "rfloor", "lceil": "rceil"}
FACTORS = ("(", "{", "set{", "frac", "lfloor", "lceil", "langle", "begin")


class Lists:
    """A position in the tokens and the constructs that hold other constructs."""

    def __init__(self, tokens: list[Token], mirrored: bool) -> None:
        self.tokens = tokens
        self.mirrored = mirrored
        self.at = 0
        self.depth = 0
        self.bars = 0

    @property
    def now(self) -> Token:
        """The current token."""
        return self.tokens[self.at]

    def peek(self, ahead: int) -> Token:
        """A later token; the last where there are fewer."""
        return self.tokens[min(self.at + ahead, len(self.tokens) - 1)]

    def next(self) -> Token:
        """Step over the current token and return it."""
        token = self.now
        if token.kind == "end":
            raise MathError("it ends too early")
        self.at += 1
        return token

    def take(self, *texts: str, kind: str = "") -> str:
        """Step over one of these tokens. Raises MathError if another stands there."""
        if self.now.text not in texts or (kind and self.now.kind != kind):
            raise MathError(f"{self.now.text!r} is in the wrong place" if self.now.text else "it ends too early")
        self.at += self.now.kind != "end"
        return self.tokens[self.at - 1].text

    @contextmanager
    def deeper(self) -> Iterator[None]:
        """One level further in. Raises MathError where that is too deep."""
        self.depth += 1
        if self.depth > DEEPEST:
            raise MathError("nested too deeply")
        yield
        self.depth -= 1

    def relation(self) -> Tree:
        """What an enumeration enumerates."""
        raise NotImplementedError

    def sum(self) -> Tree:
        """What stands in bars and in matrices."""
        raise NotImplementedError

    def starts_factor(self) -> bool:
        """Whether the current token can begin a factor."""
        token = self.now
        if token.kind in ("num", "name"):
            between = token.text in ("or", "and", "in", "cup", "deg") or (self.mirrored and token.text == "U")
            return not between
        if token.text == "|":
            return self.bars == 0 and not self.mirrored
        return token.text in FACTORS or (token.text == "[" and not self.mirrored)

    def sequence(self) -> Tree:
        """Relations with commas, semicolons, `or` or `and` between them; one alone is itself."""
        parts, words = [self.relation()], set()
        while self.now.text in SEPARATORS:
            word = self.next().text
            if word == "," and self.now.text in ("or", "and"):
                word = self.next().text
            words.add(word)
            parts.append(self.relation())
        if not words:
            return parts[0]
        return ("or" if "or" in words else "and" if words == {"and"} else "seq", *parts)

    def bracketed(self) -> Tree:
        """Whatever begins with a bracket, bars or an environment."""
        opening = self.now.text
        if opening in PAIRS:
            return self.between_bars()
        if opening in ("{", "set{"):
            return self.brace()
        if opening == "langle":
            return self.enclosed(("rangle",))
        if opening == "begin":
            return self.environment()
        closings = (CLOSINGS if self.mirrored else PLAIN_CLOSINGS).get(opening)
        if closings is None:
            raise MathError(f"{opening!r} is in the wrong place" if opening else "it ends too early")
        return self.enclosed(closings)

    def enclosed(self, closings: tuple[str, ...]) -> Tree:
        """A list in brackets; one expression in round ones is itself."""
        opening = self.next().text
        bars, self.bars = self.bars, 0
        items = self.items(closings)
        closing = self.take(*closings)
        self.bars = bars
        if opening == "(" and closing == ")" and len(items) == 1:
            return items[0]
        return ("list", opening, closing, *items)

    def items(self, closings: tuple[str, ...]) -> tuple[Tree, ...]:
        """The parts of a list up to its closing bracket."""
        if self.now.text in closings:
            return ()
        found = self.sequence()
        return found[1:] if found[0] in ("seq", "and", "or") else (found,)

    def brace(self) -> Tree:
        """A LaTeX group or a set; `{x | x > 0}` too."""
        closing = {"{": "}", "set{": "set}"}[self.now.text]
        opening = self.next().text
        bars, self.bars = self.bars, 0
        items = self.items((closing,))
        if self.now.text in ("|", ":") and len(items) == 1:
            self.next()
            condition = self.sequence()
            self.take(closing)
            found: Tree = ("builder", items[0], condition)
        else:
            self.take(closing)
            found = ("list", opening, closing, *items)
        self.bars = bars
        return found

    def between_bars(self) -> Tree:
        """An absolute value, a floor or a ceiling."""
        opening = self.next().text
        bars, self.bars = self.bars, self.bars + 1 if opening == "|" else 0
        inner = self.sum()
        self.take(PAIRS[opening])
        self.bars = bars
        return ("f", {"|": "abs", "lfloor": "floor", "lceil": "ceil"}[opening], scalar(inner))

    def environment(self) -> Tree:
        """A LaTeX matrix: rows of cells."""
        name = self.environment_name("begin")
        if name == "array" and self.now.text == "{":
            while self.next().text != "}":
                continue
        if not name.endswith("matrix") and name != "array":
            raise MathError(f"the environment {name!r} is not read")
        rows: list[tuple[Tree, ...]] = []
        while self.now.text != "end":
            row = [self.sum()]
            while self.now.text == "&":
                self.next()
                row.append(self.sum())
            rows.append(tuple(row))
            if self.now.text != "end":
                self.take("\\")
                if self.now.text == "[":  # LaTeX reads a bracket behind a row as the space to the next one: \\[2pt]
                    while self.next().text != "]":
                        continue
        self.environment_name("end")
        return ("matrix", tuple(rows))

    def environment_name(self, word: str) -> str:
        r"""The name behind `\begin` or `\end`."""
        self.take(word)
        self.take("{")
        name = ""
        while self.now.kind == "name":
            name += self.next().text
        self.take("}")
        return name

r"""Cuts mathematics, LaTeX or plain, into tokens. Knows spellings, not grammar; evaluates nothing.

One spelling is left for each thing: `×`, `\cdot` and `\times` are `*`, `²` is `^{2}`, `\dfrac` is `\frac`. Never NFKC,
which would read `10²` as 102.
"""

import re
from dataclasses import dataclass

from scorers.mathnames import COMMANDS, FUNCTIONS, GREEK, LOWERED, OPERATORS, OTHERS, RAISED, SYNONYMS, TABLE, WORDS

LONGEST = 2000
MOST_DIGITS = 1000


class MathError(Exception):
    """Text that is no mathematics that is read, or too large to evaluate; the text says what."""


@dataclass(frozen=True, slots=True)
class Token:
    """A piece of the text."""

    kind: str
    """`num`, `name`, `command`, `op` or `end`; a command has lost its backslash."""
    text: str
    spaced: bool = False
    """White space stood before it."""


_NUMBER = r"(?:[0-9]{1,3}(?:(?:\\[,!;]|\{,\}|MARK)[0-9]{3})+(?![0-9])|[0-9]+)(?:\.[0-9]+)?|\.[0-9]+"
_TOKEN = (
    r"(?P<space>(?:\s|~|\\[,;:!> ]|\\q?quad(?![A-Za-z]))+)"
    r"|(?P<num>NUMBER)(?P<exp>[eE][+-]?[0-9]{1,6}(?![0-9.]))?"
    r"|(?P<command>\\(?:[A-Za-z]+|[{}\\]))|(?P<word>[A-Za-z]+)"
    r"|(?P<op><=|>=|!=|==|\*\*|\\[|%&]|[-+*/^_=<>(){}\[\]|,;:!%&])"
)
_TOKENS = {
    grouped: re.compile(_TOKEN.replace("NUMBER", _NUMBER.replace("MARK", "[ ,]" if grouped else "[ ]")), re.ASCII)
    for grouped in (False, True)
}
_RAISED = re.compile("[⁰¹²³⁴⁵⁶⁷⁸⁹⁺⁻ⁿ]+")
_LOWERED = re.compile("[₀₁₂₃₄₅₆₇₈₉]+")
_REALS = re.compile(r"\\mathbb\s*(?:\{\s*R\s*\}|R)")
_COMMAND = r"\\(?:text(?:bf|it|rm|normal)?|math(?:rm|bf|it|sf|cal|bb)|mbox|operatorname\*?|boxed|fbox"
_COMMAND += r"|vec|hat|bar|tilde|overline|overrightarrow|widehat)\s*"
_WORDING = re.compile(_COMMAND + r"(?:\{([^{}]*)\}|(?=\{))")
_PERIOD = re.compile(r"(?<![0-9])([0-9]*+)\.([0-9]*+)\\(?:overline|bar)\s*\{([0-9]+)\}", re.ASCII)
_LAYOUT = re.compile(
    r"\\(?:left|right|middle|[bB]igg?[lrm]?|displaystyle|textstyle|limits|nolimits)(?![A-Za-z])(?:\s*\.(?![0-9]))?"
)


def tokens(text: str, *, grouped: bool = False, euler: bool = False) -> list[Token]:
    r"""The tokens of a text, an `end` last. Raises MathError on a character that means nothing here.

    `grouped`: a comma between proper triples belongs to the number. `euler`: `2e-1` is 2e - 1, not 0.2.

    >>> [token.text for token in tokens("2x² ≤ \\dfrac12")]
    ['2', 'x', '^', '{', '2', '}', 'le', 'frac', '12', '']
    """
    if len(text) > LONGEST:
        raise MathError(f"longer than {LONGEST} characters")
    text = one_spelling(text)
    found: list[Token] = []
    at, spaced = 0, False
    while at < len(text):
        match = _TOKENS[grouped].match(text, at)
        if match is None:
            raise MathError(f"{text[at]!r} means nothing here")
        whole = not (match["exp"] and euler)
        at = match.end() if whole else match.end("num")
        if match["num"]:
            found.append(Token("num", _number(match["num"], match["exp"] if whole else None), spaced))
        elif match["word"]:
            found += _names(match["word"], spaced)
        elif not match["space"]:
            found.append(_token(match["op"] or match["command"], spaced))
        spaced = match["space"] is not None
    return [*found, Token("end", "", spaced)]


def one_spelling(text: str) -> str:
    """The text with one spelling for signs that look alike, without layout commands and a final full stop."""
    text = text.translate(TABLE).replace("\\$", " ").replace("$", " ")
    text = _RAISED.sub(lambda match: "^{" + match.group().translate(RAISED) + "}", text)
    text = _LOWERED.sub(lambda match: "_{" + match.group().translate(LOWERED) + "}", text)
    text = _PERIOD.sub(_periodic, _REALS.sub(r"\\RR ", text))
    text = _WORDING.sub(lambda match: f" {match[1] or ''} ", text)
    return _LAYOUT.sub(" ", text).strip().removesuffix(".").rstrip()


def _periodic(match: re.Match[str]) -> str:
    r"""A decimal with a period, as the fraction that it is.

    >>> _periodic(_PERIOD.match(r"0.1\overline{6}"))
    ' (15/90) '
    """
    if len(match.group()) > MOST_DIGITS:
        raise MathError(f"a number of more than {MOST_DIGITS} digits")
    whole, fixed, period = match.groups()
    value = int(whole + fixed + period) - int(whole + fixed or "0")
    return f" ({value}/{'9' * len(period) + '0' * len(fixed)}) "


def _token(text: str, spaced: bool) -> Token:
    """The token that an operator or a command stands for."""
    if not text.startswith("\\") or text in OPERATORS:
        return Token("op", OPERATORS.get(text, text), spaced)
    name = COMMANDS.get(text[1:], text[1:])
    name = SYNONYMS.get(name, name)
    if name in FUNCTIONS or name in GREEK or name in OTHERS:
        return Token("name", name, spaced)
    if text in ("\\{", "\\}"):
        return Token("op", "set" + name, spaced)
    return Token("command" if name[0].isalpha() or text == "\\\\" else "op", name, spaced)


def _names(word: str, spaced: bool) -> list[Token]:
    """Letters that run together: the longest known names, else single letters.

    >>> [token.text for token in _names("xsqrt", False)]
    ['x', 'sqrt']
    """
    found: list[Token] = []
    while word:
        known = next((name for name in WORDS if word.startswith(name)), word[0])
        found.append(Token("name", SYNONYMS.get(known, known), spaced and not found))
        word = word[len(known) :]
    return found


def _number(digits: str, exponent: str | None) -> str:
    """A number without its group marks."""
    digits = re.sub(r"[^0-9.]", "", digits)
    if len(digits) > MOST_DIGITS:
        raise MathError(f"a number of more than {MOST_DIGITS} digits")
    return digits + (exponent or "")

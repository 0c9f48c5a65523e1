"""Reads a number from a field: a full match of a grammar, as an exact fraction. Searches nothing in a text.

Never NFKC, which turns `10²` into `102`: a fixed table maps minus signs, spaces and fullwidth digits and marks.
"""

import re
import unicodedata
from collections.abc import Iterator, Sequence
from fractions import Fraction

TABLE = str.maketrans(
    dict.fromkeys("\u2212\u2013\u2010\u2011\uff0d", "-")
    | dict.fromkeys("\u2009\u202f\u00a0\u2007", " ")
    | {chr(0xFF10 + digit): str(digit) for digit in range(10)}
    | {"\uff1a": ":", "\uff0c": ",", "\uff0e": "."}
)
LENGTH = 1000
"""A longer field is no number."""
EXPONENT = 10_000
"""A greater exponent, either way, is no number."""

SIGN = re.compile(r"(?P<sign>[-+]) ?")
WHOLE = r"(?:{grouped}|[0-9]+)"
POWER = (
    r"(?:[eE](?P<e>[-+]?[0-9]+)"
    r"| ?(?:\\times|\\cdot|[×·*x]) ?10(?:\^(?P<plain>[-+]?[0-9]+)|\^\{(?P<braced>[-+]?[0-9]+)\}"
    r"|(?P<raised>[⁺⁻]?[⁰¹²³⁴⁵⁶⁷⁸⁹]+)))?"
)
LATEX = re.compile(
    r"(?:(?P<count>[0-9]+)(?: |\\,|\\ )?)?\\[dt]?frac"
    r"(?:\{(?P<top>-?[0-9]+)\}| ?(?P<one>[0-9]))(?:\{(?P<bottom>[0-9]+)\}|(?P<two>[0-9]))"
)
MIXED = re.compile(r"(?P<count>[0-9]+) +(?P<top>[0-9]+) ?/ ?(?P<bottom>[0-9]+)")
RAISED = str.maketrans("⁰¹²³⁴⁵⁶⁷⁸⁹⁺⁻", "0123456789+-")


def _grouped(marks: Sequence[str]) -> str:
    return "|".join(rf"[1-9][0-9]{{0,2}}(?:{mark}[0-9]{{3}})+" for mark in marks)


def _patterns(decimal: str, marks: Sequence[str]) -> tuple[re.Pattern[str], re.Pattern[str]]:
    whole = WHOLE.format(grouped=_grouped(marks))
    return (
        re.compile(rf"(?P<top>{whole}) ?/ ?(?P<bottom>{whole})"),
        re.compile(rf"(?P<whole>{whole})?(?:{decimal}(?P<part>[0-9]+))?{POWER}"),
    )


POINT = _patterns(r"\.", [",", " ", r"\\,", r"\\!", r"\{,\}", r",\\!"])
COMMA = _patterns(r"(?:,|\{,\})", [r"\.", " ", r"\\,", r"\\!"])


def plain(text: str) -> str:
    """The field with the table's minus signs, spaces, digits and marks in ASCII, stripped.

    >>> plain("\u2212５\u202f000 ")
    '-5 000'
    """
    return text.translate(TABLE).strip()


def number(
    text: str, *, percent: bool = False, units: Sequence[str] = (), decimal_comma: bool = False
) -> Fraction | None:
    """The number that the whole field is; None where it is anything else.

    >>> number("$1,234.50.")
    Fraction(2469, 2)
    >>> number("2 1/2"), number("1.5e3"), number("20-22")
    (Fraction(5, 2), Fraction(1500, 1), None)
    """
    field = plain(text)
    if len(field) > LENGTH:
        return None
    for body in _without_unit(field, [*units, *(["%"] if percent else [])]):
        negative, size = _signed(body, units)
        value = _size(size, COMMA if decimal_comma else POINT)
        if value is not None:
            return -value if negative else value
    return None


def ill_grouped(text: str) -> bool:
    """Whether the field is digits and commas and yet no number, as `12,34` is."""
    return re.fullmatch(r"[-+]?\$?[0-9]+(?:,[0-9]*)+(?:\.[0-9]*)?\.?", plain(text)) is not None


def _without_unit(field: str, units: Sequence[str]) -> Iterator[str]:
    """The field, and the field without its final full stop, each also without a unit."""
    for body in dict.fromkeys([field, field.removesuffix("."), field.removesuffix("。")]):
        yield body
        for unit in units:
            for spelling in (unit, rf"\{unit}", rf"\text{{{unit}}}", rf"\text{{ {unit}}}", rf"\mathrm{{{unit}}}"):
                if unit and body.endswith(spelling):
                    bare = body.removesuffix(spelling)
                    yield bare.removesuffix("\\,").removesuffix("\\ ").removesuffix("~").rstrip(" ")


def _signed(body: str, units: Sequence[str]) -> tuple[bool, str]:
    """Whether the number is negative, and the rest without sign and currency mark."""
    found = SIGN.match(body)
    rest = body[found.end() :] if found else body
    for mark in ("\\$", "$", *(unit for unit in units if len(unit) == 1 and unicodedata.category(unit) == "Sc")):
        if rest.startswith(mark):
            rest = rest.removeprefix(mark).lstrip(" ")
            break
    else:
        return bool(found and found["sign"] == "-"), rest
    inner = None if found else SIGN.match(rest)
    found = found or inner
    return bool(found and found["sign"] == "-"), rest[inner.end() :] if inner else rest


def _size(body: str, forms: tuple[re.Pattern[str], re.Pattern[str]]) -> Fraction | None:
    fraction, decimal = forms
    found = fraction.fullmatch(body)
    if found:
        return _quotient(_digits(found["top"]), _digits(found["bottom"]))
    found = LATEX.fullmatch(body) or MIXED.fullmatch(body)
    if found:
        parts = found.groupdict()
        top, bottom = int(parts["top"] or parts["one"]), int(parts["bottom"] or parts["two"])
        return _quotient(top, bottom) if parts["count"] is None else _mixed(int(parts["count"]), top, bottom)
    found = decimal.fullmatch(body)
    return None if found is None else _decimal(found)


def _digits(text: str) -> int:
    return int(re.sub(r"[^0-9]", "", text))


def _quotient(top: int, bottom: int) -> Fraction | None:
    return Fraction(top, bottom) if bottom else None


def _mixed(count: int, top: int, bottom: int) -> Fraction | None:
    return count + Fraction(top, bottom) if 0 <= top < bottom else None


def _decimal(found: re.Match[str]) -> Fraction | None:
    if found["whole"] is None and found["part"] is None:
        return None
    part = found["part"] or ""
    exponent = found["e"] or found["plain"] or found["braced"] or (found["raised"] or "0").translate(RAISED)
    if abs(int(exponent)) > EXPONENT:
        return None
    mantissa = Fraction(_digits((found["whole"] or "0") + part), 10 ** len(part))
    return mantissa * Fraction(10) ** int(exponent)

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scorers.numbers import ill_grouped, number, plain

RIGHT = {
    "42": "42",
    "007": "7",
    "1,000": "1000",
    "1 000": "1000",
    "1\u2009000": "1000",
    "1\u202f000": "1000",
    "1\u00a0000": "1000",
    "1\u2007000": "1000",
    "1\\,000": "1000",
    "1\\!000": "1000",
    "1{,}000": "1000",
    "1,\\!000": "1000",
    "1.0e3": "1000",
    "1.5e3": "1500",
    "1.5 \\times 10^{3}": "1500",
    "1.5\\cdot10^3": "1500",
    "1.5 × 10³": "1500",
    "2 x 10^-2": "1/50",
    "2 × 10⁻²": "1/50",
    "16.00": "16",
    "5.": "5",
    ".5": "1/2",
    "\u22125": "-5",
    "\u20135": "-5",
    "\u20105": "-5",
    "\u20115": "-5",
    "\uff0d5": "-5",
    "+5": "5",
    "- 5": "-5",
    "$29.00.": "29",
    "\\$29": "29",
    "-$5": "-5",
    "$-5": "-5",
    "$9{,}500": "9500",
    "3/4": "3/4",
    "-3/4": "-3/4",
    "3 / 4": "3/4",
    "1,000/3": "1000/3",
    "2 1/2": "5/2",
    "11 5/6": "71/6",
    "-2 1/2": "-5/2",
    "\\frac12": "1/2",
    "\\frac{1}{2}": "1/2",
    "\\dfrac{-1}{2}": "-1/2",
    "\\tfrac{1}{2}": "1/2",
    "2\\frac{1}{2}": "5/2",
    "２５．５": "51/2",
    "1，000": "1000",
    "42。": "42",
}
NONE = [
    *[
        "12,34",
        "1,2",
        "1,000,00",
        "1_000",
        "NaN",
        "inf",
        "20-22",
        "42!",
        "(42).",
        "1e99999",
        "1e-99999",
        "10²",
        "½",
        "①",
    ],
    *[
        "5%",
        "x",
        "1.2.3",
        "1,000.5.5",
        "-",
        "$",
        "--5",
        "-$-5",
        "+-5",
        "1/0",
        "3/-4",
        "0,123",
        "1,0000",
        "e5",
        ".e5",
        "1e",
    ],
    *["\\frac{1}{0}", "\\frac{1.5}{2}", "\u20145", "٤٢", "5..", ".", "", "72, in total", "x = 3,", "2 3/2", "2 1/0"],
    *["1 2 3", "1,000 000", "pages 20-22", "42, found in step 3", "9" * 1001],
]


@pytest.mark.parametrize(("text", "expected"), RIGHT.items())
def test_what_is_a_number(text: str, expected: str) -> None:
    assert number(text) == Fraction(expected)


@pytest.mark.parametrize("text", NONE)
def test_what_is_none(text: str) -> None:
    assert number(text) is None


def test_units_and_percent_only_where_listed() -> None:
    for text in ("60%", "60 %", "60\\%", "60", "60\u202f%."):
        assert number(text, percent=True) == 60
    for text in ("10 cm", "10cm", "10cm.", "10", "10\\,\\text{cm}", "10\\text{ cm}", "10\\mathrm{cm}", "10~cm"):
        assert number(text, units=["cm", ""]) == 10
    assert number("10 m", units=["cm"]) is None
    assert number("10 cmcm", units=["cm"]) is None
    assert number("2 Std.", units=["Std."]) == 2
    assert number("€ 5", units=["€"]) == number("5 €", units=["€"]) == 5
    assert number("€ 5") is None


def test_the_decimal_comma() -> None:
    for text in ("1.234,5", "1234,5", "1 234,5", "1234{,}5", "1.234,5."):
        assert number(text, decimal_comma=True) == Fraction("1234.5")
    for text in ("3.75", "1,234.5", "1,2,3", "1.23"):
        assert number(text, decimal_comma=True) is None
    assert number("1.234", decimal_comma=True) == 1234


def test_ill_grouped_digits_are_told_from_prose() -> None:
    assert all(ill_grouped(text) for text in ("12,34", "1,2", "1,000,00", "-1,2.", "3,"))
    assert not any(ill_grouped(text) for text in ("1_000", "20-22", "x", "", "1", "a,1"))


@given(st.fractions(), st.sampled_from(["", "."]), st.sampled_from(["-", "\u2212", "\u2013", "\uff0d"]))
def test_any_fraction_reads_back(value: Fraction, stop: str, minus: str) -> None:
    assert number(str(value).replace("-", minus) + stop) == value


@given(
    st.integers(min_value=0, max_value=10**30),
    st.integers(min_value=0, max_value=10**6 - 1),
    st.sampled_from(", \u2009\u00a0"),
)
def test_any_grouped_decimal_reads_back(whole: int, part: int, mark: str) -> None:
    assert number(f"{whole:,}".replace(",", mark) + f".{part:06}") == whole + Fraction(part, 10**6)


@given(st.text())
def test_any_text_is_a_number_or_none(text: str) -> None:
    assert number(text) is None or any(digit in plain(text) for digit in "0123456789")
    number(text, decimal_comma=True, percent=True, units=["kg", "$"])

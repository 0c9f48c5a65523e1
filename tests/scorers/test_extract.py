import pytest

from scorers.extract import WRAPPINGS, boxed, field, unwrap

LINES = {
    "**ANSWER: 42**": "42",
    "**Answer:** 42": "42",
    "**Answer**: 42": "42",
    "*Answer:* 42": "42",
    "__ANSWER:__ 42": "42",
    "__ANSWER: 42__": "42",
    "> answer: 42": "42",
    "> - ANSWER: 42": "42",
    "- ANSWER: 42": "42",
    "1. ANSWER: 42": "42",
    "### Final Answer: 42": "42",
    "   ANSWER: 42": "42",
    "ANSWER : 42": "42",
    "ANSWER：42": "42",
    "`ANSWER: 42`": "42",
    "1. **`ANSWER: 42`**.": "42.",
    "ANSWER: `42`": "42",
    "ANSWER: **42**.": "42.",
    "ANSWER: \\boxed{42}": "42",
    "ANSWER: \\boxed{\\text{13}}": "13",
    "ANSWER: $42$": "42",
    "ANSWER: \\(42\\)": "42",
    "ANSWER: \\[42\\]": "42",
    "ANSWER: 42\n\nHope this helps!": "42",
    "ANSWER: 41\nNo.\r\nANSWER: 42\r\n": "42",
    "ANSWER: 42\rANSWER: 43": "43",
    "**ANSWER: 42** or so": "42** or so",
    "ANSWER: <b>42</b>": "<b>42</b>",
    "ANSWER: **a** and **b**": "**a** and **b**",
    "ANSWER: [0, 1]": "[0, 1]",
    "ANSWER: {x}": "{x}",
    "ANSWER: {1, 2}": "{1, 2}",
    "ANSWER: .": ".",
    "the answer: 42 is wrong because": None,
    "So ANSWER: 42": None,
    "ANSWERS: 42": None,
    "ANSWER 42": None,
    "ANSWER:\n42": None,
    "ANSWER: 42\nANSWER:": None,
    "**ANSWER:**": None,
    "ANSWER: 42\nANSWER: [LETTER]": None,
    "ANSWER: <your number>": None,
    "ANSWER: <A, B or C>": None,
    "ANSWER: [A/B/C]": None,
    "ANSWER: [a, b]": "[a, b]",
    "ANSWER: {pi}": "{pi}",
    "ANSWER: {sqrt(2)}": "{sqrt(2)}",
    "ANSWER: {answer}": None,
    "ANSWER: ...": None,
    "ANSWER: \\boxed{<number>}": None,
    "": None,
}


@pytest.mark.parametrize(("text", "expected"), LINES.items())
def test_the_line_convention(text: str, expected: str | None) -> None:
    assert field(text, "line") == expected


def test_the_gold_is_no_template() -> None:
    assert field("ANSWER: [redacted]", "line", ["[REDACTED]"]) == "[redacted]"
    assert field("ANSWER: <title>", "line", ["<title>"]) == "<title>"


@pytest.mark.parametrize(
    ("text", "expected"),
    {
        r"\boxed{1} and \boxed{\frac{1}{2}}": r"\frac{1}{2}",
        r"\boxed{4": None,
        r"\boxed{4} then \boxed{5": "4",
        r"\boxed{5 \boxed{4}": "4",
        r"\boxed{1 + \boxed{2}}": r"1 + \boxed{2}",
        r"\boxed{\{1, 2\}}": r"\{1, 2\}",
        r"\fbox{840} \boxed {840}": "840",
        r"} {\boxed{7}": "7",
        r"\boxed{}": "",
        "42": None,
    }.items(),
)
def test_the_last_box_whose_braces_balance(text: str, expected: str | None) -> None:
    assert boxed(text) == expected


def test_other_conventions() -> None:
    assert field(r"so \boxed{\text{13}}.", "boxed") == "13"
    assert field(r"so \boxed{}", "boxed") is None
    assert field("  **42**\n", "whole") == "42"
    assert field("a\n```python\nx = 1\n```\nb", "fence") == "x = 1"
    assert field("a", "fence") is None
    assert field('so {"a": 1}', "json") == '{"a": 1}'
    assert field('"a b"', "json") == "a b"
    assert field("none", "json") is None


def test_wrappings_without_end_are_noise() -> None:
    assert unwrap("\\text{" * 5 + "a" + "}" * 5) == "a"
    deep = "\\text{" * 30 + "a" + "}" * 30
    assert unwrap(deep) == deep[len("\\text{") * WRAPPINGS : -WRAPPINGS]


def test_half_a_wrapping_is_none() -> None:
    for text in ("**", "$$", "``", "\\(", "\\(\\)x", r"\text{a} b", r"\text{a", r"\text{a\}", "$5", "a*", "$1$ or $2$"):
        assert unwrap(text) == text


def test_hostile_sizes_take_linear_time() -> None:
    for text in ("\\boxed{" * 50_000, "**" * 50_000, "> " * 50_000 + "ANSWER", "ANSWER:" * 50_000, "{" * 100_000):
        for convention in ("line", "boxed", "whole", "fence", "json"):
            field(text, convention)

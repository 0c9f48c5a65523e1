import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scorers.jsontext import DEPTH, equal, find, parse, scalar_field

JSON_VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
)

FOUND: dict[str, Any] = {
    '{"a": 1}': {"a": 1},
    ' "text" ': "text",
    "-1.5e3": -1500.0,
    'Here: {"a": "}{\\"["} done': {"a": '}{"['},
    "```json\n[1]\n```\n```\n[2]\n```": [2],
    "```json\n[1]\n```\n```python\nx = [3]\n```": [1],
    "```python\nx = [3]\n```\nso [1]": [1],
    "````\n[1]\n````": [1],
    "```json\n[1]\n```\nin short:\n```json\n[1, ...]\n```": [1],
    "```json\nplain\n```\nso [1]": [1],
    "```json\n[1]": [1],
    "[" * DEPTH + "]" * DEPTH: None,
    '{"a": "' + "[" * 1000 + '"}': {"a": "[" * 1000},
}
FAULTS: dict[str, tuple[str, bool]] = {
    "": ("no JSON", True),
    "none at all": ("no JSON", True),
    "```\nplain\n```": ("no JSON", True),
    "```\n{'a': 1}\n```": ("the fenced text does not parse", False),
    "```json\nplain\n```": ("no JSON", True),
    "```json\n[1,\n```": ("the fenced text does not parse", False),
    "```json\n[1]\n```\n```json\n[NaN]\n```": ("NaN", False),
    "[1, 2": ("the first bracket does not parse", False),
    "] [1]": ("the first bracket does not parse", False),
    "[1] [1]": ("more than one", False),
    "[1]]": ("a stray bracket", False),
    '{"a": 1, "b": {"c": 1, "c": 2}}': ("'c' occurs twice", False),
    "so [NaN]": ("NaN", False),
    "[-Infinity]": ("-Infinity", False),
    "1e999": ("overflows", False),
    "so [-1e999]": ("overflows", False),
    "9" * 401: ("overflows", False),
    "[" * (DEPTH + 1) + "]" * (DEPTH + 1): ("nested deeper", False),
    "so " + "[" * 10_000: ("nested deeper", False),
    '"tab\there"': ("no JSON", True),
    'say "' + "[" * (DEPTH + 1) + "]" * (DEPTH + 1) + '"': ("nested deeper", False),
}


@pytest.mark.parametrize("text", FOUND)
def test_the_one_value(text: str) -> None:
    found = find(text)
    assert found.fault == ""
    expected = FOUND[text]
    assert found.value == (json.loads(text) if expected is None else expected)


@pytest.mark.parametrize("text", FAULTS)
def test_what_is_wrong(text: str) -> None:
    found = find(text)
    assert FAULTS[text][0] in found.fault
    assert found.missing == FAULTS[text][1]


def test_strict_takes_nothing_but_the_value() -> None:
    assert find(" [1]\n", strict=True).value == [1]
    for text in ("so [1]", "```json\n[1]\n```", "\ufeff[1]"):
        assert find(text, strict=True).fault


def test_fields_for_the_other_methods() -> None:
    assert scalar_field('"1,5"') == "1,5"
    assert scalar_field(" 1.50 ") == "1.50"
    assert scalar_field("so [1, 2]!") == "[1, 2]"
    assert scalar_field("true") == "true"
    assert scalar_field("nothing") is None


@given(JSON_VALUES)
def test_any_value_is_found_again(value: Any) -> None:
    text = json.dumps(value)
    assert equal(parse(text).value, value)
    assert equal(find(f"```json\n{text}\n```").value, value)
    if isinstance(value, dict | list):
        assert equal(find(f"so: {text} as asked").value, value)
        assert find(f"{text} {text}").fault


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        (1, 1.0, True),
        (0.1, 0.1, True),
        (10**20, 1e20, True),
        (10**20 + 1, 1e20, False),
        (1, True, False),
        (False, 0, False),
        (True, True, True),
        ("20", 20, False),
        (None, False, False),
        (None, None, True),
        ([1, 2], [2, 1], False),
        ([1], [1, 1], False),
        ({"a": 1, "b": 2}, {"b": 2.0, "a": 1}, True),
        ({"a": 1}, {"a": 1, "b": 1}, False),
        ({}, [], False),
        ("é", "e\u0301", False),
    ],
)
def test_equality_is_by_value_and_type(one: Any, other: Any, same: bool) -> None:
    assert equal(one, other) is equal(other, one) is same


@given(st.text(alphabet='[]{}",:1a\\` \n', max_size=60))
def test_any_brackets_are_read(text: str) -> None:
    found = find(text)
    assert bool(found.fault) != bool(found.source)

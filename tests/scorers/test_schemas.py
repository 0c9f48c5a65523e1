import time
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scorers.schemas import ERRORS, FORMAT_LENGTH, pointer, resolved, schema_errors, schema_fault

CHOICE = {
    "$ref": "#/$defs/node",
    "$defs": {
        "node": {
            "oneOf": [
                {"type": "object", "required": ["next", "x"], "properties": {"next": {"$ref": "#/$defs/node"}}},
                {"type": "object", "required": ["next", "y"], "properties": {"next": {"$ref": "#/$defs/node"}}},
                {"type": "null"},
            ]
        }
    },
}


def test_every_error_is_told_with_its_pointer() -> None:
    schema = {
        "required": ["z"],
        "properties": {"a/b": {"type": "integer"}, "c~d": {"items": {"maximum": 3}}},
        "additionalProperties": False,
    }
    errors = schema_errors(schema, {"a/b": "1", "c~d": [1, 9], "e": 0})
    assert sorted(error.split(":")[0] for error in errors) == ["/", "/", "/a~1b", "/c~0d/1"]


@pytest.mark.parametrize(
    ("schema", "good", "bad"),
    [
        ({"type": "integer"}, [3, 3.0, -1, 10**30], [3.5, True, "3", None]),
        ({"type": "number"}, [3, 3.5], [False, "3"]),
        ({"const": 1}, [1, 1.0], [True, "1"]),
        ({"enum": [0, "a"]}, [0, 0.0, "a"], [False, "A"]),
        ({"multipleOf": 0.1}, [0.3, 1, 0], [0.35]),
        ({"multipleOf": 3}, [9, 9.0, "x"], [10, 1e308]),
        ({"pattern": "^(a+)+$"}, ["aaa", 3], ["a" * 1000 + "b", ""]),
        ({"pattern": "é"}, ["\ud800é"], ["\ud800"]),
        ({"uniqueItems": True}, [[1, "1", True], [[1], [2]], "aa"], [[1, 1.0], [{"a": 1, "b": 2}, {"b": 2, "a": 1}]]),
        ({"uniqueItems": False}, [[1, 1]], []),
        ({"patternProperties": {"^x": {"type": "integer"}}}, [{"x1": 1, "y": "z"}, 3], [{"x1": "1"}]),
        (
            {"properties": {"a": {}}, "patternProperties": {"^x": {}}, "additionalProperties": False},
            [{"a": 1, "x": 2}, 4],
            [{"b": 1}],
        ),
        ({"additionalProperties": {"type": "integer"}}, [{"a": 1}], [{"a": "1"}]),
        ({"additionalProperties": True}, [{"a": 1}], []),
        ({"format": "date"}, ["2028-02-29", 3], ["2026-02-29", "29.02.2028"]),
        ({"format": "date-time"}, ["2026-11-29T13:50:00Z"], ["2026-11-29 13:50", "2026-11-29T25:50:00Z"]),
        ({"format": "email"}, ["a@b.org"], ["a"]),
        ({"format": "ipv4"}, ["127.0.0.1"], ["127.0.0.256", "1.2.3"]),
        ({"format": "uuid"}, ["01234567-89ab-4def-8123-456789abcdef"], ["0123456789ab"]),
        ({"format": "uri"}, ["https://example.org/a?b#c"], ["example org", "/a"]),
        ({"format": "regex"}, ["[[a]", "a+"], ["(" * 1000 + ")" * 1000, "("]),
        (CHOICE, [None, {"next": None, "x": 1}], [{"next": None}, {"next": None, "x": 1, "y": 1}, 1]),
    ],
)
def test_what_keeps_a_schema(schema: dict[str, Any], good: list[Any], bad: list[Any]) -> None:
    assert schema_fault(schema) == ""
    assert [value for value in good if schema_errors(schema, value)] == []
    assert [value for value in bad if not schema_errors(schema, value)] == []


@pytest.mark.parametrize("end", [None, 1])
def test_recursion_through_branches_takes_linear_time(end: Any) -> None:
    value: Any = end
    for _ in range(60):
        value = {"next": value, "y": 1}
    start = time.process_time()
    assert bool(schema_errors(CHOICE, value)) == (end is not None)
    assert time.process_time() - start < 2


def test_equal_values_in_two_places_are_both_told() -> None:
    schema = {"items": {"$ref": "#/$defs/small"}, "$defs": {"small": {"maximum": 3}}}
    assert [error.split(":")[0] for error in schema_errors(schema, [9, 1, 9])] == ["/0", "/2"]


def test_a_reference_to_itself_ends() -> None:
    assert schema_errors({"$ref": "#"}, 1) == []


def test_hostile_sizes_are_bounded() -> None:
    start = time.process_time()
    assert len(schema_errors({"items": {"type": "string"}}, [1] * 50_000)) == ERRORS
    same_hash = [at * (2**61 - 1) for at in range(20_000)]
    assert schema_errors({"uniqueItems": True}, same_hash) == []
    assert schema_errors({"format": "uri"}, "a:" + "b" * FORMAT_LENGTH)
    assert time.process_time() - start < 5


@pytest.mark.parametrize(
    ("schema", "words"),
    [
        ({"type": "int"}, "not a schema"),
        ({"properties": {"a": {"pattern": "(?=a)"}}}, "pattern"),
        ({"patternProperties": {"(?=a)": {}}}, "pattern"),
        ({"items": [{}]}, "not a schema"),
        ({"allOf": [{"$ref": "#/$defs/b"}]}, "points to nothing"),
        ({"$ref": "https://example.org/schema"}, "points to nothing"),
        ({"$ref": "b"}, "no JSON pointer"),
        ({"$ref": "#b"}, "no JSON pointer"),
        ({"$dynamicRef": "#b"}, "not taken"),
        ({"$id": "https://example.org/schema"}, "not taken"),
        ({"format": "dat"}, "unknown"),
    ],
)
def test_a_schema_that_cannot_be_used_is_named(schema: dict[str, Any], words: str) -> None:
    assert words in schema_fault(schema)


def test_names_and_values_are_no_keywords() -> None:
    names = {"pattern": {"type": "string"}, "$ref": {}, "format": {}, "$id": {}}
    values = {"const": {"pattern": "(", "$id": 1}, "enum": [{"format": "x"}], "default": {"$ref": 1}}
    assert schema_fault({"properties": names, "anyOf": [values, True], "$defs": {"format": {"allOf": [{}]}}}) == ""


def test_pointers_resolve() -> None:
    value = {"a/b": [10, {"c~d": None}], "": 1}
    assert resolved(value, "") is value
    assert resolved(value, "/a~1b/0") == 10
    assert resolved(value, "/a~1b/1/c~0d") is None
    assert resolved(value, "/") == 1
    for path in ("/x", "/a~1b/2", "/a~1b/-1", "/a~1b/01", "/a~1b/x", "/a~1b/0/0", "/a~1b/٣", "/a~1b/99999999999"):
        with pytest.raises(LookupError):
            resolved(value, path)


@given(st.lists(st.text()))
def test_a_pointer_finds_what_it_was_made_from(path: list[str]) -> None:
    value: Any = 1
    for key in reversed(path):
        value = {key: value}
    assert resolved(value, pointer(path)) == 1


JSON_VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
)


@pytest.mark.long
@given(st.lists(JSON_VALUES, max_size=6))
def test_uniqueness_is_what_comparing_all_pairs_finds(values: list[Any]) -> None:
    from scorers.jsontext import equal

    unique = not any(equal(one, other) for at, one in enumerate(values) for other in values[at + 1 :])
    assert (schema_errors({"uniqueItems": True}, values) == []) == unique

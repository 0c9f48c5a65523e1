"""Values of untrusted replies become facts of the right type, or none."""

from typing import Any

import pytest

from runner.facts import FACT_NAMES, FACTS, PASSING_FACTS, clean_fact, facts, printable, typed_value
from runner.record import Fact


@pytest.mark.parametrize(
    ("name", "raw", "expected"),
    [
        ("context_length", 8192, 8192),
        ("context_length", "8192", 8192),
        ("context_length", "32k", 32000),
        ("context_length", "32K", 32768),
        ("context_length", "1M", 1048576),
        ("context_length", "64.0", 64),
        ("context_length", 64.0, 64),
        ("context_length", 64.5, None),
        ("context_length", float("nan"), None),
        ("context_length", float("inf"), None),
        ("context_length", -1, None),
        ("context_length", 10**16, None),
        ("context_length", True, None),
        ("context_length", [8], None),
        ("context_length", "auto", None),
        ("context_length", "9" * 5000, None),
        ("prefix_caching", True, True),
        ("prefix_caching", "False", False),
        ("prefix_caching", "on", True),
        ("prefix_caching", 1, None),
        ("prefix_caching", "maybe", None),
        ("dtype", "bfloat16", "bfloat16"),
        ("dtype", "", None),
        ("dtype", " \n ", None),
        ("dtype", 16, None),
        ("dtype", None, None),
        ("dtype", "a\x1b[31mb\u202ec", "a [31mb c"),
    ],
)
def test_a_value_has_its_facts_type(name: str, raw: Any, expected: Any) -> None:
    found = typed_value(name, raw)
    assert found == expected
    assert type(found) is type(expected)


def test_facts_leave_out_what_is_unknown() -> None:
    found = facts("GET /x", {"dtype": "half", "context_length": None, "prefix_caching": "?"})
    assert found == (Fact(name="dtype", value="half", source="GET /x"),)


def test_every_fact_has_a_type_and_a_meaning() -> None:
    assert tuple(FACTS) == FACT_NAMES
    assert set(FACT_NAMES) >= PASSING_FACTS
    assert all(kind in (int, str, bool) and meaning for kind, meaning in FACTS.values())
    intended = {"max_concurrent_sequences", "speculative_tokens", "context_length"}
    assert intended <= set(FACT_NAMES)


def test_printable_is_one_short_line() -> None:
    assert printable("a\r\nb\x00c\u202e") == "a b c"
    assert printable("x" * 900, 10) == "x" * 9 + "…"


def test_clean_facts_hold_no_secret() -> None:
    fact = Fact(name="command", value="serve --api-key hunter22x --x 1", source="GET /x?api_key=hunter22x")
    clean = clean_fact(fact, frozenset())
    assert clean == Fact(name="command", value="serve --api-key *** --x 1", source="GET /x?api_key=***")

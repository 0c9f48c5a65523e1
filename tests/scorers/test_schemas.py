"""What a schema may be: keywords are told from the names of properties."""

import pytest

from scorers.schemas import schema_errors, schema_fault


def test_a_property_may_bear_the_name_of_a_keyword() -> None:
    named = {"type": "object", "properties": {"pattern": {"type": "string"}, "$ref": {"type": "integer"}}}
    assert schema_fault(named) == ""
    assert schema_fault({"$defs": {"patternProperties": {"type": "string"}}, "$ref": "#/$defs/patternProperties"}) == ""
    assert schema_errors(named, {"pattern": 1}) == ["/pattern: 1 is not of type 'string'"]


@pytest.mark.parametrize("inner", [{"pattern": "("}, {"$ref": "https://elsewhere.example/schema"}])
def test_a_fault_is_found_below_such_a_name(inner: dict[str, str]) -> None:
    assert schema_fault({"properties": {"pattern": {"properties": {"name": inner}}}})

"""Checks a JSON value against an item's JSON Schema, draft 2020-12 with formats, in bounded time. Fetches nothing.

Patterns run in a linear-time engine, uniqueness is found by keys and not by comparing all pairs, and multiples are
exact fractions, since an answer is chosen by a model and must not be able to exhaust or confuse the checker.
"""

import json
import re
import warnings
from collections.abc import Iterator, Mapping
from contextvars import ContextVar
from fractions import Fraction
from functools import lru_cache
from itertools import islice
from typing import Any

from scorers import patterns

ERRORS = 200
"""At most so many errors are looked for."""
SEEN: ContextVar[dict[tuple[str, int], bool]] = ContextVar("SEEN")
"""References that the running check has followed, by value, and whether they led to errors."""
NAMED = frozenset({"properties", "patternProperties", "$defs", "definitions", "dependentSchemas"})
"""Keywords whose keys are names of the author's choice; a property may well be called `pattern` or `$ref`."""
VALUES = frozenset({"const", "enum", "default", "examples"})
"""Keywords whose value is no schema."""
FORMAT_LENGTH = 2000
"""A longer string matches no format: some formats are parsed by more than linear-time grammars."""


def schema_errors(schema: Mapping[str, Any], value: Any) -> list[str]:
    """Every way in which `value` breaks `schema`, each with its JSON pointer.

    >>> schema_errors({"items": {"type": "integer"}}, [1, "2"])
    ["/1: '2' is not of type 'integer'"]
    """
    SEEN.set({})
    errors = _validator(json.dumps(schema, sort_keys=True)).iter_errors(value)
    return [f"{pointer(error.absolute_path) or '/'}: {error.message[:200]}" for error in islice(errors, ERRORS)]


def schema_fault(schema: Mapping[str, Any]) -> str:
    """Why a schema cannot be used; empty where it can."""
    import jsonschema

    try:
        jsonschema.Draft202012Validator.check_schema(schema)
    except jsonschema.SchemaError as error:
        return f"not a schema: {error.message}"
    for key, value in _members(schema):
        told = _reference_fault(schema, value) if key == "$ref" else _member_fault(key, value)
        if told:
            return told
    return ""


def pointer(path: Any) -> str:
    """The JSON pointer of a path of keys and positions."""
    return "".join("/" + str(part).replace("~", "~0").replace("/", "~1") for part in path)


def resolved(value: Any, path: str) -> Any:
    """What a JSON pointer points to. Raises LookupError where it points to nothing.

    >>> resolved({"a/b": [10, 20]}, "/a~1b/1")
    20
    """
    for part in path.split("/")[1:]:
        key = part.replace("~1", "/").replace("~0", "~")
        if isinstance(value, list):
            if not key.isascii() or not key.isdigit() or key != str(int(key[:9])):
                raise LookupError(path)
            value = value[int(key)]
        elif isinstance(value, dict):
            value = value[key]
        else:
            raise LookupError(path)
    return value


def _reference_fault(schema: Mapping[str, Any], ref: str) -> str:
    try:
        resolved(schema, ref.removeprefix("#"))
    except LookupError:
        return f"$ref {ref!r} points to nothing in the schema"
    return "" if re.fullmatch(r"#(/.*)?", ref) else f"$ref {ref!r} is no JSON pointer into the schema"


def _member_fault(key: str, value: Any) -> str:
    """Why one keyword with its value cannot be used; empty where it can."""
    import jsonschema

    if key in ("$id", "$anchor", "$dynamicRef", "$dynamicAnchor"):
        return f"{key} is not taken; a $ref is a JSON pointer into the one schema"
    if key == "format" and value not in jsonschema.Draft202012Validator.FORMAT_CHECKER.checkers:
        return f"format {value!r} is unknown and would not be enforced"
    found = [value] if key == "pattern" else list(value) if key == "patternProperties" else []
    return next((f"pattern {told}" for pattern in found if (told := patterns.pattern_fault(pattern))), "")


def _members(schema: Any) -> Iterator[tuple[str, Any]]:
    """All keywords with their values, at any depth; names of properties and mere values are no keywords."""
    if isinstance(schema, Mapping):
        for key, value in schema.items():
            yield key, value
            if key in NAMED:
                yield from (member for inner in value.values() for member in _members(inner))
            elif key not in VALUES:
                yield from _members(value)
    elif isinstance(schema, list):
        yield from (member for inner in schema for member in _members(inner))


@lru_cache(maxsize=256)
def _validator(schema: str) -> Any:
    import jsonschema

    validators: Any = jsonschema.validators
    bounded = validators.extend(
        jsonschema.Draft202012Validator,
        {
            "$ref": _reference,
            "pattern": _pattern,
            "patternProperties": _pattern_properties,
            "additionalProperties": _additional_properties,
            "uniqueItems": _unique_items,
            "multipleOf": _multiple_of,
            "format": _format,
        },
    )
    return bounded(json.loads(schema), format_checker=jsonschema.Draft202012Validator.FORMAT_CHECKER)


def _reference(validator: Any, ref: str, instance: Any, schema: Any) -> Iterator[Any]:
    """The errors behind a reference, sought once for each value; branches that recurse would double at each level."""
    import jsonschema

    key, seen = (ref, id(instance)), SEEN.get()
    if key not in seen:
        seen[key] = False
        errors = list(jsonschema.Draft202012Validator.VALIDATORS["$ref"](validator, ref, instance, schema))
        seen[key] = bool(errors)
        yield from errors
    elif seen[key]:
        yield jsonschema.ValidationError(f"breaks {ref}")


def _pattern(validator: Any, pattern: str, instance: Any, _: Any) -> Iterator[Any]:
    from jsonschema.exceptions import ValidationError

    if validator.is_type(instance, "string") and not patterns.found(pattern, instance):
        yield ValidationError(f"{instance!r} does not match {pattern!r}")


def _pattern_properties(validator: Any, named: Mapping[str, Any], instance: Any, _: Any) -> Iterator[Any]:
    if validator.is_type(instance, "object"):
        for pattern, subschema in named.items():
            for key, value in instance.items():
                if patterns.found(pattern, key):
                    yield from validator.descend(value, subschema, path=key, schema_path=pattern)


def _additional_properties(validator: Any, allowed: Any, instance: Any, schema: Mapping[str, Any]) -> Iterator[Any]:
    from jsonschema.exceptions import ValidationError

    if not validator.is_type(instance, "object"):
        return
    named, known = schema.get("patternProperties", {}), schema.get("properties", {})
    extra = [key for key in instance if key not in known and not any(patterns.found(each, key) for each in named)]
    if isinstance(allowed, dict):
        for key in extra:
            yield from validator.descend(instance[key], allowed, path=key)
    elif not allowed and extra:
        yield ValidationError(f"additional properties: {', '.join(map(repr, extra[:5]))}")


def _unique_items(validator: Any, unique: bool, instance: Any, _: Any) -> Iterator[Any]:
    from jsonschema.exceptions import ValidationError

    if unique and validator.is_type(instance, "array") and len(set(map(_key, instance))) < len(instance):
        yield ValidationError("the items are not unique")


def _multiple_of(validator: Any, step: float, instance: Any, _: Any) -> Iterator[Any]:
    from jsonschema.exceptions import ValidationError

    if validator.is_type(instance, "number") and Fraction(str(instance)) % Fraction(str(step)):
        yield ValidationError(f"{instance!r} is not a multiple of {step}")


def _format(validator: Any, name: str, instance: Any, _: Any) -> Iterator[Any]:
    from jsonschema.exceptions import FormatError, ValidationError

    if validator.is_type(instance, "string") and len(instance) > FORMAT_LENGTH:
        yield ValidationError(f"a string of {len(instance)} characters is no {name!r}")
        return
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            validator.format_checker.check(instance, name)
    except (FormatError, RecursionError):
        yield ValidationError(f"{instance[:80]!r} is no {name!r}")


def _key(value: Any) -> str:
    """A text that is equal for equal JSON values; hashes of numbers could be made to collide, those of texts cannot."""
    return json.dumps(_plain(value), sort_keys=True)


def _plain(value: Any) -> Any:
    """The value with whole numbers as integers."""
    if isinstance(value, dict):
        return {key: _plain(inner) for key, inner in value.items()}
    if isinstance(value, list):
        return [_plain(inner) for inner in value]
    return int(value) if isinstance(value, float) and value.is_integer() else value

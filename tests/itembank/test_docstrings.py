"""The examples in the docstrings of this layer are true."""

import doctest
import importlib
import pkgutil

import pytest

import itembank

MODULES = sorted(module.name for module in pkgutil.walk_packages(itembank.__path__, "itembank."))


@pytest.mark.parametrize("name", MODULES)
def test_examples(name: str) -> None:
    assert doctest.testmod(importlib.import_module(name)).failed == 0


def test_there_are_examples() -> None:
    found = [doctest.DocTestFinder().find(importlib.import_module(name)) for name in MODULES]
    assert sum(bool(test.examples) for tests in found for test in tests) >= 4

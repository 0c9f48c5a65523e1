"""The examples in this layer's docstrings are true."""

import doctest
import importlib
import pkgutil

import pytest

import scorers

MODULES = [found.name for found in pkgutil.walk_packages(scorers.__path__, "scorers.")]


@pytest.mark.parametrize("name", MODULES)
def test_the_examples_hold(name: str) -> None:
    assert doctest.testmod(importlib.import_module(name)).failed == 0


def test_there_are_examples() -> None:
    finder = doctest.DocTestFinder()
    found = [test for name in MODULES for test in finder.find(importlib.import_module(name)) if test.examples]
    assert len(found) >= 15

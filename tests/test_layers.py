"""Imports point down, files stay small, and only declared packages are imported."""

import ast
import sys
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
LAYERS = ["itembank", "scorers", "runner", "reports"]
SOURCES = sorted(path for layer in LAYERS for path in (ROOT / layer).rglob("*.py"))
IMPORT_NAMES = {
    "google-re2": "re2",
    "jinja2": "jinja2",
    "jsonschema": "jsonschema",
    "nono-py": "nono_py",
    "nvidia-ml-py": "pynvml",
    "PyYAML": "yaml",
    "vl-convert-python": "vl_convert",
    "httpx-aiohttp": "httpx_aiohttp",
}
THIRD_PARTY = {
    "itembank": {"jsonschema", "yaml", "datasets"},
    "scorers": {"sympy", "mpmath", "jsonschema", "re2", "nono_py", "psutil", "tqdm"},
    "runner": {
        "httpx",
        "httpx_aiohttp",
        "aiohttp",
        "msgspec",
        "tqdm",
        "uvloop",
        "psutil",
        "pynvml",
        "xllamacpp",
        "gguf",
        "yaml",
    },
    "reports": {"numpy", "scipy", "jinja2", "altair", "vl_convert", "rich", "datasets", "tqdm", "msgspec"},
}


def imported(path: Path) -> set[str]:
    found: set[str] = set()
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        if isinstance(node, ast.Import):
            found |= {alias.name.split(".")[0] for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            assert node.level == 0, f"{path}: relative import"
            found.add(node.module.split(".")[0])
    return found


@pytest.mark.parametrize("path", SOURCES, ids=lambda path: str(path.relative_to(ROOT)))
def test_imports_point_down(path: Path) -> None:
    layer = path.relative_to(ROOT).parts[0]
    above = set(LAYERS[LAYERS.index(layer) + 1 :]) | {"triplicate"}
    names = imported(path)
    assert not names & above
    assert not names - set(LAYERS) - THIRD_PARTY[layer] - set(sys.stdlib_module_names)


@pytest.mark.parametrize("path", SOURCES, ids=lambda path: str(path.relative_to(ROOT)))
def test_files_stay_small(path: Path) -> None:
    assert len(path.read_text("utf-8").splitlines()) <= 250


@pytest.mark.parametrize("path", SOURCES, ids=lambda path: str(path.relative_to(ROOT)))
def test_functions_stay_small(path: Path) -> None:
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            assert node.end_lineno is not None
            assert node.end_lineno - node.lineno < 50, f"{path}: {node.name}"


def test_every_import_is_declared() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    lines = project["dependencies"] + [d for extra in project["optional-dependencies"].values() for d in extra]
    declared = set()
    for line in lines:
        name = line.split(";")[0].split("[")[0].split(">")[0].split("=")[0].strip()
        declared.add(IMPORT_NAMES.get(name, name.replace("-", "_")))
    used = set().union(*(imported(path) for path in SOURCES)) - set(sys.stdlib_module_names) - set(LAYERS)
    assert not used - declared - {"mpmath"}, "mpmath comes with sympy; everything else must be declared"

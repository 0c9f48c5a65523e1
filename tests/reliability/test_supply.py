"""What is built can be installed and used, on every Python that is promised and present."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.reliability.kills import ROOT

VERSIONS = ("3.11", "3.12", "3.13")


def interpreter(version: str) -> str | None:
    """A Python of that version: on the path, or among pyenv's."""
    found = shutil.which(f"python{version}")
    if found and subprocess.run([found, "-c", ""], capture_output=True, check=False).returncode == 0:
        return found
    root = Path(os.environ.get("PYENV_ROOT", Path.home() / ".pyenv")) / "versions"
    return next((str(path) for path in sorted(root.glob(f"{version}.*/bin/python"))), None)


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the wheel and the sdist, built from what is under version control."""
    place = tmp_path_factory.mktemp("built")
    shutil.copytree(
        ROOT, place / "tree", ignore=shutil.ignore_patterns(".git", ".venv", "runs", "*_cache", "*.egg-info")
    )
    subprocess.run(
        [sys.executable, "-m", "build", "--outdir", str(place), str(place / "tree")], check=True, timeout=300
    )
    return place


@pytest.mark.soak
@pytest.mark.parametrize("kind", ["*.whl", "*.tar.gz"], ids=["wheel", "sdist"])
@pytest.mark.parametrize("version", VERSIONS)
def test_it_installs_and_runs(version: str, kind: str, built: Path, tmp_path: Path) -> None:
    python = interpreter(version)
    if python is None:
        pytest.skip(f"no Python {version} here")
    (package,) = built.glob(kind)
    subprocess.run([python, "-m", "venv", str(tmp_path / "fresh")], check=True, timeout=120)
    inside = tmp_path / "fresh" / "bin"
    install = [str(inside / "python"), "-m", "pip", "install", "-q", "--disable-pip-version-check", str(package)]
    subprocess.run(install, check=True, timeout=600)
    for words, said in ((["--help"], "decide"), (["bank", "check"], ""), (["bank", "list"], "reasoning")):
        done = subprocess.run(
            [str(inside / "triplicate"), *words], cwd=tmp_path, capture_output=True, text=True, timeout=300, check=False
        )
        assert done.returncode == 0, done.stderr
        assert said in done.stdout
    assert subprocess.run([str(inside / "python"), "-m", "pip", "check"], check=False, timeout=120).returncode == 0

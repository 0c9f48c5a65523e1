"""Which means confines a process, and how its command line is built."""

import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from scorers import confine
from scorers.cell import Cell
from scorers.confine import as_user, bubblewrapped, confined_by_nono, means, proved, reachable
from scorers.processes import TimeUp

FAKE = """#!/bin/sh
echo "$@" > "$(dirname "$0")/words"
while [ "$1" != "--" ]; do shift; done
shift
case "$1" in *setpriv) while [ "$1" != "--pdeathsig=KILL" ]; do shift; done; shift;; esac
exec "$@"
"""


@pytest.fixture(autouse=True)
def fresh() -> Iterator[None]:
    for cached in (means, reachable):
        cached.cache_clear()
    yield
    for cached in (means, reachable):
        cached.cache_clear()


@pytest.fixture
def fake(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A bubblewrap that confines nothing and writes down its words."""
    (tmp_path / "bwrap").write_text(FAKE)
    (tmp_path / "bwrap").chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}{os.pathsep}{os.environ['PATH']}")
    return tmp_path


def test_the_child_s_status_is_kept_and_the_time_is_limited(fake: Path) -> None:
    cell = Cell(folder=fake, uid=None, mark=1)
    assert bubblewrapped(cell, ["sh", "-c", "exit 3"], 5) == 3
    assert bubblewrapped(cell, ["sh", "-c", "exit 137"], 5) == -9
    assert bubblewrapped(cell, ["sleep", "60"], 0.05) == -9
    words = (fake / "words").read_text()
    assert "--unshare-net" in words and "--unshare-user" in words and f"--bind {fake} {fake}" in words


@pytest.mark.skipif(shutil.which("setpriv") is None, reason="needs setpriv")
@pytest.mark.parametrize("near", [True, False])
def test_as_root_the_command_becomes_another_user_s(fake: Path, monkeypatch: pytest.MonkeyPatch, near: bool) -> None:
    monkeypatch.setattr(confine, "reachable", lambda: near)
    cell = Cell(folder=fake, uid=4242, mark=1)
    assert bubblewrapped(cell, ["true"], 5) == 0
    words = (fake / "words").read_text()
    assert "--reuid=4242" in words and "--unshare-user" not in words
    assert ("dac_read_search" in words) != near
    assert as_user(None) == []


def test_a_means_that_does_not_confine_is_not_used(fake: Path) -> None:
    assert not proved(bubblewrapped)


def test_a_means_that_fails_is_not_used(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object) -> int:
        raise RuntimeError("no Landlock here")

    assert not proved(fail)
    monkeypatch.setattr(confine, "proved", lambda candidate: False)
    assert means() is None


def test_bubblewrap_comes_first_and_root_needs_setpriv(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(confine, "proved", lambda candidate: True)
    monkeypatch.setattr(shutil, "which", lambda name: f"/bin/{name}")
    assert means() is bubblewrapped
    means.cache_clear()
    monkeypatch.setattr(shutil, "which", lambda name: None if name == "bwrap" else f"/bin/{name}")
    assert means() is confined_by_nono
    means.cache_clear()
    monkeypatch.setattr(shutil, "which", lambda name: None)
    monkeypatch.setattr(os, "getuid", lambda: 0)
    assert means() is None
    assert as_user(5) == []


def test_who_can_reach_the_interpreter(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    inner = tmp_path / "private" / "lib"
    inner.mkdir(parents=True)
    monkeypatch.setattr(confine, "library", lambda: (str(inner),))
    for place in (inner, inner.parent):
        place.chmod(0o755)
    open_above = all(place.stat().st_mode & 0o5 == 0o5 for place in tmp_path.parents)
    tmp_path.chmod(0o755)
    assert reachable() == open_above
    reachable.cache_clear()
    inner.parent.chmod(0o700)
    assert not reachable()


def test_the_interpreter_is_the_real_one() -> None:
    assert not Path(confine.interpreter()).is_symlink()
    assert any(confine.interpreter().startswith(path) for path in confine.library())
    assert sys.version_info >= (3, 11)


@pytest.mark.parametrize("candidate", [bubblewrapped, confined_by_nono])
def test_each_means_that_works_here_refuses_the_outside(candidate: confine.Means) -> None:
    if candidate is bubblewrapped and not (shutil.which("bwrap") and proved(bubblewrapped)):
        pytest.skip("bubblewrap is not installed or does not work here")
    assert proved(candidate)


class FakeNono(SimpleNamespace):
    """Stands in for nono_py: keeps what it was asked for and ends as it is told to."""

    def __init__(self, end: Callable[[], int]) -> None:
        self.asked: list[Any] = []
        caps = SimpleNamespace(
            allow_path=lambda *words: self.asked.append(words),
            allow_file=lambda *words: self.asked.append(words),
            block_network=lambda: self.asked.append("no network"),
        )
        super().__init__(
            CapabilitySet=lambda: caps,
            AccessMode=SimpleNamespace(READ="read", READ_WRITE="write"),
            sandboxed_exec=lambda *_, **__: SimpleNamespace(exit_code=end()),
        )


def refuse() -> int:
    raise RuntimeError("no Landlock")


@pytest.mark.parametrize(("end", "answer"), [(lambda: -9, (-9, "")), (refuse, (0, "RuntimeError: no Landlock"))])
def test_nono_opens_the_folder_and_nothing_else_to_writing(
    monkeypatch: pytest.MonkeyPatch, end: Callable[[], int], answer: tuple[int, str]
) -> None:
    nono, timers = FakeNono(end), []
    monkeypatch.setitem(sys.modules, "nono_py", nono)
    monkeypatch.setattr("scorers.confine.signal.setitimer", lambda *words: timers.append(words))
    assert confine.under_nono(("/scratch", ("/lib", "/etc/ld.so.cache"), ("true",), 2.0)) == answer
    assert [words for words in nono.asked if "write" in words] == [
        ("/dev/null", "write"),
        ("/dev/urandom", "write"),
        ("/scratch", "write"),
    ]
    assert "no network" in nono.asked
    assert timers == [(signal.ITIMER_REAL, 2.0 + confine.SPARE_S)]


def test_nono_runs_in_a_process_that_can_be_ended(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    cell = Cell(folder=tmp_path, uid=None, mark=1)
    monkeypatch.setattr(confine, "NONO", SimpleNamespace(ask=lambda _: (3, "")))
    assert confined_by_nono(cell, ["true"], 1) == 3
    monkeypatch.setattr(confine, "NONO", SimpleNamespace(ask=lambda _: (0, "ImportError: no module")))
    with pytest.raises(RuntimeError, match="no module"):
        confined_by_nono(cell, ["true"], 1)
    assert not proved(confined_by_nono)

    def late(_: object) -> None:
        raise TimeUp

    monkeypatch.setattr(confine, "NONO", SimpleNamespace(ask=late))
    assert confined_by_nono(cell, ["true"], 1) == -9


def test_nono_is_loaded_by_no_process_but_its_own() -> None:
    code = (
        "import sys; from scorers import confine; assert confine.proved(confine.confined_by_nono); print(*sys.modules)"
    )
    loaded = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.split()
    assert "scorers.confine" in loaded and "nono_py" not in loaded

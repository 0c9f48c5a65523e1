"""How a protocol ends other than well, and the small pure parts around it, without a server."""

from collections.abc import Callable, Coroutine
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from itembank.bank import Bank
from itembank.errors import UserError
from itembank.item import Item
from reports import preparation
from reports.decide import guarded
from reports.decision import Rule
from reports.forecast import duration, pace_of
from reports.passes import Condition, pass_sets
from reports.protocol import Party, Protocol
from runner.config import ServingConfig
from runner.find import run_folders
from runner.quality import ServingLost
from runner.store import RunFolder, read_record
from tests.reports.servers import Bench

SERVING = ServingConfig(name="s", base_url="http://127.0.0.1:1/v1")
BANK = Bank(name="b", items=(Item(id="a-01", dimension="a", messages=(), scorer="text", expect={}),))


@pytest.mark.parametrize(
    ("error", "status", "stored"),
    [
        (KeyboardInterrupt(), 130, "interrupted"),
        (ExceptionGroup("x", [ServingLost("s did not answer for 0 s")]), 4, "incomplete"),
    ],
)
def test_an_end_before_the_look_is_stored_and_says_how_to_go_on(
    make_run: Callable[..., RunFolder],
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    error: BaseException,
    status: int,
    stored: str,
) -> None:
    def run(main: Coroutine[Any, Any, None]) -> None:
        main.close()
        raise error

    monkeypatch.setattr("runner.client.run", run)
    folder = make_run("s", ["p"], record={"status": "running"})
    party = Party(folder=folder, serving=SERVING)
    protocol = Protocol(parties=[party], finished=folder, bank=BANK, rule=Rule(looks=(3,)), wait_s=0.0)
    assert guarded(protocol) == status
    assert read_record(folder.path).status == stored
    err = capsys.readouterr().err
    assert f"resume with: triplicate decide --resume {folder.path}" in err
    assert ("did not answer" in err) == (status == 4)


def test_a_complete_set_of_passes_is_not_gone_on_with(tmp_path: Path) -> None:
    conditions = [Condition(concurrency=1), Condition(concurrency=8)]
    first = pass_sets("load", [SERVING], conditions, BANK, 3, tmp_path)
    for folder in first[0].folders:
        folder.close()
    again = pass_sets("load", [SERVING], conditions, BANK, 3, tmp_path)
    assert [f.path for f in again[0].folders] == [f.path for f in first[0].folders]
    for folder in again[0].folders:
        folder.update(status="complete")
        folder.close()
    other = pass_sets("load", [SERVING], conditions, BANK, 3, tmp_path)
    assert {f.path for f in other[0].folders}.isdisjoint(f.path for f in first[0].folders)
    for folder in other[0].folders:
        folder.close()


def test_a_run_without_requests_has_no_pace(make_run: Callable[..., RunFolder]) -> None:
    assert pace_of(make_run("s", ["."]), "x") is None


@pytest.mark.parametrize(("seconds", "text"), [(4, "4 s"), (100, "2 min"), (7000, "1.9 h")])
def test_durations(seconds: float, text: str) -> None:
    assert duration(seconds) == text


def test_an_interrupted_load_keeps_what_was_measured(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    def run(main: Coroutine[Any, Any, None]) -> None:
        main.close()
        raise KeyboardInterrupt

    bench.serve("s")
    monkeypatch.setattr("runner.client.run", run)
    status, _, err = bench("load", "s", "--items", "coding-*")
    assert status == 130
    assert "the same command goes on with it" in err
    assert {read_record(path).status for path in run_folders(bench.root / "runs")} == {"interrupted"}


def test_a_server_lost_in_the_pilot_costs_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    def run(main: Coroutine[Any, Any, None]) -> None:
        main.close()
        raise ExceptionGroup("x", [ServingLost("s refuses the request (401: no key)")])

    monkeypatch.setattr(preparation, "run_async", run)
    with pytest.raises(UserError, match=r"the pilot failed: s refuses .* nothing was measured"):
        preparation._pilot(SimpleNamespace(), ["s"])  # type: ignore[arg-type]

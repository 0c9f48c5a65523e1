"""`speccheck` and `load` end to end on simulated engines over real HTTP."""

import json
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from runner.find import run_folders
from runner.store import RunFolder, read_record
from tests.reports.servers import Bench

ROOT = Path(__file__).parents[2]
QUICK = ("--no-ladder", "--repeats", "3")
FEW = (*QUICK, "--items", "coding-*,reasoning-*", "--margin", "9")


def checked(bench: Bench, *words: str) -> tuple[int, dict[str, Any]]:
    status, out, _ = bench("speccheck", "off", "on", *words, "--json")
    return status, json.loads(out)


@pytest.mark.long
def test_a_drafter_that_overruns_under_load_is_found_and_the_token_named(bench: Bench) -> None:
    """The published corruption: 3 % of the responses, only where several sequences ran."""
    bench.serve("off", seed=1, flaky=0.05, speed=4)
    bench.serve("on", seed=1, flaky=0.05, speed=4, preset="batching-spec", faults={"overrun": 0.03})
    status, out, _ = bench("speccheck", "off", "on", *QUICK)
    assert status == 1
    assert out.startswith("SIMULATED")
    last = out.splitlines()[-1]
    assert last.startswith("REGRESSION")
    assert "<|im_end|>" in last
    assert "concurrency 8" in last


@pytest.mark.long
def test_a_sound_drafter_leaves_the_finding_worth_printing(bench: Bench) -> None:
    bench.serve("off", seed=2, flaky=0.0)
    bench.serve("on", seed=2, flaky=0.0, preset="batching-spec")
    status, document = checked(bench, *FEW)
    assert status == 0
    assert document["finding"].startswith("no regression")
    assert [(row["concurrency"], row["stream"]) for row in document["conditions"]] == [
        (1, True),
        (1, False),
        (8, True),
        (8, False),
    ]
    assert document["acceptance"]["drafted"] > 0
    assert 0 < document["acceptance"]["rate"] <= 1
    folders = run_folders(bench.root / "runs")
    assert len(folders) == 8
    assert all(read_record(path).status == "complete" for path in folders)


@pytest.mark.long
def test_a_short_ladder_of_each_side_stands_beside(bench: Bench) -> None:
    """Whether a level is void depends on how busy this machine is; that the curve is there does not."""
    bench.serve("off", seed=2, flaky=0.0, speed=20)
    bench.serve("on", seed=2, flaky=0.0, speed=20, preset="queueing")
    words = ("--repeats", "3", "--items", "coding-*,reasoning-*", "--margin", "9", "--concurrency", "2")
    status, document = checked(bench, *words)
    assert (status, document["verdict"]) == (0, "PARITY")
    assert [row["concurrency"] for row in document["ratio"]["levels"]] == [1, 2, 4]
    assert document["batching"].keys() == {"off", "on", "cost"}
    kinds = [read_record(path).kind for path in run_folders(bench.root / "runs")]
    assert sorted(kinds) == ["ladder"] * 2 + ["quality"] * 8


@pytest.mark.long
def test_a_check_that_was_killed_goes_on(bench: Bench) -> None:
    bench.serve("off", seed=2, flaky=0.0)
    server = bench.serve("on", seed=2, flaky=0.0)
    command = [sys.executable, str(ROOT / "triplicate.py"), "speccheck", "off", "on", *FEW]
    with subprocess.Popen(command, cwd=bench.root, stderr=subprocess.DEVNULL) as process:
        while server.requests < 60 and process.poll() is None:
            time.sleep(0.01)
        process.kill()
    assert server.requests < 3 * 4 * 18
    status, document = checked(bench, *FEW)
    assert (status, document["verdict"]) == (0, "PARITY")
    assert len(run_folders(bench.root / "runs")) == 8
    assert server.requests <= 3 * 4 * 18 + 8, "what was answered is not asked again"


@pytest.mark.long
def test_launched_sides_get_two_boots_each(bench: Bench) -> None:
    words = [sys.executable, str(ROOT / "triplicate.py"), "simulate", "batching", "--bank", str(bench.bank)]
    words += ["--speed", "2000", "--seed", "1", "--flaky", "0", "--port", "{port}"]
    for name in ("off", "on"):
        bench.add(name, f"[serving.launch]\ncommand = {json.dumps(words)}\n")
    status, document = checked(bench, *FEW)
    assert (status, document["verdict"]) == (0, "PARITY")
    for path in run_folders(bench.root / "runs"):
        assert {t.repeat: t.boot for t in RunFolder.read(path).trials()} == {1: 1, 2: 1, 3: 2}


def test_a_lost_server_ends_the_check_and_keeps_what_was_measured(bench: Bench) -> None:
    bench.serve("off", seed=2)
    bench.serve("on", seed=2, faults={"401": 1.0})
    status, _, err = bench("speccheck", "off", "on", *FEW, "--wait", "0")
    assert status == 4
    assert "the same command goes on with it" in err
    assert {read_record(path).status for path in run_folders(bench.root / "runs")} == {"incomplete"}


@pytest.mark.parametrize(
    ("words", "error"),
    [
        (("off", "off"), "name two servings"),
        (("off", "onn"), "no serving"),
        (("off", "on", "--concurrency", "1"), "more than one request"),
        (("off", "on", "--repeats", "0"), "must be at least 1"),
        (("off", "on", "--margin", "-2"), "makes no sense"),
    ],
)
def test_bad_usage_of_speccheck(bench: Bench, words: tuple[str, ...], error: str) -> None:
    for name in ("off", "on"):
        bench.serve(name)
    status, _, err = bench("speccheck", *words)
    assert status == 2
    assert error in err


@pytest.mark.long
def test_load_alone_changes_nothing_on_a_sound_server(bench: Bench) -> None:
    server = bench.serve("s", seed=3, flaky=0.0)
    status, out, _ = bench("load", "s", "--concurrency", "1,8", "--repeats", "3", "--json")
    document = json.loads(out)
    assert (status, document["verdict"]) == (0, "PARITY")
    assert document["concurrency"] == [1, 8]
    assert document["throughput"]["candidate"]["concurrency"] == 8
    assert len(document["dimensions"]) == 10
    assert server.requests == 2 * 3 * 94


def test_load_in_words_with_a_launched_server(bench: Bench) -> None:
    words = [sys.executable, str(ROOT / "triplicate.py"), "simulate", "batching", "--bank", str(bench.bank)]
    words += ["--speed", "2000", "--flaky", "0", "--port", "{port}"]
    bench.add("s", f"[serving.launch]\ncommand = {json.dumps(words)}\n")
    status, out, _ = bench(
        "load", "s", "--concurrency", "1,4", "--repeats", "3", "--items", "coding-*", "--margin", "20"
    )
    assert status == 0
    assert out.splitlines()[0].startswith("SIMULATED")
    assert out.splitlines()[1].startswith("s: concurrency 1 -> 4")


@pytest.mark.parametrize(
    ("words", "error"),
    [
        (("s", "--concurrency", "16"), "two whole numbers"),
        (("s", "--concurrency", "16,1"), "a lower and a higher"),
        (("s", "--concurrency", "0,4"), "a lower and a higher"),
        (("s", "--repeats", "0"), "must be at least 1"),
        (("s", "--margin", "100"), "makes no sense"),
    ],
)
def test_bad_usage_of_load(bench: Bench, words: tuple[str, ...], error: str) -> None:
    bench.serve("s")
    status, _, err = bench("load", *words)
    assert status == 2
    assert error in err

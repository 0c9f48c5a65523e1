"""`decide` end to end: simulated engines over real HTTP, killed, resumed, launched, lost and refused."""

import json
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

import triplicate
from reports.comparison import comparison_document
from reports.decide import KEYS
from reports.pair import pair_of, unfinished_pair
from runner.find import run_folders
from runner.store import RunFolder, read_record
from tests.reports.servers import Bench

ROOT = Path(__file__).parents[2]


def decided(bench: Bench, *words: str) -> tuple[int, dict[str, Any]]:
    status, out, _ = bench("decide", *words, "--concurrency", "8", "--json")
    return status, json.loads(out)


FEW = ("--items", "reasoning-*,coding-*", "--margin", "9")


@pytest.mark.parametrize("seed", [1, 2])
def test_six_broken_items_are_a_regression(bench: Bench, seed: int) -> None:
    bench.serve("incumbent", seed=seed)
    bench.serve("candidate", seed=seed, regress=6)
    status, document = decided(bench, "incumbent", "candidate")
    assert (status, document["verdict"]) == (1, "REGRESSION")
    assert document["look"]["looks"] == [3, 5, 10]
    assert document["look"]["alpha"] == 0.022


def test_no_change_is_parity_and_the_plan_stood_in_both_records_first(bench: Bench) -> None:
    servers = [bench.serve(name, seed=3, flaky=0.05) for name in ("incumbent", "candidate")]
    status, document = decided(bench, "incumbent", "candidate")
    assert (status, document["verdict"]) == (0, "PARITY")
    plans = [read_record(Path(path)).plan for path in document["runs"].values()]
    assert plans[0]["pair"] == plans[1]["pair"]
    for plan, side in zip(plans, ("baseline", "candidate"), strict=True):
        assert (plan["looks"], plan["margin"], plan["alpha"], plan["side"]) == ([3, 5, 10], 3.0, 0.022, side)
        assert [row["repeats"] for row in plan["forecast"]] == [3, 5, 10]
    repeats = document["repeats"]["candidate"]
    assert repeats in (3, 5, 10)
    assert sum(server.requests for server in servers) == 2 * (94 * repeats + 3), "three of each are the pilot's"


@pytest.mark.long
def test_compare_of_the_two_records_keeps_their_looks(bench: Bench) -> None:
    bench.serve("incumbent", seed=4)
    bench.serve("candidate", seed=4)
    status, document = decided(bench, "incumbent", "candidate", "--margin", "5")
    again, out, _ = bench("compare", *document["runs"].values(), "--json")
    compared = json.loads(out)
    assert again == status
    assert {key: compared[key] for key in ("verdict", "look", "margin", "interval")} == {
        key: document[key] for key in ("verdict", "look", "margin", "interval")
    }
    _, out, _ = bench("compare", *document["runs"].values(), "--json", "--margin", "2")
    assert any("chosen after measuring" in line for line in json.loads(out)["warnings"])


def test_both_sides_are_asked_in_turn(bench: Bench) -> None:
    for name in ("incumbent", "candidate"):
        bench.serve(name, seed=5, flaky=0.0)
    _, document = decided(bench, "incumbent", "candidate", *FEW)
    order = []
    for side, path in document["runs"].items():
        for trial in RunFolder.read(Path(path)).trials():
            order.append((trial.exchange.due_ns, side, trial.repeat))
    turns = list(dict.fromkeys((side, repeat) for _, side, repeat in sorted(order)))
    assert turns[:4] == [("baseline", 1), ("candidate", 1), ("candidate", 2), ("baseline", 2)]


def test_words_on_the_terminal(bench: Bench) -> None:
    for name in ("incumbent", "candidate"):
        bench.serve(name, seed=5, flaky=0.0)
    status, out, _ = bench("decide", "incumbent", "candidate", *FEW)
    assert status == 0
    lines = out.splitlines()
    assert lines[0].startswith("plan: 18 items; looks at 3, 5, 10 repeats")
    assert any("pace from pilot" in line for line in lines)
    assert any(line.startswith("PARITY") for line in lines)
    assert lines[-1].startswith("next: triplicate report ")
    assert "simulated, no real engine" in out
    _, out, _ = bench("decide", "incumbent", "candidate", *FEW, "--new")
    assert any("pace from runs" in line for line in out.splitlines())
    assert "the margin needs about" in out


def test_a_margin_that_the_looks_cannot_decide_is_said_first(bench: Bench) -> None:
    bench.serve("incumbent", seed=2, flaky=0.6)
    bench.serve("candidate", seed=2, flaky=0.6)
    assert bench("run", "incumbent", "--repeats", "5", "--items", "coding-*")[0] == 0
    _, out, _ = bench("decide", "incumbent", "candidate", "--looks", "3", "--items", "coding-*", "--margin", "1")
    assert "warning: a margin of 1 points needs about" in out.replace("\n", " ").replace("  ", " ")


@pytest.mark.long
def test_a_finished_baseline_is_only_read(bench: Bench) -> None:
    incumbent = bench.serve("incumbent", seed=6, flaky=0.05)
    bench.serve("candidate", seed=6, flaky=0.05, regress=8)
    bench("run", "incumbent", "--repeats", "5", "--concurrency", "8")
    finished = run_folders(bench.root / "runs")[0]
    asked = incumbent.requests
    status, document = decided(bench, str(finished), "candidate")
    assert (status, document["verdict"]) == (1, "REGRESSION")
    assert incumbent.requests == asked
    assert document["repeats"]["baseline"] == 5
    assert (document["look"]["alpha"], document["look"]["looks"]) == (0.022, [3, 5, 10])
    candidate = Path(document["runs"]["candidate"])
    assert read_record(candidate).plan["finished_baseline"] == str(finished)
    status, out, _ = bench("compare", str(finished), str(candidate), "--json")
    assert (status, json.loads(out)["look"]) == (1, document["look"])
    status, again = decided(bench, "--resume", str(candidate))
    assert (status, again["verdict"]) == (1, "REGRESSION")


def test_a_finished_baseline_that_may_not_be_compared_costs_nothing(bench: Bench) -> None:
    bench.serve("incumbent", seed=6)
    candidate = bench.serve("candidate", seed=6, extra="[serving.sampling]\ntemperature = 0.7\n")
    bench("run", "incumbent", "--repeats", "3", "--items", "coding-*")
    finished = str(run_folders(bench.root / "runs")[0])
    status, out, _ = bench("decide", finished, "candidate", "--json")
    assert status == 4
    refused = json.loads(out)
    reasons = refused["reasons"]
    assert set(KEYS) <= set(refused) and refused["interval"] is None and refused["verdict"] == "INVALID"
    assert any("banks differ" in reason for reason in reasons)
    assert any("sampling differs: temperature 0.0 and 0.7" in reason for reason in reasons)
    assert candidate.requests == 0
    status, out, _ = bench("decide", finished, "candidate", "--items", "coding-*")
    assert status == 4
    assert "nothing was measured" in out


def test_a_finished_baseline_of_one_repeat_is_refused(bench: Bench) -> None:
    bench.serve("incumbent", seed=6)
    bench.serve("candidate", seed=6)
    bench("run", "incumbent", "--repeats", "1", "--items", "coding-*")
    finished = str(run_folders(bench.root / "runs")[0])
    status, _, err = bench("decide", finished, "candidate", "--items", "coding-*")
    assert status == 2
    assert "repeat before you decide" in err


def launch(bench: Bench, name: str, seed: int = 1, **options: Any) -> None:
    words = [sys.executable, str(ROOT / "triplicate.py"), "simulate", "batching", "--bank", str(bench.bank)]
    words += ["--speed", "2000", "--seed", str(seed), "--port", "{port}"]
    for key, value in options.items():
        words += [f"--{key}", str(value)]
    bench.add(name, f"[serving.launch]\ncommand = {json.dumps(words)}\nready_timeout_s = 60\n")


@pytest.mark.long
def test_launched_servers_get_two_boots_a_side_by_the_second_look(bench: Bench) -> None:
    launch(bench, "incumbent", flaky=0.4, seed=9)
    launch(bench, "candidate", flaky=0.4, seed=9)
    words = ("--items", "reasoning-*,coding-*", "--margin", "2", "--looks", "3,5")
    status, document = decided(bench, "incumbent", "candidate", *words)
    assert status in (0, 1, 3)
    assert document["repeats"] == {"baseline": 5, "candidate": 5}
    for path in document["runs"].values():
        boots = {trial.repeat: trial.boot for trial in RunFolder.read(Path(path)).trials()}
        assert boots == {1: 1, 2: 1, 3: 1, 4: 2, 5: 2}
    assert document["boots"]["candidate"]["boots"][0]["repeats"] == 3


@pytest.mark.long
def test_one_launched_side_against_one_that_is_up(bench: Bench) -> None:
    bench.serve("incumbent", flaky=0.0, seed=9)
    launch(bench, "candidate", flaky=0.0, seed=9)
    status, document = decided(bench, "incumbent", "candidate", *FEW, "--looks", "3")
    assert (status, document["verdict"]) == (0, "PARITY")
    boots = {trial.repeat: trial.boot for trial in RunFolder.read(Path(document["runs"]["candidate"])).trials()}
    assert boots == {1: 1, 2: 1, 3: 2}
    assert {trial.boot for trial in RunFolder.read(Path(document["runs"]["baseline"])).trials()} == {1}


def started(bench: Bench, *words: str) -> subprocess.Popen[str]:
    command = [sys.executable, str(ROOT / "triplicate.py"), "decide", *words]
    return subprocess.Popen(command, cwd=bench.root, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def wait_for(true: Callable[[], bool]) -> None:
    until = time.monotonic() + 60
    while not true():
        assert time.monotonic() < until, "nothing happened within a minute"
        time.sleep(0.01)


@pytest.mark.long
@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGINT])
def test_a_killed_decide_goes_on_where_it_was(bench: Bench, number: signal.Signals) -> None:
    servers = [bench.serve(name, seed=7, regress=broken) for name, broken in (("incumbent", 0), ("candidate", 8))]
    process = started(bench, "incumbent", "candidate", "--concurrency", "8")
    wait_for(lambda: sum(server.requests for server in servers) > 250)
    process.send_signal(number)
    _, err = process.communicate(timeout=60)
    if number is signal.SIGINT:
        assert process.returncode == 130
        assert "resume with: triplicate decide --resume runs/candidate/" in err
    folders = run_folders(bench.root / "runs")
    before = {path: [(t.item_id, t.repeat, t.at) for t in RunFolder.read(path).trials()] for path in folders}
    assert sum(map(len, before.values())) >= 150
    status, out, err = bench("decide", "incumbent", "candidate", "--concurrency", "8", "--json")
    assert "going on with the unfinished decide" in err
    document = json.loads(out)
    assert (status, document["verdict"]) == (1, "REGRESSION")
    assert run_folders(bench.root / "runs") == folders
    for path in folders:
        after = [(t.item_id, t.repeat, t.at) for t in RunFolder.read(path).trials()]
        assert set(before[path]) <= set(after)
        assert len({key[:2] for key in after}) == len(after), "nothing was asked twice"
    asked = sum(server.requests for server in servers)
    status, again = decided(bench, "--resume", str(folders[0]))
    assert (status, again["verdict"], again["interval"]) == (1, "REGRESSION", document["interval"])
    assert sum(server.requests for server in servers) == asked


@contextmanager
def mortal(bench: Bench, name: str, requests: int) -> Iterator[None]:
    """A server process that ends after so many requests."""
    command = [sys.executable, str(ROOT / "triplicate.py"), "simulate", "batching", "--bank", str(bench.bank)]
    command += ["--speed", "2000", "--die-after", str(requests)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        url = process.stdout.readline().split(" at ")[1].split()[0]
        bench.add(name, f'base_url = "{url}"')
        yield
        process.kill()


@pytest.mark.long
def test_an_unfinished_pair_has_no_verdict_before_its_look(bench: Bench) -> None:
    bench.serve("incumbent", seed=7)
    with mortal(bench, "candidate", 103):
        status, _, err = bench("decide", "incumbent", "candidate", "--wait", "0")
    assert status == 4
    assert "candidate did not answer" in err
    assert "resume with: triplicate decide --resume" in err
    folders = {read_record(path).plan["side"]: path for path in run_folders(bench.root / "runs")}
    assert read_record(folders["candidate"]).status == "incomplete"
    document = comparison_document(*(RunFolder.read(folders[side]) for side in ("baseline", "candidate")))
    assert document["verdict"] == "INVALID"
    assert any("resume the decide" in reason for reason in document["reasons"])


def test_errors_that_stay_end_the_decide_at_the_next_look(bench: Bench) -> None:
    """A server that cuts streams: no answer, never a wrong one, and no more repeats are paid for."""
    bench.serve("incumbent", seed=7)
    bench.serve("candidate", seed=7, faults={"cut": 0.3})
    status, document = decided(bench, "incumbent", "candidate", *FEW)
    assert (status, document["verdict"]) == (4, "INVALID")
    assert document["repeats"]["candidate"] == 3
    assert "failed after all retries" in " ".join(document["reasons"])


@pytest.mark.parametrize(
    ("words", "error"),
    [
        (("incumbent",), "name the baseline and the candidate"),
        (("incumbent", "incumbent"), "name two servings"),
        (("incumbent", "candidat"), "did you mean 'candidate'"),
        (("incumbent", "candidate", "--margin", "0"), "makes no sense"),
        (("incumbent", "candidate", "--margin", "100"), "makes no sense"),
        (("incumbent", "candidate", "--looks", "5,3"), "rising numbers"),
        (("incumbent", "candidate", "--looks", "2,5"), "rising numbers"),
        (("incumbent", "candidate", "--looks", "3,x"), "whole numbers"),
        (("incumbent", "candidate", "--looks", "3,5,10,20", "--items", "nothing"), "no item"),
        (("incumbent", "candidate", "--concurrency", "0"), "must be at least 1"),
        (("--resume", "nowhere"), "no run folder"),
        (("incumbent", "http://127.0.0.1:9/v1"), "127.0.0.1:9"),
    ],
)
def test_bad_usage_is_one_line_and_exit_2(bench: Bench, words: tuple[str, ...], error: str) -> None:
    servers = [bench.serve(name) for name in ("incumbent", "candidate")]
    status, _, err = bench("decide", *words)
    assert status == 2
    assert error in err
    assert len([line for line in err.splitlines() if line.startswith("triplicate:")]) == 1
    assert sum(server.requests for server in servers) <= 3


def test_finished_candidates_belong_to_compare(bench: Bench) -> None:
    bench.serve("incumbent")
    bench("run", "incumbent", "--repeats", "1", "--items", "coding-01")
    path = str(run_folders(bench.root / "runs")[0])
    assert "triplicate compare" in bench("decide", "incumbent", path)[2]
    assert "is no part of a decide" in bench("decide", "--resume", path)[2]


def test_a_pair_that_lost_a_side_says_so(bench: Bench) -> None:
    for name in ("incumbent", "candidate"):
        bench.serve(name, flaky=0.0)
    _, document = decided(bench, "incumbent", "candidate", *FEW)
    runs = {side: Path(path) for side, path in document["runs"].items()}
    (runs["baseline"] / "run.json").rename(runs["baseline"] / "gone.json")
    assert "baseline's folder of this decide is gone" in bench("decide", "--resume", str(runs["candidate"]))[2]
    (runs["baseline"] / "gone.json").rename(runs["baseline"] / "run.json")
    (runs["candidate"] / "run.json").unlink()
    assert "candidate's folder of this decide is gone" in bench("decide", "--resume", str(runs["baseline"]))[2]


def test_only_a_pair_under_the_same_plan_is_gone_on_with(bench: Bench) -> None:
    for name in ("incumbent", "candidate"):
        bench.serve(name, flaky=0.0)
    _, document = decided(bench, "incumbent", "candidate", *FEW)
    path = Path(document["runs"]["candidate"])
    pair = pair_of(path)
    with RunFolder.resume(path) as folder:
        folder.update(status="interrupted")
    from reports.pair import rule_in

    plan = read_record(path).plan
    rule, same = rule_in(plan), {"items": plan["items"], "concurrency": 8}
    out = Path("runs")
    assert unfinished_pair(out, "incumbent", "candidate", rule, same) == pair
    assert unfinished_pair(out, "other", "candidate", rule, same) is None
    assert unfinished_pair(out, "incumbent", "candidate", rule, {"concurrency": 1}) is None
    assert unfinished_pair(Path("nowhere"), "incumbent", "candidate", rule, same) is None


@pytest.mark.soak
def test_twenty_seeds_with_six_broken_items(bench: Bench) -> None:
    found = []
    for seed in range(20):
        bench.serve(f"a{seed}", seed=seed)
        bench.serve(f"b{seed}", seed=seed, regress=6)
        found.append(decided(bench, f"a{seed}", f"b{seed}")[1]["verdict"])
    assert found.count("REGRESSION") >= 19, found


@pytest.mark.soak
def test_twenty_seeds_without_change(bench: Bench) -> None:
    found = []
    for seed in range(20):
        bench.serve(f"a{seed}", seed=seed)
        bench.serve(f"b{seed}", seed=seed)
        found.append(decided(bench, f"a{seed}", f"b{seed}")[1]["verdict"])
    assert found.count("PARITY") >= 18, found
    assert "REGRESSION" not in found


def test_an_end_before_the_look_is_the_status_of_the_command(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("reports.preparation.prepared", lambda arguments: arguments)
    monkeypatch.setattr("reports.decide.guarded", lambda protocol: 130)
    assert triplicate.main(["decide", "incumbent", "candidate"]) == 130

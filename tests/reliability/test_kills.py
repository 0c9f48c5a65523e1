"""SIGKILL, SIGINT, SIGTERM at any moment: nothing measured is lost, what is resumed equals what never stopped."""

import random
import signal
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path

import psutil
import pytest

from runner.simulator import Simulator
from runner.store import RunFolder, read_record
from tests.reliability.kills import (
    ITEMS,
    ROOT,
    Toll,
    asked,
    ended,
    folders,
    killed_at_random,
    pairs,
    poll,
    served,
    started,
    verdicts,
    written_bank,
)

SHORT, LONG, PARTS = 2, 10, 10
"""Kills; a hundred in parts, each with its own moments."""
KILLS_A_RUN = 4
KILLS = [
    pytest.param(SHORT, 0, id="short"),
    *(pytest.param(LONG, part, id=f"long{part}", marks=pytest.mark.soak) for part in range(1, PARTS + 1)),
]
REPEATS, CONCURRENCY = 3, 2
WANTED = sorted((item["id"], repeat) for item in ITEMS for repeat in range(1, REPEATS + 1))


def rehearsed(words: list[str], place: Path) -> None:
    process = started(words, place)
    assert ended(process) == 0, (place / "output.txt").read_text()


@pytest.mark.parametrize(("kills", "part"), KILLS)
def test_a_killed_run_goes_on_and_ends_as_if_nothing_had_been(kills: int, part: int, tmp_path: Path) -> None:
    bank, toll, rng = written_bank(tmp_path), Toll(), random.Random(part)
    with served(bank) as server:
        common = ["--bank", str(bank), "--repeats", str(REPEATS), "--concurrency", str(CONCURRENCY)]
        rehearsed(["run", server.base_url, *common, "--out", "whole"], tmp_path)
        (whole,) = folders(tmp_path / "whole")
        assert pairs(whole) == WANTED and len(verdicts(whole)) == len(WANTED)
        number = 0
        while toll.kills < kills:
            number += 1
            out = tmp_path / f"runs{number}"
            _run_with_kills(rng, server, ["run", server.base_url, *common, "--out", str(out)], out, tmp_path, toll)
            (path,) = folders(out)
            assert pairs(path) == WANTED, "a pair is missing, or there twice"
            assert verdicts(path) == verdicts(whole)
            assert read_record(path).status == "complete"
            toll.resumed += 1
    print(f"run: {toll}")


def _run_with_kills(rng, server, first: list[str], out: Path, place: Path, toll: Toll) -> None:
    asked_before, kills_before = asked(server), toll.kills
    for _ in range(KILLS_A_RUN):
        found = folders(out) if out.exists() else []
        words = ["run", "--resume", str(found[0])] if found else first
        left = len(WANTED) - (len(pairs(found[0])) if found else 0)
        if not left:
            break
        killed_at_random(rng, [server], words, place, left, toll)
    found = folders(out) if out.exists() else []
    rehearsed(["run", "--resume", str(found[0])] if found else first, place)
    again = asked(server) - asked_before - len(WANTED)
    assert 0 <= again <= (toll.kills - kills_before) * CONCURRENCY, "more was asked again than was in flight"
    toll.again += again


@pytest.mark.parametrize(("kills", "part"), KILLS)
def test_a_killed_decide_goes_on_and_ends_as_if_nothing_had_been(kills: int, part: int, tmp_path: Path) -> None:
    bank, toll, rng = written_bank(tmp_path), Toll(), random.Random(part)
    with served(bank, 1) as old, served(bank, 2) as new:
        config = "".join(
            f'[[serving]]\nname = "{name}"\nbase_url = "{server.base_url}"\n'
            for name, server in (("old", old), ("new", new))
        )
        (tmp_path / "triplicate.toml").write_text(config)
        words = ["decide", "old", "new", "--bank", str(bank), "--looks", "3,4", "--concurrency", str(CONCURRENCY)]
        whole = _decided(words, "whole", tmp_path)
        number = 0
        while toll.kills < kills:
            number += 1
            out, kills_before, asked_before = f"runs{number}", toll.kills, asked(old, new)
            total = sum(len(pairs(path)) for path in whole.values())
            for _ in range(KILLS_A_RUN):
                left = total - sum(len(pairs(path)) for path in folders(tmp_path / out))
                killed_at_random(rng, [old, new], [*words, "--out", out], tmp_path, max(left, 1), toll)
            found = _decided(words, out, tmp_path)
            for name, path in found.items():
                assert pairs(path) == pairs(whole[name]), "a pair is missing, or there twice"
                assert verdicts(path) == verdicts(whole[name])
            toll.resumed += 1
            pilots = (KILLS_A_RUN + 1) * 2 * 3
            again = asked(old, new) - asked_before - total
            assert again <= (toll.kills - kills_before) * CONCURRENCY + pilots
            toll.again += again
    print(f"decide: {toll}")


def _decided(words: list[str], out: str, place: Path) -> dict[str, Path]:
    """Decide to the end; the complete records by their serving's name."""
    status = ended(started([*words, "--out", out], place))
    assert status in (0, 1, 3, 4), (place / "output.txt").read_text()
    found = {str(read_record(path).serving["name"]): path for path in folders(place / out) if _is_whole(path)}
    assert set(found) == {"old", "new"}, (place / "output.txt").read_text()
    return found


def _is_whole(path: Path) -> bool:
    return read_record(path).status == "complete"


@pytest.mark.parametrize(("kills", "part"), KILLS)
def test_a_killed_sweep_goes_on_level_by_level(kills: int, part: int, tmp_path: Path) -> None:
    bank, toll, rng = written_bank(tmp_path), Toll(), random.Random(part)
    with served(bank, speed=20.0) as server:
        words = [
            "sweep",
            server.base_url,
            "--levels",
            "1,2,3",
            "--rounds",
            "2",
            "--max-tokens",
            "8",
            "--plateau-s",
            "0",
        ]
        total, number = 2 * 6 + 2, 0
        while toll.kills < kills:
            number += 1
            out = tmp_path / f"runs{number}"
            for _ in range(KILLS_A_RUN):
                found = folders(out) if out.exists() else []
                chosen = ["sweep", "--resume", str(found[0])] if found else [*words, "--out", str(out)]
                killed_at_random(rng, [server], chosen, tmp_path, total, toll)
            found = folders(out) if out.exists() else []
            last = ["sweep", "--resume", str(found[0])] if found else [*words, "--out", str(out)]
            assert ended(started(last, tmp_path)) in (0, 4), (tmp_path / "output.txt").read_text()
            _assert_whole_ladder(folders(out)[0])
            toll.resumed += 1
    print(f"sweep: {toll}")


def _assert_whole_ladder(path: Path) -> None:
    run = RunFolder.read(path)
    assert run.record.status == "complete"
    levels = [level for level in run.levels() if not level.interrupted]
    counts = Counter((level.phase, level.concurrency, level.round) for level in levels)
    wanted = {("ladder", c, r) for c in (1, 2, 3) for r in (1, 2)} | {("control", 1, r) for r in (1, 2)}
    assert wanted <= set(counts)
    assert len({level.index for level in run.levels()}) == len(list(run.levels())), "an index is used twice"
    exchanges = Counter(row.level for row in run.exchanges())
    for level in levels:
        assert exchanges[level.index] == level.concurrency, "a level has lost a request, or has one of another"


def interrupted(server: Simulator, words: list[str], place: Path, *signals: int) -> tuple[int, str, str, float]:
    """Start a command, send it the signals once it has been answered 5 times: (status, stdout, stderr, seconds)."""
    process = subprocess.Popen(
        [sys.executable, str(ROOT / "triplicate.py"), *words],
        cwd=place,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    poll(lambda: server.requests >= 5 or process.poll() is not None)
    began = time.monotonic()
    for number in signals:
        process.send_signal(number)
        time.sleep(0.05)
    text, errors = process.communicate(timeout=30)
    return process.returncode, text, errors, time.monotonic() - began


SIGNALS = [
    pytest.param((signal.SIGINT,), id="SIGINT"),
    pytest.param((signal.SIGTERM,), id="SIGTERM"),
    pytest.param((signal.SIGINT, signal.SIGINT), id="SIGINT twice"),
    pytest.param((signal.SIGTERM, signal.SIGTERM), id="SIGTERM twice"),
]


@pytest.mark.parametrize("signals", SIGNALS)
def test_a_run_that_is_told_to_stop(signals: tuple[int, ...], tmp_path: Path) -> None:
    bank = written_bank(tmp_path)
    with served(bank, speed=2.0) as server:
        words = ["run", server.base_url, "--bank", str(bank), "--repeats", str(REPEATS), "--out", "runs"]
        status, text, errors, took_s = interrupted(server, words, tmp_path, *signals)
        assert status in (130, -signals[-1] if len(signals) > 1 else 130), errors
        assert "Traceback" not in errors
        (path,) = folders(tmp_path / "runs")
        assert 0 < len(pairs(path)) < len(WANTED)
        if len(signals) == 1:
            assert f"resume with: triplicate run --resume {path.relative_to(tmp_path)}" in text
            assert read_record(path).status == "interrupted"
        else:
            assert took_s < 5.0
        rehearsed(["run", "--resume", str(path)], tmp_path)
    assert pairs(path) == WANTED and len(verdicts(path)) == len(WANTED)


@pytest.mark.long
def test_an_impatient_interrupt_does_not_wait_for_a_stubborn_server_which_ends_all_the_same(tmp_path: Path) -> None:
    bank = written_bank(tmp_path)
    server = f"{sys.executable} {ROOT / 'triplicate.py'} simulate batching --bank {bank} --speed 1 --port {{port}}"
    (tmp_path / "triplicate.toml").write_text(
        f"""[[serving]]\nname = "own"\n[serving.launch]\ncommand = ["sh", "-c", "trap '' TERM; {server}; sleep 60"]\n"""
    )
    process = subprocess.Popen(
        [sys.executable, str(ROOT / "triplicate.py"), "run", "own", "--bank", str(bank), "--repeats", "20"],
        cwd=tmp_path,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    runs = tmp_path / "runs"
    poll(lambda: process.poll() is not None or (runs.exists() and any(len(pairs(path)) > 2 for path in folders(runs))))
    tree = psutil.Process(process.pid).children(recursive=True)
    assert any("sleep" in " ".join(one.cmdline()) for one in tree)
    process.send_signal(signal.SIGINT)
    time.sleep(0.3)
    began = time.monotonic()
    process.send_signal(signal.SIGINT)
    status, took_s = process.wait(30), time.monotonic() - began
    _, errors = process.communicate(timeout=30)
    assert status == 130, errors
    assert took_s < 5.0, "the server has 8 s, whoever asks twice has not"
    assert psutil.wait_procs(tree, timeout=30)[1] == []


@pytest.mark.long
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_sweep_that_is_told_to_stop(number: int, tmp_path: Path) -> None:
    bank = written_bank(tmp_path)
    with served(bank, speed=0.3) as server:
        words = [
            "sweep",
            server.base_url,
            "--levels",
            "1,2,3",
            "--rounds",
            "2",
            "--max-tokens",
            "64",
            "--plateau-s",
            "0",
        ]
        status, _, errors, _ = interrupted(server, [*words, "--out", "runs"], tmp_path, number)
    assert status == 130, errors
    assert "Traceback" not in errors
    (path,) = folders(tmp_path / "runs")
    assert read_record(path).status == "interrupted"


@pytest.mark.long
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_decide_that_is_told_to_stop(number: int, tmp_path: Path) -> None:
    bank = written_bank(tmp_path)
    with served(bank, 1, speed=2.0) as old, served(bank, 2, speed=2.0) as new:
        (tmp_path / "triplicate.toml").write_text(
            "".join(f'[[serving]]\nname = "{n}"\nbase_url = "{s.base_url}"\n' for n, s in (("o", old), ("n", new)))
        )
        words = ["decide", "o", "n", "--bank", str(bank), "--looks", "3,4", "--out", "runs"]
        status, _, errors, _ = interrupted(old, words, tmp_path, number)
    assert status == 130, errors
    assert "Traceback" not in errors
    assert "resume with: triplicate decide --resume" in errors
    assert {read_record(path).status for path in folders(tmp_path / "runs")} == {"interrupted"}

"""Disks that are full, read-only or gone, and files that are torn, damaged, strange or somebody else's."""

import json
import os
import resource
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import msgspec
import pytest

import triplicate
from itembank.errors import UserError
from runner import lines
from runner.exchange import Trial
from runner.store import KINDS, RunFolder, read_record
from tests.conftest import make_trial
from tests.reliability.kills import ITEMS, ROOT, asked, folders, pairs, poll, served, verdicts, written_bank

REPEATS = 3
WANTED = sorted((item["id"], repeat) for item in ITEMS for repeat in range(1, REPEATS + 1))
GOLDEN = ROOT / "tests" / "data" / "runs" / "v1"


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """A disk of 192 KiB."""
    place = tmp_path / "disk"
    place.mkdir()
    mounted = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", "size=192k", "none", str(place)], capture_output=True, check=False
    )
    if mounted.returncode:
        pytest.skip("a small disk takes the right to mount one")
    try:
        yield place
    finally:
        subprocess.run(["umount", "-l", str(place)], check=True)


def called(words: list[str], place: Path, limit: int | None = None) -> tuple[int, str, str]:
    """(status, stdout, stderr) of a command; `limit` is the most bytes that it may write into one file."""

    def set_limit() -> None:
        if limit is not None:
            resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))

    done = subprocess.run(
        [sys.executable, str(ROOT / "triplicate.py"), *words],
        cwd=place,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
        preexec_fn=set_limit,
    )
    return done.returncode, done.stdout, done.stderr


def assert_one_clear_line(status: int, errors: str, said: str) -> None:
    assert status in (2, 4), errors
    assert "Traceback" not in errors and "Exception" not in errors, errors
    (line,) = [line for line in errors.splitlines() if line.startswith("triplicate: ")]
    assert said in line and "resume" in line


def assert_valid(path: Path) -> None:
    """Every file of the folder reads to its end, and no line is torn."""
    for name, kind in KINDS.items():
        file = path / name
        if file.exists():
            assert file.read_bytes()[-1:] in (b"\n", b"")
            assert len(list(lines.lines(file, kind))) == file.read_bytes().count(b"\n")


@pytest.mark.parametrize("words", [["run"], pytest.param(["decide"], marks=pytest.mark.long)])
def test_a_full_disk_while_answers_come(words: list[str], small_disk: Path, tmp_path: Path) -> None:
    bank = written_bank(tmp_path)
    (small_disk / "ballast").write_bytes(b"x" * (140 << 10))
    with served(bank) as server, served(bank) as other:
        common = ["--bank", str(bank), "--out", str(small_disk / "runs")]
        if words == ["run"]:
            first = ["run", server.base_url, *common, "--repeats", str(REPEATS), "--concurrency", "2"]
        else:
            first = ["decide", server.base_url, other.base_url, *common, "--looks", "3,4"]
        status, text, errors = called(first, tmp_path)
        assert_one_clear_line(status, errors, "No space left on device")
        assert "resume with: triplicate" in text + errors
        found = folders(small_disk / "runs")
        kept = [pairs(path) for path in found]
        assert sum(len(one) for one in kept) > 0
        for path in found:
            assert_valid(path)
            assert not list(path.glob("*.new"))
        (small_disk / "ballast").unlink()
        subprocess.run(["mount", "-o", "remount,size=16m", str(small_disk)], check=True)
        before = asked(server)
        resumed = ["run", "--resume", str(found[0])] if words == ["run"] else first
        status, _, errors = called(resumed, tmp_path)
        assert status in ((0,) if words == ["run"] else (0, 1, 3)), errors
    if words == ["run"]:
        assert pairs(found[0]) == WANTED
        assert len(verdicts(found[0])) == len(WANTED)
        assert asked(server) - before == len(WANTED) - len(kept[0])
    else:
        assert len({len(pairs(path)) for path in found}) == 1
        assert all(len(set(pairs(path))) == len(pairs(path)) for path in found)


def test_a_full_disk_while_levels_are_measured(small_disk: Path, tmp_path: Path) -> None:
    bank = written_bank(tmp_path)
    (small_disk / "ballast").write_bytes(b"x" * (120 << 10))
    with served(bank, speed=50) as server:
        words = [
            "sweep",
            server.base_url,
            "--levels",
            "1,2,4",
            "--rounds",
            "2",
            "--max-tokens",
            "256",
            "--plateau-s",
            "0",
        ]
        status, text, errors = called([*words, "--out", str(small_disk / "runs")], tmp_path)
        assert_one_clear_line(status, errors, "No space left on device")
        (path,) = folders(small_disk / "runs")
        assert f"resume with: triplicate sweep --resume {path}" in text + errors
        assert_valid(path)
        (small_disk / "ballast").unlink()
        subprocess.run(["mount", "-o", "remount,size=16m", str(small_disk)], check=True)
        status, _, errors = called(["sweep", "--resume", str(path)], tmp_path)
        assert status in (0, 4), errors
    assert read_record(path).status == "complete"
    assert {level.concurrency for level in RunFolder.read(path).levels()} == {1, 2, 4}


def test_a_file_that_may_not_grow(tmp_path: Path) -> None:
    bank = written_bank(tmp_path)
    with served(bank) as server:
        words = ["run", server.base_url, "--bank", str(bank), "--repeats", str(REPEATS), "--out", "runs"]
        status, _, errors = called(words, tmp_path, limit=40_000)
        assert_one_clear_line(status, errors, "File too large")
        (path,) = folders(tmp_path / "runs")
        assert_valid(path)
        assert 0 < len(pairs(path)) < len(WANTED)
        assert called(["run", "--resume", str(path)], tmp_path)[0] == 0
    assert pairs(path) == WANTED


def test_a_disk_without_room_for_anything(small_disk: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    bank = written_bank(tmp_path)
    with pytest.raises(OSError, match="No space"), (small_disk / "ballast").open("wb") as file:
        file.write(b"x" * (256 << 10))
    with served(bank) as server:
        words = ["run", server.base_url, "--bank", str(bank), "--repeats", "1", "--out", str(small_disk / "runs")]
        assert triplicate.main(words) == 2
        assert "No space left on device" in capsys.readouterr().err
        assert asked(server) == 0


def test_a_folder_that_may_only_be_read(small_disk: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    bank = written_bank(tmp_path)
    subprocess.run(["mount", "-o", "remount,ro", str(small_disk)], check=True)
    with served(bank) as server:
        words = ["run", server.base_url, "--bank", str(bank), "--repeats", "1", "--out", str(small_disk / "runs")]
        assert triplicate.main(words) == 2
        error = capsys.readouterr().err
    assert "Read-only file system; give a writable folder with --out" in error and error.count("\n") == 1


def test_a_folder_that_became_read_only_is_not_resumed(
    make_folder, small_disk: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    run = make_folder()
    run.close()
    shutil.copytree(run.path, small_disk / "run")
    subprocess.run(["mount", "-o", "remount,ro", str(small_disk)], check=True)
    assert triplicate.main(["run", "--resume", str(small_disk / "run")]) == 2
    error = capsys.readouterr().err
    assert "Read-only file system" in error and error.count("\n") == 1


@pytest.mark.parametrize("gone", ["deleted", "moved"])
def test_a_folder_that_goes_away_in_the_middle(gone: str, tmp_path: Path) -> None:
    bank = written_bank(tmp_path)
    with served(bank, speed=2.0) as server:
        words = ["run", server.base_url, "--bank", str(bank), "--repeats", str(REPEATS), "--out", "runs"]
        process = subprocess.Popen(
            [sys.executable, str(ROOT / "triplicate.py"), *words],
            cwd=tmp_path,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        poll(lambda: server.requests >= 4 or process.poll() is not None)
        if gone == "deleted":
            shutil.rmtree(tmp_path / "runs")
        else:
            (tmp_path / "runs").rename(tmp_path / "elsewhere")
        _, errors = process.communicate(timeout=60)
    assert_one_clear_line(process.returncode, errors, "has been deleted or moved")
    if gone == "moved":
        (path,) = folders(tmp_path / "elsewhere")
        assert_valid(path)
        with served(bank) as server:
            serving = f'[[serving]]\nname = "{read_record(path).serving["name"]}"\nbase_url = "{server.base_url}"\n'
            (tmp_path / "triplicate.toml").write_text(serving)
            assert called(["run", "--resume", str(path)], tmp_path)[0] == 0
        assert pairs(path) == WANTED


def test_two_processes_on_one_folder(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    bank = written_bank(tmp_path)
    with served(bank, speed=2.0) as server:
        words = ["run", server.base_url, "--bank", str(bank), "--repeats", "1", "--out", "runs"]
        process = subprocess.Popen(
            [sys.executable, str(ROOT / "triplicate.py"), *words],
            cwd=tmp_path,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        poll(lambda: server.requests >= 2 or process.poll() is not None)
        (path,) = folders(tmp_path / "runs")
        before = read_record(path)
        assert triplicate.main(["run", "--resume", str(path)]) == 2
        assert "another triplicate is writing to" in capsys.readouterr().err
        assert read_record(path) == before
        assert process.wait(60) == 0
    assert len(pairs(path)) == len(ITEMS)


@pytest.mark.parametrize(
    "damage", [b"{", b"\xff\xfe\n", b"null\n", b"[" * 100_000 + b"\n", b"\x00" * 512 + b"\n", b"\n"]
)
def test_a_damaged_middle_line_is_named_and_the_rest_used_after_repair(
    damage: bytes, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    bank = written_bank(tmp_path)
    with served(bank) as server:
        words = ["--bank", str(bank), "--repeats", "1", "--out", str(tmp_path / "runs")]
        assert triplicate.main(["run", server.base_url, *words]) == 0
        (path,) = folders(tmp_path / "runs")
        rows = (path / "trials.jsonl").read_bytes().splitlines(keepends=True)
        (path / "trials.jsonl").write_bytes(b"".join([*rows[:3], damage, *rows[4:]]))
        capsys.readouterr()
        assert triplicate.main(["run", "--resume", str(path)]) == 2
        error = capsys.readouterr().err
        assert "trials.jsonl:4: damaged line" in error and "--repair" in error and error.count("\n") == 1
        assert triplicate.main(["run", "--resume", str(path), "--repair"]) == 0
    assert len(pairs(path)) == len(ITEMS) == len(set(pairs(path)))
    assert "1 damaged lines of trials.jsonl left out" in read_record(path).notes


def test_a_record_of_the_future_is_refused_in_plain_words(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    golden = next(path.parent for path in GOLDEN.rglob("run.json"))
    shutil.copytree(golden, tmp_path / "run")
    row = json.loads((tmp_path / "run" / "run.json").read_text())
    (tmp_path / "run" / "run.json").write_text(json.dumps({**row, "schema_version": 99}))
    for words in (["run", "--resume"], ["report"], ["rescore"], ["plan"]):
        assert triplicate.main([*words, str(tmp_path / "run")]) == 2
        error = capsys.readouterr().err
        assert "schema 99" in error and "install a newer one" in error and error.count("\n") == 1


@pytest.mark.parametrize("path", sorted(GOLDEN.rglob("run.json")), ids=lambda path: path.parent.name)
def test_golden_records_of_the_first_schema_load(path: Path) -> None:
    run = RunFolder.read(path.parent)
    assert run.record.schema_version == 1
    assert list(run.trials()) or (list(run.levels()) and list(run.exchanges()))


def test_a_line_is_written_whole_or_not_at_all(tmp_path: Path, make_folder) -> None:
    run = make_folder()
    run.append(make_trial("d-01"))
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    size = (run.path / "trials.jsonl").stat().st_size
    resource.setrlimit(resource.RLIMIT_FSIZE, (size + 20, hard))
    try:
        with pytest.raises(UserError, match="File too large"):
            run.append(make_trial("d-02", text="x" * 1000))
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
    run.append(make_trial("d-03"))
    assert [trial.item_id for trial in run.trials()] == ["d-01", "d-03"]
    assert msgspec.json.decode((run.path / "trials.jsonl").read_bytes().splitlines()[1], type=Trial).item_id == "d-03"


def test_a_record_that_cannot_be_replaced_stays(make_folder, monkeypatch: pytest.MonkeyPatch) -> None:
    run = make_folder()

    def refuse(_: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", refuse)
    with pytest.raises(UserError, match="No space left on device"):
        run.update(status="complete")
    assert run.record.status == read_record(run.path).status == "running"
    assert not list(run.path.glob("*.new"))

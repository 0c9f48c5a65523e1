import msgspec
import pytest

from itembank.errors import UserError
from runner.exchange import Exchange, Failure, FailureKind, Level, LevelExchange
from runner.record import SCHEMA_VERSION, Fact, Identity, upgrade
from runner.store import RunFolder, read_record, safe_name
from tests.conftest import make_record, make_trial


def test_what_is_appended_is_read_back(make_folder):
    folder = make_folder()
    failure = Failure(kind=FailureKind.HTTP_STATUS, status=503, detail="busy", retry_after_s=2.0)
    trials = [make_trial(repeat=1), make_trial(repeat=2, failure=failure)]
    for trial in trials:
        folder.append(trial)
    assert list(folder.trials()) == trials
    assert list(RunFolder.read(folder.path).trials()) == trials
    assert [(row.item_id, row.repeat, row.exchange.response) for row in folder.answers()] == [
        (trial.item_id, trial.repeat, trial.exchange.response) for trial in trials
    ]
    for outline, trial in zip(folder.outlines(), trials, strict=True):
        assert (outline.item_digest, outline.boot) == (trial.item_digest, trial.boot)
        for name in ("failure", "due_ns", "sent_ns", "done_ns", "usage", "served_model"):
            assert getattr(outline.exchange, name) == getattr(trial.exchange, name)


def test_a_ladder_has_levels_and_exchanges(make_folder):
    folder = make_folder(kind="ladder")
    level = Level(
        phase="ladder", index=0, concurrency=4, round=1, prompts="identical", max_tokens=8, start_ns=0, end_ns=9,
        peak_in_flight=4, gauges=({"running": 4.0},),
    )  # fmt: skip
    exchange = LevelExchange(level=0, exchange=Exchange(request={}, due_ns=0, done_ns=1))
    folder.append(level)
    folder.append(exchange)
    assert list(folder.levels()) == [level]
    assert list(folder.exchanges()) == [exchange]


def test_the_record_is_replaced_whole(make_folder):
    folder = make_folder()
    identity = Identity(engine="llama.cpp", facts=(Fact(name="version", value="b1", source="GET /props"),))
    folder.update(status="complete", identity_before=identity)
    assert read_record(folder.path) == folder.record
    assert folder.record.identity_before.value("version") == "b1"
    assert folder.record.identity_before.value("dtype") is None
    assert folder.record.identity_before.fact("version").source == "GET /props"


def test_two_writers_are_refused(make_folder):
    folder = make_folder()
    with pytest.raises(UserError, match="another triplicate is writing"):
        RunFolder.resume(folder.path)


def test_two_folders_of_one_second_differ(make_folder):
    assert make_folder().path != make_folder().path


@pytest.mark.parametrize("tail", [b'{"item_id": "d-01"', b"\x00\x00", b"x" * 200_000])
def test_resume_drops_a_torn_last_line(make_folder, tail):
    folder = make_folder()
    folder.append(make_trial())
    folder.close()
    path = folder.path / "trials.jsonl"
    whole = path.read_bytes()
    path.write_bytes(whole + tail)
    assert len(list(RunFolder.read(folder.path).trials())) == 1
    RunFolder.resume(folder.path).close()
    assert path.read_bytes() == whole


def test_a_file_of_only_a_torn_line_becomes_empty(make_folder):
    folder = make_folder()
    folder.close()
    path = folder.path / "trials.jsonl"
    path.write_bytes(b'{"half"')
    RunFolder.resume(folder.path).close()
    assert path.read_bytes() == b""


def test_a_damaged_middle_line_is_named_and_can_be_left_out(make_folder):
    folder = make_folder()
    folder.append(make_trial(repeat=1))
    folder.append(make_trial(repeat=2))
    folder.append_verdict({"item": "d-01"})
    folder.close()
    path = folder.path / "trials.jsonl"
    first, second = path.read_bytes().splitlines(keepends=True)
    path.write_bytes(first + b'{"broken\n' + second)
    with pytest.raises(UserError, match=r"trials\.jsonl:2: damaged"):
        list(RunFolder.read(folder.path).trials())
    with RunFolder.resume(folder.path, repair=True) as repaired:
        assert [trial.repeat for trial in repaired.trials()] == [1, 2]
        assert list(repaired.verdicts()) == [{"item": "d-01"}]
        assert repaired.record.notes == ("1 damaged lines of trials.jsonl left out",)


def test_verdicts_are_rewritten_in_one_step(make_folder):
    folder = make_folder()
    folder.append_verdict({"item": "a"})
    folder.replace_verdicts([{"item": "b"}, {"item": "c"}])
    assert [row["item"] for row in folder.verdicts()] == ["b", "c"]
    assert not list(folder.path.glob("*.new"))


def test_records_of_the_future_and_strangers_are_refused(tmp_path):
    with pytest.raises(UserError, match="install a newer one"):
        upgrade({"schema_version": SCHEMA_VERSION + 1})
    with pytest.raises(UserError, match="no schema_version"):
        upgrade({})
    with pytest.raises(UserError, match="no run folder"):
        read_record(tmp_path)
    for content, message in (
        (b"{", "not readable"),
        (b"[]", "not a record"),
        (b'{"schema_version": 1}', "not a record"),
    ):
        (tmp_path / "run.json").write_bytes(content)
        with pytest.raises(UserError, match=message):
            read_record(tmp_path)


def test_a_folder_that_cannot_be_made_is_a_user_error(tmp_path):
    (tmp_path / "runs").write_text("a file")
    with pytest.raises(UserError, match="--out"):
        RunFolder.create(tmp_path / "runs", make_record())


@pytest.mark.parametrize("name", ["../../etc", "/abs", "a\0b", "x" * 300, "con", "COM1.txt", "", "..", "http://h:1/v1"])
def test_folder_names_stay_inside(name):
    safe = safe_name(name)
    assert safe and "/" not in safe and "\0" not in safe and not safe.startswith(".") and len(safe) <= 81
    assert safe.split(".")[0].lower() not in {"con", "com1"}


def test_the_schema_of_run_json_is_msgspecs(make_folder):
    row = msgspec.json.decode((make_folder().path / "run.json").read_bytes())
    assert row["schema_version"] == SCHEMA_VERSION

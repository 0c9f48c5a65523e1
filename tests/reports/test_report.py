import json
import shutil
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace

import pytest

from itembank.errors import UserError
from reports import report_command
from reports.demo import report_file
from reports.report import Report, format_named, grouped, report_of, write
from runner.store import RunFolder
from tests.reports.test_curve import capped
from triplicate import main

GOLDEN = Path(__file__).parents[1] / "data" / "runs" / "v1"
RUNS = [str(path) for name in ("incumbent", "candidate") for path in sorted((GOLDEN / name).iterdir())]


@pytest.fixture(scope="module")
def golden() -> Report:
    return report_of([Path(path) for path in RUNS])


def test_a_record_of_version_1_loads_for_ever(golden: Report) -> None:
    document = golden.document
    assert [row["name"] for row in document["configurations"]] == ["incumbent", "candidate"]
    assert document["simulated"] == ["incumbent", "candidate"]
    # 7 items asked 3 times; the verdict files hold 20 passes of 21 and 10 of 20 scorable.
    assert [row["quality"]["scores"]["counts"]["pass"] for row in document["configurations"]] == [20, 10]
    assert [row["quality"]["scores"]["scorable"] for row in document["configurations"]] == [21, 20]
    assert document["comparisons"][0]["verdict"] == "REGRESSION"
    # (3/3 + 1 + 8/9) / 3 and (0 + 1 + 8/9) / 3, as run means of the judged answers
    means = [row["quality"]["scores"]["mean"] for row in document["configurations"]]
    assert means == pytest.approx([100 * (1 + 1 + 8 / 9) / 3, 100 * (0 + 1 + 8 / 9) / 3], abs=0.05)
    assert [len(row["curve"]["levels"]) for row in document["configurations"]] == [3, 3]
    assert document["ratios"][0]["levels"][0]["ratio"] == pytest.approx(
        document["configurations"][1]["curve"]["levels"][0]["tok_s"]
        / document["configurations"][0]["curve"]["levels"][0]["tok_s"]
    )


def test_items_say_what_became_of_every_repeat(golden: Report) -> None:
    quality = golden.document["configurations"][1]["quality"]
    [row] = [row for row in quality["items"] if row["item"] == "reasoning-02"]
    assert [(each["outcome"], each["reason"]) for each in row["repeats"]][1] == ("unscorable", "truncated")
    [row] = [row for row in quality["items"] if row["item"] == "reasoning-03"]
    assert row["repeats"][0]["defects"] == ["control_token"]
    for outcome, count in quality["scores"]["counts"].items():
        assert count == sum(each["outcome"] == outcome for row in quality["items"] for each in row["repeats"])


def test_runs_of_one_serving_are_one_configuration_and_the_later_one_counts(
    make_run: Callable[..., RunFolder],
) -> None:
    first, second = make_run("a", ["ppp"]), make_run("a", ["fff"])
    [configuration] = grouped([first, second])
    assert configuration.quality is second and configuration.ladder is None


def test_nothing_to_report_on_is_said() -> None:
    with pytest.raises(UserError, match="name at least one"):
        report_of([])


@pytest.mark.parametrize(
    ("name", "suffix"),
    [
        ("html", ".html"),
        ("json", ".json"),
        ("markdown", ".md"),
        ("csv", ".csv"),
        ("junit", ".xml"),
        ("terminal", ".txt"),
    ],
)
def test_format_is_that_of_the_files_ending(name: str, suffix: str) -> None:
    assert format_named(None, Path(f"x{suffix}")) == name
    assert format_named(name, None) == name


def test_format_without_a_file_is_the_terminal() -> None:
    assert format_named(None, None) == "terminal"


def test_unknown_formats_stop_with_those_that_exist() -> None:
    with pytest.raises(UserError, match="no format ends in"):
        format_named(None, Path("x.pdf"))
    with pytest.raises(UserError, match="no 'pdf'"):
        format_named("pdf", None)


def test_a_folder_that_cannot_be_written_is_named(golden: Report, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(UserError, match="give a writable file"):
        write(golden, "json", tmp_path / "file" / "r.json")


def test_command_writes_files_and_names_them(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    target = tmp_path / "new" / "r.json"
    assert main(["report", *RUNS, "-o", str(target)]) == 0
    assert capsys.readouterr().out == f"{target}\n"
    assert json.loads(target.read_text("utf-8"))["schema"] == 1


@pytest.mark.parametrize("form", ["terminal", "json", "csv", "markdown", "junit"])
def test_command_prints_without_a_file(form: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["report", "--compare", *RUNS, "--format", form, "--margin", "5"]) == 0
    out = capsys.readouterr().out
    assert "incumbent" in out and "\x1b" not in out


def test_command_prints_bytes(capfdbinary: pytest.CaptureFixture[bytes]) -> None:
    assert main(["report", *RUNS, "--format", "parquet"]) == 0
    assert capfdbinary.readouterr().out[:4] == b"PAR1"


def test_margin_reaches_the_verdict_and_the_command_line() -> None:
    document = report_of([Path(path) for path in RUNS], margin=60.0).document
    assert document["comparisons"][0]["margin"] == 60.0
    assert document["commands"][-1] == "triplicate compare incumbent candidate --margin 60"


def test_names_are_quoted_for_the_shell(make_run: Callable[..., RunFolder]) -> None:
    document = report_of([make_run("a; rm -rf ~", ["ppp"]).path, make_run("b", ["ppp"]).path]).document
    assert document["commands"][0].startswith("triplicate run 'a; rm -rf ~' --bank")
    assert document["commands"][-1] == "triplicate compare 'a; rm -rf ~' b"


def test_push_needs_no_file(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setattr("reports.formats.parquet.push", lambda report, target: target[4:])
    assert main(["report", *RUNS, "--push", "hub:owner/name"]) == 0
    assert capsys.readouterr().out == "pushed owner/name\n"


@pytest.mark.parametrize("arguments", [["report"], ["report", *RUNS, "--margin", "-1"], ["report", "nowhere"]])
def test_command_refuses_nonsense(arguments: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert main(arguments) == 2
    assert capsys.readouterr().err.startswith("triplicate: ")


def test_at_most_eight_configurations(make_run: Callable[..., RunFolder], capsys: pytest.CaptureFixture[str]) -> None:
    paths = [str(make_run(f"c{number}", ["ppp"]).path) for number in range(9)]
    assert main(["report", *paths]) == 2
    assert f"at most {report_command.MOST_CONFIGURATIONS} configurations, not 9" in capsys.readouterr().err
    assert main(["report", "--compare", *paths[:8]]) == 0


@pytest.fixture
def copied(tmp_path: Path) -> list[Path]:
    """The golden runs where they may be written to."""
    shutil.copytree(GOLDEN, tmp_path / "runs")
    return [path for name in ("incumbent", "candidate") for path in sorted((tmp_path / "runs" / name).iterdir())]


@pytest.mark.long
def test_decide_ends_with_a_page(
    copied: list[Path], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    baseline, candidate = (SimpleNamespace(path=path) for path in copied if path.name.endswith("quality"))
    protocol = SimpleNamespace(baseline=baseline, candidate=candidate)
    monkeypatch.setattr("reports.preparation.prepared", lambda arguments: protocol)
    monkeypatch.setattr("reports.decide.guarded", lambda protocol: 0)
    monkeypatch.chdir(copied[0].parent)
    assert main(["decide", "incumbent", "candidate", "--json"]) == 1
    page = candidate.path / "report.html"
    assert capsys.readouterr().err.endswith(f"report: {page}\n")
    assert page.read_text("utf-8").startswith("<!DOCTYPE html>")


def test_without_the_extra_the_page_is_missed_in_one_line(
    copied: list[Path], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr("reports.formats.html.missing_package", lambda: "altair")
    line = report_command.page_line(copied, tmp_path / "r.html")
    assert line == "no report page: the HTML report needs altair; pip install 'triplicate[report]'"
    assert report_file(tmp_path) == tmp_path / "report.txt"
    monkeypatch.undo()
    assert report_file(tmp_path) == tmp_path / "report.html"


def test_a_ladder_gives_the_identity_its_measured_cap(make_folder: Callable[..., RunFolder]) -> None:
    run = capped(make_folder, k=2, found=32)
    [row] = report_of([run.path]).document["configurations"]
    assert row["identity"]["cap"]["found"]["value"] == 32
    assert row["identity"]["cap"]["measured"]["value"] == 2
    assert [each["name"] for each in row["identity"]["differs"]] == ["max_concurrent_sequences"]

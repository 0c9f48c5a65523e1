"""`compare` and `plan` on the command line."""

import json
from collections.abc import Callable

import pytest

import triplicate
from runner.store import RunFolder

Make = Callable[..., RunFolder]


def ran(capsys: pytest.CaptureFixture[str], *words: str) -> tuple[int, str, str]:
    status = triplicate.main(list(words))
    captured = capsys.readouterr()
    return status, captured.out, captured.err


@pytest.mark.parametrize(
    ("rows", "status"),
    [
        ((["ppp"] * 94, ["ppp"] * 94), 0),
        ((["ppp"] * 94, ["fff"] * 20 + ["ppp"] * 74), 1),
        ((["p"] * 94, ["p"] * 94), 3),
        ((["ppp"] * 94, ["pp."] * 94), 4),
    ],
)
def test_exit_status_is_the_verdicts(
    make_run: Make,
    bank94: list[str],
    capsys: pytest.CaptureFixture[str],
    rows: tuple[list[str], list[str]],
    status: int,
) -> None:
    paths = [str(make_run(name, side, items=bank94).path) for name, side in zip("ab", rows, strict=True)]
    assert ran(capsys, "compare", *paths)[0] == status
    found, out, _ = ran(capsys, "compare", *paths, "--json", "--margin", "3")
    assert found == status
    assert "NaN" not in out
    json.loads(out)


def test_a_name_is_its_newest_complete_run(make_run: Make, capsys: pytest.CaptureFixture[str]) -> None:
    root = str(make_run("a", ["ppp"]).path.parent.parent)
    make_run("b", ["ppp"])
    assert ran(capsys, "compare", "a", "b", "--out", root, "--margin", "90")[0] == 3
    status, _, err = ran(capsys, "compare", "a", "c", "--out", root)
    assert status == 2
    assert "no run 'c'" in err


@pytest.mark.parametrize("margin", ["0", "-1", "100", "nan", "1e9"])
def test_senseless_margins_exit_2(make_run: Make, capsys: pytest.CaptureFixture[str], margin: str) -> None:
    path = str(make_run("a", ["ppp"]).path)
    for command in (("compare", path, path), ("plan", path)):
        status, _, err = ran(capsys, *command, "--margin", margin)
        assert status == 2
        assert err.count("\n") == 1
        assert "makes no sense" in err


def test_plan_prints_words_and_json(make_run: Make, bank94: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    rows = ["ppf" if place < 14 else "ppp" for place in range(94)]
    path = str(make_run("a", rows, items=bank94).path)
    status, out, _ = ran(capsys, "plan", path, "--margin", "1")
    assert status == 0
    assert "14 of 94 items" in out
    _, out, _ = ran(capsys, "plan", path, "--json")
    assert json.loads(out).keys() >= {"flaky_items", "repeats_needed", "margin", "power"}


def test_a_folder_that_is_no_run_exits_2(tmp_path, capsys: pytest.CaptureFixture[str]) -> None:  # type: ignore[no-untyped-def]
    status, _, err = ran(capsys, "compare", str(tmp_path), str(tmp_path))
    assert status == 2
    assert err.count("\n") == 1

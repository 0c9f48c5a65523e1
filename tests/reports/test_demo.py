from pathlib import Path

import pytest

import triplicate
from itembank.bank import load_bank
from itembank.errors import UserError
from reports import demo
from runner.config import load_config
from scorers.check import validate


@pytest.fixture
def commands(monkeypatch):
    """The command lines that a demo would type, instead of typing them."""
    lines: list[list[str]] = []
    statuses: dict[str, int] = {}

    def typed(command):
        lines.append(list(command))
        return statuses.get(command[0], 0)

    monkeypatch.setattr(demo, "typed", typed)
    monkeypatch.setattr("runner.weights.require_engine", lambda: None)
    monkeypatch.setattr("runner.weights.model_file", lambda: Path("model.gguf"))
    monkeypatch.setattr("runner.weights.variant", lambda source, weights: Path(f"model.{weights}.gguf"))
    lines_and_statuses = (lines, statuses)
    return lines_and_statuses


def test_the_real_demo_types_the_whole_job(commands, tmp_path, capsys):
    lines, _ = commands
    assert triplicate.main(["demo", "--dir", str(tmp_path / "d")]) == 0
    assert [line[0] for line in lines] == ["run", "sweep", "compare", "report"]
    assert all(line[1:3] == ["one-slot-f16", "eight-slots-q4"] for line in lines)
    config = load_config(tmp_path / "d" / "triplicate.toml")
    assert [s.intended["max_concurrent_sequences"] for s in config.serving] == [1, 8]
    assert [s.launch.command[4] for s in config.serving] == ["model.F16.gguf", "model.Q4_0.gguf"]
    out = capsys.readouterr().out
    assert "very small model that scores low" in out and "not better weights" in out


def test_the_simulated_demo_starts_four_presets(commands, tmp_path, capsys):
    lines, statuses = commands
    statuses["sweep"] = 4
    assert triplicate.main(["demo", "--simulated", "--dir", str(tmp_path / "d")]) == 0
    assert [line[0] for line in lines] == ["sweep", "report"]
    config = load_config(tmp_path / "d" / "triplicate.toml")
    assert [s.name for s in config.serving] == list(demo.PRESETS)
    assert "very small model" not in capsys.readouterr().out


def test_quick_asks_less(commands, tmp_path):
    lines, _ = commands
    triplicate.main(["demo", "--quick", "--dir", str(tmp_path / "d")])
    assert "--items" in lines[0] and "1,4" in lines[1]


def test_a_step_that_fails_ends_it(commands, tmp_path):
    lines, statuses = commands
    statuses["run"] = 130
    assert triplicate.main(["demo", "--dir", str(tmp_path / "d")]) == 130
    assert len(lines) == 1


def test_a_folder_that_cannot_be_written_is_a_user_error(commands, tmp_path, capsys):
    (tmp_path / "d").write_text("a file")
    assert triplicate.main(["demo", "--dir", str(tmp_path / "d")]) == 2
    assert "--dir" in capsys.readouterr().err


def test_a_command_line_is_shown_and_done(tmp_path, capsys):
    with pytest.raises(UserError):
        demo.typed(["compare", "nobody", "nothing", "--out", str(tmp_path)])
    assert "$ triplicate compare nobody nothing" in capsys.readouterr().out


def test_the_demo_bank_is_sound():
    bank = load_bank(str(Path(demo.__file__).parent.parent / "itembank" / "demo.yaml"))
    validate(bank)
    assert len(bank.items) == 16

import sys

from runner import progress
from runner.progress import Progress


def test_a_log_gets_a_line_a_minute_and_one_at_the_end(capsys, monkeypatch):
    clock = iter(range(0, 10_000, 25))
    monkeypatch.setattr(progress.time, "monotonic", lambda: float(next(clock)))
    with Progress("asking", 4) as bar:
        for outcome in ("pass", "fail", "pass", ""):
            bar.step(outcome)
        bar.say("a note")
    lines = capsys.readouterr().err.splitlines()
    assert lines[-1].startswith("asking: 4/4 2 pass, 1 fail; ")
    assert "a note" in lines and 2 < len(lines) < 5


def test_nothing_done_says_nothing(capsys):
    with Progress("asking", 4):
        pass
    assert capsys.readouterr().err == ""


def test_a_terminal_gets_a_bar(capsys, monkeypatch):
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True, raising=False)
    with Progress("asking", 2) as bar:
        bar.step("pass")
        bar.say("a note")
        bar.step("pass")
    text = capsys.readouterr().err
    assert "asking" in text and "pass=2" in text and "a note" in text

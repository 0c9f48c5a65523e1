import io
from collections.abc import Callable

import pytest

from reports.formats import terminal
from reports.report import Report


class Screen(io.StringIO):
    def isatty(self) -> bool:
        return True


@pytest.mark.parametrize("name", ["golden", "hostile"])
def test_no_line_is_wider_than_80_columns_and_none_moves_the_cursor(name: str, request: pytest.FixtureRequest) -> None:
    text = terminal.render(request.getfixturevalue(name))
    assert max(map(len, text.splitlines())) <= 80
    assert all(char.isprintable() or char == "\n" for char in text)


def test_colour_only_where_a_person_watches(golden: Report, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TERM", "xterm-256color")
    monkeypatch.delenv("NO_COLOR", raising=False)
    screen, pipe = Screen(), io.StringIO()
    terminal.show(golden, screen)
    terminal.show(golden, pipe)
    assert "\x1b[1;31mREGRESSION" in screen.getvalue()
    assert pipe.getvalue() == terminal.render(golden)
    monkeypatch.setenv("NO_COLOR", "1")
    quiet = Screen()
    terminal.show(golden, quiet)
    assert "\x1b[1;31m" not in quiet.getvalue() and "31m" not in quiet.getvalue()


def test_the_interval_is_drawn_to_scale(golden: Report) -> None:
    [comparison] = golden.document["comparisons"]
    bar, axis = terminal.interval_lines({**comparison, "interval": [-10.0, 10.0], "difference": 0.0, "margin": 5.0})
    zero = axis.index("0")
    assert bar[zero] == "◆"
    assert zero - bar.index("┣") == pytest.approx(bar.index("┫") - zero, abs=1)
    assert zero - axis.index("m") == pytest.approx((zero - bar.index("┣")) / 2, abs=1)


def test_without_an_interval_nothing_is_drawn(golden: Report) -> None:
    [comparison] = golden.document["comparisons"]
    assert terminal.interval_lines({**comparison, "interval": None}) == []


def test_many_repeats_wrap(made_report: Callable[..., Report]) -> None:
    report = made_report(only=["p" * 30, "f" * 30])
    text = terminal.render(report)
    assert max(map(len, text.splitlines())) <= 80
    assert text.count("100.0") >= 30

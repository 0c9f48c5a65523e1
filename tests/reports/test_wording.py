"""A comparison in words: quotable, labelled, 80 columns, and harmless to a terminal."""

from collections.abc import Callable

import pytest

from reports.comparison import comparison_document, lines
from reports.wording import bounds, figure, printable, throughput_phrase, wrapped
from runner.store import RunFolder

Make = Callable[..., RunFolder]


@pytest.mark.parametrize(
    ("value", "signed", "text"),
    [(None, False, "n/a"), (-0.04, True, "0.0"), (2.0, True, "+2.0"), (-1.25, True, "-1.2"), (84.44, False, "84.4")],
)
def test_figures(value: float | None, signed: bool, text: str) -> None:
    assert figure(value, signed=signed) == text


def test_bounds_of_nothing() -> None:
    assert bounds(None) == "no interval"
    assert bounds([-1.0, 2.0]) == "-1.0 to +2.0"


def test_nothing_that_moves_a_cursor_is_printed() -> None:
    assert "\x1b" not in printable("a\x1b[2J\x07\u202e")
    assert wrapped("", "- ") == ["- "]


def test_no_throughput_without_its_labels(make_run: Make) -> None:
    a, b = make_run("a", ["ppp"] * 4, plan={"concurrency": 4}), make_run("b", ["ppp"] * 4, tokens=None)
    document = comparison_document(a, b)
    text = throughput_phrase(document["throughput"]["baseline"])
    for label in ("tok/s", "concurrency 4", "100 tokens", "bank items", "usage"):
        assert label in text
    assert "tok/s" not in throughput_phrase(document["throughput"]["candidate"])
    assert any("concurrency differs" in line for line in document["warnings"])


def test_the_sentence_can_be_quoted_alone(make_run: Make, bank94: list[str]) -> None:
    a, b = (make_run(name, ["ppppp"] * 94, items=bank94) for name in ("incumbent", "candidate"))
    sentence = comparison_document(a, b)["sentence"]
    for part in ("PARITY", "incumbent", "candidate", "94 items", "5 and 5 times", "90 % interval", "margin 3"):
        assert part in sentence


def test_lines_tell_everything_in_80_columns(make_run: Make) -> None:
    """Defects with hostile evidence, unscorable answers, a dimension without a score, identities that differ."""
    items = ["a-01", "a-02", "b-01", "b-02"]
    facts = {"max_concurrent_sequences": 1, "simulated": True, "pid": 1}
    a = make_run("a\x1b[31m", ["ppp", "fff", "ppp", "ppp"], items=items, facts=facts)
    b = make_run(
        "b",
        ["ppp", "ppp", "uuu", "uuu"],
        items=items,
        facts={**facts, "max_concurrent_sequences": 8, "pid": 2},
        texts=lambda item, repeat: f"other {item}",
        defects={("a-01", 1): ("control_token", "<|im_end|>\x1b[2J")},
    )
    document = comparison_document(a, b)
    text = "\n".join(lines(document))
    assert max(map(len, text.splitlines())) <= 80
    assert "\x1b" not in text
    assert "without b: nothing scorable there" in text
    assert "worst case of the unscorable" in text
    assert "control_token: 0 of 12 and 1 of 12" in text
    assert "differs: max_concurrent_sequences: 1 -> 8" in text
    assert "pid" not in text
    assert "simulated, no real engine: baseline, candidate" in text
    assert document["verdict"] == "UNDECIDED"


def test_invalid_comparisons_say_why_first(make_run: Make) -> None:
    a, b = make_run("a", ["ppp"]), make_run("b", ["pp."])
    document = comparison_document(a, b)
    assert document["sentence"].startswith("INVALID: b: incomplete")
    assert lines(document)[0].startswith("INVALID")


def test_runs_without_a_common_item_cannot_be_compared(make_run: Make) -> None:
    a, b = make_run("a", ["ppp"], items=["a-01"]), make_run("b", ["ppp"], items=["b-01"])
    document = comparison_document(a, b)
    assert document["verdict"] == "INVALID"
    assert document["interval"] is None
    assert lines(document)

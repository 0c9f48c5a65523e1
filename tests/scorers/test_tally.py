from itembank.item import Item
from scorers.tally import Tally, table, tallies
from scorers.verdict import Verdict, failed, passed, unscorable


def judged(dimension: str, *verdicts: Verdict) -> list[tuple[Item, Verdict]]:
    item = Item(id="x", dimension=dimension, messages=(), scorer="text", expect={})
    return [(item, verdict) for verdict in verdicts]


def test_a_dimension_is_counted() -> None:
    (tally,) = tallies(judged("a", passed(), passed(), failed("wrong"), unscorable("truncated"))).values()
    assert tally == Tally(passes=2, fails=1, unscorable=1)
    assert tally.asked == 4
    assert tally.score == 200 / 3
    assert tally.band == (50, 75)


def test_a_dimension_with_nothing_scorable_has_no_score() -> None:
    text = table([*judged("a", unscorable("truncated")), *judged("b", passed(), failed("wrong"))])
    row = next(line.split() for line in text.splitlines() if line.startswith("a "))
    assert row == ["a", "0", "0", "1", "none", "0/1", "0.0", "to", "100.0"]
    assert "score: 50.0, the mean of 1 dimensions (band 25.0 to 75.0); without a, where nothing was scorable" in text
    assert "score: none, nothing was scorable" in table(judged("a", unscorable("truncated")))


def test_all_answers_alike_are_no_mean_of_dimensions() -> None:
    text = table([*judged("a", passed(), passed(), passed()), *judged("b", failed("wrong"))])
    assert next(line for line in text.splitlines() if line.startswith("all answers alike")).split()[6] == "75.0"
    assert "score: 50.0, the mean of 2 dimensions" in text
    assert "defects" not in text

"""What the simulated model knows, and how its repeats differ."""

from collections import Counter
from typing import Any

import pytest

from itembank.bank import Bank
from itembank.item import Item
from runner.simulator_answers import CONTROL_TOKEN, Answer, Model, Piece, spoiled

CALL = {"tool_calls": [{"name": "f", "arguments": {"x": 1}}, {"name": "g", "arguments": ""}]}


def item(number: int, **fields: Any) -> Item:
    return Item(
        **{
            "id": f"reasoning-{number:02}",
            "dimension": "reasoning",
            "messages": ({"role": "user", "content": f"question {number}"},),
            "scorer": "text",
            "expect": {},
            "accept": (f"right {number}", f"also right {number}"),
            "reject": (f"wrong {number}",),
            **fields,
        }
    )


BANK = Bank(name="test", items=tuple(item(number) for number in range(100)))


def said(model: Model, asked: Item, max_tokens: int = 100) -> str:
    answer = model.answer([dict(message) for message in asked.messages], max_tokens, 5)
    return "".join(piece.text for piece in answer.pieces)


def passes(model: Model) -> set[str]:
    return {item.id for item in BANK.items if "right" in said(model, item)}


def test_an_item_is_known_by_its_messages_and_answered_with_its_own_examples() -> None:
    model = Model(BANK, score=100, flaky=0)
    seen = Counter(said(model, BANK.items[7]) for _ in range(50))
    assert set(seen) == {"right 7", "also right 7"}
    assert said(Model(BANK, score=0, flaky=0), BANK.items[7]) == "wrong 7"


def test_other_questions_get_filler_of_the_asked_length() -> None:
    answer = Model(BANK).answer([{"role": "user", "content": "?"}], 9, 9)
    assert (len(answer.pieces), answer.finish_reason) == (9, "length")
    answer = Model(None).answer([{"role": "user", "content": "?"}], 9, 5)
    assert (len(answer.pieces), answer.finish_reason) == (5, "stop")


@pytest.mark.parametrize("score", [0, 50, 84, 100])
def test_the_score_without_flaky_items(score: int) -> None:
    assert len(passes(Model(BANK, score=score, flaky=0))) == score


def test_flaky_items_flip_between_repeats_and_no_others_do() -> None:
    model = Model(BANK, score=80, flaky=0.2, noise=1)
    repeats = [passes(model) for _ in range(40)]
    unstable = set.union(*repeats) - set.intersection(*repeats)
    assert unstable == {name for name, chance in model.chances.items() if 0 < chance < 1}
    assert len(unstable) == 20
    assert all(0.05 <= model.chances[name] <= 0.95 for name in unstable)
    assert sum(map(len, repeats)) / 40 == pytest.approx(80, abs=1.5)
    assert sum(model.chances.values()) == pytest.approx(80, abs=0.5)


def test_two_models_of_one_seed_know_the_same_but_draw_apart() -> None:
    first, second = Model(BANK, flaky=0.5, seed=3), Model(BANK, flaky=0.5, seed=3)
    assert first.chances == second.chances
    assert [passes(first) for _ in range(5)] != [passes(second) for _ in range(5)]
    assert Model(BANK, seed=4).chances != first.chances


def test_a_noise_seed_fixes_the_draws() -> None:
    runs = [[passes(Model(BANK, flaky=0.5, noise=8))] for _ in range(2)]
    assert runs[0] == runs[1]


def test_a_regression_breaks_as_many_items_as_asked_that_were_always_right() -> None:
    plain, worse = Model(BANK, seed=5), Model(BANK, seed=5, regress=6)
    changed = {name for name in plain.chances if plain.chances[name] != worse.chances[name]}
    assert len(changed) == 6
    assert {plain.chances[name] for name in changed} == {1.0}
    assert {worse.chances[name] for name in changed} == {0.0}


def test_more_regressions_than_known_items_break_all_of_them() -> None:
    assert max(Model(BANK, flaky=0, regress=1000).chances.values()) == 0.0


def test_tool_calls_and_reasoning() -> None:
    special = item(1, accept=({"reasoning": "hm, hm", **CALL},))
    model = Model(Bank(name="one", items=(special,)), score=100, flaky=0)
    answer = model.answer([dict(message) for message in special.messages], 100, 5)
    calls = [(piece.call, piece.name, piece.text) for piece in answer.pieces if piece.kind == "call"]
    assert calls == [(0, "f", '{"x"'), (0, "", ": 1}"), (1, "g", "")]
    assert "".join(piece.text for piece in answer.pieces if piece.kind == "reasoning_content") == "hm, hm"
    assert answer.finish_reason == "tool_calls"


def test_an_example_keeps_its_finish_reason() -> None:
    special = item(1, reject=({"text": "cut", "finish_reason": "length"},))
    answer = Model(Bank(name="one", items=(special,)), score=0, flaky=0).answer(list(special.messages), 100, 5)
    assert answer.finish_reason == "length"


def test_an_item_without_examples_is_answered_wrongly() -> None:
    bare = item(1, accept=(), reject=())
    for score in (0, 100):
        assert "ANSWER:" in said(Model(Bank(name="one", items=(bare,)), score=score, flaky=0), bare)


def test_an_answer_is_cut_at_the_token_cap() -> None:
    answer = Model(BANK, score=100, flaky=0).answer([dict(m) for m in BANK.items[0].messages], 1, 1)
    assert (len(answer.pieces), answer.finish_reason) == (1, "length")


def test_a_broken_drafter_leaves_marks() -> None:
    answer = Answer([Piece("content", "fine")], "stop")
    leaked = "".join(piece.text for piece in spoiled(answer, "leak").pieces)
    assert leaked == "fine" + CONTROL_TOKEN
    overrun = "".join(piece.text for piece in spoiled(answer, "overrun").pieces)
    assert overrun.startswith(leaked)
    assert "user" in overrun

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scorers.reasoning import part

HARMONY = "<|channel|>analysis<|message|>so<|end|>"
FINAL = "<|start|>assistant<|channel|>final<|message|>"


@pytest.mark.parametrize(
    ("text", "visible"),
    [
        ("plain", "plain"),
        ("<think>a</think>b", "b"),
        ("<think>\na\n</think>\n\n \nb", "b"),
        ("<think>a</think> b", " b"),
        ("  <think>a</think>b", "b"),
        ("before\n<think>a</think>b", "b"),
        ("<thinking>a</thinking>b", "b"),
        ("[THINK]a[/THINK]b", "b"),
        ("<seed:think>a</seed:think>b", "b"),
        ("a\n</think>\nb", "b"),
        ("so it is 42.</think>b", "b"),
        ("</think>b", "b"),
        ("<think>a</think>b\n<think>c</think>d", "d"),
        ("<think>say </think> now\n</think>\nb", "b"),
        ("<think>\n```\nunclosed\n</think>\n```python\nx\n```", "```python\nx\n```"),
        (f"{HARMONY}{FINAL}b", "b"),
        (f"{HARMONY}b", "b"),
        (f"<|start|>assistant{HARMONY}{FINAL}b<|end|>", "b<|end|>"),
        ("<|channel|>final<|message|>b", "b"),
        ("analysisWe think.assistantfinalb", "b"),
    ],
)
def test_the_text_behind_the_last_closer_is_visible(text: str, visible: str) -> None:
    parted = part(text)
    assert parted.visible == visible
    assert parted.unclosed is False
    assert parted.marked == (text != "plain")


@pytest.mark.parametrize(
    "text",
    [
        "The <think> tag",
        "`<think>` and `</think>`",
        "use the </think> tag",
        "use `a </think> b` so",
        "(</think>)",
        "```\n<think>\n```",
        "```\na\n</think>\n```\nb",
        "a <|end|> b",
        "think> THINK]",
        "analysis of assistantfinal"[:11],
    ],
)
def test_what_is_no_marker(text: str) -> None:
    parted = part(text)
    assert (parted.visible, parted.marked, parted.unclosed) == (text, False, False)


@pytest.mark.parametrize(
    "text",
    [
        "<think>a",
        "<think>a</think>b\n<think>c",
        "x\n[THINK]a",
        HARMONY.removesuffix("<|end|>"),
        "<think>a `</think>` b",
    ],
)
def test_reasoning_that_never_ends(text: str) -> None:
    assert part(text).unclosed


def test_an_end_token_closes_harmonys_channel_only() -> None:
    assert part("<think>a<|end|>b").unclosed


@given(st.text(alphabet="abc 1.\n", max_size=60), st.text(alphabet="abc 1.\n`", max_size=60))
def test_reasoning_is_parted_from_any_answer(thought: str, answer: str) -> None:
    parted = part(f"<think>{thought}</think>\n\n{answer}")
    assert parted.marked and not parted.unclosed
    assert answer.endswith(parted.visible) and answer[: len(answer) - len(parted.visible)].strip() == ""

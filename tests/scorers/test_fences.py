from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scorers.fences import RESCANS, enclosed, fences

CASES: dict[str, list[tuple[str, str]]] = {
    "```\na\n```": [("", "a")],
    "x\n```Python3  \na\nb\n```  \ny": [("python3", "a\nb")],
    "~~~js\na\n~~~": [("js", "a")],
    "````\n```\na\n```\n````": [("", "```\na\n```")],
    "```\na\n`````": [("", "a")],
    "`````\na\n```": [],
    "```\na\n~~~": [],
    "```def f():\n  pass\n```": [("", "def f():\n  pass")],
    "```python title=x\na\n```": [("", "python title=x\na")],
    "```{.python}\na\n```": [("python", "a")],
    "```\n\n```": [("", "")],
    "```\n```": [("", "")],
    "  ```py\n  a\n    b\n c\n  ```": [("py", "a\n  b\nc")],
    "```\na\n      ```\nb\n```": [("", "a\n      ```\nb")],
    "```\r\na\r\nb\r\n```\r\n": [("", "a\r\nb")],
    "```python\na\n```python\nb\n```": [("python", "b")],
    "````md\n```python\na\n```\n````": [("md", "```python\na\n```")],
    "~~~md\n```python\na\n```": [("python", "a")],
    "```json\n{}\n```\n```json\n[": [("json", "{}")],
    "a = 1\nb = 2\n```": [("", "a = 1\nb = 2")],
    "a = 1\n```\n\n": [("", "a = 1")],
    "a\n```\nb": [],
    "a\n```python": [],
    '```{"a": 1}```': [("", '{"a": 1}')],
    "```a``` and ```b```": [],
    "text `a` ```b```\n": [],
    "``\na\n``": [],
    "no fence": [],
}


@pytest.mark.parametrize("text", CASES)
def test_complete_fences(text: str) -> None:
    assert [(fence.tag, fence.content) for fence in fences(text)] == CASES[text]


def test_a_fence_knows_where_it_stands() -> None:
    text = "x\n```py\na\n```\ny"
    (fence,) = fences(text)
    assert text[fence.start : fence.end] == "```py\na\n```"


def test_unclosed_openings_are_given_up_in_bounded_time() -> None:
    opening = "".join(f"{'`' * (RESCANS * 3 - at)}x\n" for at in range(RESCANS * 2))
    assert fences(f"{opening}~~~\na\n~~~\n") == []


@pytest.mark.parametrize(
    ("text", "content"),
    [
        ("```\na\n```", "a"),
        ("```text\n```py\na\n```\n```", "```py\na\n```"),
        ("~~~\na\r\nb\n~~~", "a\r\nb"),
        ("```\n```", ""),
        ("```\na\n~~~", None),
        ("```\na\n````", None),
        ("```\na\n```py", None),
        ("```not a tag\na\n```", None),
        ("a\n```\nb\n```", None),
        ("```a```", None),
        ("", None),
    ],
)
def test_one_fence_around_everything(text: str, content: str | None) -> None:
    assert enclosed(text) == content


@given(st.lists(st.tuples(st.sampled_from(["", "py"]), st.text(alphabet="ab `~\n", max_size=20)), max_size=5))
def test_fences_that_are_long_enough_come_back(parts: list[tuple[str, str]]) -> None:
    text = "".join(f"prose\n{'`' * 30}{tag}\n{content}\n{'`' * 30}\n" for tag, content in parts)
    assert [(fence.tag, fence.content) for fence in fences(text)] == parts


@given(st.text(alphabet="`~a \n\r", max_size=200))
def test_any_marks_are_read(text: str) -> None:
    spans = [(fence.start, fence.end) for fence in fences(text)]
    assert spans == sorted(spans)
    assert all(before[1] <= after[0] for before, after in pairwise(spans))

from typing import Any

from itembank.item import Item
from scorers.floor import FIXED, junk, response_of
from scorers.response import ToolCall


def item(name: str, expect: dict[str, Any], **more: Any) -> Item:
    message = {"role": "user", "content": f"the question {name}"}
    return Item(id=name, dimension="d", messages=(message,), scorer=more.pop("scorer", "choice"), expect=expect, **more)


def test_junk_knows_nothing_of_the_item() -> None:
    first = item("a", {"answer": "B", "options": ["A", "B"]}, accept=("ANSWER: B",))
    same = item("b", {"answer": "B", "options": ["A", "B"]}, accept=("ANSWER: (B)",))
    other = item("c", {"answer": "C", "options": ["B", "C"]}, accept=({"text": "ANSWER: C"},))
    alone = item("d", {"values": []}, scorer="listing", accept=("x",))
    bank = [first, same, other, alone]
    texts = [response.text for response in junk(first, bank)]
    assert texts == [*FIXED, "the question a", "ANSWER: A", "ANSWER: C"]
    assert [response.text for response in junk(alone, bank)] == [*FIXED, "the question d"]
    assert [response.text for response in junk(other, bank)][-1] == "ANSWER: B"


def test_entries_are_texts_or_responses() -> None:
    assert response_of("a").text == "a"
    assert response_of({"tool_calls": [{"name": "f", "arguments": {"a": 1}}]}).tool_calls == (
        ToolCall(name="f", arguments='{"a": 1}'),
    )

from typing import Any

import pytest

from itembank.item import Item
from scorers.guards import guard
from scorers.response import Response, ToolCall

CALL = (ToolCall(name="f", arguments="{}"),)


def item(*tags: str) -> Item:
    return Item(id="g", dimension="d", messages=(), scorer="text", expect={}, max_tokens=10, tags=tags)


@pytest.mark.parametrize(
    ("response", "decided"),
    [
        ({"text": "a", "finish_reason": "length"}, "unscorable truncated"),
        ({"text": "", "finish_reason": "length", "reasoning": "r"}, "unscorable truncated"),
        ({"text": "<think>a", "completion_tokens": 10}, "unscorable truncated"),
        ({"text": "a", "completion_tokens": 11, "finish_reason": "content_filter"}, "unscorable truncated"),
        ({"text": "<think>a", "finish_reason": "content_filter"}, "unscorable filtered"),
        ({"text": "<think>a", "finish_reason": "abort"}, "unscorable aborted"),
        ({"text": "", "finish_reason": "error"}, "unscorable aborted"),
        ({"text": "<think>a"}, "unscorable unclosed_reasoning"),
        ({"text": "<think>a", "tool_calls": CALL}, "unscorable unclosed_reasoning"),
        ({"text": "<think>a</think> \n"}, "unscorable reasoning_only"),
        ({"text": "\u3000", "reasoning": "r"}, "unscorable reasoning_only"),
        ({"text": "<think>a</think><|im_end|>"}, "unscorable reasoning_only"),
        ({"text": ""}, "fail empty"),
        ({"text": "", "reasoning": " "}, "fail empty"),
        ({"text": "<|im_end|>"}, "fail empty"),
        ({"text": "", "finish_reason": None}, "fail empty"),
        ({"text": "", "finish_reason": "tool_calls"}, "fail empty"),
        ({"text": "", "tool_calls": CALL, "reasoning": "r"}, ""),
        ({"text": "<think>a</think>", "tool_calls": CALL}, ""),
        ({"text": "a", "completion_tokens": 9}, ""),
        ({"text": "a", "finish_reason": "who knows"}, ""),
    ],
)
def test_the_first_guard_that_fires_decides(response: dict[str, Any], decided: str) -> None:
    verdict = guard(item(), Response(**response))[1]
    assert (f"{verdict.outcome} {verdict.reason}" if verdict else "") == decided


def test_the_scorer_sees_the_judged_text_alone() -> None:
    seen, decided, defects = guard(item(), Response(text="<think>a</s></think>\n\nb</s>c", tool_calls=CALL))
    assert (seen.text, decided, seen.tool_calls) == ("b", None, CALL)
    assert [(defect.kind, defect.text) for defect in defects] == [("control_token", "</s>"), ("stop_overrun", "c")]


def test_exempt_items_lose_reasoning_and_nothing_else() -> None:
    seen, _, defects = guard(item("about_control_tokens"), Response(text="<think>a</think>\nb</s>c" + "x" * 500))
    assert (seen.text, defects) == ("b</s>c" + "x" * 500, ())


def test_defects_are_noted_where_a_guard_decides() -> None:
    _, decided, defects = guard(item(), Response(text="{" + " " * 300, finish_reason="length"))
    assert decided is not None and decided.reason == "truncated"
    assert [defect.kind for defect in defects] == ["whitespace_runaway"]

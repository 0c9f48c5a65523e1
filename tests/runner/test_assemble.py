import contextlib
import json
from typing import Any

import msgspec
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from runner.assemble import Assembly, decoded, message_of, sound
from runner.exchange import Usage

_KEYS = (
    "choices delta message content reasoning reasoning_content tool_calls function name arguments index id usage error "
    "finish_reason prompt_tokens completion_tokens completion_tokens_details prompt_tokens_details cached_tokens "
    "reasoning_tokens object code text refusal function_call model system_fingerprint detail msg"
)
KEYS = _KEYS.split()
values = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-9, 9)
    | st.floats()
    | st.text(max_size=4)
    | st.sampled_from(["error", "stop"]),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(KEYS), inner, max_size=6),
    max_leaves=20,
)


@pytest.mark.long
@settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(st.lists(st.dictionaries(st.sampled_from(KEYS), values, max_size=6), max_size=4))
def test_no_reply_breaks_it_and_all_it_yields_can_be_stored(rows: list[dict[str, Any]]) -> None:
    assembly = Assembly()
    for row in rows:
        assert isinstance(assembly.add(row), bool)
    calls = assembly.tool_calls()
    msgspec.json.encode([sound("".join(assembly.text)), sound("".join(assembly.reasoning)), calls, assembly.usage])
    assert assembly.finish_reason is None or assembly.finish_reason
    usage = assembly.usage or Usage()
    for count in (usage.prompt_tokens, usage.completion_tokens, usage.reasoning_tokens, usage.cached_tokens):
        assert count is None or count >= 0


@given(st.text())
def test_json_comes_back(text: str) -> None:
    assert decoded(json.dumps({"a": text}).encode()) == {"a": text}


@given(st.binary())
def test_what_is_no_json_raises_one_error(data: bytes) -> None:
    with contextlib.suppress(ValueError):
        decoded(data)


@given(st.text(alphabet=st.characters(codec=None)))  # type: ignore[arg-type]
def test_sound_text_can_be_stored(text: str) -> None:
    assert sound(text).encode("utf-8").decode() == sound(text)


@given(values)
def test_a_message_is_a_text(value: Any) -> None:
    assert isinstance(message_of(value), str)


def test_content_in_parts() -> None:
    assembly = Assembly()
    content = [{"type": "text", "text": "a"}, {"type": "image"}, {"type": "text", "text": "b"}]
    assert assembly.add({"choices": [{"delta": {"content": content}}]})
    assert assembly.text == ["ab"]


def test_other_choices_are_none_of_ours() -> None:
    assembly = Assembly()
    assert not assembly.add({"choices": [{"index": 1, "delta": {"content": "second"}}]})
    assert assembly.text == []


def test_a_refusal_is_an_answer() -> None:
    assembly = Assembly()
    assert assembly.add({"choices": [{"delta": {"content": None, "refusal": "No."}}]})
    assert assembly.text == ["No."]


@pytest.mark.parametrize(
    ("where", "row"),
    [
        ("in the choice", {"choices": [{"delta": {}, "usage": {"completion_tokens": 3}}]}),
        ("deepseek's name", {"choices": [], "usage": {"completion_tokens": 3, "prompt_cache_hit_tokens": 0}}),
        ("as a float", {"choices": [], "usage": {"completion_tokens": 3.0}}),
    ],
)
def test_usage_wherever_it_stands(where: str, row: dict[str, Any]) -> None:
    assembly = Assembly()
    assembly.add(row)
    assert assembly.usage is not None, where
    assert assembly.usage.completion_tokens == 3


def test_reasoning_tokens_at_the_top_of_usage() -> None:
    assembly = Assembly()
    assembly.add({"usage": {"reasoning_tokens": 4}})
    assert assembly.usage is not None
    assert assembly.usage.reasoning_tokens == 4


def test_a_part_of_a_call_that_says_nothing_is_no_call() -> None:
    assembly = Assembly()
    assert not assembly.add({"choices": [{"delta": {"tool_calls": [7, {"function": 8}]}}]})
    assert [(call.name, call.arguments) for call in assembly.tool_calls()] == []

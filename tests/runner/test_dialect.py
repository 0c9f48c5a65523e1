import json
from typing import Any

import pytest

from runner.config import Sampling
from runner.dialect import chat_body, encoded, recorded, unstreamed

MESSAGES = [{"role": "user", "content": "hi"}]


def body(**options: Any) -> dict[str, Any]:
    return chat_body(**{"model": "m", "messages": MESSAGES, "max_tokens": 9, "sampling": Sampling(), **options})


def test_a_plain_body() -> None:
    assert body(stream=False) == {"model": "m", "messages": MESSAGES, "max_tokens": 9, "temperature": 0.0}


def test_a_stream_asks_for_usage() -> None:
    assert body()["stream_options"] == {"include_usage": True}
    assert body()["stream"] is True


@pytest.mark.parametrize(
    ("engine", "fields"),
    [
        ("vllm", {"ignore_eos": True, "min_tokens": 9}),
        ("sglang", {"ignore_eos": True, "min_tokens": 9}),
        ("tensorrt_llm", {"ignore_eos": True, "min_tokens": 9}),
        ("llama_cpp", {"ignore_eos": True}),
        ("lmdeploy", {"ignore_eos": True, "min_new_tokens": 9}),
        ("ollama", {}),
        ("tgi", {}),
        ("openai", {}),
        (None, {}),
    ],
)
def test_vendor_fields_go_only_to_engines_that_take_them(engine: str | None, fields: dict[str, Any]) -> None:
    plain = set(body())
    fixed = body(engine=engine, fixed_length=True)
    assert {key: value for key, value in fixed.items() if key not in plain} == fields
    assert set(body(engine=engine)) == plain


def test_seed_tools_and_top_p_are_sent_when_given() -> None:
    tools = [{"type": "function", "function": {"name": "f"}}]
    full = body(seed=7, tools=tools, sampling=Sampling(temperature=0.7, top_p=0.9))
    assert (full["seed"], full["tools"], full["temperature"], full["top_p"]) == (7, tools, 0.7, 0.9)


def test_the_users_fields_win() -> None:
    full = body(extra_body={"temperature": 1.0, "chat_template_kwargs": {"enable_thinking": False}})
    assert full["temperature"] == 1.0
    assert full["chat_template_kwargs"] == {"enable_thinking": False}


def test_one_name_for_the_token_cap() -> None:
    full = body(extra_body={"max_completion_tokens": 5})
    assert full["max_completion_tokens"] == 5
    assert "max_tokens" not in full


def test_without_a_stream() -> None:
    assert unstreamed(body()) == body(stream=False)


def test_text_that_is_no_unicode_is_escaped() -> None:
    assert json.loads(encoded({"a": "\ud83d"})) == {"a": "\ud83d"}
    assert json.loads(encoded({"a": "ü"})) == {"a": "ü"}


def test_a_recorded_body_has_its_questions_and_no_keys() -> None:
    message = {"role": "user", "content": "My password: hunter22xyzzy. What is it?"}
    body = {"model": "m", "messages": [message], "api_key": "hunter22xyzzy", "max_tokens": 4, "seed": None}
    assert recorded(body) == {**body, "api_key": "***"}

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scorers.defects import inspect
from scorers.tokens import OTHER, ROLE, STOP, TOOL, tail
from scorers.toolcalls import offered_names, written_call

FAMILIES = {
    "ChatML": "<|im_start|> <|im_end|> <|endoftext|>",
    "Llama 3": "<|eot_id|> <|eom_id|> <|end_of_text|> <|start_header_id|> <|end_header_id|>",
    "Llama 4": "<|eot|> <|header_start|> <|header_end|>",
    "Gemma": "<start_of_turn> <end_of_turn> <turn|> <|tool_response> <eos>",
    "Mistral": "</s> <s> [INST] [/INST]",
    "DeepSeek": "<｜end▁of▁sentence｜> <｜User｜> <｜Assistant｜> <|EOT|>",
    "GLM": "<|user|> <|assistant|> <|observation|> <|endoftext|>",
    "Harmony": "<|start|> <|channel|> <|message|> <|constrain|> <|end|> <|return|> <|call|>",
    "Phi": "<|end|> <|im_sep|>",
    "Nemotron": "<SPECIAL_10> <SPECIAL_11> <SPECIAL_12>",
    "Granite": "<|start_of_role|> <|end_of_role|> <|end_of_text|> <|tool_call|>",
    "Command-R": "<|START_OF_TURN_TOKEN|> <|END_OF_TURN_TOKEN|> <|CHATBOT_TOKEN|>",
    "Kimi": "<|im_middle|> <|im_user|> <|im_assistant|> <|im_system|> [EOS] [EOT] <|tool_calls_section_begin|>",
    "Kimi K3": "<|open|> <|close|> <|sep|> <|end_of_msg|>",
    "MiniMax": "[e~[",
    "EXAONE, Hunyuan": "[|endofturn|] <|endofturn|> <｜hy_place▁holder▁no▁2｜> <|eos|>",
    "Grok, Solar, GigaChat": "<|separator|> <|flush|> <|calls|> <|message_sep|> <|role_sep|>",
    "OpenChat, Bailing, Megrez, SmolVLM": "<|end_of_turn|> <|role_end|> <|turn_end|> <end_of_utterance>",
    "any": "<unk> <pad> <unused6226> <|reserved_special_token_12|> <SPECIAL_999>",
}
TOKENS = sorted({token for tokens in FAMILIES.values() for token in tokens.split()})


def kinds(text: str) -> list[tuple[str, str]]:
    return [(defect.kind, defect.text) for defect in inspect(text)[1]]


@pytest.mark.parametrize("token", TOKENS)
def test_every_familys_tokens_are_seen_and_hidden_from_the_scorer(token: str) -> None:
    seen, defects = inspect(f"ANSWER: 42{token}")
    assert seen == "ANSWER: 42"
    assert ("control_token", token) in [(defect.kind, defect.text) for defect in defects]
    assert "stop_overrun" not in {defect.kind for defect in defects}


@pytest.mark.parametrize("token", [*STOP, *ROLE, *TOOL])
def test_text_behind_a_token_is_overrun(token: str) -> None:
    seen, defects = inspect(f"ANSWER: 42{token}and more")
    assert seen == "ANSWER: 42"
    assert [defect.text for defect in defects if defect.kind == "stop_overrun"] == ["and more"]


@pytest.mark.parametrize("token", OTHER)
def test_tokens_that_end_nothing_are_taken_out(token: str) -> None:
    assert inspect(f"{token}ANSWER: {token}42") == inspect(f"ANSWER: 42{token}")
    assert inspect(f"{token}ANSWER: 42")[0] == "ANSWER: 42"


@pytest.mark.parametrize(
    ("text", "seen", "found"),
    [
        ("a</s>\n<|im_start|>user\nb", "a", [("control_token", "</s>"), ("stop_overrun", "<|im_start|>user\nb")]),
        ("a<|eot_id|><|start_header_id|>assistant<|end_header_id|>\n\n" * 2, "a", None),
        ("<|im_start|>assistant\na", "a", [("control_token", "<|im_start|>assistant")]),
        ("<|start_header_id|>assistant<|end_header_id|>\n\na", "a", None),
        ("<start_of_turn>model\na<end_of_turn>", "a", None),
        ("<|assistant|>\na", "a", [("control_token", "<|assistant|>")]),
        ("<|START_OF_TURN_TOKEN|><|CHATBOT_TOKEN|>a", "a", None),
        ("<|im_end|>a", "", [("control_token", "<|im_end|>"), ("stop_overrun", "a")]),
        ("a <s>b</s> c", "a <s>b</s> c", []),
        ('<s class="x">b\n</s> c', '<s class="x">b\n</s> c', []),
        ("<s>a</s> b</s>", "<s>a</s> b", [("control_token", "</s>")]),
        ("<s>a", "a", [("control_token", "<s>")]),
        ("42ep|>", "42", [("control_token", "ep|>")]),
        ("x |>", "x |>", []),
        ("f |> g", "f |> g", []),
        ("42\nassistant\n", "42", [("control_token", "assistant")]),
        ("assistant", "assistant", []),
        ("the assistant", "the assistant", []),
        ("List[INT]", "List[INT]", []),
        ("a < b | c > d", "a < b | c > d", []),
        ("42\n\nUser: and?\nAssistant: 43", None, [("stop_overrun", "User: and?\nAssistant: 43")]),
        ("42\n### Instruction:\nmore", None, [("stop_overrun", "### Instruction:\nmore")]),
        ("42\n**Human:** more", None, [("stop_overrun", "**Human:** more")]),
        ("User: hi\nAssistant: hello\nUser: bye", None, []),
        ("Agent: hi\nUser: bye", None, []),
        ("The User: a guide\n", None, []),
        ("User: hi", None, []),
        ("x" * 500, None, [("repetition_loop", "x")]),
        (" " * 400 + "x", None, [("repetition_loop", " "), ("whitespace_runaway", " " * 200)]),
        ("a" + "\n\t" * 100 + "b", None, [("whitespace_runaway", "\n\t" * 100)]),
        ("<tool_call>{}</tool_call>", None, [("tool_text", "<tool_call>{}</tool_call>")]),
        ("ok <|python_tag|>f()", "ok ", [
            ("control_token", "<|python_tag|>"), ("stop_overrun", "f()"), ("tool_text", "<|python_tag|>f()")]),
    ],
)  # fmt: skip
def test_what_is_a_defect_and_what_is_not(text: str, seen: str | None, found: list[tuple[str, str]] | None) -> None:
    assert inspect(text)[0] == (text if seen is None else seen)
    if found is not None:
        assert kinds(text) == found


def test_the_evidence_is_cut() -> None:
    (_, overrun) = inspect("a</s>" + "long story, " * 30)[1][:2]
    assert len(overrun.text) == 200


def test_headers_alone_are_no_overrun() -> None:
    text = "ok<|eot_id|><|start_header_id|>assistant<|end_header_id|>\n\n<|im_start|>user"
    assert kinds(text) == [("control_token", "<|eot_id|>")]


def test_the_rest_of_a_torn_token() -> None:
    assert [tail(text) for text in ("a_end|>", "42|>", "", "im_end", "x<|im_end|>")] == [
        "_end|>",
        "",
        "",
        "",
        "|im_end|>",
    ]


TOOLS = [{"type": "function", "function": {"name": "get_weather", "parameters": {}}}]


@pytest.mark.parametrize(
    ("text", "is_call"),
    [
        ('{"name": "get_weather", "arguments": {"city": "Bern"}}', True),
        ('```json\n{"name": "get_weather", "parameters": {}}\n```', True),
        ('[{"name": "get_weather"}, {"function": {"name": "get_weather", "arguments": "{}"}}]', True),
        ('{"tool": "get_weather", "args": {}}', True),
        ('{"name": "get_time", "arguments": {}}', False),
        ('{"name": ["get_weather"]}', False),
        ('{"city": "get_weather"}', False),
        ('{"name": "get_weather"', False),
        ('[{"name": "get_weather"}, 1]', False),
        ("[]", False),
        ("I call get_weather now.", False),
        ('So: {"name": "get_weather"}', False),
        ('```json\n{"name": "get_weather"}\n```\nmore', False),
        ("~~~", False),
        ('[TOOL_CALLS][{"name": "x"}]', True),
        ("<function=get_time>", True),
    ],
)
def test_a_call_written_as_text(text: str, is_call: bool) -> None:
    assert bool(written_call(text, offered_names(TOOLS))) == is_call
    assert ("tool_text" in {defect.kind for defect in inspect(text, TOOLS)[1]}) == is_call


def test_without_offered_tools_an_object_is_data() -> None:
    text = '{"name": "get_weather", "arguments": {}}'
    assert written_call(text, ()) == ""
    assert written_call(text, None) == text
    assert written_call('{"name": "Ada"}', None) == ""


@given(st.text(max_size=200))
def test_honest_text_is_left_alone(text: str) -> None:
    if not any(mark in text for mark in "<>[]|"):
        seen, defects = inspect(text)
        assert seen == text and defects == ()

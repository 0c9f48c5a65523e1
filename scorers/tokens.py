"""The control tokens of the model families that leak into visible text. Decides nothing about them.

Spelled as the vocabularies spell them: DeepSeek's bar is U+FF5C and its underscore U+2581.
"""

import re

STOP = (
    # ChatML, Phi, GLM, Kimi, Llama 3 and 4, Granite, EXAONE, DeepSeek coder, OpenChat, Bailing, Megrez, SmolVLM
    *("<|im_end|>", "<|endoftext|>", "<|eot_id|>", "<|eom_id|>", "<|end_of_text|>", "<|eot|>", "<|EOT|>", "<|end|>"),
    *("[|endofturn|]", "<|endofturn|>", "<|eos|>", "<|end_of_msg|>", "<|end_of_turn|>", "<|role_end|>", "<|turn_end|>"),
    *(
        "<end_of_utterance>",
        "<end_of_turn>",
        "<turn|>",
        "<eos>",
        "</s>",
        "[EOS]",
        "[EOT]",
        "[e~[",
        "<|END_OF_TURN_TOKEN|>",
    ),
    # Harmony, Solar, Grok, GigaChat, Command-R, Phi
    *("<|return|>", "<|call|>", "<|calls|>", "<|flush|>", "<|separator|>", "<|message_sep|>", "<|END_RESPONSE|>"),
    *("<|close|>", "<|sep|>", "<|EOS_TOKEN|>", "<｜end▁of▁sentence｜>", "<SPECIAL_12>", "<|end_of_solution|>"),
)
"""Tokens that end a turn or a text."""
ROLE = (
    *("<|im_start|>", "<|im_sep|>", "<|im_middle|>", "<|im_user|>", "<|im_assistant|>", "<|im_system|>", "<|open|>"),
    *("<|start_header_id|>", "<|end_header_id|>", "<|header_start|>", "<|header_end|>", "<start_of_turn>", "<|turn>"),
    *(
        "[INST]",
        "[/INST]",
        "[SYSTEM_PROMPT]",
        "[/SYSTEM_PROMPT]",
        "<｜User｜>",
        "<｜Assistant｜>",
        "<|system|>",
        "<|user|>",
    ),
    *("<|assistant|>", "<|observation|>", "<|start|>", "<|channel|>", "<|message|>", "<|constrain|>", "<|role_sep|>"),
    *("<|start_of_role|>", "<|end_of_role|>", "<|START_OF_TURN_TOKEN|>", "<|CHATBOT_TOKEN|>", "<|USER_TOKEN|>"),
    *("<|SYSTEM_TOKEN|>", "<SPECIAL_10>", "<SPECIAL_11>", "[|user|]", "[|assistant|]", "[|system|]", "]~b]"),
)
"""Tokens that open a turn or name its author."""
TOOL = (
    *(
        "<|tool_call|>",
        "<|tool_response>",
        "<|tool_call>",
        "<tool_call|>",
        "<|python_tag|>",
        "<|tool_calls_section_begin|>",
    ),
    *("<|tool_calls_section_end|>", "<|tool_call_begin|>", "<|tool_call_end|>", "<|tool_call_argument_begin|>"),
    *("<｜tool▁calls▁begin｜>", "<｜tool▁call▁begin｜>", "<｜tool▁outputs▁begin｜>", "<|START_ACTION|>"),
)
"""Tokens that open a tool call or its result; the parser should have taken them."""
OTHER = (
    *(
        "<s>",
        "<bos>",
        "<unk>",
        "<pad>",
        "<|begin_of_text|>",
        "<|startoftext|>",
        "<｜begin▁of▁sentence｜>",
        "[gMASK]",
        "<sop>",
    ),
    *("<｜hy_place▁holder▁no▁2｜>", "<|BOS_TOKEN|>", "<|START_RESPONSE|>"),
)
"""Tokens that end nothing: they are taken out and the text goes on."""

CUTS = re.compile("|".join(re.escape(token) for token in sorted((*STOP, *ROLE, *TOOL), key=len, reverse=True)))
REMOVED = re.compile(
    "|".join(re.escape(token) for token in sorted(OTHER, key=len, reverse=True))
    + r"|<｜[^\s｜<>]{1,40}｜>|<unused[0-9]{1,5}>|<\|reserved_special_token_[0-9]{1,5}\|>|<SPECIAL_[0-9]{1,5}>"
)
TAILS = frozenset(
    token[cut:] for token in (*STOP, *ROLE, *TOOL) if token.endswith("|>") for cut in range(1, len(token) - 2)
)
"""Proper endings of tokens, three characters or longer: what a half-stripped token leaves behind."""


def tail(text: str) -> str:
    """The longest ending of `text` that is the rest of a torn token; empty where there is none.

    >>> tail("ANSWER: 42ep|>")
    'ep|>'
    """
    if not text.endswith("|>"):
        return ""
    longest = max(map(len, TAILS))
    return next((text[-size:] for size in range(longest, 2, -1) if text[-size:] in TAILS), "")

"""Recognises a tool call that stands in the text because nobody parsed it. Judges no call."""

import re
from collections.abc import Collection, Mapping
from typing import Any

from scorers.fences import fences
from scorers.jsontext import parse
from scorers.tokens import TOOL

MARKUP = re.compile(
    r"\[TOOL_CALLS\]|<tool_call>|<function=[\w.-]{1,64}>|<tool_code>|" + "|".join(re.escape(token) for token in TOOL)
)
NAME_KEYS = ("name", "function", "tool", "tool_name", "function_name")
ARGUMENT_KEYS = ("arguments", "parameters", "args", "input", "tool_input")


def written_call(text: str, offered: Collection[str] | None) -> str:
    """The part of `text` that is a tool call written as text; empty where there is none.

    That is the families' own markup, or a bare JSON object that names an offered tool. With `offered` None every
    object with a name and arguments counts.
    """
    found = MARKUP.search(text)
    if found:
        return text[found.start() :]
    bare = text.strip()
    if bare.startswith(("`", "~")):
        complete = fences(bare)
        whole = len(complete) == 1 and complete[0].start == 0 and complete[0].end == len(bare)
        bare = complete[0].content.strip() if whole else bare
    if bare.startswith(("{", "[")) and any(key in bare for key in NAME_KEYS) and offered != ():
        value = parse(bare).value
        calls = value if isinstance(value, list) else [value]
        if calls and all(isinstance(call, dict) and _names_tool(call, offered) for call in calls):
            return bare
    return ""


def offered_names(tools: Collection[Mapping[str, Any]]) -> tuple[str, ...]:
    """The names of OpenAI function tools."""
    return tuple(str(tool.get("function", {}).get("name", "")) for tool in tools)


def _names_tool(call: Mapping[str, Any], offered: Collection[str] | None) -> bool:
    inner = call.get("function")
    if isinstance(inner, dict):
        return _names_tool(inner, offered)
    names = [call[key] for key in NAME_KEYS if isinstance(call.get(key), str)]
    if offered is None:
        return bool(names) and any(key in call for key in ARGUMENT_KEYS)
    return any(name in offered for name in names)

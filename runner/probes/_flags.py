"""Reads command lines of servers: which program it is and which options were typed. Knows no engine."""

import json
import re
from collections.abc import Sequence
from pathlib import PurePath
from typing import Any

_OPTION = re.compile(r"--?[A-Za-z][\w.-]*")
_PYTHON = re.compile(r"(?:python|pypy)[\d.]*(?:\.exe)?", re.IGNORECASE)


def program(argv: Sequence[str]) -> str:
    """What runs: the module of `python -m`, the name of a script, or the executable, with its sub-command.

    >>> program(["/usr/bin/python3.12", "/venv/bin/vllm", "serve", "org/model", "--port", "1"])
    'vllm serve'
    >>> program(["python", "-u", "-m", "sglang.launch_server", "--tp", "2"])
    'sglang.launch_server'
    """
    words, is_module = _without_interpreter(argv)
    if is_module or not words:
        return " ".join(words[:1])
    sub = words[1] if len(words) > 1 and re.fullmatch(r"[a-z_]+", words[1]) else ""
    return f"{PurePath(words[0]).name.removesuffix('.exe')} {sub}".strip()


def arguments(argv: Sequence[str]) -> list[str]:
    """What follows the program.

    >>> arguments(["python", "-u", "-m", "sglang.launch_server", "--tp", "2"])
    ['--tp', '2']
    """
    return _without_interpreter(argv)[0][1:]


def _without_interpreter(argv: Sequence[str]) -> tuple[list[str], bool]:
    """The words without `python` and its own options, and whether the first is a module."""
    words = list(argv)
    if words and _PYTHON.fullmatch(PurePath(words[0]).name):
        words.pop(0)
        while words and words[0].startswith("-") and words[0] != "-m":
            words.pop(0)
        if words[:1] == ["-m"]:
            return words[1:], True
    return words, False


def flags_of(argv: Sequence[str]) -> dict[str, str]:
    """The options by name, without dashes at the front and with `-` for `_`; an option without a value is `true`.

    An option given twice keeps its last value, `--no-x` is `x: false`.

    >>> flags_of(["vllm", "serve", "m", "--max_num_seqs=9", "-tp", "2", "--no-enable-prefix-caching", "--eager"])
    {'max-num-seqs': '9', 'tp': '2', 'enable-prefix-caching': 'false', 'eager': 'true'}
    """
    found: dict[str, str] = {}
    words = list(argv)
    for index, word in enumerate(words):
        name, equals, value = word.partition("=")
        if not _OPTION.fullmatch(name):
            continue
        following = words[index + 1] if index + 1 < len(words) else "-"
        if not equals:
            value = "true" if _OPTION.fullmatch(following.partition("=")[0]) or following == "-" else following
        name = name.lstrip("-").replace("_", "-")
        if value == "true" and name.startswith("no-"):
            name, value = name[3:], "false"
        found[name] = value
    return found


def positional(argv: Sequence[str], after: str) -> str | None:
    """The first word after the sub-command `after` that is no option: how engines take a model."""
    words = list(argv)
    if after not in words:
        return None
    word = next(iter(words[words.index(after) + 1 :]), "-")
    return None if word.startswith("-") else word


def as_flags(tree: Any) -> dict[str, str]:
    """The entries of a configuration file as if they had been typed; what is nested becomes JSON.

    >>> as_flags({"max_num_seqs": 9, "speculative_config": {"a": 1}, "x": None, "eager": True})
    {'max-num-seqs': '9', 'speculative-config': '{"a": 1}', 'eager': 'true'}
    """
    found = {}
    for name, value in tree.items() if isinstance(tree, dict) else ():
        if isinstance(value, str):
            found[str(name).replace("_", "-")] = value
        elif value is not None:
            found[str(name).replace("_", "-")] = json.dumps(value, default=str)
    return found

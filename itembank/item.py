"""One question of the bank. Knows how it is asked and what would be right, not how that is judged."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from itembank.canonical import digest

JSON = Any


@dataclass(frozen=True, kw_only=True)
class Item:
    """A question, the scorer that judges its answers, and the evidence that both are right."""

    id: str
    """Unique in its bank: `<dimension>-<nn>`."""
    dimension: str
    """The ability that the item measures; scores are means within a dimension first."""
    messages: tuple[Mapping[str, JSON], ...]
    """Chat messages as they are sent, contexts filled in."""
    tools: tuple[Mapping[str, JSON], ...] = ()
    """OpenAI function tools that are offered with the question."""
    max_tokens: int = 4096
    """The most tokens an answer may have; a server's own cap may lower it."""
    scorer: str
    """Name of the scorer, a file in `scorers/methods/`."""
    expect: Mapping[str, JSON]
    """The scorer's parameters, the right answer among them."""
    accept: tuple[JSON, ...] = ()
    """Whole responses that must pass: texts, or response objects."""
    reject: tuple[JSON, ...] = ()
    """Near misses that must not pass: texts, or response objects."""
    difficulty: int = 3
    """1 (nearly every model is right) to 5 (strong models fail)."""
    tags: tuple[str, ...] = ()
    """Free labels; `lang:xx` and `about_control_tokens` have a meaning."""
    rationale: str = ""
    """Why the expected answer is right, and how it was derived."""

    @cached_property
    def digest(self) -> str:
        """Identifies what is asked and what counts as right; examples and notes do not change it."""
        return digest(
            {
                "id": self.id,
                "dimension": self.dimension,
                "messages": list(self.messages),
                "tools": list(self.tools),
                "max_tokens": self.max_tokens,
                "scorer": self.scorer,
                "expect": self.expect,
                "exempt": "about_control_tokens" in self.tags,
            }
        )

"""The shape of a generated document, shared by the context plugins."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True, kw_only=True)
class Document:
    """A long text and the facts it was written from."""

    text: str
    """What replaces `{context}` in the prompt."""
    facts: Mapping[str, Any]
    """What the text says, as data: the answers are derived from here, never read back from the text."""

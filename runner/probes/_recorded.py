"""The evidence that a probe carries: replies of an engine and the facts that must be read from them."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True, slots=True, kw_only=True)
class Recorded:
    """Replies by path; every other path answers 404."""

    origin: str
    """`real: ...` for replies that an engine gave, cut to the parts that are read; `built: ...` for replies made to
    the shapes that the engine's source or documentation states."""
    replies: Mapping[str, Any]
    """Path to a body: text, or a value that is sent as JSON; a pair is (status, body)."""
    headers: Mapping[str, str] = field(default_factory=dict)
    """Headers of every reply."""
    facts: Mapping[str, Any]
    """What must be found."""
    counters: Mapping[str, float] = field(default_factory=dict)
    """What must be counted."""

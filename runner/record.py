"""The run record: what was asked for, what was found and under which plan. Holds no secret and no figure.

A record answers "what did this system do on that day, in that configuration".
`upgrade_to_N` functions bring old records to the present schema; a newer schema is refused.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from itembank.errors import UserError

SCHEMA_VERSION = 1


@dataclass(frozen=True, slots=True, kw_only=True)
class Fact:
    """One thing found out about the running system."""

    name: str
    value: Any
    source: str
    """Where it was read: `GET /props`, `/proc/123/cmdline`, `inferred: ...`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Identity:
    """What the running system said of itself. A fact that is not here is unknown."""

    engine: str | None = None
    version: str | None = None
    facts: tuple[Fact, ...] = ()
    counters: Mapping[str, float] = field(default_factory=dict)
    """Cumulative counters and gauges of the server at this moment; absent is absent, never 0."""
    notes: tuple[str, ...] = ()
    """What could not be read, and why; what a reader must know."""
    read_at: str = ""
    """UTC, ISO 8601."""

    def value(self, name: str) -> Any:
        """The value of a fact, or None if it is unknown."""
        return next((fact.value for fact in self.facts if fact.name == name), None)

    def fact(self, name: str) -> Fact | None:
        """A fact with its source, or None if it is unknown."""
        return next((fact for fact in self.facts if fact.name == name), None)


@dataclass(frozen=True, slots=True, kw_only=True)
class RunRecord:
    """run.json."""

    schema_version: int = SCHEMA_VERSION
    kind: str
    """`quality` or `ladder`."""
    status: str = "running"
    """`running`, `complete`, `interrupted` or `incomplete`."""
    serving: Mapping[str, Any]
    """The serving configuration as given, secrets removed: name, base_url, model, gpus, extra_body, intended."""
    sampling: Mapping[str, Any]
    plan: Mapping[str, Any]
    """Written before the first request. Quality: repeats, concurrency, items, seed, stream, and a decide's looks,
    margin and alpha. Ladder: levels, rounds, max_tokens, prompts."""
    bank: Mapping[str, Any] = field(default_factory=dict)
    """name, digest, items (the number), dimensions (name to number)."""
    identity_before: Identity | None = None
    identity_after: Identity | None = None
    identity_changes: tuple[str, ...] = ()
    """Facts that changed while the run went on, a line each; any makes the run INVALID."""
    boots: tuple[Mapping[str, Any], ...] = ()
    """One entry for each start of a launched server: number, started_at, identity digest."""
    started_at: str = ""
    ended_at: str | None = None
    anchor: Mapping[str, int] = field(default_factory=dict)
    """`wall_ns` and `monotonic_ns` read together at the start."""
    tool: Mapping[str, str] = field(default_factory=dict)
    """version and commit of triplicate; python and package versions; platform."""
    host: Mapping[str, Any] = field(default_factory=dict)
    notes: tuple[str, ...] = ()
    """Events that a reader must know: a server that was waited for, a repaired file, a client self-test."""

    @property
    def is_simulated(self) -> bool:
        """Whether a simulated engine was measured."""
        return self.identity_before is not None and self.identity_before.value("simulated") is True


def upgrade(row: dict[str, Any]) -> dict[str, Any]:
    """A stored record in the present schema. Raises UserError for one from the future."""
    version = row.get("schema_version")
    if not isinstance(version, int) or version < 1:
        raise UserError("run.json has no schema_version; it is not a record of triplicate")
    if version > SCHEMA_VERSION:
        raise UserError(
            f"the record has schema {version} and this triplicate reads up to {SCHEMA_VERSION}; install a newer one"
        )
    return row

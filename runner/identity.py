"""Reads off the running server what it is: asks every probe and puts the facts together, each with its source.

It never starts, changes or loads anything on the server, and a server's fault is never an error here: what could not
be read within the deadline is unknown. Which facts exist stands in `runner.facts`.
"""

import asyncio
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from types import ModuleType
from typing import Any

import runner.probes
from itembank import plugins
from itembank.canonical import digest
from runner.config import ServingConfig
from runner.facts import FACT_NAMES, PASSING_FACTS, Findings, clean_fact, facts, printable, typed_value
from runner.record import Fact, Identity
from runner.redact import redacted, secret_values
from runner.site import SPARE_S, Asks, Site
from runner.store import utc_now

DEADLINE_S = 5.0
SILENT = "no answer to GET /v1/models within the time"
LAST_PROBES = ("process", "gpu")
"""Asked after the engines' own, and believed less: what was typed is less than what a server resolved it to."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """A fact that two readings of a server disagree on."""

    name: str
    before: Any
    after: Any

    def __str__(self) -> str:
        return f"{self.name}: {self.before} -> {self.after}"


async def read_identity(serving: ServingConfig, client: Asks, *, deadline_s: float = DEADLINE_S) -> Identity:
    """What the server at `serving` is, as far as it can be read within `deadline_s` seconds."""
    secrets = secret_values([serving.api_key_env] if serving.api_key_env else [])
    site = Site(serving, client, deadline_s=deadline_s, secrets=secrets)
    names = sorted(plugins.names(runner.probes), key=lambda name: (name in LAST_PROBES, name))
    tasks = [asyncio.create_task(plugins.load(runner.probes, name).probe(site)) for name in names]
    done, late = await asyncio.wait(tasks, timeout=site.remaining_s + SPARE_S * 2 / 3)
    for task in late:
        task.cancel()
    found = [task.result() for task in tasks if task in done]
    listed = await _listed(site)
    return _identity([item for item in found if item is not None], listed, site, frozenset(secrets))


async def identify(serving: ServingConfig, *, deadline_s: float = DEADLINE_S) -> Identity:
    """What the server at `serving` is, asked with a client of its own. Raises UserError if its key is not set."""
    from runner.client import Client

    async with Client(serving, connect_timeout_s=deadline_s) as client:
        return await read_identity(serving, client, deadline_s=deadline_s)


def is_silent(identity: Identity) -> bool:
    """Whether no server answered at all."""
    return SILENT in identity.notes


def metrics_page(identity: Identity | None) -> str | None:
    """The page of counters that may be read again and again; None for an engine that has none, or none of that kind.

    An engine that could not be told has its page, if any, where most have it.
    """
    if identity is None or identity.engine is None:
        return "/metrics"
    module = _module(identity.engine)
    return getattr(module, "METRICS", None) if module else "/metrics"


def changes(before: Identity | None, after: Identity | None) -> list[Change]:
    """The facts that both readings have and do not agree on.

    Counters never count. A fact that only one of them could read is no change of the server: a slow page must not
    condemn a run. What differs from start to start of one configuration (`PASSING_FACTS`) is left out too.
    """
    if before is None or after is None:
        return []
    both = ((name, before.value(name), after.value(name)) for name in FACT_NAMES if name not in PASSING_FACTS)
    return [
        Change(name=name, before=old, after=new)
        for name, old, new in both
        if old is not None and new is not None and old != new
    ]


def difference(before: Identity | None, after: Identity | None) -> list[str]:
    """The changes as lines, `name: old -> new`."""
    return [str(change) for change in changes(before, after)]


def was_restarted(before: Identity | None, after: Identity | None) -> bool:
    """Whether the process behind the address is another one than it was."""
    if before is None or after is None:
        return False
    marks = [(before.value(name), after.value(name)) for name in ("process_started_at", "start_mark", "pid")]
    return any(old is not None and new is not None and old != new for old, new in marks)


def identity_digest(identity: Identity) -> str:
    """Identifies the configuration that was found; two starts of one configuration have the same."""
    named = {name: identity.value(name) for name in FACT_NAMES if name not in PASSING_FACTS}
    return digest({name: value for name, value in named.items() if value is not None})


def disagreements(intended: Mapping[str, Any], identity: Identity) -> list[Change]:
    """The intended facts (`before`) that the running server was found to differ from (`after`)."""
    wanted = dict(intended)
    tokens = wanted.get("speculative_tokens")
    if isinstance(tokens, int) and identity.value("speculative_tokens") is None:
        wanted.setdefault("speculative_decoding", tokens > 0)
    pairs = ((name, value, identity.value(name)) for name, value in wanted.items() if name in FACT_NAMES)
    return [
        Change(name=name, before=value, after=found)
        for name, value, found in pairs
        if found is not None and found != (value if (typed := typed_value(name, value)) is None else typed)
    ]


def with_fingerprint(identity: Identity, fingerprint: str | None) -> Identity:
    """The identity with the `system_fingerprint` that chat replies carried."""
    if not fingerprint or identity.value("system_fingerprint") is not None:
        return identity
    return replace(
        identity, facts=(*identity.facts, *facts("chat replies", {"system_fingerprint": redacted(fingerprint)}))
    )


async def _listed(site: Site) -> Findings:
    """What every OpenAI-compatible server says of its models, and why it did not if it did not."""
    answer = await site.get("/v1/models")
    if answer.status == 0:
        return Findings(notes=(SILENT,))
    if answer.status in (401, 403):
        variable = site.serving.api_key_env
        what = f"the key in {variable} was refused" if variable else "it wants a key: name its variable in api_key_env"
        return Findings(notes=(f"GET /v1/models: HTTP {answer.status}; {what}",))
    if answer.status != 200:
        return Findings(notes=(f"GET /v1/models: HTTP {answer.status}",))
    card = await site.card()
    values = {"model": card.get("id"), "context_length": card.get("max_model_len")}
    notes = () if card else ("GET /v1/models does not single out one model; name it in the serving's `model`",)
    return Findings(facts=facts("GET /v1/models", values), notes=notes)


def _identity(found: list[Findings], listed: Findings, site: Site, secrets: frozenset[str]) -> Identity:
    read = {fact.name for item in found for fact in item.facts}
    missing = tuple(fact for fact in listed.facts if fact.name not in read)
    ordered = [*found, replace(listed, facts=missing)]
    ordered.append(_defaults([fact for item in ordered for fact in item.facts]))
    chosen, conflicts = _merged(fact for item in ordered for fact in item.facts)
    cleaned = tuple(clean_fact(fact, secrets) for fact in chosen)
    counters = {name: value for item in reversed(ordered) for name, value in item.counters.items()}
    notes = [note for item in ordered for note in item.notes] + conflicts
    engine = next((fact.value for fact in cleaned if fact.name == "engine"), None)
    if engine is None:
        notes.insert(0, "the engine could not be told: no two of its signs were found")
    return Identity(
        engine=engine,
        version=next((fact.value for fact in cleaned if fact.name == "version"), None),
        facts=cleaned,
        counters=counters,
        notes=tuple(dict.fromkeys(printable(redacted(note, secrets)) for note in notes)),
        read_at=utc_now(),
    )


def _defaults(found: list[Fact]) -> Findings:
    """What the engine's options that nobody typed mean, where its whole command line could be seen."""
    known: dict[str, Any] = {}
    for fact in found:
        known.setdefault(fact.name, fact.value)
    typed = {fact.value for fact in found if fact.name == "engine" and fact.source.startswith("/proc/")}
    if known.get("engine") not in typed:
        return Findings()
    module = _module(known["engine"])
    if module is None or not hasattr(module, "inferred"):
        return Findings()
    absent = {name: value for name, value in module.inferred(known).items() if name not in known}
    return Findings(facts=facts(f"inferred: the default of {module.ENGINE} for an option that was not typed", absent))


def _module(engine: str) -> ModuleType | None:
    modules = (plugins.load(runner.probes, name) for name in plugins.names(runner.probes))
    return next((module for module in modules if getattr(module, "ENGINE", None) == engine), None)


def _merged(found: Iterable[Fact]) -> tuple[list[Fact], list[str]]:
    """The facts, the most trusted source of each name first, and a line for each that two sources contradict."""
    kept: dict[str, list[Fact]] = {}
    for fact in found:
        others = kept.setdefault(fact.name, [])
        if all(fact.value != other.value for other in others) and not (others and fact.source.startswith("inferred")):
            others.append(fact)
    conflicts = [
        f"{name}: " + ", but ".join(f"{fact.source} says {fact.value}" for fact in values)
        for name, values in kept.items()
        if len(values) > 1 and name not in PASSING_FACTS
    ]
    return [fact for name in FACT_NAMES for fact in kept.get(name, ())], conflicts

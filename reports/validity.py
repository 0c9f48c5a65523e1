"""Whether two quality runs may be compared: what makes it INVALID, and what else differs. Judges no score."""

from collections.abc import Mapping
from typing import Any

import msgspec

from itembank.bank import Bank
from reports.outcomes import ERROR, MISSING, Outcomes
from runner.config import ServingConfig
from runner.facts import PASSING_FACTS
from runner.record import Identity, RunRecord

SAMPLING_KEYS = ("temperature", "top_p", "max_tokens")
EXTRA_SAMPLING = (
    "top_k",
    "min_p",
    "repetition_penalty",
    "repeat_penalty",
    "presence_penalty",
    "frequency_penalty",
    "logit_bias",
    "stop",
)
TEMPLATE_FACTS = ("chat_template_digest", "chat_template")


def invalid_reasons(baseline: tuple[RunRecord, Outcomes], candidate: tuple[RunRecord, Outcomes]) -> list[str]:
    """One line for each thing that forbids a verdict; empty where the two may be compared."""
    (record_a, outcomes_a), (record_b, outcomes_b) = baseline, candidate
    names = side_names(record_a, record_b)
    reasons = []
    for name, (record, outcomes) in zip(names, (baseline, candidate), strict=True):
        reasons += [f"{name}: changed while it was measured: {change}" for change in record.identity_changes]
        reasons += _incompleteness(name, outcomes)
    reasons += _bank_differences(record_a, outcomes_a, record_b, outcomes_b)
    reasons += [f"sampling differs: {line}" for line in _sampling_differences(record_a, record_b)]
    reasons += [f"chat template differs: {line}" for line in _template_differences(record_a, record_b)]
    versions_a, versions_b = dict(outcomes_a.scorers), dict(outcomes_b.scorers)
    for scorer in sorted(versions_a.keys() & versions_b.keys()):
        if versions_a[scorer] != versions_b[scorer]:
            a, b = versions_a[scorer], versions_b[scorer]
            reasons.append(f"scorer {scorer} judged in versions {a} and {b}; run `triplicate rescore` on both first")
    return reasons


def side_names(baseline: RunRecord, candidate: RunRecord) -> tuple[str, str]:
    """The servings' names, or the sides' where both are the same."""
    a, b = str(baseline.serving.get("name", "baseline")), str(candidate.serving.get("name", "candidate"))
    return (a, b) if a != b else ("baseline", "candidate")


def _incompleteness(name: str, outcomes: Outcomes) -> list[str]:
    found = []
    missing, errors = outcomes.count(MISSING), outcomes.count(ERROR)
    total = outcomes.grid.size
    if missing or not total:
        found.append(f"{name}: incomplete: {missing} of {total} responses are missing; resume the run")
    if errors:
        kinds = sorted({outcomes.reasons[key] for key in outcomes.reasons if outcomes.grid[key] == ERROR})
        found.append(f"{name}: {errors} of {total} requests failed after all retries ({', '.join(kinds)})")
    return found


def _bank_differences(record_a: RunRecord, a: Outcomes, record_b: RunRecord, b: Outcomes) -> list[str]:
    only_a, only_b = sorted(set(a.items) - set(b.items)), sorted(set(b.items) - set(a.items))
    if only_a or only_b:
        shown = ", ".join((only_a + only_b)[:3])
        return [f"banks differ: {len(only_a)} items are only in the baseline, {len(only_b)} in the candidate ({shown})"]
    changed = [item for item in a.items if a.digests.get(item) != b.digests.get(item)]
    both = [item for item in changed if item in a.digests and item in b.digests]
    if both:
        return [f"banks differ: {len(both)} items were asked in another version ({', '.join(both[:3])})"]
    digests = record_a.bank.get("digest"), record_b.bank.get("digest")
    return [] if digests[0] == digests[1] else [f"banks differ: digest {digests[0]} and {digests[1]}"]


def _sampling_differences(a: RunRecord, b: RunRecord) -> list[str]:
    extra_a, extra_b = a.serving.get("extra_body") or {}, b.serving.get("extra_body") or {}
    return _differing(a.sampling, b.sampling, SAMPLING_KEYS) + _differing(extra_a, extra_b, EXTRA_SAMPLING)


def _template_differences(a: RunRecord, b: RunRecord) -> list[str]:
    extra_a, extra_b = a.serving.get("extra_body") or {}, b.serving.get("extra_body") or {}
    found = _differing(extra_a, extra_b, ("chat_template", "chat_template_kwargs"))
    if a.identity_before is None or b.identity_before is None:
        return found
    for name in TEMPLATE_FACTS:
        value_a, value_b = a.identity_before.value(name), b.identity_before.value(name)
        if None not in (value_a, value_b) and value_a != value_b:
            found.append(f"{name} {_short(value_a)} and {_short(value_b)}")
    return found


def record_differences(record: RunRecord, serving: ServingConfig, bank: Bank) -> list[str]:
    """Why a serving that is yet to be measured could not be held against a record: bank, sampling or template."""
    described = msgspec.to_builtins(serving)
    other = RunRecord(kind="quality", serving=described, sampling=described["sampling"], plan={})
    found = [f"sampling differs: {line}" for line in _sampling_differences(record, other)]
    found += [f"chat template differs: {line}" for line in _template_differences(record, other)]
    if record.bank.get("digest") != bank.digest:
        found.insert(0, f"banks differ: digest {record.bank.get('digest')} and {bank.digest}")
    return found


def _differing(a: Mapping[str, Any], b: Mapping[str, Any], keys: tuple[str, ...]) -> list[str]:
    return [f"{key} {_short(a.get(key))} and {_short(b.get(key))}" for key in keys if a.get(key) != b.get(key)]


def _short(value: Any) -> str:
    text = "unset" if value is None else str(value)
    return text if len(text) <= 40 else f"{text[:37]}..."


def identity_document(baseline: RunRecord, candidate: RunRecord) -> dict[str, Any]:
    """`differs`: the facts that the two systems do not share, `equal` where nothing was changed, `unknown`.

    `equal` is None where a side could not be read.
    """
    a, b = baseline.identity_before, candidate.identity_before
    if a is None or b is None:
        return {"differs": [], "equal": None, "unknown": _unread(a, b)}
    facts_a, facts_b = _facts(a), _facts(b)
    differs = [
        {"name": name, "baseline": facts_a.get(name), "candidate": facts_b.get(name)}
        for name in sorted(facts_a.keys() | facts_b.keys())
        if facts_a.get(name) != facts_b.get(name)
    ]
    known = any(value is not None for value in (*facts_a.values(), *facts_b.values()))
    return {"differs": differs, "equal": not differs if known else None, "unknown": _unread(a, b)}


def _facts(identity: Identity) -> dict[str, Any]:
    """The facts by name; of several sources the first, which is the most trusted."""
    named = {fact.name: fact.value for fact in reversed(identity.facts) if fact.name not in PASSING_FACTS}
    return {"engine": identity.engine, "version": identity.version} | named


def _unread(a: Identity | None, b: Identity | None) -> list[str]:
    notes = []
    for side, identity in (("baseline", a), ("candidate", b)):
        if identity is None:
            notes.append(f"{side}: the configuration was not read")
        else:
            notes += [f"{side}: {note}" for note in identity.notes]
    return notes

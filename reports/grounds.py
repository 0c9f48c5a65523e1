"""The lines beside a verdict: why it is not decided, and what a reader must know. Computes no figure of its own."""

from typing import Any

from reports.decision import LEAST_REPEATS, Verdict, every_repeat_scored
from reports.planner import deciding_repeats
from reports.view import Seen
from runner.store import RunFolder


def reasons_of(view: Seen, document: dict[str, Any]) -> list[str]:
    """What the verdict stands on, or why there is none and what would bring one, a line each."""
    found, rule, (a, b) = view.found, view.rule, view.common
    if found is None or found.verdict is not Verdict.UNDECIDED:
        return _standing(view)
    unscored = [
        name for name, side in zip(("baseline", "candidate"), (a, b), strict=True) if not every_repeat_scored(side)
    ]
    if unscored and found.next_look is None:
        return [f"{' and '.join(unscored)}: a repeat without one scorable response has no score to compare"]
    needed = document["repeats_needed"]
    if not found.looks:
        would = max(LEAST_REPEATS, needed or 0)
        few = "a single run a side" if a.repeats == b.repeats == 1 else f"{a.repeats} and {b.repeats} repeats"
        return [
            f"repeat before you decide: {few} cannot carry a verdict, which takes at least {LEAST_REPEATS} a side",
            f"{would} repeats a side would do for a margin of {rule.margin:g} points"
            + ("" if needed else " if the answers turn out to be steady"),
        ]
    last = found.looks[-1]
    reasons = []
    if last.alone is not Verdict.UNDECIDED:
        reasons.append(
            f"unscorable responses ({last.unscorable[0]} of the baseline, {last.unscorable[1]} of the candidate): the "
            f"scorable ones alone say {last.alone}, which the worst case does not bear out"
        )
    else:
        would_decide = deciding_repeats(last.measured, last.repeats, rule.margin)
        reasons.append(
            f"the interval at {last.repeats[1]} repeats holds both a tolerable and an intolerable difference"
        )
        reasons.append(
            "the difference lies on the boundary itself: no affordable number of repeats would decide"
            if would_decide is None
            else f"about {would_decide} repeats a side would decide, if the difference stays as it is"
        )
    return reasons


def _standing(view: Seen) -> list[str]:
    """What a reader must know of a verdict that stands on unscorable responses."""
    last = view.last
    if last is None or not any(last.unscorable):
        return []
    if last.verdict is not last.alone:
        return [f"the scorable responses alone say {last.alone}; the worst case of the others bears out {last.verdict}"]
    return [f"it survives the worst case of {sum(last.unscorable)} unscorable responses"]


def warnings_beside(baseline: RunFolder, candidate: RunFolder, document: dict[str, Any]) -> list[str]:
    """What a reader must know beside the verdict, a line each."""
    warnings = _plan_warnings(baseline, candidate, document)
    if document["identity"]["equal"]:
        warnings.append("both configurations are identical in every fact that was read: nothing was changed")
    warnings += document["identity"]["unknown"]
    for side, run in (("baseline", baseline), ("candidate", candidate)):
        warnings += [f"{side}: {note}" for note in run.record.notes]
    for side, boots in document["boots"].items():
        if boots and boots["differ"]:
            warnings.append(f"{side}: starts of the server differ more than repeats within one (p = {boots['p']:.2g})")
    for row in document["defects"]:
        if row["risen"]:
            warnings.append(f"the candidate shows {row['kind']} more often (p = {row['p']:.2g})")
    return warnings


def _plan_warnings(baseline: RunFolder, candidate: RunFolder, document: dict[str, Any]) -> list[str]:
    warnings = []
    plan_a, plan_b = baseline.record.plan, candidate.record.plan
    for key in ("concurrency", "stream"):
        if plan_a.get(key) != plan_b.get(key):
            warnings.append(f"{key} differs: {plan_a.get(key)} and {plan_b.get(key)}; the difference holds its effect")
    for side, run in (("baseline", baseline), ("candidate", candidate)):
        if side in document["agreement"]["all_repeats_identical"] and run.record.sampling.get("temperature", 0) > 0:
            warnings.append(f"{side}: all repeats are byte-identical at temperature > 0; a cache or a fixed seed?")
    declared = plan_b.get("margin")
    if declared is not None and declared != document["margin"]:
        warnings.append(f"the margin of {document['margin']:g} was chosen after measuring; declared was {declared:g}")
    return warnings

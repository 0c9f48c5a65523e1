"""What a comparison of two quality runs looks at: the rule that was fixed for them, and the outcomes it lets count."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from reports.decision import MARGIN, Decision, Look, Rule, checked_margin, decision, look_alpha
from reports.measured import Measured
from reports.outcomes import Outcomes
from runner.store import RunFolder


def rule_of(baseline: RunFolder, candidate: RunFolder, margin: float | None, looks: Sequence[int] | None) -> Rule:
    """What was fixed for this pair: the looks of the decide that both belong to, else one look at all repeats."""
    plan = candidate.record.plan
    finished = plan.get("finished_baseline")
    ours = plan.get("pair") is not None and (
        plan.get("pair") == baseline.record.plan.get("pair") or bool(finished and _is_at(baseline, Path(finished)))
    )
    if looks is None and ours:
        return Rule(
            margin=checked_margin(float(plan["margin"]) if margin is None else margin),
            alpha=float(plan["alpha"]),
            looks=tuple(plan["looks"]),
        )
    chosen = tuple(looks or ())
    return Rule(margin=checked_margin(MARGIN if margin is None else margin), alpha=look_alpha(chosen), looks=chosen)


def _is_at(run: RunFolder, path: Path) -> bool:
    """Whether a path means this run, wherever the folder of runs has been moved to: same serving, same start."""
    return run.path.resolve().parts[-2:] == path.resolve().parts[-2:]


@dataclass(frozen=True, slots=True, kw_only=True)
class Seen:
    """What the deciding look, or the last one, sees of two runs."""

    rule: Rule
    found: Decision | None
    """None where the runs share no item."""
    whole: tuple[Outcomes, Outcomes]
    """Baseline and candidate with all their items."""
    common: tuple[Outcomes, Outcomes]
    """Both on the items that they share, in the baseline's order."""

    @property
    def last(self) -> Look | None:
        """The last look that was taken."""
        return self.found.looks[-1] if self.found and self.found.looks else None


def seen(baseline: Measured, candidate: Measured, rule: Rule) -> Seen:
    """The outcomes of both runs up to the look that decides, and the decision."""
    whole = baseline.outcomes, candidate.outcomes
    a, b = _common(*whole)
    fixed = bool(rule.looks) and not baseline.record.plan.get("looks")
    found = decision(a, b, rule, fixed_baseline=fixed) if a.items else None
    if found and found.looks:
        first, second = found.looks[-1].repeats
        a, b, whole = a.first(first), b.first(second), (whole[0].first(first), whole[1].first(second))
    return Seen(rule=rule, found=found, whole=whole, common=(a, b))


def _common(a: Outcomes, b: Outcomes) -> tuple[Outcomes, Outcomes]:
    if a.items == b.items:
        return a, b
    shared = set(a.items) & set(b.items)
    return a.only([item for item in a.items if item in shared]), b.only([item for item in a.items if item in shared])

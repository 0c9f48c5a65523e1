"""Whether starts of a server differ more than repeats within a start. Decides nothing."""

from typing import Any

from reports.outcomes import Outcomes
from reports.scores import dimension_scores, headline
from runner.record import RunRecord

LEVEL = 0.05


def boot_document(record: RunRecord, outcomes: Outcomes) -> dict[str, Any] | None:
    """The mean score of each boot, the `p` of a one-way analysis of variance, and `differ`; None for one boot.

    F = between-boot over within-boot mean square of the repeats' scores (Fisher 1925), `p` its upper tail; None where
    no boot has two repeats. Boots are starts that triplicate made itself.
    """
    if not any(boot.get("launched") for boot in record.boots):
        return None
    by_boot: dict[int, list[float]] = {}
    for boot, score in zip(outcomes.boots, headline(*dimension_scores(outcomes)[1:]), strict=True):
        if score is not None:
            by_boot.setdefault(boot, []).append(score)
    if len(by_boot) < 2:
        return None
    p = variance_ratio_p(list(by_boot.values()))
    means = {boot: sum(scores) / len(scores) for boot, scores in by_boot.items()}
    return {
        "boots": [{"boot": boot, "repeats": len(by_boot[boot]), "mean": mean} for boot, mean in sorted(means.items())],
        "p": p,
        "differ": p is not None and p < LEVEL,
    }


def variance_ratio_p(groups: list[list[float]]) -> float | None:
    """The upper tail of F for groups of values; None where there are no degrees of freedom within."""
    from scipy.special import fdtrc

    count = sum(len(group) for group in groups)
    free_between, free_within = len(groups) - 1, count - len(groups)
    if free_between < 1 or free_within < 1:
        return None
    means = [sum(group) / len(group) for group in groups]
    grand = sum(sum(group) for group in groups) / count
    between = sum(len(g) * (mean - grand) ** 2 for g, mean in zip(groups, means, strict=True)) / free_between
    within = sum((x - mean) ** 2 for g, mean in zip(groups, means, strict=True) for x in g) / free_within
    if between < 1e-12:
        return 1.0
    return 0.0 if within < 1e-12 else float(fdtrc(free_between, free_within, between / within))

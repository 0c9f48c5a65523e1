"""One comparison of two quality runs as a document: the verdict and everything it rests on. Measures nothing."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from reports.agreement import agreement_document, all_identical, differing, first, first_differences
from reports.boots import boot_document
from reports.decision import Decision, Look, Rule, Verdict
from reports.defects import defect_rates, defects_document, risen
from reports.flips import Flip, excess_flips, flips, self_flips, tallies
from reports.grounds import reasons_of, warnings_beside
from reports.intervals import Interval, population_interval
from reports.measured import Measured, measured
from reports.outcomes import Outcomes
from reports.planner import pair_repeats
from reports.scores import scores_document
from reports.validity import identity_document, invalid_reasons, side_names
from reports.view import Seen, rule_of, seen
from reports.wording import lines, not_said, sentence
from runner.store import RunFolder

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

__all__ = ["comparison", "comparison_document", "lines", "rule_of"]


def comparison_document(
    baseline: RunFolder, candidate: RunFolder, *, margin: float | None = None, looks: Sequence[int] | None = None
) -> dict[str, Any]:
    """The verdict on `candidate` against `baseline` with all it rests on; scores and differences in points.

    Without `margin` and `looks` it is 3 points and one look, or what the decide of the two runs declared.
    Raises UserError for a margin that makes no sense and for folders that hold no quality run.
    """
    return comparison(measured(baseline), measured(candidate), margin=margin, looks=looks)


def comparison(
    baseline: Measured, candidate: Measured, *, margin: float | None = None, looks: Sequence[int] | None = None
) -> dict[str, Any]:
    """The same of two runs that have been read."""
    rule = rule_of(baseline.run, candidate.run, margin, looks)
    view = seen(baseline, candidate, rule)
    invalid = invalid_reasons((baseline.record, view.whole[0]), (candidate.record, view.whole[1]))
    if view.found and rule.looks and view.found.next_look:
        invalid.append(f"the measurement ended before the look at {view.found.next_look} repeats; resume the decide")
    verdict = Verdict.INVALID if invalid or view.found is None else view.found.verdict
    names = side_names(baseline.record, candidate.record)
    document: dict[str, Any] = {
        "verdict": str(verdict),
        "margin": rule.margin,
        "baseline": names[0],
        "candidate": names[1],
        "items": len(view.common[0].items),
        **_interval_fields(view.last, *view.common),
        "look": _look_document(view.found, rule),
        **_evidence(baseline, candidate, view),
    }
    document["reasons"] = invalid if verdict is Verdict.INVALID else reasons_of(view, document)
    document["warnings"] = warnings_beside(baseline.run, candidate.run, document)
    document["sentence"] = sentence(document)
    document["not_said"] = not_said(document)
    return document


def _evidence(baseline: Measured, candidate: Measured, view: Seen) -> dict[str, Any]:
    """Scores, flips, texts, defects, configurations and speeds: what stands beside the interval."""
    (whole_a, whole_b), (a, b) = view.whole, view.common
    changed, rates = flips(a, b), defect_rates(a, b)
    boots = {"baseline": boot_document(baseline.record, whole_a), "candidate": boot_document(candidate.record, whole_b)}
    return {
        "repeats": {"baseline": whole_a.repeats, "candidate": whole_b.repeats},
        "scores": {"baseline": scores_document(whole_a), "candidate": scores_document(whole_b)},
        "dimensions": _dimension_rows(a, b, changed),
        "flips": [_flip_row(flip) for flip in changed],
        "excess_flips": excess_flips(a, b),
        "agreement": _agreement(baseline, candidate, whole_a.repeats, whole_b.repeats),
        "defects": defects_document(rates, risen(rates)),
        "boots": boots,
        "identity": identity_document(baseline.record, candidate.record),
        "throughput": {"baseline": baseline.throughput, "candidate": candidate.throughput},
        "repeats_needed": pair_repeats(a, b, view.rule.margin) if a.items else None,
        "simulated": [
            name for name, run in (("baseline", baseline), ("candidate", candidate)) if run.record.is_simulated
        ],
    }


def _interval_fields(last: Look | None, a: Outcomes, b: Outcomes) -> dict[str, Any]:
    if last is None:
        score_a, score_b = scores_document(a)["mean"], scores_document(b)["mean"]
        known = score_a is not None and score_b is not None
        return {
            "difference": score_b - score_a if known else None,
            "interval": None,
            "population_interval": None,
            "worst_case": None,
        }
    population = population_interval(_rate_differences(a, b), a.weights, last.measured, last.alpha)
    return {
        "difference": float(last.measured.difference),
        "interval": [float(last.measured.low), float(last.measured.high)],
        "population_interval": None if population is None else list(population),
        "half_widths": {"run_level": float(last.measured.run_level), "item_level": float(last.measured.item_level)},
        "worst_case": None if last.filled is last.measured else _worst_case(last.filled),
    }


def _worst_case(filled: Interval) -> dict[str, Any]:
    return {"difference": float(filled.difference), "interval": [float(filled.low), float(filled.high)]}


def _rate_differences(a: Outcomes, b: Outcomes) -> "NDArray[np.float64]":
    """By item, the candidate's pass rate minus the baseline's; 0 where a side has nothing scorable."""
    import numpy as np

    (c_a, k_a), (c_b, k_b) = tallies(a), tallies(b)
    both = (k_a > 0) & (k_b > 0)
    return np.where(both, c_b / np.maximum(k_b, 1) - c_a / np.maximum(k_a, 1), 0.0)


def _look_document(found: Decision | None, rule: Rule) -> dict[str, Any]:
    """Which look this is, of how many, at which one-sided level; `next` is None where the verdict is final."""
    taken = found.looks if found else ()
    return {
        "number": len(taken),
        "of": max(len(rule.looks), 1),
        "alpha": rule.alpha,
        "looks": list(rule.looks),
        "next": found.next_look if found else None,
        "taken": [
            {
                "repeats": list(look.repeats),
                "verdict": str(look.verdict),
                "difference": float(look.measured.difference),
                "interval": [float(look.measured.low), float(look.measured.high)],
            }
            for look in taken
        ],
    }


def _dimension_rows(a: Outcomes, b: Outcomes, changed: Sequence[Flip]) -> list[dict[str, Any]]:
    """By dimension: both mean scores, persistent flips gained and lost, unstable ones, self-flips of either side."""
    flipped_a, flipped_b = self_flips(a), self_flips(b)
    means = [{row["dimension"]: row["mean"] for row in scores_document(side)["dimensions"]} for side in (a, b)]
    rows = []
    for name in a.dimension_names:
        here = [flip for flip in changed if flip.dimension == name]
        member = [dimension == name for dimension in a.dimensions]
        rows.append(
            {
                "dimension": name,
                "items": sum(member),
                "baseline": means[0].get(name),
                "candidate": means[1].get(name),
                "gained": sum(flip.persistent and flip.gained for flip in here),
                "lost": sum(flip.persistent and not flip.gained for flip in here),
                "unstable": sum(not flip.persistent for flip in here),
                "unstable_gained": sum(not flip.persistent and flip.gained for flip in here),
                "self_flips": {"baseline": int(flipped_a[member].sum()), "candidate": int(flipped_b[member].sum())},
            }
        )
    return rows


def _flip_row(flip: Flip) -> dict[str, Any]:
    return {
        "item": flip.item,
        "dimension": flip.dimension,
        "direction": "gained" if flip.gained else "lost",
        "kind": "persistent" if flip.persistent else "unstable",
        "baseline": {"pass": flip.baseline[0], "repeats": flip.baseline[1]},
        "candidate": {"pass": flip.candidate[0], "repeats": flip.candidate[1]},
    }


def _agreement(baseline: Measured, candidate: Measured, repeats_a: int, repeats_b: int) -> dict[str, Any]:
    texts_a, texts_b = first(baseline.digests, repeats_a), first(candidate.digests, repeats_b)
    same = [name for name, texts in (("baseline", texts_a), ("candidate", texts_b)) if all_identical(texts)]
    return {
        **agreement_document(texts_a, texts_b),
        "first_differences": first_differences(baseline.run, candidate.run, differing(texts_a, texts_b)),
        "all_repeats_identical": same,
    }

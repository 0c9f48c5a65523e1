"""Scores, coverage and run-to-run spread of a quality run. Decides nothing.

A score blames only the model: unscorable responses and errors are left out of it and counted beside it,
with the band that they could move it in.
"""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from reports.outcomes import ERROR, FAIL, MISSING, PASS, UNSCORABLE, Outcomes, load_outcomes

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

__all__ = ["dimension_scores", "headline", "load_outcomes", "scores_document", "spread"]


def dimension_scores(
    outcomes: Outcomes, unscorable: int | None = None
) -> tuple[tuple[str, ...], "NDArray[np.float64]", "NDArray[np.bool_]"]:
    """(names, scores D x K in points, which of them exist): 100 * pass / (pass + fail) by dimension and repeat.

    `unscorable` counts unscorable responses as that outcome instead of leaving them out.
    """
    import numpy as np

    grid = outcomes.grid if unscorable is None else np.where(outcomes.grid == UNSCORABLE, unscorable, outcomes.grid)
    names = outcomes.dimension_names
    member = np.array([[dimension == name for dimension in outcomes.dimensions] for name in names], float)
    member = member.reshape(len(names), len(outcomes.items))
    passes, fails = member @ (grid == PASS), member @ (grid == FAIL)
    exists = passes + fails > 0
    return names, 100.0 * passes / np.maximum(passes + fails, 1.0), exists


def headline(scores: "NDArray[np.float64]", exists: "NDArray[np.bool_]") -> list[float | None]:
    """Each repeat's headline in points: the plain mean of the dimension scores that exist; None where none does."""
    counts, sums = exists.sum(axis=0), (scores * exists).sum(axis=0)
    return [float(total / count) if count else None for total, count in zip(sums, counts, strict=True)]


def sample_sd(values: Sequence[float]) -> float | None:
    """The standard deviation with n - 1; None for fewer than two values."""
    if len(values) < 2:
        return None
    mean = sum(values) / len(values)
    return float((sum((value - mean) ** 2 for value in values) / (len(values) - 1)) ** 0.5)


def spread(values: Sequence[float | None]) -> dict[str, float | None]:
    """`mean`, `min`, `max`, `range` and `sd` of the values that exist; each None where it does not exist."""
    known = [value for value in values if value is not None]
    if not known:
        return dict.fromkeys(("mean", "min", "max", "range", "sd"))
    low, high = min(known), max(known)
    return {"mean": sum(known) / len(known), "min": low, "max": high, "range": high - low, "sd": sample_sd(known)}


def scores_document(outcomes: Outcomes) -> dict[str, Any]:
    """The scores of one run in points, with spread, coverage and band, as a whole and by dimension."""
    names, scores, exists = dimension_scores(outcomes)
    runs = headline(scores, exists)
    scorable = outcomes.count(PASS) + outcomes.count(FAIL)
    rows = []
    for place, name in enumerate(names):
        repeats = [float(s) if e else None for s, e in zip(scores[place], exists[place], strict=True)]
        rows.append({"dimension": name, "items": outcomes.dimensions.count(name), "runs": repeats, **spread(repeats)})
    return {
        **spread(runs),
        "runs": runs,
        "micro": 100.0 * outcomes.count(PASS) / scorable if scorable else None,
        "repeats": outcomes.repeats,
        "items": len(outcomes.items),
        "asked": int(outcomes.grid.size),
        "scorable": scorable,
        "coverage": scorable / outcomes.grid.size if outcomes.grid.size else None,
        "band": [spread(headline(*dimension_scores(outcomes, code)[1:]))["mean"] for code in (FAIL, PASS)],
        "counts": {
            "pass": outcomes.count(PASS),
            "fail": outcomes.count(FAIL),
            "unscorable": outcomes.count(UNSCORABLE),
            "error": outcomes.count(ERROR),
            "missing": outcomes.count(MISSING),
        },
        "unscored_dimensions": [name for place, name in enumerate(names) if not exists[place].any()],
        "dimensions": rows,
    }

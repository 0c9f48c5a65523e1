"""Intervals for the difference of two runs' scores on a fixed bank, and for items of its kind. Decides nothing.

Arrays may have leading axes (many simulated runs at once); the last two are items and repeats. Scores are in points.
"""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


@dataclass(frozen=True, slots=True, kw_only=True)
class Interval:
    """A difference (candidate minus baseline, points) and its half-widths; arrays where the input had leading axes."""

    difference: Any
    run_level: Any
    """Half-width from the spread of whole repeats: honest when the trials of a run share a cause."""
    item_level: Any
    """Half-width from each item's own repeats, with a floor of one unseen flip a side: honest when repeats are few."""

    @property
    def half_width(self) -> Any:
        """The wider of the two."""
        import numpy as np

        return np.maximum(self.run_level, self.item_level)

    @property
    def low(self) -> Any:
        """The one-sided lower bound."""
        return self.difference - self.half_width

    @property
    def high(self) -> Any:
        """The one-sided upper bound."""
        return self.difference + self.half_width


@dataclass(frozen=True, slots=True, kw_only=True)
class Side:
    """The judged repeats of one run."""

    passes: "NDArray[np.bool_]"
    """... x items x repeats."""
    scorable: "NDArray[np.bool_] | None" = None
    """Which of them count; None where all do."""
    groups: "NDArray[np.int64]"
    """The dimension of each item, as a number from 0."""

    def run_scores(self) -> "NDArray[np.float64]":
        """... x repeats: S_r, the mean of the dimension scores that exist in the repeat."""
        import numpy as np

        member = (np.arange(self.groups.max() + 1)[:, None] == self.groups).astype(float)
        if self.scorable is None:
            weights = (member / member.sum(axis=1, keepdims=True)).mean(axis=0)
            return np.asarray(100.0 * np.einsum("i,...ik->...k", weights, self.passes.astype(float)))
        counted = np.einsum("di,...ik->...dk", member, self.scorable.astype(float))
        passed = np.einsum("di,...ik->...dk", member, (self.passes & self.scorable).astype(float))
        exists = counted > 0
        scores = 100.0 * passed / np.maximum(counted, 1.0)
        return np.asarray(scores.sum(axis=-2) / np.maximum(exists.sum(axis=-2), 1))

    def item_variances(self) -> tuple["NDArray[np.float64]", "NDArray[np.float64]"]:
        """(s_i^2 / K_i, K_i - 1), ... x items: the variance of an item's pass rate and its degrees of freedom.

        s_i^2 = c (K - c) / (K (K - 1)) is unbiased over repeats; 0 for an item with fewer than two scorable ones.
        """
        import numpy as np

        if self.scorable is None:
            count = np.full(self.passes.shape[:-1], float(self.passes.shape[-1]))
            passed = self.passes.sum(axis=-1).astype(float)
        else:
            count = self.scorable.sum(axis=-1).astype(float)
            passed = (self.passes & self.scorable).sum(axis=-1).astype(float)
        free = np.maximum(count - 1.0, 1.0)
        return passed * (count - passed) / (np.maximum(count, 1.0) ** 2 * free), free


def weights_of(groups: "NDArray[np.int64]") -> "NDArray[np.float64]":
    """w_i = 1 / (D n_d) for items in D dimensions of n_d items; they sum to 1."""
    import numpy as np

    sizes = np.bincount(groups)
    return np.asarray(1.0 / (np.count_nonzero(sizes) * sizes[groups]))


def t_quantile(level: float, freedom: Any) -> Any:
    """The quantile of Student's t at probability `level`."""
    from scipy.special import stdtrit

    return stdtrit(freedom, level)


def interval(baseline: Side, candidate: Side, alpha: float) -> Interval:
    """The difference of the mean scores with both half-widths at one-sided `alpha`; needs two repeats a side.

    Run level: Welch's standard error on whole repeats with K_A + K_B - 2 degrees of freedom. Item level: the binomial
    variance of each item's rate, degrees of freedom by Satterthwaite (1946) over the nonzero terms but never fewer than
    K_A + K_B - 2, plus w~^2 (1 / K_A^2 + 1 / K_B^2), w~ the median weight: one unseen flip a side, so that unanimous
    items never give width 0.
    """
    import numpy as np

    scores_a, scores_b = baseline.run_scores(), candidate.run_scores()
    k_a, k_b = scores_a.shape[-1], scores_b.shape[-1]
    run_error = np.sqrt(scores_a.var(axis=-1, ddof=1) / k_a + scores_b.var(axis=-1, ddof=1) / k_b)
    weights = weights_of(baseline.groups)
    (v_a, f_a), (v_b, f_b) = baseline.item_variances(), candidate.item_variances()
    terms = np.concatenate([weights**2 * v_a, weights**2 * v_b], axis=-1)
    total = terms.sum(axis=-1)
    spread = (terms**2 / np.concatenate([f_a, f_b], axis=-1)).sum(axis=-1)
    freedom = np.maximum(total**2 / np.where(spread > 0, spread, 1.0), k_a + k_b - 2.0)
    floor = np.median(weights) ** 2 * (1.0 / k_a**2 + 1.0 / k_b**2)
    return Interval(
        difference=scores_b.mean(axis=-1) - scores_a.mean(axis=-1),
        run_level=t_quantile(1.0 - alpha, k_a + k_b - 2.0) * run_error,
        item_level=100.0 * t_quantile(1.0 - alpha, freedom) * np.sqrt(total + floor),
    )


def population_interval(
    differences: "NDArray[np.float64]", weights: "NDArray[np.float64]", fixed: Interval, alpha: float
) -> tuple[float, float] | None:
    """The interval in points for items of this kind, from each item's difference of pass rates; None for one item.

    The paired differences of Miller (arXiv:2411.00640), SE = SD / sqrt(n) with n - 1 degrees of freedom, generalised to
    weights by SE^2 = n / (n - 1) * sum w_i^2 (d_i - mean)^2. Where no item moved at all, the exact bound for zero
    events in n, 1 - alpha^(1 / n) (Clopper and Pearson 1934). Never narrower than the interval for the `fixed` items,
    whose noise it contains.
    """
    import numpy as np

    count = len(differences)
    if count < 2:
        return None
    if differences.any():
        mean = float(weights @ differences)
        error = float(np.sqrt(count / (count - 1.0) * (weights**2 * (differences - mean) ** 2).sum()))
        half = 100.0 * float(t_quantile(1.0 - alpha, count - 1.0)) * error
    else:
        half = 100.0 * (1.0 - alpha ** (1.0 / count))
    half = max(half, float(fixed.half_width))
    return float(fixed.difference) - half, float(fixed.difference) + half

"""Counts verdicts by dimension into the table that `triplicate score` prints. Compares no runs.

Score = 100 * pass / (pass + fail). Coverage = scorable / asked. Band = from counting every unscorable as fail to
counting it as pass. The headline is the plain mean of the dimension scores; micro counts all answers alike.
"""

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass

from itembank.item import Item
from scorers.verdict import Outcome, Verdict


@dataclass(frozen=True, slots=True, kw_only=True)
class Tally:
    """How the answers of one dimension, or of all, were judged."""

    passes: int
    fails: int
    unscorable: int

    @property
    def asked(self) -> int:
        """All answers that were judged."""
        return self.passes + self.fails + self.unscorable

    @property
    def score(self) -> float | None:
        """Passes in percent of the scorable answers; None where nothing is scorable."""
        scorable = self.passes + self.fails
        return 100 * self.passes / scorable if scorable else None

    @property
    def band(self) -> tuple[float, float]:
        """The score in percent with every unscorable answer as a fail, and as a pass."""
        return 100 * self.passes / self.asked, 100 * (self.passes + self.unscorable) / self.asked


def tallies(judged: Iterable[tuple[Item, Verdict]]) -> dict[str, Tally]:
    """The tally of each dimension, in the order in which the dimensions first occur."""
    counts: dict[str, Counter[Outcome]] = {}
    for item, verdict in judged:
        counts.setdefault(item.dimension, Counter())[verdict.outcome] += 1
    return {
        name: Tally(passes=of[Outcome.PASS], fails=of[Outcome.FAIL], unscorable=of[Outcome.UNSCORABLE])
        for name, of in counts.items()
    }


def table(judged: Iterable[tuple[Item, Verdict]]) -> str:
    """The verdicts as a table of dimensions, with the headline, the reasons and the defects below it."""
    judged = list(judged)
    by_dimension = tallies(judged)
    width = max(len("all answers alike"), *map(len, by_dimension))
    rows = [f"{'dimension':{width}}   pass   fail  unscorable   score  coverage  band"]
    rows += [_row(name, tally, width) for name, tally in by_dimension.items()]
    every = Tally(
        passes=sum(tally.passes for tally in by_dimension.values()),
        fails=sum(tally.fails for tally in by_dimension.values()),
        unscorable=sum(tally.unscorable for tally in by_dimension.values()),
    )
    rows += ["", _row("all answers alike", every, width), "", _headline(by_dimension)]
    reasons = Counter(verdict.reason for _, verdict in judged if verdict.reason)
    defects = Counter(defect.kind for _, verdict in judged for defect in verdict.defects)
    for name, counts in (("reasons", reasons), ("defects", defects)):
        rows += [f"{name}: {', '.join(f'{kind} {times}' for kind, times in counts.most_common())}"] if counts else []
    return "\n".join(rows)


def _row(name: str, tally: Tally, width: int) -> str:
    score = "none" if tally.score is None else f"{tally.score:.1f}"
    low, high = tally.band
    coverage = f"{tally.passes + tally.fails}/{tally.asked}"
    counts = f"{tally.passes:6} {tally.fails:6} {tally.unscorable:11}"
    return f"{name:{width}} {counts} {score:>7} {coverage:>9}  {low:.1f} to {high:.1f}"


def _headline(by_dimension: dict[str, Tally]) -> str:
    scores = [tally.score for tally in by_dimension.values() if tally.score is not None]
    unscored = [name for name, tally in by_dimension.items() if tally.score is None]
    if not scores:
        return "score: none, nothing was scorable"
    bands = [tally.band for tally in by_dimension.values()]
    low, high = (sum(band[side] for band in bands) / len(bands) for side in (0, 1))
    without = f"; without {', '.join(unscored)}, where nothing was scorable" if unscored else ""
    mean = sum(scores) / len(scores)
    return f"score: {mean:.1f}, the mean of {len(scores)} dimensions (band {low:.1f} to {high:.1f}){without}"

"""A quality run with what comparisons take from its files, read once however many there are. Computes nothing."""

from dataclasses import dataclass
from typing import Any

from reports.agreement import Digests, load_digests
from reports.outcomes import Outcomes, load_outcomes
from reports.throughput import pass_throughput
from runner.record import RunRecord
from runner.store import RunFolder


@dataclass(frozen=True, slots=True, kw_only=True)
class Measured:
    """What one quality run showed, its texts as digests: they may be more than fits into memory."""

    run: RunFolder
    outcomes: Outcomes
    digests: Digests
    throughput: dict[str, Any]

    @property
    def record(self) -> RunRecord:
        """The run's record."""
        return self.run.record


def measured(run: RunFolder) -> Measured:
    """A quality run, read. Raises UserError for folders that hold none and for damaged lines."""
    return Measured(run=run, outcomes=load_outcomes(run), digests=load_digests(run), throughput=pass_throughput(run))

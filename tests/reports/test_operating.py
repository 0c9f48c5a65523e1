"""The operating characteristics in short: one cell for each row of the table; `make bench` has all of them."""

import numpy as np
import pytest

from reports.decision import ORDER, Rule, decision
from reports.outcomes import Outcomes
from tests.bench.operating import GROUPS, Cell, drawn, shares, verdicts

DRAWS = 1500


@pytest.mark.parametrize(("flaky", "least"), [(0.15, 0.93), (0.05, 0.99)])
def test_no_difference_ends_in_parity(flaky: float, least: float) -> None:
    found = shares(Cell(flaky, 3.0, 0.0, "none"), DRAWS, 1)
    assert found["PARITY"] >= least
    assert found["REGRESSION"] <= 0.03


@pytest.mark.parametrize("way", ["broke", "sagged"])
def test_a_drop_by_the_margin_rarely_passes(way: str) -> None:
    assert shares(Cell(0.0, 3.0, 1.0, way), DRAWS, 1)["PARITY"] <= 0.065


@pytest.mark.parametrize("way", ["broke", "sagged"])
def test_a_drop_by_two_margins_is_found(way: str) -> None:
    assert shares(Cell(0.30, 3.0, 2.0, way), DRAWS, 1)["REGRESSION"] >= 0.98


def outcomes(passes: np.ndarray) -> Outcomes:
    return Outcomes(
        name="x",
        items=tuple(f"i{place}" for place in range(len(passes))),
        dimensions=tuple(f"d{group}" for group in GROUPS),
        grid=passes.astype(np.int8),
        reasons={},
        defects={},
        digests={},
        scorers=frozenset(),
        boots=(1,) * passes.shape[1],
    )


def test_many_at_once_decide_as_each_alone_does() -> None:
    cell = Cell(0.30, 3.0, 1.0, "sagged")
    passes_a, passes_b = drawn(cell, 40, 1)
    rule = Rule(margin=3.0, alpha=0.022, looks=(3, 5, 10))
    alone = [decision(outcomes(a), outcomes(b), rule).verdict for a, b in zip(passes_a, passes_b, strict=True)]
    assert [ORDER[code] for code in verdicts(passes_a, passes_b, 3.0)] == alone
    assert len(set(alone)) > 1

"""The golden runs: two servings, each with a quality run and a ladder, as version 1 of the record stored them."""

from pathlib import Path

import pytest

from reports.report import Report, report_of

GOLDEN = Path(__file__).parents[2] / "data" / "runs" / "v1"


def golden_runs() -> list[Path]:
    return [path for name in ("incumbent", "candidate") for path in sorted((GOLDEN / name).iterdir())]


@pytest.fixture(scope="session")
def golden() -> Report:
    return report_of(golden_runs())

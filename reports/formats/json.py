"""The report as its document: one JSON object without NaN."""

import json
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from reports.report import Report

SUFFIX = ".json"


def render(report: "Report") -> str:
    """The whole document, two spaces a level."""
    return json.dumps(report.document, ensure_ascii=False, indent=2, allow_nan=False) + "\n"

"""The report as CSV: every figure of the document by its JSON pointer, and beside that file three tidy tables.

`report.csv` has two columns, `pointer` and `value`. With `-o report.csv` four tables stand beside it, a row an
observation: `report.scores.csv`, `report.items.csv`, `report.flips.csv` and `report.levels.csv`. Text that a
spreadsheet would run as a formula gets an apostrophe before it.
"""

import csv
import io
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import PurePath
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from reports.report import Report

SUFFIX = ".csv"
FORMULA = ("=", "+", "-", "@", "\t", "\r")
LEVEL_COLUMNS = (
    *("concurrency", "tok_s", "p50_s", "p95_s", "p99_s", "ttft_p50_s", "ttft_p95_s", "tpot_s", "mean_tokens", "req_s"),
    *("overlap", "queued", "peak_in_flight", "errors", "n", "bursts", "even", "void", "prompts", "token_source"),
)

Row = Mapping[str, Any]


def render(report: "Report") -> str:
    """Every leaf of the document: `pointer,value`."""
    return table([{"pointer": pointer, "value": value} for pointer, value in leaves(report.document)])


def written(report: "Report", name: str) -> dict[str, str]:
    """The files of `-o NAME`: all figures, and the tables beside them."""
    stem, document = PurePath(name).stem, report.document
    return {
        name: render(report),
        f"{stem}.scores.csv": table(score_rows(document)),
        f"{stem}.items.csv": table(item_rows(document)),
        f"{stem}.flips.csv": table(flip_rows(document)),
        f"{stem}.levels.csv": table(level_rows(document)),
    }


def leaves(value: Any, pointer: str = "") -> Iterator[tuple[str, Any]]:
    """(JSON pointer, value) of everything that is no object and no list; RFC 6901.

    >>> list(leaves({"a": [1, {"b/c": None}]}))
    [('/a/0', 1), ('/a/1/b~1c', None)]
    """
    if isinstance(value, Mapping):
        for key, each in value.items():
            yield from leaves(each, f"{pointer}/{str(key).replace('~', '~0').replace('/', '~1')}")
    elif isinstance(value, list | tuple):
        for place, each in enumerate(value):
            yield from leaves(each, f"{pointer}/{place}")
    else:
        yield pointer, value


def table(rows: Iterable[Row]) -> str:
    """Rows as CSV with a header; RFC 4180 with line feeds. Empty without rows."""
    found = list(rows)
    if not found:
        return ""
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(found[0])
    writer.writerows([cell(value) for value in row.values()] for row in found)
    return out.getvalue()


def cell(value: Any) -> Any:
    """A value as a cell: numbers as they are, nothing for None, no formula, no NUL.

    >>> cell("=1+1"), cell(-3.5), cell(None), cell(True)
    ("'=1+1", -3.5, '', 'true')
    """
    if value is None:
        return ""
    if isinstance(value, bool):
        return "true" if value else "false"
    if not isinstance(value, str):
        return value
    text = value.replace("\0", "\ufffd").replace("\r\n", "\n").replace("\r", "\n")
    return f"'{text}" if value.startswith(FORMULA) else text


def score_rows(document: Row) -> Iterator[Row]:
    """A row for each configuration, dimension and repeat."""
    for name, quality in _qualities(document):
        scores = quality["scores"]
        for each in ({"dimension": "all", **scores}, *scores["dimensions"]):
            for place, value in enumerate(each["runs"]):
                yield {"configuration": name, "dimension": each["dimension"], "repeat": place + 1, "score": value}


def item_rows(document: Row) -> Iterator[Row]:
    """A row for each configuration, item and repeat."""
    for name, quality in _qualities(document):
        for item in quality["items"]:
            for each in item["repeats"]:
                yield {
                    "configuration": name,
                    "dimension": item["dimension"],
                    "item": item["item"],
                    "repeat": each["repeat"],
                    "outcome": each["outcome"],
                    "reason": each["reason"],
                    "defects": " ".join(each["defects"]),
                }


def flip_rows(document: Row) -> Iterator[Row]:
    """A row for each flip of each comparison."""
    for comparison in document["comparisons"]:
        for flip in comparison["flips"]:
            yield {
                "baseline": comparison["baseline"],
                "candidate": comparison["candidate"],
                "dimension": flip["dimension"],
                "item": flip["item"],
                "direction": flip["direction"],
                "kind": flip["kind"],
                **{
                    f"{side}_{key}": flip[side][key]
                    for side in ("baseline", "candidate")
                    for key in ("pass", "repeats")
                },
            }


def level_rows(document: Row) -> Iterator[Row]:
    """A row for each level of each ladder; `gpus` is None where it is not stated."""
    for row in document["configurations"]:
        curve = row["curve"]
        for phase, levels in _phases(curve) if curve else ():
            for level in levels:
                figures = {column: level[column] for column in LEVEL_COLUMNS}
                yield {"configuration": row["name"], "gpus": curve["gpus"], "phase": phase, **figures}


def _phases(curve: Row) -> list[tuple[str, Sequence[Row]]]:
    control = [curve["control"]] if curve["control"] else []
    return [
        ("ladder", curve["levels"]),
        ("plateau", curve["plateau"]),
        ("confirm", curve["confirm"]),
        ("control", control),
    ]


def _qualities(document: Row) -> Iterator[tuple[str, Row]]:
    return ((row["name"], row["quality"]) for row in document["configurations"] if row["quality"])

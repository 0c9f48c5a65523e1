"""What became of each item in each repeat of a run, as rows of the report's document. Reads no transcript."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from reports.outcomes import ERROR, FAIL, MISSING, PASS, UNSCORABLE, Outcomes

OUTCOMES = {PASS: "pass", FAIL: "fail", UNSCORABLE: "unscorable", ERROR: "error", MISSING: "missing"}
GROUPS = (
    "lost in every repeat",
    "lost, unstable",
    "gained in every repeat",
    "gained, unstable",
    "differs between repeats",
    "the same throughout",
)


def item_rows(outcomes: Outcomes) -> list[dict[str, Any]]:
    """By item in the plan's order: `item`, `dimension` and for each repeat outcome, reason and kinds of defects."""
    return [
        {
            "item": item,
            "dimension": outcomes.dimensions[place],
            "repeats": [
                {
                    "repeat": repeat + 1,
                    "outcome": OUTCOMES[int(outcomes.grid[place, repeat])],
                    "reason": outcomes.reasons.get((place, repeat), ""),
                    "defects": [kind for kind, _ in outcomes.defects.get((place, repeat), ())],
                }
                for repeat in range(outcomes.repeats)
            ],
        }
        for place, item in enumerate(outcomes.items)
    ]


def grouped_items(document: Mapping[str, Any]) -> list[tuple[str, list[str]]]:
    """Item ids by what happened to them between the configurations, flips first; empty groups are left out."""
    rows = [row["quality"]["items"] for row in document["configurations"] if row["quality"]]
    everywhere = {item["item"]: item for items in reversed(rows) for item in items}
    order = list(dict.fromkeys(item["item"] for items in rows for item in items))
    flips = flip_kinds(document["comparisons"])
    unsettled = {item["item"] for items in rows for item in items if _mixed(item["repeats"])}
    places: dict[str, list[str]] = {name: [] for name in GROUPS}
    for item in order:
        place = flips.get(item, GROUPS[4] if item in unsettled else GROUPS[5])
        places[place].append(item)
    by_dimension = {item: place for place, item in enumerate(order)}
    for items in places.values():
        items.sort(key=lambda item: (everywhere[item]["dimension"], by_dimension[item]))
    return [(name, items) for name, items in places.items() if items]


def flip_kinds(comparisons: Iterable[Mapping[str, Any]]) -> dict[str, str]:
    """By item that flipped: its group, the gravest where several candidates are compared."""
    found: dict[str, str] = {}
    for comparison in comparisons:
        for flip in comparison["flips"]:
            steady = "in every repeat" if flip["kind"] == "persistent" else "unstable"
            name = f"{flip['direction']}{' ' if steady[0] == 'i' else ', '}{steady}"
            found[flip["item"]] = min(found.get(flip["item"], name), name, key=GROUPS.index)
    return found


def _mixed(repeats: Sequence[Mapping[str, Any]]) -> bool:
    return len({each["outcome"] for each in repeats} & {"pass", "fail"}) == 2

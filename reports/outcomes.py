"""Reads what became of every item in every repeat of a quality run. Computes no score."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

from itembank.bank import Bank
from itembank.errors import UserError
from runner.store import RunFolder

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

FAIL, PASS, UNSCORABLE, ERROR, MISSING = range(5)
CODES = {"fail": FAIL, "pass": PASS, "unscorable": UNSCORABLE}


@dataclass(frozen=True, kw_only=True)
class Outcomes:
    """What became of every item in every repeat of one run."""

    name: str
    """The serving's name."""
    items: tuple[str, ...]
    """Item ids in the order of the plan."""
    dimensions: tuple[str, ...]
    """The dimension of each item."""
    grid: "NDArray[np.int8]"
    """Items x repeats: FAIL, PASS, UNSCORABLE, ERROR or MISSING."""
    reasons: Mapping[tuple[int, int], str]
    """By (item index, repeat index): why it is not a pass; an error's failure kind."""
    defects: Mapping[tuple[int, int], tuple[tuple[str, str], ...]]
    """By (item index, repeat index): (kind, evidence) of each defect, where there are any."""
    digests: Mapping[str, str]
    """The digest of each item as it was asked."""
    scorers: frozenset[tuple[str, int]]
    """Which scorers in which versions judged."""
    boots: tuple[int, ...]
    """The boot that answered each repeat."""

    @property
    def repeats(self) -> int:
        """How many repeats there are, complete or not."""
        return int(self.grid.shape[1])

    @cached_property
    def dimension_names(self) -> tuple[str, ...]:
        """Each dimension once, in the order of the plan."""
        return tuple(dict.fromkeys(self.dimensions))

    @cached_property
    def weights(self) -> "NDArray[np.float64]":
        """w_i = 1 / (D n_d): every dimension weighs the same, and every item within it; they sum to 1."""
        import numpy as np

        sizes = {name: self.dimensions.count(name) for name in self.dimension_names}
        return np.array([1.0 / (len(sizes) * sizes[name]) for name in self.dimensions])

    def first(self, repeats: int) -> "Outcomes":
        """The first `repeats` repeats alone, as a look sees them."""
        return replace(
            self,
            grid=self.grid[:, :repeats],
            reasons={key: value for key, value in self.reasons.items() if key[1] < repeats},
            defects={key: value for key, value in self.defects.items() if key[1] < repeats},
            boots=self.boots[:repeats],
        )

    def only(self, items: Sequence[str]) -> "Outcomes":
        """These items alone, in the order given."""
        places = [self.items.index(item) for item in items]
        moved = {place: row for row, place in enumerate(places)}
        return replace(
            self,
            items=tuple(items),
            dimensions=tuple(self.dimensions[place] for place in places),
            grid=self.grid[places],
            reasons={(moved[i], r): value for (i, r), value in self.reasons.items() if i in moved},
            defects={(moved[i], r): value for (i, r), value in self.defects.items() if i in moved},
        )

    def count(self, code: int) -> int:
        """How many (item, repeat) pairs ended as `code`."""
        return int((self.grid == code).sum())


def load_outcomes(run: RunFolder, bank: Bank | None = None) -> Outcomes:
    """The outcomes of a quality run; as many repeats as the plan has, or as were begun where it holds looks.

    Raises UserError for a ladder, for a plan without items and for damaged verdicts.
    """
    import numpy as np

    record = run.record
    if record.kind != "quality":
        raise UserError(f"{run.path} is a {record.kind} run; give a quality run (`triplicate run`)")
    items = tuple(str(item) for item in record.plan.get("items", ()))
    if not items:
        raise UserError(f"{run.path / 'run.json'}: the plan names no items; it is no quality run that can be read")
    places = {item: place for place, item in enumerate(items)}
    asked = [trial for trial in run.outlines() if trial.item_id in places]
    begun = max((trial.repeat for trial in asked), default=0)
    planned = int(record.plan.get("repeats", begun))
    repeats = begun if record.plan.get("looks") else max(planned, begun)
    grid = np.full((len(items), repeats), MISSING, np.int8)
    reasons: dict[tuple[int, int], str] = {}
    for trial in asked:
        key = places[trial.item_id], trial.repeat - 1
        grid[key] = ERROR
        reasons[key] = trial.failure or "not_judged"
    boots = {trial.repeat: trial.boot for trial in asked}
    found = _Judged({}, {}, set())
    for row in verdict_rows(run):
        place, repeat = places.get(row["item"]), row["repeat"] - 1
        if place is not None and repeat < repeats and grid[place, repeat] != MISSING:
            _enter(row, (place, repeat), grid, reasons, found)
    return Outcomes(
        name=str(record.serving.get("name", run.path.parent.name)),
        items=items,
        dimensions=tuple(_dimension(item, found.dimensions, run, bank) for item in items),
        grid=grid,
        reasons=reasons,
        defects=found.defects,
        digests={trial.item_id: trial.item_digest for trial in asked},
        scorers=frozenset(found.scorers),
        boots=tuple(boots.get(repeat, 1) for repeat in range(1, repeats + 1)),
    )


@dataclass(slots=True)
class _Judged:
    dimensions: dict[str, str]
    defects: dict[tuple[int, int], tuple[tuple[str, str], ...]]
    scorers: set[tuple[str, int]]


def _enter(
    row: Mapping[str, Any],
    key: tuple[int, int],
    grid: "NDArray[np.int8]",
    reasons: dict[tuple[int, int], str],
    found: _Judged,
) -> None:
    grid[key] = CODES[row["outcome"]]
    reasons.pop(key, None)
    found.defects.pop(key, None)
    if row["outcome"] != "pass":
        reasons[key] = str(row.get("reason", ""))
    if row.get("defects"):
        found.defects[key] = tuple((defect["kind"], defect["text"]) for defect in row["defects"])
    found.dimensions[row["item"]] = row["dimension"]
    found.scorers.add((str(row.get("scorer", "")), int(row.get("scorer_version", 0))))


def verdict_rows(run: RunFolder) -> Iterator[dict[str, Any]]:
    """The lines of verdicts.jsonl that are whole. Raises UserError naming one that is no verdict."""
    for number, row in enumerate(run.verdicts(), 1):
        known = row.get("outcome") in CODES and isinstance(row.get("item"), str) and "dimension" in row
        if not known or not isinstance(row.get("repeat"), int) or row["repeat"] < 1:
            where = run.path / "verdicts.jsonl"
            raise UserError(f"{where}:{number}: no verdict; `triplicate rescore {run.path}` writes the file anew")
        yield row


def _dimension(item: str, judged: Mapping[str, str], run: RunFolder, bank: Bank | None) -> str:
    """From the verdicts, else from the bank, else from the form `<dimension>-<nn>` of the id."""
    if item in judged:
        return judged[item]
    if bank is not None and item in bank.by_id:
        return bank.by_id[item].dimension
    prefix = item.rpartition("-")[0]
    return prefix if prefix in run.record.bank.get("dimensions", {}) else "unknown"

"""Minutes of a committee: decisions under numbered items, and later items that change earlier ones, or fail to.

Works come in pairs whose names differ in one detail. The facts hold the decisions as first minuted and every change
that was carried, in the order of the text; motions that were lost stand apart. It answers nothing.
"""

from collections.abc import Mapping
from typing import Any

from itembank.contexts._document import Dice, Document, estimated_tokens, swapped_digits

PEOPLE = (
    "Ada Kestrel",
    "Jon Marlow",
    "Jon Marlowe",
    "Ines Falk",
    "Pia Osterman",
    "Rufus Thane",
    "Selma Brook",
    "Selma Brooke",
    "Theo Varga",
    "Una Okafor",
    "Wim Dekker",
    "Yara Nasser",
)
WORKS = (
    "lighting of pier 4",
    "lighting of pier 14",
    "dredging of the inner basin",
    "dredging of the outer basin",
    "east slipway repairs",
    "west slipway repairs",
    "new fenders for quay C",
    "new fenders for quay G",
    "net loft roof",
    "net loft floor",
    "water main to berths 1 to 9",
    "water main to berths 10 to 19",
    "crane 2 overhaul",
    "crane 12 overhaul",
    "signal mast painting",
    "signal mast wiring",
    "fish hall drains",
    "fish hall doors",
    "ferry shelter glazing",
    "ferry shelter seating",
    "boiler of the tug Alma",
    "boiler of the tug Alba",
    "ice house ladder",
    "ice house lift",
    "bollards 20 to 28",
    "bollards 30 to 38",
    "weighbridge foundation",
    "weighbridge display",
    "sluice 3 chain",
    "sluice 8 chain",
    "tide board at the mole",
    "tide board at the mall",
)
MONTHS = ("January", "March", "May", "July", "September", "November")
ROOMS = ("the net loft", "the chart room", "the old customs house")
TALK = (
    "{a} reported that two offers had come in and that the cheaper one leaves out the scaffolding.",
    "{a} asked whether the work could wait until the herring season is over; {b} thought not.",
    "{b} recalled that a sum of {other} marks had been named in conversation; no such sum was ever put to the vote.",
    "{a} and {b} had been on site and found the estimate plausible.",
    "A letter from the ferry company was read out and taken to the file without comment.",
    "{b} would have preferred {c} to lead the work, but made no motion.",
    "The harbourmaster pointed out that the tide tables leave only a few mornings for it.",
    "{a} promised drawings in time for the next meeting.",
)
ASIDES = (
    "The window on the north side does not close; {a} will see to it.",
    "{a} thanked {b} for the coffee.",
    "The keys of the boat store were handed over from {a} to {b}.",
    "Two visitors from the sailing school listened and left before the vote.",
)


def document(*, seed: int, tokens: int) -> Document:
    """Minutes of about `tokens` tokens; facts: `decisions`, `changes`, `lost`, `meetings`, in the order of the text."""
    dice = Dice(seed)
    facts: dict[str, list[dict[str, Any]]] = {"decisions": [], "changes": [], "lost": [], "meetings": []}
    parts, size, meeting = ["MINUTES OF THE TERN QUAY HARBOUR COMMITTEE\n"], 12, 0
    free = dice.shuffled(WORKS)
    while size < tokens - 50:
        meeting += 1
        parts.append(_opening(dice, meeting, facts))
        size += estimated_tokens(parts[-1])
        for point in range(1, dice.between(5, 8)):
            ref = f"{meeting}.{point}"
            parts.append(_point(dice, ref, free, facts))
            size += estimated_tokens(parts[-1]) + 1
            if size >= tokens - 50:
                break
    return Document(text="\n".join(parts) + "\n", facts=facts)


def _opening(dice: Dice, meeting: int, facts: dict[str, list[dict[str, Any]]]) -> str:
    month, year = MONTHS[(meeting - 1) % 6], 2031 + (meeting - 1) // 6
    present = dice.shuffled(PEOPLE)[: dice.between(6, 9)]
    facts["meetings"].append({"meeting": meeting, "chair": present[0], "present": present})
    return (
        f"\nMeeting {meeting}, held on {dice.between(3, 27)} {month} {year} in {dice.pick(ROOMS)}.\n"
        f"Chair: {present[0]}. Present: {', '.join(present[1:])}.\n"
    )


def _point(dice: Dice, ref: str, free: list[str], facts: dict[str, list[dict[str, Any]]]) -> str:
    decisions = facts["decisions"]
    if free and (len(decisions) < 3 or dice.chance(0.45)):
        return _decision(dice, ref, free.pop(), facts)
    target = dice.pick(decisions)
    return _lost(dice, ref, target, facts) if dice.chance(0.25) else _carried(dice, ref, target, facts)


def _decision(dice: Dice, ref: str, work: str, facts: dict[str, list[dict[str, Any]]]) -> str:
    entry = {
        "ref": ref,
        "work": work,
        "sum": dice.between(21, 989) * 100 + 10 * dice.between(0, 9),
        "person": dice.pick(PEOPLE),
        "due": _date(dice, ref),
    }
    facts["decisions"].append(entry)
    text = (
        f"{ref} {work[0].upper()}{work[1:]}. {_talk(dice)} {_talk(dice)} Resolved: {entry['sum']:,} marks are granted"
        f" for the {work}; {entry['person']} is responsible and reports by {entry['due']}. {_aside(dice)}"
    )
    return text.rstrip()


def _carried(dice: Dice, ref: str, target: Mapping[str, Any], facts: dict[str, list[dict[str, Any]]]) -> str:
    field = dice.pick(("sum", "person", "due"))
    if field == "sum":
        value: Any = swapped_digits(target["sum"], dice) if dice.chance(0.5) else dice.between(2100, 98999) // 10 * 10
        said = f"the grant is {value:,} marks from now on"
    elif field == "person":
        value = dice.pick([person for person in PEOPLE if person != target["person"]])
        said = f"{value} is responsible from now on"
    else:
        value = _date(dice, ref)
        said = f"the report is due by {value} instead"
    facts["changes"].append({"ref": ref, "target": target["ref"], "field": field, "value": value})
    name = f"minute {target['ref']}" if dice.chance(0.5) else f"the {target['work']} (minute {target['ref']})"
    talk = _talk(dice)
    return f"{ref} Matters arising. {talk} On {name}, the committee carried the change: {said}. {_aside(dice)}".rstrip()


def _lost(dice: Dice, ref: str, target: Mapping[str, Any], facts: dict[str, list[dict[str, Any]]]) -> str:
    mover = dice.pick(PEOPLE)
    facts["lost"].append({"ref": ref, "target": target["ref"], "mover": mover})
    wish = dice.pick(
        (
            f"to raise the grant to {dice.between(2100, 98999) // 10 * 10:,} marks",
            f"to name {dice.pick(PEOPLE)} instead",
        )
    )
    return (
        f"{ref} Motion on the {target['work']}. {mover} moved {wish} (minute {target['ref']}). {_talk(dice)}"
        f" The motion was lost by {dice.between(4, 6)} votes to {dice.between(1, 3)}."
    )


def _talk(dice: Dice) -> str:
    a, b, c = dice.shuffled(PEOPLE)[:3]
    return dice.pick(TALK).format(a=a, b=b, c=c, other=f"{dice.between(2100, 98999) // 10 * 10:,}")


def _aside(dice: Dice) -> str:
    if not dice.chance(0.3):
        return ""
    a, b = dice.shuffled(PEOPLE)[:2]
    return dice.pick(ASIDES).format(a=a, b=b)


def _date(dice: Dice, ref: str) -> str:
    year = 2031 + (int(ref.split(".")[0]) - 1) // 6
    return f"{dice.between(1, 28)} {dice.pick(MONTHS)} {year + dice.between(1, 2)}"

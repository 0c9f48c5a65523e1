"""An account book: numbered payments, and later lines that void or correct them.

Some lines only look like a change (a void that was refused). Sums are in marks with two decimals, cents in the facts.
It answers nothing: the facts hold payments and changes in book order, and the reader replays them.
"""

from typing import Any

from itembank.contexts._document import Dice, Document, estimated_tokens, swapped_digits

PAYEES = {
    "Lindqvist & Son": ("Rigging", "Repairs", "Provisions"),
    "Lindqvist & Sons": ("Rigging", "Repairs", "Provisions"),
    "Marrow Lane Chandlers": ("Rigging", "Provisions", "Tools"),
    "Marrow Lane Chandlery": ("Rigging", "Provisions", "Tools"),
    "Oduya Marine": ("Repairs", "Fuel", "Harbour dues"),
    "Oduya Maritime": ("Repairs", "Fuel", "Harbour dues"),
    "Petrel Fuel Co.": ("Fuel", "Repairs", "Insurance"),
    "Petrel Fuels Co.": ("Fuel", "Repairs", "Insurance"),
    "Hask Timber": ("Timber", "Repairs", "Tools"),
    "Haske Timber": ("Timber", "Repairs", "Tools"),
    "Brandt, Ilse": ("Wages", "Provisions", "Repairs"),
    "Brand, Ilse": ("Wages", "Provisions", "Repairs"),
    "Quayside Tools 4": ("Tools", "Repairs", "Timber"),
    "Quayside Tools 14": ("Tools", "Repairs", "Timber"),
    "Norrie and Vance": ("Insurance", "Harbour dues", "Wages"),
    "Norris and Vance": ("Insurance", "Harbour dues", "Wages"),
}
PARTIES = tuple(PAYEES)
REMARKS = (
    "the scale in the north shed was tested; no entry is affected.",
    "vouchers of this week were counted twice and agree.",
    "{who} asked for {entry} to be voided; refused, the entry stands.",
    "{who} believes that {entry} should be higher; the receipt was checked and the entry is right.",
    "the auditor saw {entry} and had no comment.",
    "page turned; the balance is carried in pencil only and is not part of this book.",
)
CLERKS = ("R. Ames", "T. Osei", "L. Varga", "M. Duarte")
MONTHS = ("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec")
HEAD = """ACCOUNT BOOK OF THE TERN QUAY COOPERATIVE, 2031

How to read this book. A payment line has the entry number, the day, the account, the payee, the sum in marks and the
voucher. A line that voids an entry takes it out of the book for good. A line that corrects an entry replaces its sum,
its account or its payee; if an entry is corrected more than once, the last correction holds. Change lines have entry
numbers of their own but carry no sum. Remarks change nothing.
"""


def document(*, seed: int, tokens: int) -> Document:
    """A book of about `tokens` tokens; facts: `payments` and `changes`, each a list in book order, sums in cents."""
    dice = Dice(seed)
    lines, size, number = [HEAD], estimated_tokens(HEAD), 0
    payments: list[dict[str, Any]] = []
    changes: list[dict[str, Any]] = []
    while size < tokens:
        number += 1
        day = _day(size / tokens)
        change = _change(dice, number, payments) if len(payments) > 8 and dice.chance(0.13) else None
        if change is not None:
            changes.append(change)
            line = f"{number:04d} | {day} | {_change_text(change)}"
        else:
            payments.append(_payment(dice, number, day))
            line = _payment_text(payments[-1])
        if dice.chance(0.06) and payments:
            remark = dice.pick(REMARKS).format(who=dice.pick(CLERKS), entry=f"{dice.pick(payments)['number']:04d}")
            line += f"\nRemark: {remark}"
        lines.append(line)
        size += estimated_tokens(line) + 1
    return Document(text="\n".join(lines) + "\n", facts={"payments": payments, "changes": changes})


def _day(share: float) -> str:
    day = min(int(share * 360), 359)
    return f"{day % 30 + 1} {MONTHS[day // 30]}" if day // 30 != 1 else f"{min(day % 30 + 1, 28)} Feb"


def _payment(dice: Dice, number: int, day: str) -> dict[str, Any]:
    party = dice.pick(PARTIES)
    return {
        "number": number,
        "day": day,
        "account": dice.pick(PAYEES[party]),
        "party": party,
        "cents": dice.between(2_500, 999_999),
        "voucher": f"{dice.pick('KLMNP')}-{dice.between(1000, 9999)}",
    }


def _payment_text(entry: dict[str, Any]) -> str:
    sum_text = marks(entry["cents"])
    return (
        f"{entry['number']:04d} | {entry['day']} | {entry['account']} | {entry['party']} | {sum_text}"
        f" | voucher {entry['voucher']}"
    )


def _change(dice: Dice, number: int, payments: list[dict[str, Any]]) -> dict[str, Any]:
    target = dice.pick(payments[-40:])
    kind = dice.pick(("void", "cents", "cents", "account", "party"))
    value: Any = None
    if kind == "cents":
        value = swapped_digits(target["cents"], dice)
    elif kind == "account":
        value = dice.pick([account for account in PAYEES[target["party"]] if account != target["account"]])
    elif kind == "party":
        value = PARTIES[PARTIES.index(target["party"]) ^ 1]
    return {"number": number, "target": target["number"], "kind": kind, "value": value}


def _change_text(change: dict[str, Any]) -> str:
    target = f"{change['target']:04d}"
    if change["kind"] == "void":
        return f"voids {target}"
    if change["kind"] == "cents":
        return f"corrects {target}: the sum is {marks(change['value'])}"
    field = "account" if change["kind"] == "account" else "payee"
    return f"corrects {target}: the {field} is {change['value']}"


def marks(cents: int) -> str:
    """A sum as the book writes it.

    >>> marks(128450)
    '1,284.50'
    """
    return f"{cents // 100:,}.{cents % 100:02d}"

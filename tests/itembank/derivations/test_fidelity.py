"""Fidelity golds, derived by making the transformation that each prompt describes on the text that the prompt holds."""

import difflib
import re
import unicodedata
from fractions import Fraction
from pathlib import Path

import pytest

from itembank.bank import load_bank

ITEMS = {item.id: item for item in load_bank().items if item.dimension == "fidelity"}


def prompt(name: str) -> str:
    return str(ITEMS[name].messages[0]["content"])


def between_rules(text: str) -> str:
    _, block, _ = text.split("----------\n")
    return block.removesuffix("\n")


@pytest.mark.parametrize("name", ["fidelity-01", "fidelity-05"])
def test_copies(name: str) -> None:
    gold = ITEMS[name].expect["text"]
    assert gold == between_rules(prompt(name))
    assert unicodedata.normalize("NFC", gold) == gold
    assert not re.search(r"[\u200b-\u200f\u202a-\u202e\u00a0\u202f]|\d \d", gold), (
        "no space that a printed page could hide"
    )


def test_digests_have_close_neighbours() -> None:
    lines = ITEMS["fidelity-01"].expect["text"].splitlines()
    for one, other in zip(lines[::2], lines[1::2], strict=True):
        differing = [i for i in range(40) if one[i] != other[i]]
        assert len(differing) == 2
        assert difflib.SequenceMatcher(None, one[42:], other[42:]).ratio() > 0.7


def test_mixed_scripts_hold_look_alikes() -> None:
    names = {unicodedata.name(c).split()[0] for c in ITEMS["fidelity-05"].expect["text"].splitlines()[4] if c.isalpha()}
    assert names == {"GREEK", "LATIN", "CYRILLIC"}


def test_base_twelve() -> None:
    """Read back digit by digit, from the other end than a division writes them."""
    found = re.search(r"^(\d{31})$", prompt("fidelity-02"), re.MULTILINE)
    gold = ITEMS["fidelity-02"].expect["answers"][0]
    value, place = 0, 1
    for digit in reversed(gold):
        value += "0123456789ab".index(digit) * place
        place *= 12
    assert value == int(found[1])
    assert gold[0] != "0"
    assert f"has {len(gold)} digits" in prompt("fidelity-02")


def test_sorting() -> None:
    line = next(line for line in prompt("fidelity-03").splitlines() if line.count(",") == 59)
    marks = line.split(", ")
    assert len(set(marks)) == 60
    assert ", ".join(marks) == line

    def before(one: str, other: str) -> bool:
        """Rule after rule, as the prompt states them."""
        a, b = (re.fullmatch(r"([NSW])(\d+)([abc])-(\d+)", mark).groups() for mark in (one, other))
        if a[0] != b[0]:
            return a[0] == "S" or b[0] == "W"
        if a[3] != b[3]:
            return (int(a[3]) > int(b[3])) != (a[0] == "W")
        if a[1] != b[1]:
            return int(a[1]) < int(b[1])
        return (a[2] < b[2]) == (a[1][-1] in "02468")

    gold = ITEMS["fidelity-03"].expect["values"]
    assert sorted(gold) == sorted(marks)
    assert all(before(gold[i], gold[j]) for i in range(60) for j in range(i + 1, 60))


Square = dict[tuple[int, int], str]


def cells_of(name: str, number: int) -> list[tuple[int, int]]:
    """The places of a row or a column, from the left or from the top."""
    return [(number, i) if name == "row" else (i, number) for i in range(1, 13)]


def after(square: Square, step: str) -> Square:
    """What one step of the prompt makes of the square: for each place that changes, where its character comes from."""
    numbers = [int(number) for number in re.findall(r"\d+", step)]
    name = "column" if "column" in step else "row"
    source: dict[tuple[int, int], tuple[int, int]] = {}
    if step.startswith("Reverse the diagonal"):
        source = {(i, i): (13 - i, 13 - i) for i in range(1, 13)}
    elif step.startswith("In the square"):
        assert numbers == [5, 8, 5, 8]
        source = {(i, j): (j, i) for i in range(5, 9) for j in range(5, 9)}
    elif step.startswith("Exchange the square"):
        assert numbers == [1, 3, 1, 3, 10, 12, 10, 12]
        source = {(i, j): (i + 9, j + 9) for i in (1, 2, 3) for j in (1, 2, 3)}
        source |= {value: key for key, value in source.items()}
    elif step.startswith("Move"):
        cells = cells_of(name, numbers[0])
        by = numbers[1] * (1 if re.search("right|down", step) else -1)
        source = {cells[(i + by) % 12]: cells[i] for i in range(12)}
    elif step.startswith("Reverse"):
        cells = cells_of(name, numbers[0])
        source = dict(zip(cells, reversed(cells), strict=True))
    else:
        one, other = cells_of(name, numbers[0]), cells_of(name, numbers[1])
        source = dict(zip(other, one, strict=True))
        if step.startswith("Exchange"):
            source |= dict(zip(one, other, strict=True))
        else:
            assert step.startswith("Copy")
    return square | {place: square[origin] for place, origin in source.items()}


def test_square() -> None:
    text = prompt("fidelity-04")
    rows = [line for line in text.splitlines() if len(line) == 12 and " " not in line]
    assert len(rows) == 12
    square = {(i, j): rows[i - 1][j - 1] for i in range(1, 13) for j in range(1, 13)}
    steps = re.findall(r"^\d+\. (.+(?:\n +.+)?)$", text, re.MULTILINE)
    assert len(steps) == 22
    for step in steps:
        square = after(square, step)
    assert ITEMS["fidelity-04"].expect == {
        "answers": ["".join(square[place] for place in sorted(square))],
        "case": True,
    }
    letters = {character for character in "".join(rows) if character.isalpha()}
    assert {unicodedata.name(character).split()[0] for character in letters} == {"LATIN", "GREEK", "CYRILLIC"}
    assert not letters & set("аеорсухзγυνο"), "no two characters look the same"


def test_code_edits() -> None:
    """The eight edits, line by line; the result still runs and does what the edits say."""
    source = re.search(r"```python\n(.*?)```", prompt("fidelity-06"), re.DOTALL)[1]
    lines = []
    for line in source.splitlines():
        quoted = re.split(r'("[^"]*")', line)
        line = "".join(part if part.startswith('"') else re.sub(r"\bstay\b", "visit", part) for part in quoted)
        line = line.replace("night_rate=7", "night_rate=9").replace("if hours > ", "if hours >= ")
        line = line.partition("  #")[0].replace('"O0-l1"', "'0O-1l'")
        if line == "    return total":
            lines.append("        count += 1")
            line = "    return total, count"
        lines.append(line)
        if line == "    total = 0":
            lines.append("    count = 0")
    gold = ITEMS["fidelity-06"].expect["text"]
    assert gold == "\n".join(lines)
    names: dict[str, object] = {}
    exec(gold, names)

    class Visit:
        start, end, night, code = 0, 40, True, "0O-1l"

    assert names["fees"]([Visit, Visit]) == (2 * (30 * 9 - 5), 2)
    assert names["label"](Visit) == "stay 0O-1l: 40"


def test_counts_in_german() -> None:
    text = next(line for line in prompt("fidelity-07").splitlines() if line.startswith("Am Kai")).lower()
    counts = {"n": 0, "umlaut": 0, "ei": 0, "ie": 0, "three": 0, ",": 0, "t": 0, "words": 0, "double": 0, "r": 0}
    word = ""
    for previous, character in zip(" " + text, text + " ", strict=True):
        counts["n"] += character == "n"
        counts["t"] += character == "t"
        counts["r"] += character == "r"
        counts["umlaut"] += character in "äöü"
        counts[","] += character == ","
        counts["ei"] += previous + character == "ei"
        counts["ie"] += previous + character == "ie"
        if character.isalpha():
            word += character
        else:
            counts["three"] += len(word) == 3
            counts["words"] += word != ""
            counts["double"] += re.search(r"(\w)\1", word) is not None
            word = ""
    assert ITEMS["fidelity-07"].expect["values"] == [str(count) for count in counts.values()]


def test_product_by_long_multiplication() -> None:
    one, other = re.search(r"^(\d+) x (\d+)$", prompt("fidelity-08"), re.MULTILINE).groups()
    digits = [0] * (len(one) + len(other))
    for i, a in enumerate(reversed(one)):
        for j, b in enumerate(reversed(other)):
            digits[i + j] += int(a) * int(b)
    for i in range(len(digits) - 1):
        digits[i + 1] += digits[i] // 10
        digits[i] %= 10
    assert ITEMS["fidelity-08"].expect == {"value": "".join(map(str, reversed(digits))).lstrip("0")}


def test_sum_of_a_statement() -> None:
    rows = re.findall(r"^(Facture|Avoir) \d+ +(-?[\d ]+),(\d\d)$", prompt("fidelity-09"), re.MULTILINE)
    assert len(rows) == 16
    total = Fraction(0)
    for kind, whole, decimals in rows:
        assert (kind == "Avoir") == whole.startswith("-")
        amount = Fraction(f"{whole.lstrip('-').replace(' ', '')}.{decimals}")
        total += -amount if kind == "Avoir" else amount
    assert Fraction(ITEMS["fidelity-09"].expect["value"]) == total
    assert ITEMS["fidelity-09"].expect["decimal_comma"] is True


def test_shift_in_russian() -> None:
    lines = prompt("fidelity-10").splitlines()
    alphabet = next(line for line in lines if line.startswith("абвгд"))
    assert len(set(alphabet)) == 33
    source = next(line for line in lines if line.startswith("Объезд"))
    shifted = alphabet[4:] + alphabet[:4]
    gold = source.translate(str.maketrans(alphabet + alphabet.upper(), shifted + shifted.upper()))
    assert ITEMS["fidelity-10"].expect == {"answers": [gold], "case": True}


def derived() -> set[str]:
    text = Path(__file__).read_text("utf-8")
    return set(re.findall(r"fidelity-\d\d", text))


def test_every_item_is_derived() -> None:
    assert derived() == set(ITEMS)


def answer_of(text: str) -> str:
    """What stands behind the last `ANSWER:`, marks and quotes around it dropped: a reader of our own."""
    found = re.findall(r"(?im)^[\s>*#\d.\-]*answer\W*:\W*(.+?)[*`$.]*$", text)
    return found[-1] if found else ""


@pytest.mark.parametrize("name", ["fidelity-02", "fidelity-04", "fidelity-10"])
def test_examples_part_right_from_wrong(name: str) -> None:
    gold = ITEMS[name].expect["answers"][0]
    assert {answer_of(text) for text in ITEMS[name].accept} == {gold}
    assert gold not in {answer_of(text) for text in ITEMS[name].reject}

"""Each list of rules, recounted in plain Python: the hand-made texts keep all of them, the near misses do not.

The recount reads the rules of the prompt anew and shares nothing with the scorer; on hundreds of small changes of the
accepted texts the two must agree.
"""

import json
import random
import re
from collections.abc import Callable
from pathlib import Path

import pytest

from itembank.bank import load_bank
from scorers.judge import judge
from scorers.response import Response

ITEMS = {item.id: item for item in load_bank().items if item.dimension == "instruction_following"}
SMALL = set("abcdefghijklmnopqrstuvwxyz")
CAPITAL = {letter.upper() for letter in SMALL}
LETTERS = SMALL | CAPITAL


def visible(text: str) -> str:
    return text.rpartition("</think>")[2].strip()


def plain(word: str) -> bool:
    return word != "" and set(word) <= LETTERS


def small(word: str) -> bool:
    return word != "" and set(word) <= SMALL


def sentences(line: str, marks: str = ".") -> list[str] | None:
    """The sentences without their end marks; None where a sentence lacks one or has two."""
    found, current = [], ""
    for character in line:
        if character in marks:
            found.append(current)
            current = ""
        else:
            current += character
    if current or any(not text.strip() for text in found):
        return None
    if any(not text.startswith(" ") or text.startswith("  ") for text in found[1:]):
        return None
    return [found[0], *(text[1:] for text in found[1:])]


def notice_01(text: str) -> bool:
    lines = text.split("\n")
    if len(lines) != 12 or not all(line.endswith(".") for line in lines):
        return False
    rows = [line[:-1].split(" ") for line in lines]
    every = [word for row in rows for word in row]
    low = [word.lower() for word in every]
    return (
        [len(row) for row in rows] == [5, 6, 7] * 4
        and all(plain(word) and len(word) <= 8 for word in every)
        and "".join(row[0][0] for row in rows) == "SILVERPRINTS"
        and sum(c in CAPITAL for c in text) == 12
        and "o" not in text
        and len(set(low)) == 72
        and {"lamp", "fixer", "tray"} <= set(every)
        and every.index("lamp") < every.index("fixer") < every.index("tray")
        and 387 < len(text) < 391
    )


def ladder_02(text: str) -> bool:
    found = sentences(text)
    if "\n" in text or found is None or len(found) != 7:
        return False
    words = [sentence.split(" ") for sentence in found]
    every = [word for sentence in words for word in sentence]
    low = [word.lower() for word in every]
    return (
        [len(sentence) for sentence in words] == [4, 5, 6, 7, 8, 9, 10]
        and all(plain(word) and len(word) <= 7 for word in every)
        and all(sentence[0][0] in CAPITAL for sentence in words)
        and len(set(low)) == len(low)
        and "lantern" in every
        and "tide" in every
        and every.index("lantern") < every.index("tide")
        and "light" not in text.lower()
        and 267 < len(text) < 271
    )


def poem_03(text: str) -> bool:
    lines = text.split("\n")
    return (
        [len(line) for line in lines] == [5, 7, 5]
        and all("ぁ" <= c <= "ん" for line in lines for c in line)
        and [line[0] for line in lines] == ["あ", "き", "た"]
        and sum(text[i : i + 2] == "うみ" for i in range(len(text))) == 1
        and not set(text) & set("のをぁぃぅぇぉっゃゅょゎ")
        and lines[-1][-1] == "よ"
    )


def notice_04(text: str) -> bool:
    found = sentences(text)
    if "\n" in text or found is None or len(found) != 3:
        return False
    words = [sentence.split(" ") for sentence in found]
    return (
        [len(sentence) for sentence in words] == [8, 10, 6]
        and [sentence[0][:1] for sentence in words] == ["W", "E", "R"]
        and all(plain(word) and len(word) <= 10 for sentence in words for word in sentence)
        and text.count("Boot") == 2
        and "Boot" in found[2]
    )


def welcome_05(text: str) -> bool:
    lines = text.split("\n")
    if len(lines) != 4 or not all(line.endswith(".") for line in lines):
        return False
    words = [line[:-1].split(" ") for line in lines]
    return (
        [sentence[0][:1] for sentence in words] == list("NUIT")
        and all(len(sentence) == 6 for sentence in words)
        and all(set(sentence[0][1:]) <= SMALL and all(map(small, sentence[1:])) for sentence in words)
        and "a" not in text.lower()
        and text.lower().count("neige") == text.lower().count("soupe") == 1
        and [("neige" in line.lower(), "soupe" in line.lower()) for line in lines].count((True, True)) == 0
    )


def seasons_06(text: str) -> bool:
    lines = text.split("\n")
    letters = "".join(lines)
    return (
        [len(line) for line in lines] == [7, 7, 7, 7]
        and all("\u4e00" <= c <= "\u9fff" for c in letters)
        and [line[0] for line in lines] == list("春夏秋冬")
        and len(set(letters)) == 28
        and [("灯" in line) + 2 * ("船" in line) for line in sorted(lines)].count(3) == 0
        and {"灯", "船"} <= set(letters)
        and not set(letters) & set("的了是月花一二三四五六七八九十")
    )


def card_07(text: str) -> bool:
    try:
        card = json.loads(text)
    except ValueError:
        return False
    if "\n" in text or not isinstance(card, dict) or list(card) != ["title", "mood", "steps", "motto"]:
        return False
    title, steps = card["title"].split(" "), [step.split(" ") for step in card["steps"]]
    return (
        len(title) == 3
        and all(word[:1] == "B" and set(word[1:]) <= SMALL for word in title)
        and len(card["mood"]) == 7
        and small(card["mood"])
        and [len(step) for step in steps] == [5] * 4
        and all(small(word) for step in steps for word in step)
        and len(card["motto"]) == 24
        and set(card["motto"]) <= (LETTERS | {" "}) - {"e", "E"}
        and text.lower().count("the") <= 1
        and not any(c.isdigit() for c in text)
    )


def bees_08(text: str) -> bool:
    lines = text.split("\n")
    words = [line[2:].split(" ") for line in lines]
    every = [word for line in words for word in line]
    return (
        len(lines) == 11
        and all(line.startswith("- ") for line in lines)
        and all(len(line) == 5 and all(map(small, line)) for line in words)
        and [line[0][0] for line in words] == list("honeycombed")
        and {len(line[1]) for line in words} == {3}
        and {len(line[4]) for line in words} == {4}
        and "s" not in text
        and "bee" not in text
        and len(set(every)) == 55
        and 295 < len(text) < 299
    )


def story_09(text: str) -> bool:
    parts = text.split("\n\n")
    if len(parts) != 3 or any("\n" in part for part in parts):
        return False
    found = [sentences(part, ".?") for part in parts]
    if any(part is None or len(part) != 3 for part in found):
        return False
    marks = [c for c in text if not (c in LETTERS or c in " \n")]
    words = [[word for sentence in part for word in sentence.split(" ")] for part in found]
    bare = [[word.removesuffix(",") for word in part] for part in words]
    return (
        [c for c in marks if c != ","] == list("..?......")
        and marks.count(",") == 4
        and all("," in part for part in parts)
        and [len(part) for part in words] == [24, 24, 24]
        and all(plain(word) for part in bare for word in part)
        and all(sentence[0] in CAPITAL and not set(sentence[1:]) & CAPITAL for part in found for sentence in part)
        and not any(sentence.endswith(",") for part in found for sentence in part)
        and all(letter not in part.lower() for letter, part in zip("eao", parts, strict=True))
        and all(name in part for name, part in zip(("ship", "river", "bell"), bare, strict=True))
        and len(text) in (375, 376, 377)
    )


def packing_10(text: str) -> bool:
    lines = text.split("\n")
    if len(lines) != 7:
        return False
    title, things = lines[0].split(" "), [line.split(" ") for line in lines[1:6]]
    return (
        len(title) == 2
        and all(word and set(word) <= CAPITAL for word in title)
        and all(len(thing) == 3 for thing in things)
        and [thing[0] for thing in things] == ["1.", "2.", "3.", "4.", "5."]
        and [thing[1][:1] for thing in things] == list("bdfhk")
        and all(small(thing[1]) and small(thing[2]) for thing in things)
        and lines[6] == "Total: 5 items"
    )


RULES: dict[str, Callable[[str], bool]] = {
    "instruction_following-01": notice_01,
    "instruction_following-02": ladder_02,
    "instruction_following-03": poem_03,
    "instruction_following-04": notice_04,
    "instruction_following-05": welcome_05,
    "instruction_following-06": seasons_06,
    "instruction_following-07": card_07,
    "instruction_following-08": bees_08,
    "instruction_following-09": story_09,
    "instruction_following-10": packing_10,
}


def test_every_item_is_recounted() -> None:
    assert set(RULES) == set(ITEMS)


@pytest.mark.parametrize("name", RULES)
def test_recount(name: str) -> None:
    for text in ITEMS[name].accept:
        assert RULES[name](visible(text)), text
    for text in ITEMS[name].reject:
        assert not RULES[name](visible(text)), text
    assert len({visible(text) for text in ITEMS[name].accept}) >= 2, "at least two different texts"


@pytest.mark.parametrize("name", RULES)
def test_five_to_eight_rules(name: str) -> None:
    numbers = re.findall(r"^(\d)\. ", str(ITEMS[name].messages[0]["content"]), re.MULTILINE)
    assert numbers == [str(n) for n in range(1, len(numbers) + 1)]
    assert 5 <= len(numbers) <= 8


def changed(text: str, dice: random.Random) -> str:
    """A small slip: a word doubled, dropped, exchanged or spelled otherwise, two lines exchanged, a mark lost."""
    place = dice.randrange(len(text))
    words = text.split(" ")
    lines = text.split("\n")
    slip = dice.randrange(7)
    if slip == 0:
        return text[:place] + text[place + 1 :]
    if slip == 1:
        return text[:place] + dice.choice("aeksr.,;-1 A船のあ") + text[place + 1 :]
    if slip == 2:
        return text[:place] + dice.choice("aeksr.,?'1Eé灯よ") + text[place:]
    if slip == 3:
        i = dice.randrange(len(words))
        return " ".join(words[:i] + words[i + 1 :])
    if slip == 4:
        i = dice.randrange(len(words))
        return " ".join([*words[: i + 1], *words[i:]])
    if slip == 5:
        i, j = dice.randrange(len(words)), dice.randrange(len(words))
        words[i], words[j] = words[j], words[i]
        return " ".join(words)
    i, j = dice.randrange(len(lines)), dice.randrange(len(lines))
    lines[i], lines[j] = lines[j], lines[i]
    return "\n".join(lines)


@pytest.mark.parametrize("name", RULES)
def test_the_scorer_and_the_recount_agree(name: str) -> None:
    dice = random.Random(name)
    texts = sorted({visible(text) for text in ITEMS[name].accept})
    outcomes = set()
    for _ in range(150):
        text = changed(dice.choice(texts), dice).strip()
        verdict = judge(ITEMS[name], Response(text=text))
        assert (verdict.outcome == "pass") == RULES[name](text), (text, verdict.detail)
        outcomes.add(verdict.outcome)
    assert "fail" in outcomes


def test_the_prompts_state_what_is_counted() -> None:
    """Words that the rules turn on stand in the prompt itself."""
    for name, words in {
        "01": ["SILVERPRINTS", "lamp", "letter o"],
        "03": ["あきた", "うみ"],
        "05": ["NUIT", "neige", "soupe"],
        "06": ["春", "灯", "船"],
        "10": ["Total: 5 items"],
    }.items():
        prompt = ITEMS[f"instruction_following-{name}"].messages[0]["content"]
        assert all(word in prompt for word in words)


def test_this_file_names_every_item() -> None:
    assert len(re.findall(r'"instruction_following-\d\d": ', Path(__file__).read_text("utf-8"))) == 10

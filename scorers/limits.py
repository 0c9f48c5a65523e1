"""The checks that a `constraints` item is made of: each tells what is broken and by how much. Decides no outcome.

A check is a function of the judged text, NFC and stripped, and of its own parameters. It returns a sentence, which is
empty where the check holds. `min` and `max` are inclusive and either may be missing.
"""

import re
import unicodedata
from collections import Counter
from collections.abc import Mapping
from typing import Any

from scorers import counting, patterns
from scorers.jsontext import parse

Parameters = Mapping[str, Any]
BULLET = re.compile(r"\s*(?:[-*]\s|•|[0-9]{1,4}\.\s)")
SCRIPTS = {"japanese": ("Han", "Hiragana", "Katakana"), "kana": ("Hiragana", "Katakana"), "korean": ("Hangul",)}


def _within(count: int, noun: str, given: Parameters) -> str:
    least, most = given.get("min"), given.get("max")
    if least is not None and count < least:
        return f"{count} {noun}, at least {least} asked ({least - count} too few)"
    if most is not None and count > most:
        return f"{count} {noun}, at most {most} asked ({count - most} too many)"
    return ""


def _folded(text: str, given: Parameters) -> str:
    """NFC, casefolded where case is ignored."""
    text = unicodedata.normalize("NFC", text)
    return text.casefold() if given.get("ignore_case") else text


def word_count(text: str, given: Parameters) -> str:
    """Words as `counting.words` has them."""
    return _within(len(counting.words(text)), "words", given)


def sentence_count(text: str, given: Parameters) -> str:
    """Sentences as `counting.sentences` has them."""
    return _within(len(counting.sentences(text)), "sentences", given)


def line_count(text: str, given: Parameters) -> str:
    """Lines that are not blank."""
    return _within(len(counting.lines(text)), "lines", given)


def paragraph_count(text: str, given: Parameters) -> str:
    """Blocks parted by blank lines."""
    return _within(len(counting.paragraphs(text)), "paragraphs", given)


def char_count(text: str, given: Parameters) -> str:
    """Code points after NFC."""
    return _within(len(text), "characters", given)


def contains(text: str, given: Parameters) -> str:
    """The text occurs."""
    return "" if _folded(given["text"], given) in _folded(text, given) else f"{given['text']!r} does not occur"


def excludes(text: str, given: Parameters) -> str:
    """The text does not occur."""
    times = _folded(text, given).count(_folded(given["text"], given))
    return f"{given['text']!r} occurs {times} times" if times else ""


def starts_with(text: str, given: Parameters) -> str:
    """The answer starts with the text."""
    right = _folded(given["text"], {})
    return "" if text.startswith(right) else f"starts with {text[: len(right)]!r}, not {right!r}"


def ends_with(text: str, given: Parameters) -> str:
    """The answer ends with the text."""
    right = _folded(given["text"], {})
    return "" if text.endswith(right) else f"ends with {text[-len(right) :]!r}, not {right!r}"


def count_of(text: str, given: Parameters) -> str:
    """Occurrences that do not overlap."""
    return _within(_folded(text, given).count(_folded(given["text"], given)), f"times {given['text']!r}", given)


def forbidden_chars(text: str, given: Parameters) -> str:
    """None of the characters occurs; both cases only where both are listed."""
    counts = Counter(text)
    found = {character: counts[character] for character in _folded(given["chars"], {}) if counts[character]}
    return ", ".join(f"{character!r} occurs {times} times" for character, times in found.items())


def case(text: str, given: Parameters) -> str:
    """No letter of the other case; in title case a word's first letter is upper and letters behind a letter lower."""
    value = given["value"]
    if value == "title":
        wrong = [word for word in text.split() if not _is_title(word)]
        return f"{len(wrong)} words are not in title case, first {wrong[0]!r}" if wrong else ""
    other = [letter for letter in text if (letter.islower() if value == "upper" else letter.isupper())]
    return f"{len(other)} letters are not {value} case, first {other[0]!r}" if other else ""


def _is_title(word: str) -> bool:
    letters = [(place, letter) for place, letter in enumerate(word) if letter.isalpha()]
    if not letters:
        return True
    later = [letter for place, letter in letters[1:] if word[place - 1].isalpha()]
    return not letters[0][1].islower() and not any(letter.isupper() for letter in later)


def acrostic(text: str, given: Parameters) -> str:
    """The first letters of all lines, sentences or words, in order, are the word; case is ignored."""
    parts = {"line": counting.lines, "sentence": counting.sentences, "word": counting.words}
    letters = "".join(counting.first_letter(part) for part in parts[given.get("unit", "line")](text))
    right = "".join(letter for letter in _folded(given["word"], {}) if letter.isalpha())
    return "" if letters.casefold() == right.casefold() else f"the first letters are {letters[:60]!r}, not {right!r}"


def regex(text: str, given: Parameters) -> str:
    """The pattern is found, or is the whole with `mode: fullmatch`; linear-time engine."""
    full = given.get("mode", "search") == "fullmatch"
    holds = (patterns.matched if full else patterns.found)(given["pattern"], text)
    return "" if holds else f"{given['pattern']!r} {'is not the whole answer' if full else 'is not found'}"


def ordered(text: str, given: Parameters) -> str:
    """The values occur in this order, each behind the one before it."""
    whole, place = _folded(text, given), 0
    for value in given["values"]:
        right = _folded(value, given)
        found = whole.find(right, place)
        if found < 0:
            return f"{value!r} does not occur {'in its place' if right in whole else 'at all'}"
        place = found + len(right)
    return ""


def json_only(text: str, given: Parameters) -> str:
    """The whole answer is one JSON value."""
    return parse(text).fault


def bullets(text: str, given: Parameters) -> str:
    """Lines that start with `-`, `*`, `•`, or a number and a full stop, and white space."""
    return _within(sum(BULLET.match(line) is not None for line in counting.lines(text)), "bullets", given)


def language_script(text: str, given: Parameters) -> str:
    """The share of letters that belong to the script; letters that all scripts share are not counted."""
    letters = "".join(letter for letter in text if letter.isalpha())
    total = len(letters) - patterns.count(r"[\p{Common}\p{Inherited}]", letters)
    inside, least = patterns.count(script_class(given["script"]), letters), given.get("min_share", 1.0)
    if total and inside / total >= least:
        return ""
    return f"{inside} of {total} letters are {given['script']}, a share of {least} asked"


def script_class(script: str) -> str:
    """The pattern of one letter of a Unicode script, or of a language's scripts."""
    names = SCRIPTS.get(script.casefold(), ("_".join(part.capitalize() for part in script.split("_")),))
    return "[" + "".join(rf"\p{{{name}}}" for name in names) + "]"


def unique_words(text: str, given: Parameters) -> str:
    """Distinct words over words, without the punctuation around them and whatever their case."""
    counts = Counter(counting.bare_word(word) for word in counting.words(text))
    total, least = sum(counts.values()), given.get("min_share", 1.0)
    if total and len(counts) / total >= least:
        return ""
    again = [word for word, times in counts.most_common(3) if times > 1]
    return f"{len(counts)} of {total} words are distinct, a share of {least} asked; repeated: {', '.join(again)}"


def line_pattern(text: str, given: Parameters) -> str:
    """Every line that is not blank matches as a whole; linear-time engine."""
    wrong = [line for line in counting.lines(text) if not patterns.matched(given["pattern"], line)]
    return f"{len(wrong)} lines do not match {given['pattern']!r}, first {wrong[0][:60]!r}" if wrong else ""

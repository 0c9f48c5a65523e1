"""What a word, a sentence, a line and a paragraph are, in scripts with and without spaces. Judges nothing.

word        a run of characters between white space that holds a letter or digit; in Han, Kana and Thai, which are
            written without spaces, each character is one (marks above and below count with their letter)
sentence    ends in . ! ? 。 ！ ？ । ؟ before white space, a closing quote or bracket, or the end, but not in a number
            and not after an abbreviation listed here, unless the text ends there; text behind the last end is none
line        holds a character that is not white space
paragraph   lines that no blank line parts
"""

import re
import unicodedata

HAN = "\u2e80-\u2fdf\u3005\u3007\u3021-\u3029\u3038-\u303b\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff"
KANA = "\u3041-\u3096\u309d-\u309f\u30a1-\u30fa\u30fc-\u30ff\u31f0-\u31ff\uff66-\uff9d"
UNSPACED = f"{HAN}{KANA}\u0e01-\u0e30\u0e32\u0e33\u0e40-\u0e46"
"""Han, Kana and the letters of Thai, as a class of characters."""
THAI_MARKS = "\u0e31\u0e34-\u0e3a\u0e47-\u0e4e"
WORD_PIECE = re.compile(rf"[{UNSPACED}][{THAI_MARKS}]*|[^{UNSPACED}]+")
LINE_END = re.compile(r"\r\n|\n|\r")
_MORE, _CLOSING = r"[.!?。！？।؟…]{0,50}+", r"[\"'”’»)\]}」』）*_`]{0,20}+"
SENTENCE_END = re.compile(rf"[.!?]{_MORE}{_CLOSING}(?=\s|\Z|[{UNSPACED}])|[。！？।؟]{_MORE}{_CLOSING}")
ABBREVIATIONS = frozenset(
    {
        "mr",
        "mrs",
        "ms",
        "dr",
        "prof",
        "st",
        "sr",
        "jr",
        "rev",
        "hon",
        "messrs",
        "vs",
        "etc",
        "e.g",
        "i.e",
        "cf",
        "approx",
    }
    | {"inc", "ltd", "corp", "a.m", "p.m", "u.s", "u.k", "e.u", "u.n", "ph.d", "bzw", "usw", "z.b", "d.h", "u.a", "ca"}
    | {"approx", "bspw", "evtl", "ggf", "inkl", "vgl", "mme", "mlle", "sra", "dra", "av"}
)
NUMBERED = frozenset(
    {"no", "nos", "nr", "vol", "fig", "figs", "p", "pp", "ch", "sec", "eq", "núm", "pág"}
    | {"jan", "feb", "apr", "aug", "sept", "oct", "nov", "dec"}
)
"""Abbreviations only before a number, since `no` and `sec` are words too."""


def lines(text: str) -> list[str]:
    """The lines that are not blank."""
    return [line for line in LINE_END.split(text) if line.strip()]


def paragraphs(text: str) -> list[str]:
    """The blocks parted by blank lines."""
    blocks = re.split(r"\n(?:[^\S\n]*\n)+", "\n".join(LINE_END.split(text)))
    return [block for block in blocks if block.strip()]


def words(text: str) -> list[str]:
    """The words in order.

    >>> words("It's 7 o'clock -- 日本 だ。")
    ["It's", '7', "o'clock", '日', '本', 'だ']
    """
    pieces = (piece for run in unicodedata.normalize("NFC", text).split() for piece in WORD_PIECE.findall(run))
    return [piece for piece in pieces if any(character.isalnum() for character in piece)]


def bare_word(word: str) -> str:
    """A word without the punctuation around it, casefolded.

    >>> bare_word('"Lantern,')
    'lantern'
    """
    kept = [place for place, character in enumerate(word) if character.isalnum()]
    return word[kept[0] : kept[-1] + 1].casefold() if kept else word


def sentences(text: str) -> list[str]:
    """The sentences in order, each up to its end.

    >>> sentences("Dr. Ito paid 3.50. Really?! 是的。好")
    ['Dr. Ito paid 3.50.', 'Really?!', '是的。']
    """
    found, start = [], 0
    for end in SENTENCE_END.finditer(text):
        if not _is_abbreviation(text, start, end):
            found.append(text[start : end.end()].strip())
            start = end.end()
    return found


def first_letter(text: str) -> str:
    """The first letter of a text; empty where it has none."""
    return next((character for character in text if character.isalpha()), "")


def _is_abbreviation(text: str, start: int, end: re.Match[str]) -> bool:
    """Whether a full stop belongs to an abbreviation or to the number of a list and ends no sentence."""
    if end.group()[0] != "." or not text[end.end() :].strip():
        return False
    before = text[max(start, end.start() - 20) : end.start()]
    word = re.search(r"[^\s(\[{\"'“‘„«/-]*\Z", before)
    last = word.group().casefold() if word else ""
    line = text[text.rfind("\n", 0, end.start()) + 1 : end.start()]
    if last in NUMBERED and text[end.end() :].lstrip()[0].isdigit():
        return True
    return last in ABBREVIATIONS or re.fullmatch(r"[\s>*#-]*[0-9]{1,3}", line) is not None

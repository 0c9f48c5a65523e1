import pytest
from hypothesis import given
from hypothesis import strategies as st

from scorers.counting import bare_word, first_letter, lines, paragraphs, sentences, words


@pytest.mark.parametrize(
    ("text", "count"),
    [
        ("One two  three\nfour", 4),
        ("well-known o'clock e.g. 3.50", 4),
        ("-- ... * 7 *", 1),
        ("日本は美しい。", 6),
        ("Python入門 v2", 4),
        ("カタカナー々", 6),
        ("ｶﾀ", 2),
        ("ก็กา", 3),
        ("한국어 문장", 2),
        ("über Ελλάδα", 2),
        ("e\u0301te\u0301", 1),
        ("𠀀𠀁", 2),
        ("", 0),
    ],
)
def test_words(text: str, count: int) -> None:
    assert len(words(text)) == count


@pytest.mark.parametrize(
    ("text", "count"),
    [
        ("One. Two! Three?", 3),
        ("One two three", 0),
        ("One... Two?! Three!!!", 3),
        ('He said "Stop." Then (he left.) **Bold.** End', 3),
        ("Dr. Ito met Mrs. Abe at 3 p.m. today, i.e. early.", 1),
        ("We met at 3 p.m.", 1),
        ("We bring pens, paper, etc.\n", 1),
        ("It costs 3.50 or 1.000.000 in all.", 1),
        ("See example.com/a.b?c=d now.", 1),
        ("See No. 5 and Fig. 2. I said no. You said yes.", 3),
        ("1. First thing.\n2. Second thing.\n  10. Third.", 3),
        ("これは本です。あれも！そう？", 3),
        ("「はい。」と言った。", 2),
        ("Really?是的。", 2),
        ("यह एक है। वह दो है।", 2),
        ("هل هذا صحيح؟ نعم.", 2),
        ("." * 120, 1),
        ("", 0),
    ],
)
def test_sentences(text: str, count: int) -> None:
    assert len(sentences(text)) == count, sentences(text)


def test_lines_and_paragraphs() -> None:
    text = "a\r\nb\n \t\n\nc\rd\n\n\n"
    assert lines(text) == ["a", "b", "c", "d"]
    assert paragraphs(text) == ["a\nb", "c\nd"]
    assert paragraphs("") == lines(" \n ") == []


def test_letters_and_bare_words() -> None:
    assert first_letter("- **1. Über") == "Ü"
    assert first_letter("123 !") == ""
    assert bare_word("(Don't!)") == "don't"
    assert bare_word("--") == "--"


@given(st.lists(st.sampled_from(["one", "Two", "x1", "été", "3.5"])))
def test_words_are_what_was_joined(parts: list[str]) -> None:
    assert words("  ".join(parts)) == parts


@given(st.lists(st.sampled_from(["One two.", "Why not?", "Stop!", "It is 3.5 m."]), min_size=1))
def test_sentences_are_what_was_joined(parts: list[str]) -> None:
    assert sentences(" ".join(parts)) == parts

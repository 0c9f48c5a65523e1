import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from scorers.loops import LENGTH, TIMES, repeated_unit


@pytest.mark.parametrize("size", [1, 2, 3, 7, 32, 33, 49, 50, 51, 64, 100, 199, 200])
@pytest.mark.parametrize("before", [0, 1, 57, 199, 200, 333])
def test_units_of_every_size_anywhere(size: int, before: int) -> None:
    unit = "".join(chr(0x4E00 + at) for at in range(size))
    prefix = "".join(chr(0x3041 + at % 80) + chr(0xAC00 + at) for at in range(before))[:before]
    needed = max(LENGTH, TIMES * size)
    whole = (unit * (needed // size + 1))[:needed]
    found = repeated_unit(f"{prefix}{whole}!")
    assert len(found) == size and found in unit * 2
    assert repeated_unit(f"{prefix}{whole[:-1]}!") == ""


def test_honest_text_is_no_loop() -> None:
    assert repeated_unit("") == repeated_unit("short") == ""
    assert repeated_unit(", ".join(str(number) for number in range(2000))) == ""
    assert repeated_unit("| " + " | ".join("---" for _ in range(60)) + " |") == ""
    assert repeated_unit(("x" * 201) * 30) == "x"
    distinct = "".join(chr(0x4E00 + at) for at in range(201))
    assert repeated_unit(distinct * 30) == ""


def looked_for(text: str) -> bool:
    """The definition, by trying every unit everywhere."""
    for size in range(1, 201):
        run = 0
        for at in range(size, len(text)):
            run = run + 1 if text[at] == text[at - size] else 0
            if run + size >= max(LENGTH, TIMES * size):
                return True
    return False


@settings(max_examples=30, deadline=None)
@given(
    st.text(alphabet="ab", max_size=150),
    st.text(alphabet="abc", min_size=1, max_size=60),
    st.integers(min_value=330, max_value=480),
    st.text(alphabet="ab", max_size=150),
)
def test_it_finds_what_the_definition_finds(before: str, unit: str, length: int, after: str) -> None:
    text = before + (unit * length)[:length] + after
    assert bool(repeated_unit(text)) == looked_for(text)


def test_nearly_repeating_text_takes_linear_time() -> None:
    start = time.process_time()
    for text in ("a" * 399 + "b", "ab" * 199 + "c", "-" * 190 + "\n", "ab" * 99 + "a", "abcdefghijklmnopqr" * 21 + "s"):
        repeated_unit((text * (200_000 // len(text)))[:200_000])
    assert time.process_time() - start < 2

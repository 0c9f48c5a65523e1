"""Generated documents: same seed, same bytes; the stated size holds; the facts are what the text says."""

import hashlib
import subprocess
import sys
import time

import pytest

import itembank.contexts
from itembank import plugins
from itembank.bank import context_text
from itembank.contexts._document import Dice, estimated_tokens, swapped_digits

NAMES = plugins.names(itembank.contexts)


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("tokens", [1000, 4000, 8000, 16000, 32000])
def test_size_holds(name: str, tokens: int) -> None:
    for seed in (1, 2):
        text = context_text({"name": name, "seed": seed, "tokens": tokens})
        assert abs(estimated_tokens(text) - tokens) <= tokens * 0.1


@pytest.mark.parametrize("name", NAMES)
def test_same_seed_same_bytes(name: str) -> None:
    """Also in another process with other hash seeds."""
    context = {"name": name, "seed": 77, "tokens": 3000}
    here = hashlib.sha256(context_text(context).encode()).hexdigest()
    code = (
        "import hashlib; from itembank.bank import context_text as text;"
        f"print(hashlib.sha256(text({context!r}).encode()).hexdigest())"
    )
    there = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=60)
    assert there.stdout.strip() == here
    assert context_text({**context, "seed": 78}) != context_text(context)


@pytest.mark.parametrize("name", NAMES)
def test_text_is_readable(name: str) -> None:
    text = context_text({"name": name, "seed": 5, "tokens": 4000})
    assert text.isascii()
    assert text.endswith("\n")
    assert max(len(line) for line in text.splitlines()) <= 600
    assert "{" not in text or name == "source_tree"


def test_rule_of_thumb_on_known_texts() -> None:
    """Counts as byte-pair tokenizers cut: words, groups of three digits, runs of marks."""
    assert estimated_tokens("the cat sat") == 3
    assert estimated_tokens("12345678") == 3
    assert estimated_tokens("extraordinarily") == 2
    assert estimated_tokens("a, b.\n") == 5
    assert estimated_tokens("") == 0


def test_dice_keep_their_sequence() -> None:
    dice = Dice(3)
    low_high = [dice.between(1, 3) for _ in range(300)]
    assert set(low_high) == {1, 2, 3}
    assert sorted(dice.shuffled("abc")) == ["a", "b", "c"]
    assert not dice.chance(0.0)
    assert Dice(4).pick("xyz") == Dice(4).pick("xyz")


def test_a_slip_of_the_pen_changes_the_number() -> None:
    dice = Dice(9)
    for value in (1284, 128450, 98765432):
        slip = swapped_digits(value, dice)
        assert slip != value
        assert sorted(str(slip)) == sorted(str(value))
    assert swapped_digits(1111, dice) == 1120
    assert swapped_digits(7, dice) == 16


def test_all_kinds_together_are_fast() -> None:
    """A guard against accidents of another order of magnitude; the real figure is measured by `make bench`."""
    started = time.process_time()
    for name in NAMES:
        context_text({"name": name, "seed": 1, "tokens": 32000})
    assert time.process_time() - started < 2

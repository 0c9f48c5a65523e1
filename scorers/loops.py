"""Finds text that repeats itself without end. Says nothing of text that merely resembles itself."""

LONGEST_UNIT = 200
TIMES = 8
LENGTH = 400
_PROBE = 32


def repeated_unit(text: str) -> str:
    """The unit of 1 to 200 characters that repeats without a gap for 8 times and 400 characters; empty without one.

    Every such stretch holds an aligned block of 200 characters, so a probe at each block's start finds its period.
    Within a stretch that is too short, the multiples of its period have the same bounds and are passed over.
    """
    for start in range(0, len(text) - _PROBE, LENGTH // 2):
        probe = text[start : start + _PROBE]
        again = text.find(probe, start + 1, start + LONGEST_UNIT + _PROBE)
        while again >= 0:
            period = again - start
            first, end = _stretch(text, start, period)
            if end - first >= max(LENGTH, TIMES * period):
                return text[first : first + period]
            inside = end - _PROBE if period <= _PROBE // 2 else again
            again = text.find(probe, max(again, inside) + 1, start + LONGEST_UNIT + _PROBE)
    return ""


def _stretch(text: str, start: int, period: int) -> tuple[int, int]:
    """The bounds of the stretch around `start` in which every character equals the one `period` further on.

    Looked for no further than a stretch must be long.
    """
    reach = max(LENGTH, TIMES * period)
    ahead = _common(text[start : start + reach], text[start + period : start + period + reach])
    before, shifted = text[max(0, start - reach) : start], text[max(0, start - reach) + period : start + period]
    behind = _common(before[::-1], shifted[::-1])
    return start - behind, start + period + ahead


def _common(one: str, other: str) -> int:
    """The length of the longest common beginning."""
    low, high = 0, min(len(one), len(other))
    while low < high:
        middle = (low + high + 1) // 2
        if one[low:middle] == other[low:middle]:
            low = middle
        else:
            high = middle - 1
    return low

"""Solutions that the python method judges in a second of processor time, its own and its children's. Target: 15."""

import os
import time

from scorers.methods.python import score
from scorers.processes import close_idle
from scorers.response import Response

TARGET_PER_S = 15
ROUNDS = 60
CODE = """```python
from collections import Counter
import re

def most_common_words(text, k):
    words = re.findall(r"[a-z]+", text.lower())
    return sorted(Counter(words).items(), key=lambda pair: (-pair[1], pair[0]))[:k]
```"""
EXPECT = {
    "entry": "most_common_words",
    "tests": [
        {"args": ["a b a c b a", 2], "returns": [["a", 3], ["b", 2]]},
        {"args": ["", 3], "returns": []},
        {"args": ["x y", -1], "returns": [["x", 1]]},
        {"args": [None, 1], "raises": "AttributeError"},
    ],
}


def main() -> int:
    """Print the rate; 1 if it misses the target."""
    assert score(EXPECT, Response(text=CODE)).outcome == "pass"
    close_idle()
    start, used = time.perf_counter(), sum(os.times()[:4])
    for _ in range(ROUNDS):
        score(EXPECT, Response(text=CODE))
    seconds = time.perf_counter() - start
    close_idle()  # a child's time is counted when it has ended
    rate = ROUNDS / (sum(os.times()[:4]) - used)
    print(f"{rate:.1f} solutions a second of one core (target {TARGET_PER_S})")
    print(f"{ROUNDS / seconds:.1f} solutions a second by the clock, one after the other")
    return int(rate < TARGET_PER_S)

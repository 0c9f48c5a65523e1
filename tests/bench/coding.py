"""Solutions a second that the python method judges, one after the other on one core. Target: 15."""

import time

from scorers.methods.python import score
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
    start = time.perf_counter()
    for _ in range(ROUNDS):
        score(EXPECT, Response(text=CODE))
    rate = ROUNDS / (time.perf_counter() - start)
    print(f"{rate:.1f} solutions a second, one at a time (target {TARGET_PER_S})")
    return int(rate < TARGET_PER_S)

"""Time of one verdict of the math method, over the kinds that it reads; beside math-verify where that is installed.

Target: at least twice as fast as math-verify on the same pairs in one run. It is no dependency: give the interpreter of
an environment that has it in MATH_VERIFY_PYTHON.
"""

import json
import os
import statistics
import subprocess
import time

from scorers.methods.math import score
from scorers.response import Response

PAIRS = [
    ("expression", "\\frac{3\\sqrt{2}}{4}", "3*sqrt(2)/4"),
    ("expression", "\\dfrac{1}{2}", "1/2"),
    ("expression", "1,000", "1000"),
    ("expression", "2x^2 - 3x + 1", "(2*x - 1)*(x - 1)"),
    ("expression", "\\sin(2x)", "2*sin(x)*cos(x)"),
    ("expression", "e^{16} - 1", "exp(16) - 1"),
    ("expression", "\\log_2 8", "3"),
    ("expression", "\\frac{\\pi}{3}", "pi/3"),
    ("expression", "7", "8"),
    ("expression", "x^2 + 1", "x^2 - 1"),
    ("set", "\\{1, \\sqrt{2}, 3\\}", "{3, 1, sqrt(2)}"),
    ("set", "\\{1, 2\\}", "{1, 3}"),
    ("interval", "[0, 1) \\cup (2, \\infty)", "(2, oo) U [0, 1)"),
    ("interval", "(-\\infty, \\frac{1}{2}]", "(-oo, 0.5]"),
    ("tuple", "(1, \\frac{3}{2})", "(1, 1.5)"),
    ("matrix", "\\begin{pmatrix} 1 & 2 \\\\ 3 & 4 \\end{pmatrix}", "[[1, 2], [3, 4]]"),
    ("equation", "2y - 4x = 2", "y = 2*x + 1"),
]
ROUNDS = 20
THEIRS = """
import json, sys, time, logging
logging.disable(logging.CRITICAL)
from math_verify import parse, verify
pairs = json.load(sys.stdin)
spent = []
for turn in range(3):
    for kind, answer, gold in pairs:
        start = time.perf_counter()
        verify(parse(f"${gold}$"), parse(f"${answer}$"))
        spent.append(time.perf_counter() - start)
print(json.dumps(spent[len(pairs):]))
"""


def main() -> int:
    """Print both means; 1 if ours is not at least twice as fast."""
    ours = []
    for turn in range(ROUNDS):
        for kind, answer, gold in PAIRS:
            start = time.perf_counter()
            score({"value": gold, "kind": kind}, Response(text=f"ANSWER: {answer}"))
            if turn:
                ours.append(time.perf_counter() - start)
    print(f"ours         {shown_ms(ours)}")
    python = os.environ.get("MATH_VERIFY_PYTHON")
    if not python:
        print("math-verify  not measured: MATH_VERIFY_PYTHON is not set")
        return 0
    command = [python, "-W", "ignore", "-c", THEIRS]
    ran = subprocess.run(command, input=json.dumps(PAIRS), capture_output=True, text=True, check=True)
    theirs = json.loads(ran.stdout)
    factor = statistics.mean(theirs) / statistics.mean(ours)
    print(f"math-verify  {shown_ms(theirs)}")
    print(f"factor       {factor:8.1f} (target 2)")
    return int(factor < 2)


def shown_ms(spent_s: list[float]) -> str:
    """The mean and the median of some times, in milliseconds."""
    return f"{1000 * statistics.mean(spent_s):8.2f} ms a verdict (median {1000 * statistics.median(spent_s):.2f})"

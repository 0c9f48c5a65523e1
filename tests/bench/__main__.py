"""Benchmarks by name: `python -m tests.bench [NAME...]`; without a name all of them, one after the other."""

import importlib
import pkgutil
import sys
from pathlib import Path


def names() -> list[str]:
    """Every benchmark: a file here with a `main`."""
    found = pkgutil.iter_modules([str(Path(__file__).parent)])
    return sorted(module.name for module in found if not module.name.startswith("_"))


def main(chosen: list[str]) -> int:
    """Run the chosen benchmarks; the status is 1 if any of them says that a figure misses its target."""
    unknown = [name for name in chosen if name not in names()]
    if unknown:
        sys.stderr.write(f"no benchmark {', '.join(unknown)}; there are: {', '.join(names())}\n")
        return 2
    worst = 0
    for name in chosen or names():
        print(f"== {name}", flush=True)
        worst = max(worst, importlib.import_module(f"tests.bench.{name}").main() or 0)
    return worst


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

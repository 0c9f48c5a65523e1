"""`python -m tests.bench [NAME] [ARGUMENTS]`: one bench by its name, or all of them in turn."""

import importlib
import inspect
import pkgutil
import sys
from pathlib import Path


def benches() -> list[str]:
    """Every module beside this one that has a `main`."""
    names = [module.name for module in pkgutil.iter_modules([str(Path(__file__).parent)]) if module.name != "__main__"]
    return [name for name in names if hasattr(importlib.import_module(f"tests.bench.{name}"), "main")]


def run(name: str, arguments: list[str]) -> int:
    main = importlib.import_module(f"tests.bench.{name}").main
    return int((main(arguments) if inspect.signature(main).parameters else main()) or 0)


if __name__ == "__main__":
    if len(sys.argv) > 1:
        if sys.argv[1] not in benches():
            sys.exit(f"no bench {sys.argv[1]!r}; there are: {', '.join(benches())}")
        sys.exit(run(sys.argv[1], sys.argv[2:]))
    sys.exit(max((run(name, []) for name in benches()), default=0))

"""Shows how far a measurement is: a tqdm bar on a terminal, one line a minute in a log. Counts, computes nothing."""

import sys
import time
from collections import Counter
from types import TracebackType
from typing import Self

from tqdm import tqdm

LINE_EVERY_S = 60.0


class Progress:
    """A bar over `total` steps with named counts beside it, on stderr."""

    def __init__(self, label: str, total: int, unit: str = "req") -> None:
        self.label = "".join(char if char.isprintable() else "\ufffd" for char in label)
        self.counts: Counter[str] = Counter()
        self._total = total
        self._started = self._printed = time.monotonic()
        self._done = 0
        self._bar = tqdm(total=total, desc=self.label, unit=unit, dynamic_ncols=True) if sys.stderr.isatty() else None

    def step(self, *names: str) -> None:
        """One step further; each name is counted."""
        self._done += 1
        self.counts.update(name for name in names if name)
        if self._bar is not None:
            self._bar.set_postfix(self.counts, refresh=False)
            self._bar.update()
        elif time.monotonic() - self._printed >= LINE_EVERY_S:
            self._printed = time.monotonic()
            self._line()

    def say(self, text: str) -> None:
        """A line that stays, above the bar."""
        if self._bar is not None:
            self._bar.write(text, file=sys.stderr)
        else:
            sys.stderr.write(text + "\n")

    def _line(self) -> None:
        elapsed = time.monotonic() - self._started
        left = elapsed / self._done * (self._total - self._done) if self._done else 0.0
        counts = ", ".join(f"{count} {name}" for name, count in self.counts.items())
        text = f"{self.label}: {self._done}/{self._total} {counts}; {elapsed:.0f} s gone, about {left:.0f} s left\n"
        sys.stderr.write(text)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._bar is not None:
            self._bar.close()
        elif self._done:
            self._line()

"""What one burst shows about waiting: overlap k, queued requests, gap, cadence. Knows no other level.

All of it is read off the client's timestamps: streams between their first and last token are being
served, the others wait. Definitions: METHOD.md, "The concurrency ladder".
"""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from statistics import median

HOLD_TOKENS = 3
HOLD_SHARE = 0.02
"""An overlap counts when it was held for 3 TPOT or 2 % of the wall time, whichever is longer."""
QUEUE_GAP = 0.3
"""A queued request's first token came this many service times after the earliest one."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Served:
    """One completed request of a burst; times in seconds on one clock."""

    sent_s: float
    first_s: float | None
    """First token; None where the reply was not streamed."""
    last_s: float
    """Last token, or the end of the reply where it was not streamed."""
    end_s: float
    tokens: int | None
    """By the server's count."""
    full_length: bool = True
    """It ended by its token limit."""

    @property
    def latency_s(self) -> float:
        """Request written to last byte."""
        return self.end_s - self.sent_s

    @property
    def service_s(self) -> float:
        """First token to last token; 0 where it was not streamed."""
        return self.last_s - self.first_s if self.first_s is not None else 0.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Waiting:
    """What one burst says about who waited for whom."""

    overlap: int
    """Most streams between first and last token at once."""
    queued: int
    """Requests that got their first token only when another had ended, and clearly late."""
    late: int
    """First tokens after the first completion."""
    gap: float
    """Largest gap between sorted first tokens, in median service times."""
    cadence: float | None
    """Rate of first tokens 1 to overlap, over the rate of the rest; None where either is undefined."""


def wall_s(served: Sequence[Served]) -> float:
    """First request written to last byte read, in seconds."""
    return max(one.end_s for one in served) - min(one.sent_s for one in served)


def tokens_per_s(served: Sequence[Served]) -> float | None:
    """Total completion tokens over the wall time; None where one reply came without a count."""
    counts = [one.tokens for one in served]
    wall = wall_s(served)
    known = [count for count in counts if count is not None]
    return sum(known) / wall if len(known) == len(counts) and wall > 0 else None


def median_tpot_s(served: Sequence[Served]) -> float | None:
    """Median over requests of (last token - first token) / (tokens - 1); None where no request has one."""
    found = [
        one.service_s / (one.tokens - 1) for one in served if one.first_s is not None and one.tokens and one.tokens > 1
    ]
    return median(found) if found else None


def overlap(served: Sequence[Served]) -> int:
    """The largest number of streams simultaneously between first and last token, held long enough.

    Held is the sum over the burst, at least max(3 TPOT, 2 % of the wall time); METHOD.md, "Overlap k".
    """
    hold = max(HOLD_TOKENS * (median_tpot_s(served) or 0.0), HOLD_SHARE * wall_s(served))
    changes = [(one.first_s, 1) for one in served if one.first_s is not None]
    changes += [(one.last_s, -1) for one in served if one.first_s is not None]
    held: dict[int, float] = {}
    depth, since = 0, 0.0
    for at, change in sorted(changes):
        held[depth] = held.get(depth, 0.0) + (at - since if depth else 0.0)
        depth, since = depth + change, at
    total = 0.0
    for depth in sorted(held, reverse=True):
        total += held[depth]
        if depth and total >= hold:
            return depth
    return 0


def waiting(served: Sequence[Served]) -> Waiting | None:
    """Who waited for whom in one burst, or None where the replies were not streamed."""
    firsts = sorted(one.first_s for one in served if one.first_s is not None)
    if not firsts:
        return None
    service = median(one.service_s for one in served if one.first_s is not None)
    completion = min(one.last_s for one in served)
    threshold = max(completion - HOLD_SHARE * wall_s(served), firsts[0] + QUEUE_GAP * service)
    streams = overlap(served)
    gap = max((b - a for a, b in pairwise(firsts)), default=0.0)
    return Waiting(
        overlap=streams,
        queued=sum(first > threshold for first in firsts),
        late=sum(first > completion for first in firsts),
        gap=gap / service if service > 0 else float("inf"),
        cadence=_cadence(firsts, streams),
    )


def _cadence(firsts: Sequence[float], streams: int) -> float | None:
    if streams < 3 or streams >= len(firsts):
        return None
    filling = firsts[streams - 1] - firsts[0]
    rest = firsts[-1] - firsts[streams - 1]
    if rest <= 0:
        return None
    return ((streams - 1) / filling) / ((len(firsts) - streams) / rest) if filling > 0 else float("inf")


def latency_overlap(served: Sequence[Served]) -> float:
    """C * min latency / wall time: k without a usable stream, for even lengths only.

    Little's law on whole requests: k at a time, each for the shortest latency, fill the wall time.
    """
    return len(served) * min(one.latency_s for one in served) / wall_s(served)


def buffered_share(served: Sequence[Served]) -> float | None:
    """Smallest TTFT over latency in a burst: the share of its reply's time at which the first-served saw a token."""
    shares = [(one.first_s - one.sent_s) / one.latency_s for one in served if one.first_s is not None]
    return min(shares) if shares else None

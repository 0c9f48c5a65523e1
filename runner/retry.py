"""When a quality request is asked again, and for how long a lost server is waited for. Sends nothing itself.

Retries happen only before the first byte of an answer, at most three, with full jitter; the ladder has none.
"""

import random

from runner.exchange import Exchange, Failure, FailureKind

MAX_RETRIES = 3
BASE_S = 0.5
LONGEST_S = 20.0
PASSING = {408, 425, 429, 500, 502, 503, 504, 529}
REFUSING = {401, 403, 404}


def is_passing(exchange: Exchange) -> bool:
    """Whether the failure may pass by itself and nothing of an answer has come yet."""
    failure = exchange.failure
    if failure is None or exchange.token_ns:
        return False
    if failure.kind is FailureKind.HTTP_STATUS:
        return failure.status in PASSING
    return failure.kind is FailureKind.CONNECT or (failure.kind is FailureKind.TIMEOUT and not exchange.read_ns)


def is_lost(failure: Failure) -> bool:
    """Whether the server cannot be reached at all, so that asking the next item is pointless."""
    return failure.kind is FailureKind.CONNECT


def is_refused(failure: Failure) -> bool:
    """Whether the server answers, but not to us: a wrong key, path or model refuses every item alike."""
    return failure.kind is FailureKind.HTTP_STATUS and failure.status in REFUSING


def pause_s(attempt: int, failure: Failure, rng: random.Random) -> float:
    """Seconds before the next attempt (from 0): full jitter under a doubling bound, or what Retry-After asks."""
    if failure.retry_after_s is not None:
        return min(max(failure.retry_after_s, 0.0), LONGEST_S)
    return rng.uniform(0.0, min(LONGEST_S, BASE_S * 2**attempt))

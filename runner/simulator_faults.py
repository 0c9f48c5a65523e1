"""Which requests a simulated server spoils, and how. Spoils nothing itself."""

import random
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from itembank.errors import UserError, nearest

STATUSES = {
    "400": "the request cannot be served as it is",
    "401": "the API key is missing or wrong",
    "404": "the model does not exist",
    "429": "too many requests",
    "500": "internal server error",
    "503": "the server is overloaded",
}
KINDS: Mapping[str, str] = {
    **{status: f"answer {status}: {text}" for status, text in STATUSES.items()},
    "html": "answer with a web page",
    "empty": "answer 200 with nothing in it",
    "drop": "close the connection without an answer",
    "cut": "break the connection in the middle of the stream",
    "no-finish": "end the stream in its middle, with [DONE] but no finish_reason",
    "error-event": "send an error event in the middle of a stream that began with 200",
    "malformed": "send an event that is no JSON",
    "slow": "take a tenth of a second for every chunk",
    "stall": "stop in the middle and keep the connection open",
    "no-usage": "leave the token counts out",
    "buffered": "hold the stream back and send it in one piece, as a proxy does",
    "leak": "leave a control token in the text, only where several sequences ran",
    "overrun": "go on after the stop token with a turn of the user, only where several sequences ran",
}
UNDER_LOAD = {"leak", "overrun"}


@dataclass(slots=True)
class Faults:
    """Shares of the requests by fault; a request has at most one."""

    shares: Mapping[str, float] = field(default_factory=dict)
    seed: int = 0
    _rng: random.Random = field(init=False)

    def __post_init__(self) -> None:
        self._rng = random.Random(f"faults {self.seed}")

    def drawn(self) -> str | None:
        """The fault of the next request, or None."""
        at = self._rng.random()
        for kind, share in self.shares.items():
            at -= share
            if at < 0:
                return kind
        return None


def parsed_faults(texts: Iterable[str]) -> dict[str, float]:
    """Shares from texts such as `cut=0.1`; without a number every request is meant. Raises UserError.

    >>> parsed_faults(["cut=0.1", "429"])
    {'cut': 0.1, '429': 1.0}
    """
    shares: dict[str, float] = {}
    for text in texts:
        kind, _, number = text.partition("=")
        if kind not in KINDS:
            raise UserError(f"no fault {kind!r}; {nearest(kind, list(KINDS))}")
        try:
            share = float(number or 1)
        except ValueError:
            share = -1.0
        if not 0 <= share <= 1:
            raise UserError(f"fault {kind}: {number!r} is no share between 0 and 1")
        shares[kind] = share
    return shares

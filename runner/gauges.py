"""Samples what the server's own metrics say while a level runs. Interprets none of it.

Prometheus text as engines print it; series of one name (ranks, models, reasons) are added up. A name that the
server does not print is absent, never 0.
"""

import asyncio
import re
from collections.abc import Mapping

from runner.client import Client

PERIOD_S = 0.2
_LINE = re.compile(
    rb"^([A-Za-z_:][\w:]*(?:running|waiting|queue|processing|deferred|batch_current_size|swapped|preemption|cache_usage"
    rb"|accept|draft|slots)[\w:]*)(?:\{[^\n]*\})?[ \t]+([0-9.eE+-]+)",
    re.MULTILINE,
)
_NOT_GAUGES = re.compile(r"_(bucket|sum|count|created)$|_seconds|_time")


def gauges_of(page: bytes) -> dict[str, float]:
    r"""Name to value of the series about running, waiting, preempted and speculated requests.

    >>> gauges_of(b'# HELP x y\nvllm:num_requests_running{model="m"} 4.0\nother 1\n')
    {'vllm:num_requests_running': 4.0}
    """
    found: dict[str, float] = {}
    for name_bytes, value in _LINE.findall(page):
        name = name_bytes.decode("ascii")
        if _NOT_GAUGES.search(name):
            continue
        try:
            found[name] = found.get(name, 0.0) + float(value)
        except ValueError:
            continue
    return found


class Gauges:
    """A sampler at 5 Hz; it stays silent for good once its page does not answer, or where there is no page."""

    def __init__(self, client: Client, page: str | None = "/metrics") -> None:
        self._client = client
        self._page = (page or "").lstrip("/")
        self._task: asyncio.Task[None] | None = None
        self._samples: list[Mapping[str, float]] = []
        self._answers = page is not None

    def start(self) -> None:
        """Begin a level."""
        self._samples = []
        if self._answers:
            self._task = asyncio.create_task(self._sample())

    async def stop(self) -> tuple[Mapping[str, float], ...]:
        """End a level: its samples, oldest first."""
        if self._task is not None:
            self._task.cancel()
            await asyncio.gather(self._task, return_exceptions=True)
            self._task = None
        return tuple(self._samples)

    async def _sample(self) -> None:
        while True:
            reply = await self._client.get(self._page)
            found = gauges_of(reply.body) if reply.failure is None else {}
            if not found and not self._samples:
                self._answers = False
                return
            if found:
                self._samples.append(found)
            await asyncio.sleep(PERIOD_S)

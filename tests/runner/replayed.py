"""A client that answers from recorded replies and keeps the list of what it was asked for."""

import asyncio
import json
from collections.abc import Mapping
from typing import Any

from runner.config import ServingConfig
from runner.probes._recorded import Recorded
from runner.reply import Reply, kept_headers
from runner.site import Site


class Replayed:
    """Replies by path; 404 for every other path. `slow` paths never answer in time."""

    def __init__(
        self, replies: Mapping[str, Any], headers: Mapping[str, str] | None = None, slow: frozenset[str] = frozenset()
    ) -> None:
        self.replies, self.slow = replies, slow
        self.headers = kept_headers([(name.encode(), value.encode()) for name, value in (headers or {}).items()])
        self.asked: list[str] = []

    async def get(self, path: str, *, timeout_s: float, max_bytes: int) -> Reply:
        self.asked.append(path)
        if path in self.slow:
            await asyncio.sleep(timeout_s)
            return Reply(status=None, headers={})
        found = self.replies.get(path, (404, {"detail": "Not Found"}))
        status, body = found if isinstance(found, tuple) else (200, found)
        data = body.encode() if isinstance(body, str) else json.dumps(body).encode()
        return Reply(status=status, headers=self.headers, body=data[:max_bytes])


def replayed(recorded: Recorded) -> Replayed:
    return Replayed(recorded.replies, recorded.headers)


def site_of(client: Replayed, base_url: str = "http://engine.example/v1", **fields: Any) -> Site:
    return Site(ServingConfig(name="x", base_url=base_url, **fields), client, deadline_s=5.0)

"""A server as a probe sees it: pages by path, each asked for once, within one deadline. Knows no engine.

Replies are untrusted: limited in size, read as JSON only with status 200, and without their secrets.
"""

import asyncio
import socket
import time
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol
from urllib.parse import urlsplit

from runner.config import ServingConfig
from runner.redact import redacted, redacted_tree
from runner.reply import Reply

MAX_BYTES = 2 << 20
PAGE_S = 2.0
"""The longest that one page is waited for."""
SPARE_S = 0.3
"""Kept back from the deadline for putting the answer together."""


class Asks(Protocol):
    """The part of the client that probes need."""

    async def get(self, path: str, *, timeout_s: float, max_bytes: int) -> Reply:
        """Ask for a page."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """One page. Where none came, the status is 0 and everything else is empty."""

    path: str
    status: int = 0
    headers: Mapping[str, str] = field(default_factory=dict)
    text: str = ""
    value: Any = None
    """The JSON value of a page with status 200, secrets removed; None if it is none."""

    @property
    def source(self) -> str:
        """How a fact names this page."""
        return f"GET {self.path}"

    def at(self, *keys: str | int) -> Any:
        """What lies under these keys of the JSON value, or None where the way ends."""
        value = self.value
        for key in keys:
            if isinstance(value, dict) and isinstance(key, str):
                value = value.get(key)
            elif isinstance(value, list) and isinstance(key, int) and -len(value) <= key < len(value):
                value = value[key]
            else:
                return None
        return value

    def rows(self, *keys: str | int) -> list[dict[str, Any]]:
        """The objects of the list under these keys; empty where there is none."""
        value = self.at(*keys)
        return [row for row in value if isinstance(row, dict)] if isinstance(value, list) else []


class Site:
    """The server of one serving, while its identity is read."""

    def __init__(
        self, serving: ServingConfig, client: Asks, *, deadline_s: float, secrets: Collection[str] = ()
    ) -> None:
        parts = urlsplit(serving.base_url)
        self.serving = serving
        self.host = parts.hostname or ""
        self.port = parts.port or (443 if parts.scheme == "https" else 80)
        self.secrets = secrets
        self._base = parts.path.rstrip("/").removesuffix("/v1")
        self._client = client
        self._end = time.monotonic() + deadline_s - SPARE_S
        self._asked: dict[str, asyncio.Task[Answer]] = {}

    @property
    def remaining_s(self) -> float:
        """Seconds that are left for asking."""
        return max(0.0, self._end - time.monotonic())

    @property
    def asked(self) -> list[str]:
        """The paths that were asked for, in order."""
        return list(self._asked)

    async def get(self, path: str) -> Answer:
        """The page at `path` of the server (`/v1/...` lies where the base URL says); asked for at most once."""
        if path not in self._asked:
            self._asked[path] = asyncio.create_task(self._answer(path))
        return await asyncio.shield(self._asked[path])

    async def card(self) -> Mapping[str, Any]:
        """The served model's entry in the model list; empty if it is not there."""
        rows = (await self.get("/v1/models")).rows("data")
        if self.serving.model != "auto":
            return next((row for row in rows if row.get("id") == self.serving.model), {})
        own = [row for row in rows if not row.get("parent")]
        return own[0] if len(own) == 1 else {}

    async def owner(self) -> str | None:
        """What the model list says owns its models; None where it does not agree with itself."""
        owners = [row.get("owned_by") for row in (await self.get("/v1/models")).rows("data")]
        return owners[0] if owners and isinstance(owners[0], str) and owners == owners[:1] * len(owners) else None

    def is_local(self) -> bool:
        """Whether the address is this machine's own."""
        if self.host in ("localhost", "0.0.0.0", "::1", "::") or self.host.startswith("127."):
            return True
        return bool(self.host) and self.host == socket.gethostname().lower()

    async def _answer(self, path: str) -> Answer:
        limit_s = min(PAGE_S, self.remaining_s)
        if limit_s <= 0:
            return Answer(path=path)
        try:
            async with asyncio.timeout(limit_s + SPARE_S / 2):
                page = await self._client.get(self._base + path, timeout_s=limit_s, max_bytes=MAX_BYTES)
        except TimeoutError:
            return Answer(path=path)
        if page.status is None:
            return Answer(path=path)
        headers = {name.lower(): redacted(value, self.secrets) for name, value in page.headers.items()}
        text = page.body[:MAX_BYTES].decode("utf-8", "replace")
        value = redacted_tree(page.json(), self.secrets)
        return Answer(path=path, status=page.status, headers=headers, text=text, value=value)

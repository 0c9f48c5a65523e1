"""Makes Failures, and turns a Failure into the one line that helps its reader. Knows no HTTP library.

Whatever a server says passes `one_line`: no secret, no control character, at most 500 characters.
"""

import re
import time
from collections.abc import Collection, Mapping
from email.utils import parsedate_to_datetime

from runner.assemble import decoded, message_of, sound
from runner.config import ServingConfig
from runner.exchange import Failure, FailureKind
from runner.redact import redacted

LONGEST_DETAIL = 500
LONGEST_PAUSE_S = 86_400.0
_TITLE = re.compile(r"(?is)<title[^>]*>(.{0,200}?)</title>")


def failure(
    kind: FailureKind,
    detail: str,
    *,
    secrets: Collection[str],
    status: int | None = None,
    retry_after_s: float | None = None,
) -> Failure:
    """A Failure with its detail made safe."""
    return Failure(kind=kind, status=status, detail=one_line(detail, secrets), retry_after_s=retry_after_s)


def of_status(status: int, headers: Mapping[str, str], body: bytes, *, secrets: Collection[str]) -> Failure:
    """The Failure of an HTTP status that is no success, with the server's own message."""
    message = error_message(body) or "no message"
    if 300 <= status < 400:
        message = f"redirect to {headers.get('location', 'nowhere')}"
    pause_s = _pause_s(headers.get("retry-after"))
    return failure(FailureKind.HTTP_STATUS, message, secrets=secrets, status=status, retry_after_s=pause_s)


def error_message(body: bytes) -> str:
    """What an error reply says, whatever its form; empty for an empty body."""
    text = body[:65_536].decode("utf-8", "replace").strip()
    if is_html(body):
        title = _TITLE.search(text)
        return f"an HTML page ({title.group(1).strip()})" if title else "an HTML page"
    if text.startswith("data:"):
        text = text[5:].strip()
    try:
        return message_of(decoded(text.encode())) or text
    except ValueError:
        return text


def is_html(body: bytes) -> bool:
    """Whether a body is a web page."""
    return body[:256].lstrip().lower().startswith((b"<!doctype", b"<html", b"<head", b"<?xml"))


def one_line(text: str, secrets: Collection[str] = (), limit: int = LONGEST_DETAIL) -> str:
    r"""The text on one line without secrets and control characters.

    >>> one_line("no\x1b[31m\nBearer abc123")
    'no [31m Bearer ***'
    """
    plain = redacted(sound(text[: 8 * limit]), secrets)
    return " ".join("".join(char if char.isprintable() else " " for char in plain).split())[:limit]


def advice(problem: Failure, serving: ServingConfig) -> str:
    """One line: what went wrong with this serving, and what to do about it."""
    where, said = serving.base_url, problem.detail
    if problem.kind is FailureKind.CONNECT:
        tls = "; for a certificate of your own set verify_tls = false" if "certificate" in said.lower() else ""
        return f"cannot reach {where}: {said}{tls or '; start the server or correct base_url'}"
    if problem.kind is FailureKind.TIMEOUT:
        return f"{where} does not answer: {said}; look whether it is still loading its model"
    if problem.kind is FailureKind.PROTOCOL:
        return f"{where} does not answer like an OpenAI-compatible API: {said}; base_url usually ends in /v1"
    if problem.kind is FailureKind.CUT_STREAM:
        return f"{where} breaks its answer off: {said}; look into the server's log"
    return f"{where} answers {problem.status}: {said}; {_status_advice(problem.status or 0, serving)}"


def _status_advice(status: int, serving: ServingConfig) -> str:
    if 300 <= status < 400:
        return "write that address into base_url"
    if status in (401, 403):
        variable = serving.api_key_env
        return f"check the key in {variable}" if variable else "name the variable that holds the key: api_key_env"
    if status == 404:
        return "base_url usually ends in /v1, and the model must be one that the server lists"
    if status in (429, 500, 502, 503, 504):
        return "the server is overloaded, loading or broken: look into its log and try again"
    return "change what it names: max_tokens, sampling, extra_body or the model"


def _pause_s(value: str | None) -> float | None:
    """Seconds in a Retry-After, given as a number or as a date; None if it is neither."""
    if not value:
        return None
    try:
        pause_s = float(value)
    except ValueError:
        try:
            pause_s = parsedate_to_datetime(value).timestamp() - time.time()
        except (ValueError, OverflowError, TypeError):
            return None
    return min(max(pause_s, 0.0), LONGEST_PAUSE_S) if pause_s == pause_s else None

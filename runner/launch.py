"""Starts a server that the user's configuration says how to start, waits until it answers, and stops it.

The server runs below a keeper (`runner.keeper`), a process of its own that ends the server and all its children as
soon as the pipe to triplicate closes, however triplicate ends. What triplicate did not start it never stops.
"""

import asyncio
import json
import os
import socket
import sys
import time
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager, suppress
from dataclasses import replace
from pathlib import Path
from urllib.parse import urlsplit

from itembank.errors import UserError
from runner.client import Client
from runner.config import Launch, ServingConfig
from runner.redact import redacted

POLL_S = 0.1
GRACE_S = 8.0
"""Between SIGTERM and SIGKILL for a server that is no longer wanted."""
STOP_S = 20.0
"""The longest that the keeper is waited for beyond that."""
LAST_LINES = 8
ROOT = Path(__file__).parent.parent
START = "import sys; sys.path.insert(0, sys.argv.pop(1)); from runner.keeper import main; main()"


@asynccontextmanager
async def launched(serving: ServingConfig, log_path: Path) -> AsyncIterator[ServingConfig]:
    """The serving with the address and the process id of a server that runs for as long as the block lasts.

    Its output, secrets removed, is kept in `log_path`. Raises UserError with the last lines of it if the server
    ends, or does not answer within `ready_timeout_s`.
    """
    if serving.launch is None:
        raise UserError(f"serving {serving.name} has no [serving.launch]; start its server yourself or add one")
    ready = _addressed(serving)
    port = urlsplit(ready.base_url).port or 0
    if _answers(port):
        raise UserError(f"serving {serving.name}: port {port} is taken by a server that triplicate did not start")
    keeper = await _start(serving, serving.launch, port, log_path)
    impatient = False
    try:
        pid = await _pid(serving, keeper)
        ready = replace(ready, pid=pid)
        await _wait_until_ready(ready, serving.launch, keeper, log_path)
        yield ready
    except KeyboardInterrupt:
        assert keeper.stdin is not None
        keeper.stdin.close()
        impatient = True
        raise
    finally:
        if not impatient:
            await _stop(keeper)


def free_port() -> int:
    """A loopback port that nobody listens on at this moment."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        number: int = probe.getsockname()[1]
        return number


def last_lines(path: Path, number: int = LAST_LINES) -> str:
    """The end of a log on one line, for an error message; says so if the log is empty."""
    with suppress(OSError):
        with path.open("rb") as file:
            file.seek(max(0, path.stat().st_size - 8192))
            lines = file.read().decode("utf-8", "replace").splitlines()
        lines = [line.strip() for line in lines if line.strip()][-number:]
        if lines:
            return " | ".join(redacted(line[:300]) for line in lines)
    return "(it printed nothing)"


def _addressed(serving: ServingConfig) -> ServingConfig:
    """The serving with the address that its server will have: its own, or a free loopback port."""
    chosen = serving.launch is not None and serving.launch.takes_port
    return replace(serving, base_url=f"http://127.0.0.1:{free_port()}/v1") if chosen else serving


def _answers(port: int) -> bool:
    with socket.socket() as probe:
        probe.settimeout(1.0)
        return probe.connect_ex(("127.0.0.1", port)) == 0


async def _start(serving: ServingConfig, launch: Launch, port: int, log_path: Path) -> asyncio.subprocess.Process:
    order = {
        "command": [word.replace("{port}", str(port)) for word in launch.command],
        "env": {name: value.replace("{port}", str(port)) for name, value in launch.env.items()},
        "cwd": launch.cwd,
        "log": str(log_path.absolute()),
        "grace_s": GRACE_S,
        "secrets": [serving.api_key_env] if serving.api_key_env else [],
    }
    keeper = await asyncio.create_subprocess_exec(
        *(sys.executable, "-P", "-c", START, str(ROOT)),
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
        start_new_session=True,
    )
    assert keeper.stdin is not None
    keeper.stdin.write(json.dumps(order).encode() + b"\n")
    await keeper.stdin.drain()
    return keeper


async def _pid(serving: ServingConfig, keeper: asyncio.subprocess.Process) -> int:
    word = await _word(keeper)
    pid = word.get("pid")
    if not isinstance(pid, int):
        raise UserError(f"serving {serving.name}: its launch command cannot be run: {word.get('error', 'no reason')}")
    return pid


async def _word(keeper: asyncio.subprocess.Process) -> Mapping[str, object]:
    """The next line that the keeper says; empty once it is gone."""
    assert keeper.stdout is not None
    line = await keeper.stdout.readline()
    word = json.loads(line) if line.strip() else {}
    return word if isinstance(word, dict) else {}


async def _wait_until_ready(
    serving: ServingConfig, launch: Launch, keeper: asyncio.subprocess.Process, log_path: Path
) -> None:
    ended = asyncio.create_task(_word(keeper))
    end = time.monotonic() + launch.ready_timeout_s
    try:
        async with Client(serving, connect_timeout_s=1.0) as client:
            while time.monotonic() < end:
                reply = await client.get(f"{serving.base_url}/models", timeout_s=min(5.0, launch.ready_timeout_s))
                if reply.status in (401, 403):
                    raise UserError(f"serving {serving.name}: its server wants a key; name its variable in api_key_env")
                if reply.status == 200 and reply.failure is None:
                    return
                await asyncio.wait([ended], timeout=POLL_S)
                if ended.done():
                    status = ended.result().get("exited")
                    raise UserError(
                        f"serving {serving.name}: its server ended with status {status} before it answered;"
                        f" {log_path} ends: {last_lines(log_path)}"
                    )
        raise UserError(
            f"serving {serving.name}: its server did not answer within {launch.ready_timeout_s:g} s;"
            f" {log_path} ends: {last_lines(log_path)}"
        )
    finally:
        ended.cancel()


async def _stop(keeper: asyncio.subprocess.Process) -> None:
    """Close the pipe, which makes the keeper end the server, and wait for it even while being cancelled.

    Whoever interrupts a second time does not wait: the keeper ends the server all the same.
    """
    assert keeper.stdin is not None
    keeper.stdin.close()
    waiting = asyncio.ensure_future(asyncio.wait_for(keeper.wait(), GRACE_S + STOP_S))
    while not waiting.done():
        with suppress(asyncio.CancelledError, TimeoutError):
            await asyncio.shield(waiting)
    if keeper.returncode is None and not waiting.cancelled():
        os.kill(keeper.pid, 9)

"""Memory stays flat in the number of repeats, since everything measured goes to disk at once."""

import asyncio
import contextlib
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.reliability.kills import ROOT, folders, pairs, written_bank
from tests.runner.scripted import DONE, ROLE, delta, head, usage, whole

MOST_MB = 300.0
ANSWER = ROLE + b"".join(delta(f"word{number} ") for number in range(60)) + delta("\nANSWER: 2") + delta(finish="stop")
REPLY = head(transfer_encoding="identity", connection="close") + ANSWER + usage(62) + DONE
MODELS = b"".join(whole(b'{"data": [{"id": "m"}]}', connection="close"))  # type: ignore[arg-type]
MISSING = b"".join(whole(b"{}", 404, connection="close"))  # type: ignore[arg-type]


@contextlib.contextmanager
def canned() -> Iterator[str]:
    """A server that answers everything with the same stream, at once."""
    ready, ends = threading.Event(), []

    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with contextlib.suppress(ConnectionError, asyncio.IncompleteReadError):
            first = await reader.readuntil(b"\r\n\r\n")
            if first.startswith(b"POST"):
                length = next(line for line in first.lower().split(b"\r\n") if line.startswith(b"content-length:"))
                await reader.readexactly(int(length.split(b":")[1]))
            page = MODELS if first.split(b" ")[1].endswith(b"/models") else MISSING
            writer.write(REPLY if first.startswith(b"POST") else page)
            await writer.drain()
        writer.close()

    async def serve() -> None:
        end = asyncio.Event()
        server = await asyncio.start_server(answer, "127.0.0.1", 0, backlog=1024, limit=1 << 20)
        ends.extend([asyncio.get_running_loop(), end, server.sockets[0].getsockname()[1]])
        ready.set()
        async with server:
            await end.wait()

    thread = threading.Thread(target=lambda: asyncio.run(serve()), daemon=True)
    thread.start()
    assert ready.wait(10)
    yield f"http://127.0.0.1:{ends[2]}/v1"
    ends[0].call_soon_threadsafe(ends[1].set)
    thread.join(10)


WAITING = """
import os, subprocess, sys
process = subprocess.Popen(sys.argv[1:])
_, status, used = os.wait4(process.pid, 0)
process.returncode = os.waitstatus_to_exitcode(status)
print(f"\\n{process.returncode} {used.ru_maxrss / 1024}")
"""
"""A process starts with its parent's peak on its account, so a small one stands between."""


def peak_mb(words: list[str], place: Path, statuses: tuple[int, ...] = (0,)) -> float:
    """The most memory that a command held at once, with the largest of its helpers, in MB."""
    command = [sys.executable, "-c", WAITING, sys.executable, str(ROOT / "triplicate.py"), *words]
    done = subprocess.run(command, cwd=place, capture_output=True, text=True, check=False)
    status, peak = done.stdout.splitlines()[-1].split()
    assert int(status) in statuses, done.stderr[-2000:]
    return float(peak)


def test_memory_does_not_grow_with_the_repeats(tmp_path: Path) -> None:
    bank = written_bank(tmp_path)
    with canned() as url:
        words = ["run", url, "--bank", str(bank), "--concurrency", "4", "--out"]
        few = peak_mb([*words, "few", "--repeats", "5"], tmp_path)
        many = peak_mb([*words, "many", "--repeats", "80"], tmp_path)
    assert many < MOST_MB
    assert many - few < 12.0, f"{few:.0f} MB for 40 answers, {many:.0f} MB for 640"
    assert len(pairs(folders(tmp_path / "many")[0])) == 640


@pytest.mark.soak
def test_memory_of_94_items_times_100_repeats(tmp_path: Path) -> None:
    with canned() as url:
        words = ["run", url, "--concurrency", "8", "--out"]
        few = peak_mb([*words, "few", "--repeats", "5"], tmp_path)
        many = peak_mb([*words, "many", "--repeats", "100"], tmp_path)
    (path,) = folders(tmp_path / "many")

    compared = peak_mb(["compare", str(path), str(path)], tmp_path, (0, 1, 3, 4))
    reported = peak_mb(["report", str(path), "-o", "r.html"], tmp_path)
    size = sum(file.stat().st_size for file in path.iterdir()) / 1e6
    print(f"run of 5: {few:.0f} MB, of 100: {many:.0f} MB ({size:.0f} MB on disk); compare {compared:.0f} MB", end="")
    print(f"; report {reported:.0f} MB")
    assert max(many, compared, reported) < MOST_MB
    assert many - few < 20.0

"""Keeps one server: a small process between triplicate and a server that it launched.

It starts the server in a process group of its own, writes the server's output, secrets removed, into a log, and ends
the group and every descendant when its standard input closes: that is how it learns that triplicate has ended, killed
or not. It ends nothing that it did not start. Told what to do by one line of JSON on its standard input.
"""

import ctypes
import json
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import IO, Any

import psutil

from runner.redact import redacted, secret_values

KILL_S = 8.0
"""The longest that killed processes are waited for."""
LONGEST_LINE = 1 << 16
LARGEST_LOG = 64 << 20
_PR_SET_PDEATHSIG, _PR_SET_CHILD_SUBREAPER = 1, 36


def main() -> None:
    """Read the order, start the server, wait for the end of the pipe or of the server, end what is left."""
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, signal.SIG_IGN)
    order = json.loads(sys.stdin.buffer.readline())
    _prctl(_PR_SET_CHILD_SUBREAPER, 1)
    try:
        server = _started(order)
    except OSError as error:
        _say({"error": f"{order['command'][0]}: {error.strerror}"})
        return
    secrets = secret_values(order["secrets"]) | secret_values(order["env"], order["env"])
    assert server.stdout is not None
    logging = threading.Thread(target=_log, args=(server.stdout, Path(order["log"]), secrets), daemon=True)
    logging.start()
    _say({"pid": server.pid})
    reporting = threading.Thread(target=_report_end, args=(server.pid, logging), daemon=True)
    reporting.start()
    sys.stdin.buffer.read()
    end(server.pid, order["grace_s"])
    logging.join(2.0)
    reporting.join(2.0)
    server.poll()
    if not logging.is_alive():
        server.stdout.close()


def end(leader: int, grace_s: float) -> None:
    """Stop the group of `leader` and every other descendant of this process: SIGTERM, then SIGKILL."""
    for number, limit_s in ((signal.SIGTERM, grace_s), (signal.SIGKILL, KILL_S)):
        left = _left()
        if not left:
            break
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(leader, number)
        for process in left:
            with suppress(psutil.Error):
                process.send_signal(number)
        stop = time.monotonic() + limit_s
        while time.monotonic() < stop and _left():
            time.sleep(0.02)
    with suppress(ChildProcessError):
        while os.waitpid(-1, os.WNOHANG)[0]:
            pass


def _left() -> list[psutil.Process]:
    """The descendants of this process that still run; zombies do not."""
    found = []
    for process in psutil.Process().children(recursive=True):
        with suppress(psutil.Error):
            if process.status() != psutil.STATUS_ZOMBIE:
                found.append(process)
    return found


def _started(order: Mapping[str, Any]) -> "subprocess.Popen[bytes]":
    return subprocess.Popen(
        order["command"],
        env={**os.environ, **order["env"]},
        cwd=order["cwd"],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        start_new_session=True,
        preexec_fn=_in_the_server,
    )


def _in_the_server() -> None:
    """Runs in the server before its program: it goes down with its keeper, and signals mean what they always do."""
    _prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, signal.SIG_DFL)


def _prctl(option: int, value: int) -> None:
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(option, value, 0, 0, 0)


def _report_end(pid: int, logging: threading.Thread) -> None:
    """Say that the server has ended without taking its process id out of use: that happens after its group's end."""
    found = None
    with suppress(ChildProcessError):
        found = os.waitid(os.P_PID, pid, os.WEXITED | os.WNOWAIT)
    logging.join(1.0)
    if found is not None:
        killed = found.si_code != os.CLD_EXITED
        _say({"exited": -found.si_status if killed else found.si_status})


def _say(word: Mapping[str, Any]) -> None:
    with suppress(OSError):
        sys.stdout.write(json.dumps(word) + "\n")
        sys.stdout.flush()


def _log(output: IO[bytes], path: Path, secrets: frozenset[str]) -> None:
    """Copy the output line by line; what is longer than a limit is cut, and a log that is too large says so."""
    written = 0
    with path.open("ab") as log:
        while line := output.readline(LONGEST_LINE):
            if written <= LARGEST_LOG:
                text = redacted(line.decode("utf-8", "replace"), secrets).encode("utf-8", "replace")
                written += len(text)
                log.write(text if written <= LARGEST_LOG else b"(the log is cut here)\n")
                log.flush()


if __name__ == "__main__":
    main()

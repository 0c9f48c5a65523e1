"""A launched server answers, keeps a clean log, and is gone afterwards, however its parent ends."""

import asyncio
import os
import signal
import subprocess
import sys
import textwrap
import time
from pathlib import Path

import psutil
import pytest

from itembank.errors import UserError
from runner.config import Launch, ServingConfig
from runner.launch import ROOT, free_port, last_lines, launched

SERVER = textwrap.dedent(
    """
    import http.server, json, os, subprocess, sys, threading, time
    child = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"])
    stray = subprocess.Popen([sys.executable, "-c", "import os, time; os.setsid(); time.sleep(600)"])
    print("children", child.pid, stray.pid, "--api-key", os.environ.get("SERVER_KEY"), flush=True)
    class Handler(http.server.BaseHTTPRequestHandler):
        def do_GET(self):
            body = json.dumps({"data": [{"id": "m"}]}).encode()
            self.send_response(int(os.environ.get("STATUS", "200")))
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)
        def log_message(self, *_):
            pass
    http.server.HTTPServer(("127.0.0.1", int(sys.argv[1])), Handler).serve_forever()
    """
)


def serving(code: str = SERVER, *, timeout_s: float = 20.0, **env: str) -> ServingConfig:
    launch = Launch(command=(sys.executable, "-c", code, "{port}"), ready_timeout_s=timeout_s, env=env)
    return ServingConfig(name="mine", launch=launch)


def gone(pid: int) -> bool:
    try:
        return psutil.Process(pid).status() == psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return True


def children_in(log: Path) -> list[int]:
    words = log.read_text().split()
    return [int(word) for word in words[1:3]]


def wait_until(condition: object, limit_s: float = 20.0) -> None:
    end = time.monotonic() + limit_s
    while time.monotonic() < end:
        if condition():  # type: ignore[operator]
            return
        time.sleep(0.02)
    raise AssertionError("it did not come true in time")


def test_a_launched_server_answers_and_is_gone_afterwards(tmp_path: Path) -> None:
    async def main() -> tuple[int, list[int]]:
        async with launched(serving(SERVER_KEY="hunter22xyzzy"), tmp_path / "server.log") as ready:
            assert ready.base_url.startswith("http://127.0.0.1:")
            assert psutil.Process(ready.pid).is_running()
            assert os.getpgid(ready.pid) == ready.pid != os.getpgid(0)
            return ready.pid, children_in(tmp_path / "server.log")

    pid, children = asyncio.run(main())
    assert all(gone(each) for each in (pid, *children))
    assert "hunter22xyzzy" not in (tmp_path / "server.log").read_text()


def test_an_error_in_the_block_stops_it_too(tmp_path: Path) -> None:
    pids = []

    async def main() -> None:
        async with launched(serving(), tmp_path / "server.log") as ready:
            pids.append(ready.pid)
            raise ValueError("inside")

    with pytest.raises(ValueError, match="inside"):
        asyncio.run(main())
    assert gone(pids[0])


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM, signal.SIGINT])
def test_the_server_goes_when_its_parent_is_killed(tmp_path: Path, number: signal.Signals) -> None:
    script = tmp_path / "parent.py"
    script.write_text(
        textwrap.dedent(
            f"""
            import asyncio, sys
            sys.path[:0] = [{str(ROOT)!r}, {str(Path(__file__).parent)!r}]
            from pathlib import Path
            from runner.launch import launched
            from test_launch import serving
            async def main():
                async with launched(serving(), Path({str(tmp_path / "server.log")!r})) as ready:
                    print(ready.pid, flush=True)
                    await asyncio.sleep(600)
            asyncio.run(main())
            """
        )
    )
    with subprocess.Popen([sys.executable, str(script)], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL) as parent:
        assert parent.stdout is not None
        pid = int(parent.stdout.readline())
        parent.send_signal(number)
        parent.wait(30)
    wait_until(lambda: all(gone(each) for each in (pid, *children_in(tmp_path / "server.log"))))


def test_a_server_that_ignores_sigterm_is_killed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("runner.launch.GRACE_S", 0.5)
    stubborn = "import signal; signal.signal(signal.SIGTERM, signal.SIG_IGN)\n" + SERVER

    async def main() -> int:
        async with launched(serving(stubborn), tmp_path / "server.log") as ready:
            return ready.pid

    assert gone(asyncio.run(main()))


def test_a_server_that_ends_shows_its_last_lines(tmp_path: Path) -> None:
    code = "import sys; print('loading'); print('CUDA out of memory; api_key=hunter22xyzzy'); sys.exit(7)"
    with pytest.raises(UserError, match=r"ended with status 7 .*loading \| CUDA out of memory; api_key=\*\*\*") as told:
        asyncio.run(entered(serving(code), tmp_path))
    assert "hunter22xyzzy" not in str(told.value)


def test_a_server_that_never_answers_is_stopped(tmp_path: Path) -> None:
    code = "import time; print('still loading', flush=True); time.sleep(600)"
    with pytest.raises(UserError, match=r"did not answer within 1 s; .*still loading"):
        asyncio.run(entered(serving(code, timeout_s=1.0), tmp_path))


def test_a_server_that_wants_a_key_says_so(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="api_key_env"):
        asyncio.run(entered(serving(STATUS="401"), tmp_path))


def test_a_command_that_does_not_exist(tmp_path: Path) -> None:
    chosen = ServingConfig(name="mine", launch=Launch(command=("no-such-engine", "{port}")))
    with pytest.raises(UserError, match="no-such-engine: No such file"):
        asyncio.run(entered(chosen, tmp_path))


def test_what_is_missing_is_named(tmp_path: Path) -> None:
    with pytest.raises(UserError, match=r"no \[serving.launch\]"):
        asyncio.run(entered(ServingConfig(name="mine"), tmp_path))


def test_a_taken_port_is_left_alone(tmp_path: Path) -> None:
    port = free_port()
    with subprocess.Popen([sys.executable, "-c", SERVER, str(port)], stdout=subprocess.PIPE) as other:
        assert other.stdout is not None
        children = [int(word) for word in other.stdout.readline().split()[1:3]]
        try:
            chosen = ServingConfig(
                name="mine", base_url=f"http://127.0.0.1:{port}/v1", launch=Launch(command=("sleep", "600"))
            )
            wait_until(lambda: psutil.Process(other.pid).net_connections())
            with pytest.raises(UserError, match="did not start"):
                asyncio.run(entered(chosen, tmp_path))
            assert other.poll() is None
        finally:
            for pid in (other.pid, *children):
                os.kill(pid, signal.SIGKILL)


def test_the_end_of_an_empty_log(tmp_path: Path) -> None:
    assert last_lines(tmp_path / "absent.log") == "(it printed nothing)"


async def entered(chosen: ServingConfig, folder: Path) -> None:
    async with launched(chosen, folder / "server.log"):
        raise AssertionError("it must not get here")

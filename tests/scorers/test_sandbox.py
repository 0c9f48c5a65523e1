"""Each attack is really tried: against files, processes and sockets that the test owns."""

import os
import socket
import subprocess
import sys
import textwrap
import time
from pathlib import Path
from typing import Any

import pytest

from scorers import cell as cells
from scorers import confine, sandbox
from scorers.harness import decode, encode

CALL = encode(([], {}))


def tried(code: str, *, args: tuple[Any, ...] = (), cpu_seconds: float = 2, memory_mb: int = 256) -> sandbox.Run:
    limits = sandbox.Limits(cpu_seconds=cpu_seconds, memory_mb=memory_mb)
    return sandbox.run(textwrap.dedent(code), "f", [encode((list(args), {}))], limits)


def outcome(code: str, *args: Any, **limits: Any) -> tuple[str, Any]:
    """`returned` and the value, or the name of what was raised and its text."""
    run = tried(code, args=args, **limits)
    assert run.complete, run
    assert run.outcomes[0][0] == ("returned",), run
    head, data = run.outcomes[1]
    return ("returned", decode(data)[0]) if head[0] == "returned" else (head[1][0], head[2])


def test_code_runs() -> None:
    assert outcome("def f(a, b):\n    return [a + b, {'k': (1, None)}]", 1, 2) == ("returned", [3, {"k": (1, None)}])


@pytest.mark.parametrize("path", ["/etc/passwd", "/proc/self/environ", "/proc/1/status", str(Path.home() / ".bashrc")])
def test_reading_outside_is_refused(path: str) -> None:
    kind, _ = outcome("def f(path):\n    return open(path, 'rb').read()", path)
    assert kind in ("PermissionError", "FileNotFoundError")


def test_reading_a_file_of_ours_is_refused(tmp_path: Path) -> None:
    secret = tmp_path / "expected.txt"
    secret.write_text("42")
    code = """
        import os
        def f(path):
            found = []
            for act in (lambda: open(path).read(), lambda: os.listdir(os.path.dirname(path)),
                        lambda: os.symlink(path, 'link') or open('link').read(), lambda: os.link(path, 'hard'),
                        lambda: os.rename(path, 'moved')):
                try:
                    found.append(act())
                except OSError:
                    pass
            return found
    """
    assert outcome(code, str(secret)) == ("returned", [])
    assert secret.read_text() == "42"


def test_the_environment_is_not_inherited(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-secret")
    kind, value = outcome("import os\ndef f():\n    return dict(os.environ)")
    assert kind == "returned"
    assert set(value) <= {*confine.ENVIRONMENT, "HOME", "TMPDIR", "PWD", "LC_CTYPE"}


def test_writing_outside_is_refused(tmp_path: Path) -> None:
    tmp_path.chmod(0o777)
    target = tmp_path / "written"
    code = "def f(path):\n    open(path, 'w').write('x')"
    assert outcome(code, str(target))[0] in ("PermissionError", "FileNotFoundError")
    assert not target.exists()
    assert outcome("def f():\n    open('inside', 'w').write('x')\n    return open('inside').read()") == (
        "returned",
        "x",
    )


def test_tcp_and_udp_are_refused() -> None:
    code = """
        import socket
        def f(port, kind):
            with socket.socket(socket.AF_INET, kind) as client:
                client.connect(('127.0.0.1', port))
                client.send(b'x')
            return 'sent'
    """
    for kind in (socket.SOCK_STREAM, socket.SOCK_DGRAM):
        with socket.socket(socket.AF_INET, kind) as server:
            server.bind(("127.0.0.1", 0))
            server.settimeout(0.05)
            if kind == socket.SOCK_STREAM:
                server.listen()
            assert outcome(code, server.getsockname()[1], int(kind))[0] in ("PermissionError", "ConnectionRefusedError")
            with pytest.raises(TimeoutError):
                server.accept() if kind == socket.SOCK_STREAM else server.recv(1)


@pytest.mark.parametrize("name", ["listener", "\0triplicate-test"])
def test_unix_sockets_are_refused(tmp_path: Path, name: str) -> None:
    address = name if name.startswith("\0") else str(tmp_path / name)
    tmp_path.chmod(0o777)
    with socket.socket(socket.AF_UNIX) as server:
        server.bind(address)
        if not address.startswith("\0"):
            Path(address).chmod(0o777)
        server.listen()
        server.settimeout(0.05)
        code = "import socket\ndef f(a):\n    socket.socket(socket.AF_UNIX).connect(a)\n    return 1"
        assert outcome(code, address)[0] in ("PermissionError", "FileNotFoundError", "ConnectionRefusedError")
        with pytest.raises(TimeoutError):
            server.accept()


def test_the_parent_can_neither_be_signalled_nor_traced() -> None:
    kind, value = outcome(
        """
        import os, signal
        def f(parent):
            done = []
            for pid in {parent, os.getppid()}:
                try:
                    os.kill(pid, 0)
                    done.append(pid)
                except OSError:
                    pass
            try:
                import ctypes
                done.append(ctypes.CDLL(None).ptrace(16, parent, 0, 0))
            except OSError:
                pass
            return [one for one in done if one > 1]
        """,
        os.getpid(),
    )
    assert (kind, value) == ("returned", [])


LEFT_BEHIND = """
    import os, time
    def f():
        for _ in range(3):
            if os.fork() == 0:
                os.setsid()
                if os.fork() == 0:
                    os.setsid()
                    time.sleep(600)
                time.sleep(600)
        {last}
"""


@pytest.mark.parametrize("last", ["return 1", "os._exit(0)", "time.sleep(600)", "os.kill(os.getpid(), 9)"])
def test_no_process_outlives_the_run(monkeypatch: pytest.MonkeyPatch, last: str) -> None:
    used: list[cells.Cell] = []
    fresh = cells.Cell.fresh
    monkeypatch.setattr(cells.Cell, "fresh", lambda folder: used.append(fresh(folder)) or used[-1])
    run = tried(LEFT_BEHIND.format(last=last), cpu_seconds=0.2)
    assert run.complete == (last == "return 1")
    assert run.late == ("sleep" in last)
    assert used
    assert not [pid for cell in used for pid in cells.processes() if cell.owns(pid)]


def test_a_fork_bomb_is_bounded_and_cleared() -> None:
    code = """
        import os
        def f():
            count = 0
            while True:
                try:
                    os.fork()
                except OSError:
                    return 'stopped'
    """
    started = time.monotonic()
    run = tried(code)
    assert time.monotonic() - started < 20
    assert run.outcomes[0][0] == ("returned",)


def test_threads_are_allowed() -> None:
    code = """
        from concurrent.futures import ThreadPoolExecutor
        def f():
            with ThreadPoolExecutor(8) as pool:
                return list(pool.map(abs, range(-8, 0)))
    """
    assert outcome(code) == ("returned", [8, 7, 6, 5, 4, 3, 2, 1])


def test_four_gigabytes_are_not_given() -> None:
    assert outcome("def f():\n    return len(bytearray(4 << 30))")[0] == "MemoryError"


def test_output_is_discarded_and_decides_nothing() -> None:
    code = """
        import os
        def f():
            for _ in range(100):
                os.write(1, b'x' * (1 << 20))
            print('PASSED')
            return 1
    """
    assert outcome(code) == ("returned", 1)


def test_standard_input_is_closed() -> None:
    assert outcome("def f():\n    return input()")[0] == "EOFError"


def test_an_endless_loop_is_late_and_repeated_once_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    turns: list[bool] = []
    turn = cells.turn
    monkeypatch.setattr(cells, "turn", lambda *, alone: turns.append(alone) or turn(alone=alone))
    run = tried("def f():\n    while True: pass", cpu_seconds=1)
    assert run.late and not run.complete
    assert turns == [False, True]


def test_deep_recursion_is_raised_or_ends_the_process() -> None:
    assert outcome("def f():\n    return f()")[0] == "RecursionError"
    code = """
        import sys
        sys.setrecursionlimit(10 ** 9)
        class A:
            def __add__(self, other):
                return self + other
        def f():
            A() + A()
    """
    run = tried(code)
    assert not run.complete or run.outcomes[1][0][0] == "raised"


@pytest.mark.parametrize("exit_now", ["os._exit(0)", "os.abort()", "os.execv('/nowhere', ['x'])", "sys.exit(0)"])
def test_leaving_early_is_seen(exit_now: str) -> None:
    run = tried(f"import os, sys\ndef f():\n    {exit_now}")
    assert not run.complete or run.outcomes[1][0][0] == "raised"


def test_a_forged_end_is_no_end() -> None:
    code = """
        import os
        def f():
            with open('result', 'ab') as file:
                file.write(b't1:s8:returnedi4;' + b't3:s3:ends32:' + b'0' * 32 + b'd0x1p-3;')
            os._exit(0)
    """
    assert not tried(code).complete


def test_a_replaced_record_is_not_followed(tmp_path: Path) -> None:
    code = "import os\ndef f():\n    os.remove('result')\n    os.mkfifo('result')\n    os._exit(0)"
    run = tried(code)
    assert not run.complete and len(run.outcomes) == 1


def test_patched_builtins_change_only_the_code_s_own_results() -> None:
    code = """
        import builtins, sys
        builtins.isinstance = lambda *_: True
        builtins.len = lambda *_: 0
        sys.modules.clear()
        def f():
            return object()
    """
    run = tried(code)
    assert not run.late
    assert not run.complete or run.outcomes[1][0][0] == "raised" or decode(run.outcomes[1][1])[0] is None


def test_nothing_in_the_child_knows_more_than_its_arguments() -> None:
    code = """
        import gc, os, sys
        def f():
            seen = [repr(o) for o in gc.get_objects() if type(o) in (dict, list, tuple)]
            frame = sys._getframe()
            while frame:
                seen.append(repr(frame.f_locals))
                frame = frame.f_back
            seen += [open(name, 'rb').read().decode('latin-1') for name in os.listdir('.')]
            return ''.join(reversed('EULAVTERCES')) in ''.join(seen)
    """
    from scorers.methods.python import score
    from scorers.response import Response

    expect = {"entry": "f", "tests": [{"args": [], "returns": "SECRETVALUE"}]}
    assert "returned False" in score(expect, Response(text=f"```\n{textwrap.dedent(code)}\n```")).detail


def test_machine_code_from_the_folder_is_refused() -> None:
    code = """
        import importlib.machinery, importlib.util
        def f():
            open('evil.so', 'wb').write(b'x')
            loader = importlib.machinery.ExtensionFileLoader('evil', 'evil.so')
            importlib.util.module_from_spec(importlib.util.spec_from_loader('evil', loader))
    """
    assert outcome(code)[0] == "PermissionError"


def test_the_folder_is_removed_whatever_is_in_it(monkeypatch: pytest.MonkeyPatch) -> None:
    folders: list[Path] = []
    fresh = cells.Cell.fresh
    monkeypatch.setattr(cells.Cell, "fresh", lambda folder: folders.append(folder) or fresh(folder))
    code = """
        import os
        def f():
            os.mkdir('locked'); open('locked/x', 'w'); os.chmod('locked', 0)
            for _ in range(1500):
                os.mkdir('d'); os.chdir('d')
            return 1
    """
    assert outcome(code) == ("returned", 1)
    assert not folders[0].exists()


def test_it_works_from_threads_and_in_another_process() -> None:
    from concurrent.futures import ThreadPoolExecutor

    with ThreadPoolExecutor(4) as pool:
        assert list(pool.map(lambda n: outcome("def f(n):\n    return n * n", n)[1], range(8))) == [
            n * n for n in range(8)
        ]
    program = (
        "from scorers import sandbox, harness\n"
        "run = sandbox.run('def f(): return 5', 'f', [harness.encode(([], {}))], sandbox.Limits())\n"
        "print(run.complete, harness.decode(run.outcomes[1][1])[0])"
    )
    shown = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert shown.stdout == "True 5\n"


def test_where_nothing_confines_nothing_runs(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(confine, "means", lambda: None)
    with pytest.raises(sandbox.NoSandboxError, match="bubblewrap"):
        sandbox.run("def f(): pass", "f", [CALL], sandbox.Limits())


def test_a_record_may_be_cut_or_forged_anywhere() -> None:
    right = encode(("returned",)) + b"N" + encode(("end", "s", 0.5))
    limits = sandbox.Limits(cpu_seconds=1)
    assert sandbox.read_record(right, "s", 0, limits, 0.1, 0).complete
    for data in (right[:-3], b"?", b"l0:N", b"i1;N", right.replace(b"s1:s", b"s1:t")):
        run = sandbox.read_record(data, "s", 0, limits, 0.1, 0)
        assert not run.complete and not run.late

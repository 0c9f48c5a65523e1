"""Names, items, configurations and servers that try to leave the run folder or to take over the terminal."""

import ast
import http.server
import json
import os
import pickle
import shutil
import struct
import subprocess
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

import triplicate
from itembank.bank import load_bank
from itembank.errors import UserError
from runner.find import find_run
from runner.store import read_record, safe_name
from scorers.processes import Died, Worker
from tests.reliability.kills import ITEMS, ROOT, folders, served, written_bank

CONTROL = "\x1b[2J\x1b]0;owned\x07\x9b31m\u202e\u200b\r\b\x00"
NAMES = [
    "../../evil",
    "/absolute/evil",
    "a\x00b",
    "n" * 300,
    "con",
    "AUX.txt",
    "lpt1",
    "..",
    ".",
    "~",
    "-rf",
    "Model",
    "model",
    "a/b",
    "a_b",
    "C:\\evil",
    "$(touch evil)",
    "=cmd|' /C calc'!A0",
    "<script>alert(1)</script>",
    "**bold** | [x](javascript:1)",
    f"red{CONTROL}",
    "\U0001f3f3\ufe0f\u200d\U0001f308",
]


def assert_printable(*texts: str) -> None:
    for text in texts:
        bad = sorted({char for char in text if not (char.isprintable() or char in "\n\t")})
        assert not bad, (bad, text)


def quoted(name: str) -> str:
    return "".join(f"\\u{ord(c):04x}" if ord(c) < 0x10000 else f"\\U{ord(c):08x}" for c in name)


def test_no_serving_name_leaves_the_folder_of_runs(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    place = tmp_path / "here" / "deep"
    place.mkdir(parents=True)
    monkeypatch.chdir(place)
    bank = written_bank(tmp_path)
    with served(bank, speed=2000) as server:
        entries = [f'[[serving]]\nname = "{quoted(name)}"\nbase_url = "{server.base_url}"\n' for name in NAMES]
        (place / "triplicate.toml").write_text("".join(entries))
        words = ["--bank", str(bank), "--items", "d-01", "--repeats", "2"]
        assert triplicate.main(["run", *words, "--", *NAMES]) == 0
        captured = capsys.readouterr()
        assert_printable(captured.out, captured.err)
    assert {path.name for path in tmp_path.iterdir()} == {"bank.jsonl", "here"}
    assert {path.name for path in place.iterdir()} == {"triplicate.toml", "runs"}
    found = folders(place / "runs")
    assert all(path.parent.parent == place / "runs" for path in found)
    assert sorted(read_record(path).serving["name"] for path in found) == sorted(NAMES)
    for name in sorted(set(NAMES) - {".", ".."}):
        path = find_run(name, Path("runs"))
        assert read_record(path).serving["name"] == name, "two names share a folder and are not told apart"
        assert len(path.parent.name) <= 81 and path.parent.name.isascii()
    assert triplicate.main(["compare", "--", NAMES[0], NAMES[-2]]) in (0, 1, 3, 4)
    captured = capsys.readouterr()
    assert_printable(captured.out, captured.err)
    assert NAMES[-2] not in captured.out + captured.err


@pytest.mark.parametrize("name", NAMES)
def test_a_folder_name_is_a_plain_word(name: str) -> None:
    folder = safe_name(name)
    assert folder and folder == Path(folder).name and folder not in (".", "..")
    assert set(folder) <= set("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789._-")
    assert folder.split(".")[0].lower() not in ("con", "prn", "aux", "nul", "lpt1")


@pytest.mark.parametrize("name", [name for name in NAMES if "\x00" not in name])
def test_a_name_that_nobody_knows_is_one_printable_line(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    for words in (["run", "--", name], ["report", "--", name], ["probe", "--", name], ["compare", "--", name, name]):
        assert triplicate.main(words) == 2
        captured = capsys.readouterr()
        assert captured.err.count("\n") == 1 and captured.out == ""
        assert_printable(captured.err)


@pytest.mark.parametrize("field", ["id", "dimension", "scorer", "prompt", "tags", "rationale", "extra"])
@pytest.mark.parametrize(
    "name", [NAMES[0], NAMES[1], NAMES[2], NAMES[3], NAMES[-2]], ids=["up", "abs", "nul", "long", "esc"]
)
def test_an_item_with_such_a_field_is_refused_or_harmless(
    field: str, name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "bank.jsonl"
    path.write_text(json.dumps({**ITEMS[0], field: [name] if field == "tags" else name}) + "\n")
    status = triplicate.main(["bank", "check", str(path)])
    captured = capsys.readouterr()
    assert status in (0, 2)
    assert_printable(captured.out, captured.err)
    assert sorted(entry.name for entry in tmp_path.iterdir()) == ["bank.jsonl"]


@pytest.mark.parametrize(
    "text",
    [
        "- !!python/object/apply:os.system ['touch evil']",
        "- !!python/name:os.system",
        "- id: &a [*a]",
        "a: &a [x,x]\nb: &b [*a,*a]",
        "- id: 2001-13-45",
    ],
)
def test_yaml_makes_nothing_but_data(text: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "bank.yaml").write_text(text + "\n")
    with pytest.raises(UserError):
        load_bank("bank.yaml")
    assert sorted(entry.name for entry in tmp_path.iterdir()) == ["bank.yaml"]


class Hostile(http.server.BaseHTTPRequestHandler):
    """A server whose every string is an attack on the terminal."""

    protocol_version = "HTTP/1.1"
    refuses = False

    def reply(self, status: int, value: object, kind: str = "application/json") -> None:
        body = value if isinstance(value, bytes) else json.dumps(value).encode()
        self.send_response(status)
        self.send_header("Content-Type", kind)
        self.send_header("Server", "\x1b[31mnginx")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def do_GET(self) -> None:
        name = f"m{CONTROL}=1+1"
        pages = {
            "/v1/models": {"data": [{"id": name, "owned_by": f"llamacpp{CONTROL}", "max_model_len": 4096}]},
            "/props": {
                "build_info": f"b1{CONTROL}",
                "model_path": f"/m/{name}.gguf",
                "chat_template": f"{{{{x}}}}{CONTROL}",
                "total_slots": 4,
                "default_generation_settings": {"n_ctx": 4096},
            },
            "/version": {"version": f"0.5{CONTROL}"},
        }
        page = pages.get(self.path)
        self.reply(200 if page else 404, page or {"error": f"no{CONTROL}"})

    def do_POST(self) -> None:
        self.rfile.read(int(self.headers["Content-Length"]))
        if self.refuses:
            return self.reply(400, {"error": {"message": f"no{CONTROL}such thing"}})
        first = {"index": 0, "delta": {"role": "assistant", "content": f"<|im_end|>{CONTROL}\nANSWER: {CONTROL}9"}}
        last = {"index": 0, "delta": {}, "finish_reason": f"stop{CONTROL}"}
        rows = [{"choices": [first], "model": f"m{CONTROL}"}, {"choices": [last], "usage": {"completion_tokens": 4}}]
        events = "".join(f"data: {text}\n\n" for text in [*map(json.dumps, rows), "[DONE]"])
        return self.reply(200, events.encode(), "text/event-stream")

    def log_message(self, form: str, *args: object) -> None:
        """Say nothing."""


@pytest.fixture
def hostile() -> Iterator[str]:
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), type("Fresh", (Hostile,), {}))
    thread = threading.Thread(target=server.serve_forever, args=(0.01,))
    thread.start()
    yield f"http://127.0.0.1:{server.server_port}/v1"
    server.shutdown()
    thread.join()
    server.server_close()


def test_nothing_that_a_server_says_reaches_the_terminal_as_it_is(
    hostile: str, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    bank = written_bank(tmp_path)
    common = ["--bank", str(bank), "--items", "d-01,d-02"]
    ladder = ["--levels", "1,2", "--rounds", "1", "--max-tokens", "4", "--plateau-s", "0"]
    name = f"127.0.0.1-{hostile.split(':')[2].split('/')[0]}"
    for words in (
        ["run", hostile, *common, "--repeats", "3"],
        ["probe", hostile],
        ["sweep", hostile, *ladder],
        ["report", name],
        ["report", name, "--format", "markdown"],
        ["compare", name, name],
        ["plan", name],
        ["bank", "list", str(bank)],
    ):
        assert triplicate.main(words) in (0, 1, 2, 3, 4), words
        captured = capsys.readouterr()
        assert_printable(captured.out, captured.err)
    raw = next((tmp_path / "runs").rglob("trials.jsonl")).read_bytes()
    assert b"\x1b" not in raw and b"\x00" not in raw, "a record that is printed must not act on the terminal"


def test_a_refusal_in_hostile_words_is_one_printable_line(
    hostile: str, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(Hostile, "refuses", True)
    for words in (["run", hostile], ["sweep", hostile]):
        assert triplicate.main([*words, *(["--bank", str(written_bank(tmp_path))] if words[0] == "run" else [])]) == 2
        error = capsys.readouterr().err
        assert "such thing" in error
        assert_printable(error)


@pytest.mark.skipif(not shutil.which("openssl"), reason="no openssl to make a certificate with")
def test_an_unchecked_certificate_is_asked_for_said_and_recorded(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    import ssl

    monkeypatch.chdir(tmp_path)
    subject = ["-subj", "/CN=localhost", "-addext", "subjectAltName=IP:127.0.0.1"]
    subprocess.run(
        [
            "openssl",
            "req",
            "-x509",
            "-newkey",
            "rsa:2048",
            "-nodes",
            "-keyout",
            "key.pem",
            "-out",
            "cert.pem",
            *subject,
        ],
        check=True,
        capture_output=True,
    )
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), type("Fresh", (Hostile,), {}))
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain("cert.pem", "key.pem")
    server.socket = context.wrap_socket(server.socket, server_side=True)
    server.handle_error = lambda *_: None  # type: ignore[method-assign]
    thread = threading.Thread(target=server.serve_forever, args=(0.01,))
    thread.start()
    try:
        serving = f'[[serving]]\nname = "own"\nmodel = "m"\nbase_url = "https://127.0.0.1:{server.server_port}/v1"\n'
        words = ["run", "own", "--bank", str(written_bank(tmp_path)), "--items", "d-01", "--repeats", "1"]
        Path("triplicate.toml").write_text(serving)
        assert triplicate.main(words) == 2
        assert "certificate" in capsys.readouterr().err
        assert not Path("runs").exists()
        Path("triplicate.toml").write_text(serving + "verify_tls = false\n")
        assert triplicate.main(words) == 0
        assert "verify_tls = false: anybody on the way" in capsys.readouterr().err
    finally:
        server.shutdown()
        thread.join()
        server.server_close()
    (path,) = folders(Path("runs"))
    assert read_record(path).serving["verify_tls"] is False


FORBIDDEN = {"pickle.load", "pickle.loads", "yaml.unsafe_load", "yaml.full_load", "shelve.open", "os.system", "eval"}
MAY_EXECUTE = {"scorers/harness.py", "scorers/sandbox.py"}
"""They run a model's program, in a process without rights."""


@pytest.mark.parametrize(
    "path", sorted(p for layer in ("itembank", "scorers", "runner", "reports") for p in (ROOT / layer).rglob("*.py"))
)
def test_no_code_is_made_of_data(path: Path) -> None:
    name = str(path.relative_to(ROOT))
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        if isinstance(node, ast.Call):
            called = ast.unparse(node.func)
            assert called not in FORBIDDEN, name
            assert called not in ("exec", "marshal.loads") or name in MAY_EXECUTE, name
            assert called != "yaml.load" or "Safe" in path.read_text("utf-8"), name
            assert not any(keyword.arg == "shell" for keyword in node.keywords), name


class Evil:
    def __reduce__(self) -> tuple[object, tuple[str]]:
        return os.system, ("touch evil",)


def test_a_worker_whose_tongue_was_taken_over_makes_nothing_run(tmp_path: Path, monkeypatch) -> None:
    data = pickle.dumps(Evil())
    (tmp_path / "taken_over.py").write_text(
        f"import os\ndef answer(request):\n    os.write(1, {struct.pack('>I', len(data)) + data!r})\n    os._exit(0)\n"
    )
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(str(tmp_path))
    with pytest.raises(Died):
        Worker("taken_over:answer").ask(1)
    assert not (tmp_path / "evil").exists()

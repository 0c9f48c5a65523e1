"""Secrets are planted wherever triplicate looks; afterwards none of them stands in anything that it wrote."""

import json
import os
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
SECRETS = {
    name: f"hunter22{name}xyzzy"
    for name in ("env", "typed", "given", "body", "user", "query", "page", "admin", "launch", "header", "error", "log")
}

SERVER = """
import argparse, http.server, json, os, sys
parser = argparse.ArgumentParser()
for name in ("--api-key", "--port"):
    parser.add_argument(name)
given = parser.parse_args()
S = json.loads(os.environ["PLANTED"])
print("args: Namespace(api_key=%r)" % given.api_key, "HF_TOKEN=" + S["log"], flush=True)
print("seen", os.environ["SERVER_API_KEY"], flush=True)
print("Authorization: Bearer " + S["env"], flush=True)
PAGES = {
    "/v1/models": {"data": [{"id": "m", "owned_by": "sglang", "root": "https://h/m?api_key=" + S["query"]}]},
    "/server_info": {
        "internal_states": [{"effective_max_running_requests_per_dp": 9, "admin_api_key": S["admin"]}],
        "api_key": S["page"], "admin_api_key": S["admin"], "version": "0.5 --api-key " + S["page"],
        "model_path": "s3://me:" + S["user"] + "@bucket/m", "quantization": "token=" + S["page"],
        "launch_command": "serve --api-key " + S["launch"], "env_vars": {"HF_TOKEN": S["page"]},
    },
}
class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    failed = 0
    def reply(self, status, body, kind="application/json"):
        self.send_response(status)
        self.send_header("Content-Type", kind)
        self.send_header("X-Request-Id", "Bearer " + S["header"])
        self.send_header("Via", "http://me:" + S["user"] + "@proxy/")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)
    def do_GET(self):
        page = PAGES.get(self.path)
        self.reply(200 if page else 404, json.dumps(page or {"error": "api_key=" + S["error"]}).encode())
    def do_POST(self):
        self.rfile.read(int(self.headers["Content-Length"]))
        Handler.failed += 1
        if Handler.failed % 7 == 3:
            text = "Incorrect API key provided: %s; you sent %s" % (S["env"], self.headers.get("Authorization"))
            return self.reply(503, json.dumps({"error": {"message": text, "api_key": S["error"]}}).encode())
        first = {"index": 0, "delta": {"content": "ANSWER: 4"}, "finish_reason": None}
        last = {"index": 0, "delta": {}, "finish_reason": "length"}
        usage = {"prompt_tokens": 1, "completion_tokens": 4}
        events = [json.dumps({"choices": [first]}), json.dumps({"choices": [last], "usage": usage}), "[DONE]"]
        self.reply(200, "".join("data: %s\\n\\n" % event for event in events).encode(), "text/event-stream")
    def log_message(self, form, *args):
        print(self.headers.get("Authorization") if hasattr(self, "headers") else form)
http.server.ThreadingHTTPServer(("127.0.0.1", int(given.port)), Handler).serve_forever()
"""

ITEM = {
    "id": "reasoning-01",
    "dimension": "reasoning",
    "prompt": "What is 2 + 2? End with ANSWER: and the number.",
    "max_tokens": 16,
    "scorer": "number",
    "expect": {"value": "4"},
    "accept": ["ANSWER: 4", "It is 4.\nANSWER: 4", "ANSWER: 4.0"],
    "reject": ["ANSWER: 5", "4", "ANSWER: 44"],
    "rationale": "Two and two is four.",
}

CONFIG = """
[[serving]]
name = "own"
model = "m"
api_key_env = "OWN_KEY"
[serving.extra_body]
api_key = "{body}"
[serving.launch]
command = ["{python}", "{server}", "--api-key", "{typed}", "--port", "{{port}}"]
env = {{SERVER_API_KEY = "{given}"}}

[[serving]]
name = "away"
model = "m"
base_url = "http://me:{user}@127.0.0.1:9/v1"
"""


@pytest.fixture
def place(tmp_path: Path) -> Path:
    (tmp_path / "server.py").write_text(textwrap.dedent(SERVER))
    (tmp_path / "bank.jsonl").write_text(json.dumps(ITEM) + "\n")
    filled = CONFIG.format(python=sys.executable, server=tmp_path / "server.py", **SECRETS)
    (tmp_path / "triplicate.toml").write_text(filled)
    return tmp_path


def triplicate(place: Path, *arguments: str) -> str:
    """Everything that the command printed."""
    environ = {**os.environ, "OWN_KEY": SECRETS["env"], "PLANTED": json.dumps(SECRETS), "HF_TOKEN": SECRETS["log"]}
    done = subprocess.run(
        [sys.executable, str(ROOT / "triplicate.py"), *arguments],
        cwd=place,
        env=environ,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert "Traceback" not in done.stderr, done.stderr
    return done.stdout + done.stderr


def leaks(place: Path, printed: str) -> list[tuple[str, str]]:
    """(secret, where) of every secret that stands in the output or in a file below `runs`."""
    texts = {"output": printed}
    for path in (place / "runs").rglob("*"):
        if path.is_file():
            texts[str(path.relative_to(place))] = path.read_bytes().decode("utf-8", "replace")
    return [(name, where) for name, secret in SECRETS.items() for where, text in texts.items() if secret in text]


@pytest.mark.long
def test_no_secret_is_written_anywhere(place: Path) -> None:
    printed = triplicate(place, "probe", "own", "--json")
    assert "sglang" in printed
    printed += triplicate(place, "run", "own", "--bank", "bank.jsonl", "--repeats", "3")
    printed += triplicate(place, "sweep", "own", "--levels", "1,2", "--rounds", "1", "--max-tokens", "4")
    for command in (["ledger", "list"], ["ledger", "check"], ["report", "own"], ["report", "own", "--format", "json"]):
        printed += triplicate(place, *command)
    assert list((place / "runs").rglob("trials.jsonl")), printed
    assert list((place / "runs").rglob("exchanges.jsonl")), printed
    assert list((place / "runs").rglob("*.log"))
    assert leaks(place, printed) == []


def test_no_secret_is_in_an_error_line(place: Path) -> None:
    printed = triplicate(place, "run", "away", "--bank", "bank.jsonl", "--wait", "1")
    printed += triplicate(place, "probe", "away") + triplicate(place, "sweep", "away")
    printed += triplicate(place, "probe", f"http://me:{SECRETS['user']}@127.0.0.1:9/v1")
    (place / "server.py").write_text(f"import sys; sys.exit('no: --api-key {SECRETS['typed']} is wrong')")
    printed += triplicate(place, "run", "own", "--bank", "bank.jsonl")
    printed += triplicate(place, "probe", "own")
    assert "ended with status 1" in printed
    assert leaks(place, printed) == []

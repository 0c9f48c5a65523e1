"""Wall time of a quality pass over the server's own time, against a mock that answers every request in 50 ms."""

import asyncio
import json
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from aiohttp import web

ANSWER_S = 0.05
ITEMS = 94
REPEATS = 3
CHUNK = b'data: {"choices":[{"index":0,"delta":{"content":"ANSWER: 1"},"finish_reason":null}]}\n\n'
END = (
    b'data: {"choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}\n\n'
    b'data: {"choices":[],"usage":{"prompt_tokens":9,"completion_tokens":3}}\n\ndata: [DONE]\n\n'
)


async def chat(request: web.Request) -> web.StreamResponse:
    start = time.perf_counter()
    await request.read()
    await asyncio.sleep(ANSWER_S - (time.perf_counter() - start))
    reply = web.StreamResponse(headers={"content-type": "text/event-stream"})
    await reply.prepare(request)
    await reply.write(CHUNK + END)
    await reply.write_eof()
    request.app["busy"].append(time.perf_counter() - start)
    return reply


async def models(request: web.Request) -> web.Response:
    return web.json_response({"object": "list", "data": [{"id": "mock", "object": "model"}]})


async def busy(request: web.Request) -> web.Response:
    spent = sum(request.app["busy"])
    request.app["busy"].clear()
    return web.json_response(spent)


def serve(port: int) -> None:
    app = web.Application()
    app["busy"] = []
    app.add_routes([web.post("/v1/chat/completions", chat), web.get("/v1/models", models), web.get("/busy", busy)])
    web.run_app(app, host="127.0.0.1", port=port, print=None, access_log=None)


def measured(port: int, concurrency: int, out: Path) -> tuple[float, float]:
    """(seconds between the first request and the end of the last, seconds the server was busy) of one run."""
    import urllib.request

    from runner.store import RunFolder

    bank = out / "bank.jsonl"
    fields = {"dimension": "d", "scorer": "number", "expect": {"value": "1"}}
    rows = [json.dumps({"id": f"d-{n:02d}", "prompt": f"Question {n}", **fields}) for n in range(ITEMS)]
    bank.write_text("\n".join(rows))
    runs = out / f"runs-{concurrency}"
    command = [sys.executable, "triplicate.py", "run", f"http://127.0.0.1:{port}/v1", "--bank", str(bank)]
    command += ["--repeats", str(REPEATS), "--concurrency", str(concurrency), "--out", str(runs)]
    subprocess.run(command, check=True, capture_output=True)
    with urllib.request.urlopen(f"http://127.0.0.1:{port}/busy") as reply:
        served = float(reply.read())
    (record,) = runs.rglob("run.json")
    exchanges = [trial.exchange for trial in RunFolder.read(record.parent).trials()]
    wall = (max(e.done_ns for e in exchanges) - min(e.due_ns for e in exchanges)) / 1e9
    return wall, served


def main() -> None:
    port = 18750
    server = subprocess.Popen([sys.executable, "-c", f"from tests.bench.overhead import serve; serve({port})"])
    time.sleep(2.0)
    try:
        with tempfile.TemporaryDirectory() as folder:
            for concurrency in (1, 16):
                wall, served = measured(port, concurrency, Path(folder))
                share = wall * concurrency / served - 1
                print(
                    f"{ITEMS} items x {REPEATS} at concurrency {concurrency}: {wall:.2f} s, server {served:.2f} s,",
                    end=" ",
                )
                print(
                    f"overhead {100 * share:.1f} %" if concurrency == 1 else f"{ITEMS * REPEATS / wall:.0f} requests/s"
                )
    finally:
        server.terminate()
        server.wait()
    peak = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1024
    print(f"peak memory of the largest process: {peak:.0f} MiB")


if __name__ == "__main__":
    main()

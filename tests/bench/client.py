"""What the client costs and how truly it times: CPU per streamed chunk, send skew, first-token and latency error.

The simulator runs in a process of its own and keeps the truth of each request on the same clock. The CPU figure has a
yardstick in the same run, because the machine's own speed changes from hour to hour: a plain aiohttp client that reads
and decodes as serving benchmarks do, on the standard event loop.
"""

import asyncio
import gc
import json
import re
import time
from collections.abc import Sequence
from statistics import median
from typing import Any

import aiohttp

from runner.client import Client, run
from runner.config import ServingConfig
from runner.exchange import Exchange
from tests.bench.mock import PACED, served

STREAMS = 64
TOKENS = 200
ROUNDS = 5
CPU_TARGET_US = 45.0
SKEW_TARGET_MS = 20.0
P50_TARGET_MS, P99_TARGET_MS = 1.0, 5.0
BODY = {
    "model": "simulated",
    "messages": [{"role": "user", "content": "Write a long story about the sea."}],
    "max_tokens": TOKENS,
    "stream": True,
    "stream_options": {"include_usage": True},
}


def percentile(values: Sequence[float], share: float) -> float:
    """By the nearest rank."""
    return sorted(values)[min(len(values) - 1, int(share * len(values)))]


async def ours(url: str) -> tuple[float, list[list[Exchange]]]:
    """CPU microseconds per chunk, decoding included, and the exchanges of every round after a warm-up."""
    async with Client(ServingConfig(name="bench", base_url=url)) as client:
        await asyncio.gather(*(client.send({**BODY, "max_tokens": 8}) for _ in range(STREAMS)))
        costs, rounds = [], []
        for _ in range(ROUNDS):
            start = time.process_time()
            received = await asyncio.gather(*(client.receive(BODY) for _ in range(STREAMS)))
            exchanges = [await client.exchange(one) for one in received]
            spent = time.process_time() - start
            costs.append(spent / sum(len(exchange.read_ns) for exchange in exchanges) * 1e6)
            rounds.append(exchanges)
        return min(costs), rounds


async def plain(url: str) -> float:
    """CPU microseconds per chunk of an aiohttp client that decodes each chunk as it comes."""
    connector = aiohttp.TCPConnector(limit=STREAMS, keepalive_timeout=60)
    timeout = aiohttp.ClientTimeout(total=6 * 3600)
    async with aiohttp.ClientSession(connector=connector, timeout=timeout, trust_env=True) as session:

        async def one(tokens: int) -> int:
            text, stamps = "", []
            async with session.post(f"{url}/chat/completions", json={**BODY, "max_tokens": tokens}) as reply:
                async for chunk in reply.content.iter_any():
                    stamps.append(time.perf_counter())
                    for line in chunk.strip().decode().split("\n\n"):
                        if line.startswith("data: {"):
                            for choice in json.loads(line[6:])["choices"]:
                                text += choice["delta"].get("content") or ""
            return len(stamps)

        await asyncio.gather(*(one(8) for _ in range(STREAMS)))
        costs = []
        for _ in range(ROUNDS):
            start = time.process_time()
            chunks = await asyncio.gather(*(one(TOKENS) for _ in range(STREAMS)))
            costs.append((time.process_time() - start) / sum(chunks) * 1e6)
        return min(costs)


async def truths(url: str) -> dict[int, dict[str, Any]]:
    async with Client(ServingConfig(name="bench", base_url=url)) as client:
        reply = await client.get("/simulator/requests", max_bytes=64 << 20)
        return {row["id"]: row for row in reply.json()}


def errors_ms(exchanges: Sequence[Exchange], true: dict[int, dict[str, Any]]) -> tuple[list[float], list[float]]:
    """How much later than the server wrote it the client saw each first and each last token."""
    first, last = [], []
    for exchange in exchanges:
        found = re.search(r'"id":"chatcmpl-(\d+)"', exchange.raw)
        assert found is not None, exchange.failure
        truth = true[int(found[1])]
        first.append((exchange.token_ns[0] - truth["first_ns"]) / 1e6)
        last.append((exchange.token_ns[-1] - truth["last_ns"]) / 1e6)
    return first, last


def skew_ms(exchanges: Sequence[Exchange]) -> float:
    sent = [exchange.sent_ns or 0 for exchange in exchanges]
    return (max(sent) - min(exchange.due_ns for exchange in exchanges)) / 1e6


def main() -> int:
    gc.collect()
    gc.disable()  # as a ladder does while it measures; for the yardstick too
    with served(PACED) as url:
        yardstick_us = asyncio.run(plain(url))
        cost_us, rounds = run(ours(url))
        yardstick_us = min(yardstick_us, asyncio.run(plain(url)))
        true = run(truths(url))
    exchanges = [exchange for burst in rounds for exchange in burst]
    failed = [exchange.failure for exchange in exchanges if exchange.failure]
    skew = median(map(skew_ms, rounds))
    first, last = errors_ms(exchanges, true)
    print(f"{STREAMS} streams of 50 tok/s, {TOKENS} tokens, {ROUNDS} rounds; failed: {len(failed)}")
    print(f"CPU per chunk: {cost_us:.1f} us (target {CPU_TARGET_US:g}); plain aiohttp: {yardstick_us:.1f} us")
    print(f"send skew of {STREAMS}: {skew:.1f} ms (target {SKEW_TARGET_MS:g})")
    missed = bool(failed) or cost_us > max(CPU_TARGET_US, yardstick_us) or skew > SKEW_TARGET_MS
    for name, found in (("first token", first), ("last token", last)):
        p50, p99 = median(found), percentile(found, 0.99)
        print(f"{name} later than written: p50 {p50:.2f} ms (target {P50_TARGET_MS:g}), p99 {p99:.2f} ms (5)")
        missed = missed or p50 > P50_TARGET_MS or p99 > P99_TARGET_MS
    return int(missed)


if __name__ == "__main__":
    raise SystemExit(main())

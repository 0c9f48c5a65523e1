"""The simulated engine over real sockets."""

import asyncio
import re
import signal
import subprocess
import sys
from collections import Counter
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from itembank.bank import Bank
from itembank.errors import UserError
from itembank.item import Item
from runner.client import Client, run
from runner.config import ServingConfig
from runner.exchange import Exchange, FailureKind
from runner.simulator import Simulator, preset_named, simulated
from runner.simulator_answers import CONTROL_TOKEN, Model
from runner.simulator_engine import simulated_jobs
from runner.simulator_faults import Faults, parsed_faults
from runner.simulator_presets import PRESETS

ROOT = Path(__file__).parent.parent.parent
BODY = {
    "model": "simulated",
    "messages": [{"role": "user", "content": "Write a long story about the sea."}],
    "max_tokens": 64,
    "stream_options": {"include_usage": True},
}
FAST = replace(PRESETS["batching"], s0_s=0.0005, s1_s=0.000001)


def client_of(server: Simulator, **options: Any) -> Client:
    return Client(ServingConfig(name="s", base_url=server.base_url), **options)


def burst(
    server: Simulator, count: int, *, stream: bool = True, idle_s: float = 60.0, **body: object
) -> list[Exchange]:
    async def main() -> list[Exchange]:
        async with client_of(server, idle_timeout_s=idle_s) as client:
            return await asyncio.gather(*(client.send({**BODY, **body}, stream=stream) for _ in range(count)))

    return run(main())


def got(server: Simulator, path: str) -> Any:
    async def main() -> Any:
        async with client_of(server) as client:
            return await client.get(path)

    return run(main())


def one(server: Simulator, **options: Any) -> Exchange:
    return burst(server, 1, **options)[0]


class TestServing:
    def test_a_burst_is_answered_in_full(self) -> None:
        with simulated(FAST) as server:
            exchanges = burst(server, 8)
        assert [e.failure for e in exchanges] == [None] * 8
        assert {e.usage.completion_tokens for e in exchanges if e.usage} == {64}
        assert len({e.response.text for e in exchanges if e.response}) == 1
        assert {e.response.finish_reason for e in exchanges if e.response} == {"length"}
        assert server.peak_in_flight == 8

    def test_without_a_stream(self) -> None:
        with simulated(FAST) as server:
            streamed, whole = one(server), one(server, stream=False)
        assert streamed.response is not None
        assert whole.response is not None
        assert streamed.response == whole.response
        assert whole.usage is not None

    @pytest.mark.long
    @pytest.mark.parametrize("count", [512, 1000])
    def test_as_many_streams_at_once_as_are_asked_for(self, count: int) -> None:
        with simulated(replace(FAST, s0_s=1.0, prefill_s=0.0, prefills_per_step=count)) as server:
            exchanges = burst(server, count, max_tokens=4)
        assert Counter(str(e.failure) for e in exchanges) == {"None": count}
        assert server.peak_in_flight == count

    def test_the_truth_of_each_request_is_kept(self) -> None:
        with simulated(replace(FAST, cap=2, s0_s=0.005)) as server:
            exchanges = burst(server, 6, max_tokens=8)
            told = got(server, "/simulator/requests").json()
        assert [row["tokens"] for row in told] == [8] * 6
        for truth in server.truths:
            assert truth.received_ns <= (truth.admitted_ns or 0) <= (truth.first_ns or 0) <= (truth.last_ns or 0)
        admitted = sorted(truth.admitted_ns or 0 for truth in server.truths)
        ends = sorted(truth.last_ns or 0 for truth in server.truths)
        assert admitted[2] > ends[0] - 5_000_000 * 3
        assert sorted(e.usage.cached_tokens or 0 for e in exchanges if e.usage) == [0] * 6

    def test_a_body_that_is_no_json(self) -> None:
        async def main() -> int:
            async with Simulator(FAST) as server:
                reader, writer = await asyncio.open_connection("127.0.0.1", server.port)
                head = b"POST /v1/chat/completions HTTP/1.1\r\nHost: x\r\nContent-Length: 4\r\n\r\n"
                writer.write(head + b"{oops"[:4])
                status = int((await reader.readline()).split()[1])
                writer.close()
                return status

        assert run(main()) == 400

    def test_two_tool_calls_and_reasoning_in_one_piece(self) -> None:
        calls = [{"name": "f", "arguments": "{}"}, {"name": "g", "arguments": "{}"}]
        item = replace(TestQuality.BANK.items[0], accept=({"reasoning": "hm", "text": "", "tool_calls": calls},))
        model = Model(Bank(name="one", items=(item,)), score=100, flaky=0)
        with simulated(FAST, model=model) as server:
            asked = [dict(message) for message in item.messages]
            replies = [one(server, stream=stream, messages=asked).response for stream in (True, False)]
        for reply in replies:
            assert reply is not None
            assert reply.reasoning == "hm"
            assert [call.name for call in reply.tool_calls] == ["f", "g"]

    def test_a_client_that_leaves_frees_its_place(self) -> None:
        async def main() -> int:
            async with (
                Simulator(replace(PRESETS["queueing"], s0_s=0.01)) as server,
                client_of(server) as client,
            ):
                task = asyncio.create_task(client.send({**BODY, "max_tokens": 5000}))
                while not server.engine.running:
                    await asyncio.sleep(0.001)
                task.cancel()
                await asyncio.gather(task, return_exceptions=True)
                answer = await client.send({**BODY, "max_tokens": 3})
                assert answer.failure is None
                return server.in_flight

        assert run(main()) == 0

    def test_prompts_that_repeat_are_cached_and_salted_ones_are_not(self) -> None:
        long = "word " * 100
        with simulated(FAST) as server:
            first, again = (one(server, messages=[{"role": "user", "content": long}]) for _ in range(2))
            salted = one(server, messages=[{"role": "user", "content": "salt" + long}])
        assert [e.usage.cached_tokens for e in (first, again, salted) if e.usage] == [0, 112, 0]

    def test_it_says_that_it_is_a_simulator(self) -> None:
        with simulated(replace(PRESETS["capped"], cap=9, declared_cap=32)) as server:
            told = got(server, "/simulator").json()
            models = got(server, "/v1/models").json()
            assert got(server, "/health").status == 200
        assert told["simulated"] is True
        assert told["max_concurrent_sequences"] == 32
        assert told["truth"]["cap"] == 9
        assert models["data"][0]["owned_by"] == "triplicate-simulator"

    def test_its_metrics_count(self) -> None:
        with simulated("batching-spec", speed=20) as server:
            burst(server, 3)
            text = got(server, "/metrics").body.decode()
        values = dict(re.findall(r"^simulator:(\w+) (\d+)$", text, re.M))
        assert values["generation_tokens_total"] == "192"
        assert values["requests_running"] == values["requests_waiting"] == "0"
        assert 0 < int(values["accepted_tokens_total"]) <= int(values["draft_tokens_total"])

    def test_speculation_brings_several_tokens_in_a_chunk(self) -> None:
        with simulated(replace(FAST, draft=3, acceptance=1.0, acceptance_halves_at=1e9, s0_s=0.01)) as server:
            exchange = one(server)
        assert exchange.usage is not None
        assert exchange.usage.completion_tokens == 64
        assert exchange.events <= 20

    @pytest.mark.parametrize(
        ("body", "status", "words"),
        [
            ({"messages": []}, 400, "messages"),
            ({"messages": "x"}, 400, "messages"),
            ({"model": "gpt"}, 404, "there is simulated"),
            ({"max_tokens": 0}, 400, "at least 1"),
            ({"max_tokens": True}, 400, "at least 1"),
            ({"max_tokens": 70_000}, 400, "context"),
        ],
    )
    def test_it_refuses_what_a_real_engine_refuses(self, body: dict[str, Any], status: int, words: str) -> None:
        with simulated(FAST) as server:
            exchange = one(server, **body)
        assert exchange.failure is not None
        assert exchange.failure.status == status
        assert words in exchange.failure.detail

    def test_usage_only_where_it_is_asked_for(self) -> None:
        with simulated(FAST) as server:
            assert one(server, stream_options=None).usage is None

    def test_an_occupied_port_is_the_users_to_mend(self) -> None:
        with simulated(FAST) as server, pytest.raises(UserError, match="--port"), simulated(FAST, port=server.port):
            pass

    def test_an_unknown_preset_names_the_known_ones(self) -> None:
        with pytest.raises(UserError, match="queueing"):
            preset_named("queuing")


class TestShape:
    """The same figures over sockets as from the step model, with time scaled."""

    @pytest.mark.parametrize(
        ("name", "concurrency", "speed"),
        [
            ("queueing", 1, 4),
            ("queueing", 16, 16),
            ("capped", 16, 16),
            ("batching", 1, 1),
            ("batching", 32, 0.5),
            ("batching-spec", 16, 0.5),
        ],
    )
    def test_rates_hold(self, name: str, concurrency: int, speed: float) -> None:
        tokens = 96
        jobs = simulated_jobs(PRESETS[name], [(0.0, 9, tokens)] * concurrency)
        expected = max(job.last_s or 0 for job in jobs)
        seen = [float("inf")]
        with simulated(name, speed=speed) as server:
            while len(seen) < 8 and min(seen) > expected * 1.1:
                exchanges = burst(server, concurrency, max_tokens=tokens)
                begin = min(e.sent_ns or 0 for e in exchanges)
                seen.append((max(e.done_ns for e in exchanges) - begin) / 1e9 * speed)
        assert expected * 0.97 < min(seen) < expected * 1.25, "eight tries, so that a busy machine gets its chance"


class TestFaults:
    def fault(self, kind: str, count: int = 1, *, stream: bool = True, **options: Any) -> list[Exchange]:
        with simulated(replace(FAST, s0_s=0.002), faults={kind: 1.0}) as server:
            return burst(server, count, stream=stream, idle_s=1.0 if kind == "stall" else 60.0, **options)

    @pytest.mark.parametrize(
        ("kind", "failure"),
        [
            ("cut", FailureKind.CUT_STREAM),
            ("no-finish", FailureKind.CUT_STREAM),
            ("error-event", FailureKind.CUT_STREAM),
            ("empty", FailureKind.CUT_STREAM),
            ("malformed", FailureKind.PROTOCOL),
            ("html", FailureKind.PROTOCOL),
            ("stall", FailureKind.TIMEOUT),
            ("drop", FailureKind.CONNECT),
        ],
    )
    @pytest.mark.parametrize("stream", [True, False])
    def test_broken_replies(self, kind: str, failure: FailureKind, stream: bool) -> None:
        exchange = self.fault(kind, stream=stream)[0]
        assert exchange.failure is not None
        if stream or kind in ("html", "empty", "stall", "drop", "no-finish"):
            assert exchange.failure.kind is failure, exchange.failure

    @pytest.mark.parametrize("status", [400, 401, 404, 429, 500, 503])
    def test_refusals(self, status: int) -> None:
        exchange = self.fault(str(status))[0]
        assert exchange.failure is not None
        assert exchange.failure.status == status
        assert (exchange.failure.retry_after_s == 1.0) is (status in (429, 503))

    def test_no_usage(self) -> None:
        for stream in (True, False):
            exchange = self.fault("no-usage", stream=stream)[0]
            assert exchange.failure is None
            assert exchange.usage is None

    def test_slow(self) -> None:
        exchange = self.fault("slow", max_tokens=4)[0]
        assert exchange.failure is None
        assert exchange.done_ns - exchange.due_ns > 1e8

    def test_a_buffering_proxy(self) -> None:
        exchange = self.fault("buffered", max_tokens=32)[0]
        assert exchange.failure is None
        assert exchange.token_ns[0] - exchange.due_ns > 0.8 * (exchange.done_ns - exchange.due_ns)

    @pytest.mark.parametrize("kind", ["leak", "overrun"])
    def test_control_tokens_leak_only_above_concurrency_one(self, kind: str) -> None:
        for count, leaks in ((1, False), (4, True)):
            texts = [e.response.text for e in self.fault(kind, count) if e.response]
            assert len(texts) == count
            assert any(CONTROL_TOKEN in text for text in texts) is leaks

    def test_the_faulty_preset_breaks_some_and_serves_most(self) -> None:
        with simulated(replace(FAST, name="faulty")) as server:
            exchanges = burst(server, 200, max_tokens=4)
        broken = sum(e.failure is not None for e in exchanges)
        assert 15 < broken < 80

    def test_it_dies_after_as_many_requests_as_it_was_given(self) -> None:
        with simulated(FAST, die_after=3) as server:
            exchanges = [one(server) for _ in range(5)]
        assert [e.failure is None for e in exchanges] == [True] * 3 + [False] * 2
        assert {e.failure.kind for e in exchanges if e.failure} == {FailureKind.CONNECT}

    def test_shares(self) -> None:
        faults = Faults({"cut": 0.2, "429": 0.1}, seed=1)
        seen = Counter(faults.drawn() for _ in range(5000))
        assert seen["cut"] / 5000 == pytest.approx(0.2, abs=0.02)
        assert seen["429"] / 5000 == pytest.approx(0.1, abs=0.02)

    def test_shares_from_texts(self) -> None:
        assert parsed_faults(["cut=0.1", "429"]) == {"cut": 0.1, "429": 1.0}

    @pytest.mark.parametrize("text", ["cat", "cut=x", "cut=2", "cut=-1", "cut=nan"])
    def test_a_fault_that_cannot_be_meant(self, text: str) -> None:
        with pytest.raises(UserError):
            parsed_faults([text])


class TestQuality:
    BANK = Bank(
        name="two",
        items=tuple(
            Item(
                id=f"reasoning-0{number}",
                dimension="reasoning",
                messages=({"role": "user", "content": f"question {number}"},),
                scorer="text",
                expect={},
                accept=accept,
                reject=("wrong",),
            )
            for number, accept in enumerate(
                [("right",), ({"text": "", "tool_calls": [{"name": "f", "arguments": '{"x": [1, 2, 3]}'}]},)]
            )
        ),
    )

    @pytest.mark.parametrize("stream", [True, False])
    def test_items_are_answered_over_the_wire(self, stream: bool) -> None:
        with simulated(FAST, model=Model(self.BANK, score=100, flaky=0)) as server:
            text, call = (
                one(server, stream=stream, messages=[dict(m) for m in item.messages]) for item in self.BANK.items
            )
        assert text.response is not None
        assert (text.response.text, text.response.finish_reason) == ("right", "stop")
        assert call.response is not None
        assert [(c.name, c.arguments) for c in call.response.tool_calls] == [("f", '{"x": [1, 2, 3]}')]
        assert call.response.finish_reason == "tool_calls"

    def test_a_bank_alone_is_enough(self) -> None:
        with simulated(FAST, bank=self.BANK, seed=1) as server:
            assert server.described()["quality"]["score"] == 84.0
            assert set(server.model.chances) == {"reasoning-00", "reasoning-01"}


class TestCommand:
    def test_what_it_builds_and_how_it_ends(
        self, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
    ) -> None:
        """In this process, with a server that is told to stop as soon as it has started."""
        built: list[Simulator] = []

        class Short(Simulator):
            async def __aenter__(self) -> "Short":
                await super().__aenter__()
                built.append(self)
                self.dead.set()
                return self

        monkeypatch.setattr("runner.simulator.Simulator", Short)
        import triplicate

        options = ["--ragged", "0.2", "--draft", "2", "--jitter", "0", "--context", "4096", "--seed", "3"]
        assert triplicate.main(["simulate", "batching", *options, "--noise-seed", "1", "--bank", "builtin"]) == 1
        preset = built[0].preset
        assert (preset.ragged, preset.draft, preset.jitter, preset.context_tokens) == (0.2, 2, 0.0, 4096)
        assert (built[0].model.seed, built[0].model.noise) == (3, 1)
        assert built[0].base_url in capsys.readouterr().out

    def started(self, *arguments: str) -> tuple[subprocess.Popen[str], str]:
        command = [sys.executable, "triplicate.py", "simulate", *arguments]
        process = subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        assert process.stdout is not None
        line = process.stdout.readline()
        found = re.search(r"http://\S+/v1", line)
        assert found, (line, process.communicate(timeout=30))
        return process, found.group()

    def asked(self, url: str, path: str = "/simulator") -> Any:
        async def main() -> Any:
            async with Client(ServingConfig(name="s", base_url=url)) as client:
                return await client.get(path)

        return run(main())

    @pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
    def test_it_serves_until_a_signal(self, number: signal.Signals) -> None:
        options = ["--cap", "9", "--declared-cap", "32", "--fault", "429=0.5", "--speed", "7", "--no-prefix-cache"]
        process, url = self.started("capped", "--regress", "3", "--name", "mine", *options)
        told = self.asked(url).json()
        process.send_signal(number)
        _, errors = process.communicate(timeout=30)
        assert (process.returncode, errors) == (0, "")
        assert told["model"] == "mine"
        assert told["max_concurrent_sequences"] == 32
        assert told["truth"]["cap"] == 9
        assert told["prefix_cache"] is False
        assert told["faults"] == {"429": 0.5}
        assert told["speed"] == 7
        assert told["quality"]["regress"] == 3

    def test_it_dies_when_it_was_told_to(self) -> None:
        process, url = self.started("batching", "--die-after", "1")

        async def main() -> Exchange:
            async with Client(ServingConfig(name="s", base_url=url)) as client:
                return await client.send({**BODY, "max_tokens": 1})

        assert run(main()).failure is None
        process.communicate(timeout=30)
        assert process.returncode == 1
        assert self.asked(url).failure.kind is FailureKind.CONNECT

    @pytest.mark.parametrize(
        "arguments",
        [
            ["nope"],
            ["capped", "--cap", "0"],
            ["capped", "--speed", "0"],
            ["capped", "--score", "101"],
            ["capped", "--flaky", "-0.1"],
            ["capped", "--port", "70000"],
            ["capped", "--fault", "cat"],
            ["capped", "--bank", "no-such-file.yaml"],
        ],
    )
    def test_what_cannot_be_meant_is_one_line(self, arguments: list[str], capsys: pytest.CaptureFixture[str]) -> None:
        import triplicate

        assert triplicate.main(["simulate", *arguments]) == 2
        error = capsys.readouterr().err
        assert error.startswith("triplicate: ")
        assert error.count("\n") == 1

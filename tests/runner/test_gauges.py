"""What is kept of a page of metrics, and when a server is no longer asked."""

import asyncio

from runner.client import Client, run
from runner.config import ServingConfig
from runner.gauges import Gauges, gauges_of
from runner.simulator import simulated
from tests.runner.scripted import Scripted, whole

PAGE = b"""# HELP vllm:num_requests_running Running.
# TYPE vllm:num_requests_running gauge
vllm:num_requests_running{engine="0",model_name="a b"} 3.0
vllm:num_requests_running{engine="1",model_name="a b"} 4.0
vllm:num_requests_waiting{engine="0"} 1.5e1
vllm:request_queue_time_seconds_bucket{le="1.0"} 9.0
vllm:request_queue_time_seconds_sum 9.0
vllm:num_preemptions_total{engine="0"} 2.0
llamacpp:requests_deferred 7
vllm:num_requests_running_broken 1e
process_cpu_seconds_total 12
"""


def test_series_add_up_and_histograms_are_left_out() -> None:
    assert gauges_of(PAGE) == {
        "vllm:num_requests_running": 7.0,
        "vllm:num_requests_waiting": 15.0,
        "vllm:num_preemptions_total": 2.0,
        "llamacpp:requests_deferred": 7.0,
    }
    assert gauges_of(b"<html>running 3</html>") == {}


async def sampled(gauges: Gauges, seconds: float) -> int:
    gauges.start()
    await asyncio.sleep(seconds)
    return len(await gauges.stop())


def test_samples_at_five_hertz() -> None:
    async def main() -> int:
        with simulated("batching") as server:
            async with Client(ServingConfig(name="s", base_url=server.base_url)) as client:
                return await sampled(Gauges(client), 0.5)

    assert 1 <= run(main()) <= 3


def test_a_server_without_metrics_is_asked_once() -> None:
    async def main() -> tuple[int, int, int]:
        async with Scripted([whole(b"none", 404)]) as server, Client(server.serving()) as client:
            gauges = Gauges(client)
            counts = await sampled(gauges, 0.3), await sampled(gauges, 0.01)
            return *counts, len(server.requests)

    assert run(main()) == (0, 0, 1)


def test_a_page_that_fails_later_is_left_out() -> None:
    async def main() -> tuple[int, int]:
        replies = [whole(b"x:requests_running 1\n"), whole(b"busy", 500), whole(b"x:requests_running 2\n")]
        async with Scripted(replies) as server, Client(server.serving()) as client:
            return await sampled(Gauges(client), 0.5), len(server.requests)

    found, asked = run(main())
    assert found == asked - 1

"""Against a real llama.cpp server: the true slot count and drafting, followed over restarts with another cap."""

import asyncio
from dataclasses import replace
from pathlib import Path

import pytest

from itembank.errors import UserError
from reports.ledger import compared
from runner.client import Client
from runner.identity import difference, disagreements, identify, identity_digest, was_restarted
from runner.launch import launched
from runner.local import embedded
from runner.record import Identity
from runner.weights import model_file, require_engine

pytestmark = pytest.mark.engine


@pytest.fixture(scope="module")
def gguf() -> Path:
    try:
        require_engine()
        return model_file()
    except UserError as missing:
        pytest.skip(str(missing))


def read(gguf: Path, folder: Path, slots: int, draft: Path | None = None) -> Identity:
    async def main() -> Identity:
        serving = embedded("real", gguf, slots=slots, context=512, draft=draft)
        async with launched(serving, folder / "server.log") as ready:
            async with Client(ready) as client:
                body = {"model": await client.model(), "messages": [{"role": "user", "content": "Hi"}], "max_tokens": 4}
                assert (await client.send(body)).failure is None
            return await identify(replace(ready, pid=0))

    return asyncio.run(main())


@pytest.mark.long
def test_the_true_slots_are_read_over_restarts(gguf: Path, tmp_path: Path) -> None:
    three, five, again = (read(gguf, tmp_path, slots) for slots in (3, 5, 3))
    assert three.engine == "llama_cpp"
    fact = three.fact("max_concurrent_sequences")
    assert fact is not None
    assert (fact.value, fact.source) == (3, "GET /props")
    assert (three.value("context_length"), three.value("quantization")) == (512, "Q4_1")
    assert three.value("speculative_decoding") is False
    assert three.value("pid") is not None
    assert three.counters["generation_tokens"] >= 1
    assert "max_concurrent_sequences: 3 -> 5" in difference(three, five)
    assert compared(three, five)[0] == "stale"
    assert compared(three, again) == ("current", [])
    assert identity_digest(three) == identity_digest(again) != identity_digest(five)
    assert was_restarted(three, again)
    assert [str(each) for each in disagreements({"max_concurrent_sequences": 32}, three)] == [
        "max_concurrent_sequences: 32 -> 3"
    ]


def test_drafting_is_read(gguf: Path, tmp_path: Path) -> None:
    found = read(gguf, tmp_path, 1, draft=gguf)
    assert found.value("speculative_decoding") is True
    assert found.value("speculative_tokens") == 3
    assert Path(found.value("speculative_model")).name == gguf.name
    assert found.counters["draft_tokens"] >= 1

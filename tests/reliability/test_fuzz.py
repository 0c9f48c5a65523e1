"""Everything that reads what others wrote takes any text: it answers, or says in one line what is wrong.

`FUZZ_S` seconds of processor time go to each reader in the long version; the short one has the seeds and a few draws.
"""

import json
import time
from collections.abc import Callable
from pathlib import Path

import hypothesis
import pytest
from hypothesis import strategies as st

from itembank.bank import load_bank
from itembank.errors import UserError
from runner.assemble import Assembly, decoded
from runner.config import load_config
from runner.exchange import Trial
from runner.failure import error_message, one_line
from runner.lines import drop_damaged, lines
from runner.metrics import samples
from runner.sse import events
from runner.store import RunFolder, read_record
from scorers import jsontext
from scorers.extract import field
from scorers.mathgrammar import tree
from scorers.mathtokens import MathError
from scorers.numbers import number
from tests.hostile import HOSTILE
from tests.reliability.kills import ITEMS, ROOT
from tests.runner.scripted import GOOD

FUZZ_S = 600.0
SHORT = 40
Reader = Callable[[bytes, Path], None]
GOLDEN = sorted((ROOT / "tests" / "data" / "runs" / "v1").rglob("run.json"))


def read_events(data: bytes, _: Path) -> None:
    for one in events(data):
        try:
            value = decoded(one.data)
        except ValueError:
            continue
        assembly = Assembly()
        if isinstance(value, dict):
            assembly.add(value)
        json.dumps([call.name for call in assembly.tool_calls()])


def read_number(data: bytes, _: Path) -> None:
    number(data.decode("utf-8", "surrogateescape"))


def read_math(data: bytes, _: Path) -> None:
    try:
        tree(data.decode("utf-8", "replace"))
    except MathError:
        return


def read_json(data: bytes, _: Path) -> None:
    text = data.decode("utf-8", "replace")
    jsontext.find(text)
    for convention in ("line", "boxed", "whole", "fence", "json"):
        field(text, convention)


def read_error(data: bytes, _: Path) -> None:
    assert one_line(error_message(data)).isprintable()


def read_metrics(data: bytes, _: Path) -> None:
    list(samples(data.decode("utf-8", "replace")))


def read_config(data: bytes, place: Path) -> None:
    (place / "c.toml").write_bytes(data)
    refused(lambda: load_config(place / "c.toml"))


def read_items(data: bytes, place: Path) -> None:
    for ending in ("jsonl", "yaml", "csv"):
        (place / f"b.{ending}").write_bytes(data)
        refused(lambda ending=ending: load_bank(str(place / f"b.{ending}")))


def read_run(data: bytes, place: Path) -> None:
    (place / "run.json").write_bytes(data)
    refused(lambda: read_record(place))
    (place / "trials.jsonl").write_bytes(data)
    refused(lambda: list(lines(place / "trials.jsonl", Trial)))
    drop_damaged(place / "trials.jsonl", Trial, inside=True)
    assert all(isinstance(trial, Trial) for trial in lines(place / "trials.jsonl", Trial))


def refused(read: Callable[[], object]) -> None:
    """Reads, or refuses in one line."""
    try:
        read()
    except UserError as error:
        assert "\n" not in str(error)


SEEDS: dict[str, tuple[Reader, list[bytes]]] = {
    "events": (read_events, [GOOD, b"data: " + b"[" * 5000, b"data:\r\rdata:{}\n\n", b"\xef\xbb\xbfdata: 1\n\n"]),
    "number": (read_number, [b"1,234.5e-3", b"-$1 1/2 %", b"9" * 5000, b"1e999999999", "١٢٣٫٤".encode()]),
    "mathematics": (read_math, [rb"\frac{1}{\sqrt{2}}", b"2^{3^{4^5}}", b"(" * 3000, rb"\left[0, 1\right)", b"x!!!!"]),
    "json": (read_json, [b'{"a": [1, 2.5e3, null]}', b'```json\n{"a": 1}\n```', b"[" * 3000, rb"\boxed{\boxed{1}}"]),
    "error": (read_error, [b'{"error": {"message": "no"}}', b"<html><title>x</title>", b'{"detail": [{"msg": 1}]}']),
    "metrics": (read_metrics, [b'# TYPE a counter\na{b="c\\"d"} 1e3 12\n', b"a NaN\nb +Inf\n", b'a{b="\n']),
    "config": (
        read_config,
        [
            b'[[serving]]\nname = "a"\nbase_url = "http://h/v1"\n[serving.sampling]\ntemperature = 0.5\n',
            b'[[serving]]\nname = "a"\nbase_url = "http://[::1"\n',
            b"serving = 3\nbank = []\n",
            b"a = " + b"[" * 3000,
            b"serving = [1979-05-27]\n",
        ],
    ),
    "items": (read_items, [json.dumps(ITEMS[0]).encode(), b"- id: &a [*a]\n", b"id,dimension\n1,2,3\n", b"a\x00b\n"]),
    "run": (
        read_run,
        [path.read_bytes() for path in GOLDEN[:2]] + [b'{"schema_version": 1}', b'{"schema_version": 1e99}', b"[]\n"],
    ),
}
HOSTILE_BYTES = [text.encode("utf-8", "surrogatepass")[:20_000] for text in HOSTILE]


def mutated(seeds: list[bytes]) -> st.SearchStrategy[bytes]:
    """Bytes, and seeds with pieces cut out, doubled and put in."""

    def spliced(seed: bytes, at: float, end: float, piece: bytes, times: int) -> bytes:
        start, stop = sorted((int(at * len(seed)), int(end * len(seed))))
        return (seed[:start] + piece + seed[start:stop] * times + seed[stop:])[:50_000]

    place = st.floats(0, 1)
    piece = st.binary(max_size=12) | st.sampled_from(
        [b'"', b"{", b"}", b"[", b"\\", b"\n", b"\x00", b"\xff", b"null", b"-"]
    )
    spliced_once = st.builds(spliced, st.sampled_from(seeds), place, place, piece, st.integers(0, 3))
    twice = st.builds(spliced, spliced_once, place, place, piece, st.integers(0, 2))
    return st.one_of(spliced_once, twice, st.binary(max_size=200), st.text(max_size=200).map(lambda t: t.encode()))


@pytest.mark.parametrize("name", SEEDS)
def test_seeds_and_hostile_texts(name: str, tmp_path: Path) -> None:
    read, seeds = SEEDS[name]
    for data in (*seeds, *HOSTILE_BYTES):
        read(data, tmp_path)


@pytest.mark.parametrize("name", SEEDS)
def test_what_is_drawn_from_the_seeds(name: str, tmp_path_factory: pytest.TempPathFactory) -> None:
    drawn(name, SHORT, tmp_path_factory.mktemp(name))


@pytest.mark.soak
@pytest.mark.parametrize("name", SEEDS)
def test_for_a_long_time(name: str, tmp_path_factory: pytest.TempPathFactory) -> None:
    place, count, began = tmp_path_factory.mktemp(name), 0, time.process_time()
    while time.process_time() - began < FUZZ_S:
        drawn(name, 500, place, seed=count)
        count += 500
    print(f"{name}: {count} inputs in {time.process_time() - began:.0f} s of processor time")


def drawn(name: str, examples: int, place: Path, seed: int = 0) -> None:
    read, seeds = SEEDS[name]

    @hypothesis.seed(seed)
    @hypothesis.settings(max_examples=examples, database=None, suppress_health_check=list(hypothesis.HealthCheck))
    @hypothesis.given(data=mutated(seeds))
    def one(data: bytes) -> None:
        read(data, place)

    one()


def test_a_golden_run_is_a_seed() -> None:
    assert GOLDEN and RunFolder.read(GOLDEN[0].parent).record.schema_version == 1

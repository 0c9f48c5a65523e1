"""Run folders built from outcomes, as a measurement would have left them; a bank that is quick to judge."""

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

from itembank.canonical import digest
from runner.exchange import Exchange, Failure, FailureKind, Trial, Usage
from runner.record import Fact, Identity, RunRecord
from runner.store import RunFolder
from scorers.response import Response
from tests.reports.servers import Bench

LETTERS = {"p": "pass", "f": "fail", "u": "unscorable"}
DIMENSIONS = ("reasoning", "mathematics", "coding", "structured_output", "instruction_following")
DIMENSIONS += ("extraction", "classification", "tool_use", "long_context", "fidelity")
SIZES = dict(zip(DIMENSIONS, (8, 10, 10, 10, 10, 10, 10, 8, 8, 10), strict=True))


def bank_items() -> list[str]:
    """94 ids in the shape of the built-in bank."""
    return [f"{name}-{number:02}" for name, size in SIZES.items() for number in range(1, size + 1)]


def write_run(
    root: Path,
    name: str,
    rows: Sequence[str],
    *,
    items: Sequence[str] | None = None,
    plan: Mapping[str, Any] | None = None,
    texts: Callable[[str, int], str] | None = None,
    reasons: Mapping[str, str] | None = None,
    defects: Mapping[tuple[str, int], tuple[str, str]] | None = None,
    tokens: int | None = 100,
    facts: Mapping[str, Any] | None = None,
    record: Mapping[str, Any] | None = None,
    boots: Mapping[int, int] | None = None,
) -> RunFolder:
    """A quality run; each row is an item: p pass, f fail, u unscorable, e error, . missing, one letter a repeat."""
    ids = list(items or [f"d{number % 2}-{number:02}" for number in range(len(rows))])
    sizes: dict[str, int] = {}
    for item in ids:
        sizes[item.rpartition("-")[0]] = sizes.get(item.rpartition("-")[0], 0) + 1
    identity = None
    if facts is not None:
        identity = Identity(
            engine="vllm", version="0.9", facts=tuple(Fact(name=k, value=v, source="test") for k, v in facts.items())
        )
    fields: dict[str, Any] = {
        "kind": "quality",
        "status": "complete",
        "serving": {"name": name, "base_url": "http://127.0.0.1:1/v1", "model": "m"},
        "sampling": {"temperature": 0.0, "max_tokens": 4096, "top_p": None, "seed": 0},
        "plan": {"repeats": len(rows[0]), "concurrency": 1, "items": ids, "seed": 0, "stream": True, **(plan or {})},
        "bank": {"name": "test", "digest": digest(ids), "items": len(ids), "dimensions": sizes},
        "identity_before": identity,
        "identity_after": identity,
        "started_at": "2026-01-01T00:00:00",
    }
    run = RunFolder.create(root, RunRecord(**{**fields, **(record or {})}))
    for repeat in range(1, len(rows[0]) + 1):
        for place, item in enumerate(ids):
            letter = rows[place][repeat - 1]
            if letter == ".":
                continue
            start = (repeat * len(ids) + place) * 1_000_000_000
            common: dict[str, Any] = {"request": {}, "due_ns": start, "sent_ns": start, "done_ns": start + 500_000_000}
            if letter == "e":
                exchange = Exchange(failure=Failure(kind=FailureKind.HTTP_STATUS, status=500), **common)
            else:
                text = texts(item, repeat) if texts else f"{letter} {item}"
                usage = None if tokens is None else Usage(completion_tokens=tokens)
                exchange = Exchange(response=Response(text=text), usage=usage, **common)
            run.append(
                Trial(
                    item_id=item,
                    item_digest=digest(item),
                    repeat=repeat,
                    boot=(boots or {}).get(repeat, 1),
                    at="2026-01-01T00:00:00",
                    exchange=exchange,
                )
            )
            if letter == "e":
                continue
            kind = (defects or {}).get((item, repeat))
            run.append_verdict(
                {
                    "item": item,
                    "dimension": item.rpartition("-")[0],
                    "repeat": repeat,
                    "outcome": LETTERS[letter],
                    "reason": {"p": "", "f": "wrong", "u": "truncated"}[letter] if not reasons else reasons[letter],
                    "detail": "",
                    "extracted": None,
                    "defects": [] if kind is None else [{"kind": kind[0], "text": kind[1]}],
                    "scorer": "text",
                    "scorer_version": 1,
                }
            )
    run.close()
    return run


@pytest.fixture
def make_run(tmp_path: Path) -> Callable[..., RunFolder]:
    """`write_run` below the test's own folder."""

    def made(name: str, rows: Sequence[str], **options: Any) -> RunFolder:
        return write_run(tmp_path, name, rows, **options)

    return made


@pytest.fixture
def bank94() -> list[str]:
    """The ids of a bank in the built-in one's shape."""
    return bank_items()


@pytest.fixture(scope="session")
def quick_bank(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A bank of 94 short text items in the built-in one's shape, as a file."""
    path = tmp_path_factory.mktemp("bank") / "quick.jsonl"
    rows = []
    for number, item in enumerate(bank_items()):
        word = f"w{number * 37}"
        row = {
            "id": item,
            "dimension": item.rpartition("-")[0],
            "prompt": f"Say {word} and nothing else, on a line of its own after ANSWER:",
            "max_tokens": 64,
            "scorer": "text",
            "expect": {"answers": [word]},
            "accept": [f"ANSWER: {word}"],
            "reject": [f"ANSWER: no {word}"],
        }
        rows.append(json.dumps(row))
    path.write_text("\n".join(rows) + "\n")
    return path


@pytest.fixture
def bench(
    tmp_path: Path, quick_bank: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Iterator[Bench]:
    """An empty working folder for servers and commands; the servers end with the test, and no page is drawn."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("reports.report_command.page_line", lambda runs, path: "report: drawn elsewhere")
    made = Bench(tmp_path, quick_bank, capsys)
    with made.servers:
        yield made

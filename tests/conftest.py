"""What several test files share: records, trials and folders made by hand."""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import hypothesis
import pytest

from runner.exchange import Exchange, Failure, Trial, Usage
from runner.record import RunRecord
from runner.store import RunFolder
from scorers.response import Response

hypothesis.settings.register_profile("shared machine", deadline=None)
hypothesis.settings.load_profile("shared machine")


def make_record(**changes: Any) -> RunRecord:
    fields: dict[str, Any] = {
        "kind": "quality",
        "serving": {"name": "incumbent", "base_url": "http://127.0.0.1:1/v1"},
        "sampling": {"temperature": 0.0, "max_tokens": 4096},
        "plan": {"repeats": 1, "concurrency": 1, "stream": True, "seed": 0, "items": ["d-01"]},
        "bank": {"name": "builtin", "digest": "0" * 16, "items": 1, "dimensions": {"d": 1}},
        "started_at": "2026-01-01T00:00:00+00:00",
    }
    return RunRecord(**(fields | changes))


def make_trial(item_id: str = "d-01", repeat: int = 1, text: str = "ANSWER: 1", **changes: Any) -> Trial:
    failure: Failure | None = changes.pop("failure", None)
    exchange = Exchange(
        request={"model": "m"},
        response=None if failure else Response(text=text, token_cap=64, completion_tokens=8),
        failure=failure,
        due_ns=0,
        sent_ns=10,
        read_ns=(20, 30),
        token_ns=(20, 30),
        done_ns=40,
        usage=None if failure else Usage(prompt_tokens=5, completion_tokens=8),
    )
    return Trial(
        item_id=item_id, item_digest="x", repeat=repeat, at="2026-01-01T00:00:00+00:00", exchange=exchange, **changes
    )


@pytest.fixture
def make_folder(tmp_path: Path) -> Iterator[Callable[..., RunFolder]]:
    """A function that makes run folders under `tmp_path/runs`; they are closed at the end of the test."""
    made: list[RunFolder] = []

    def make(**changes: Any) -> RunFolder:
        made.append(RunFolder.create(tmp_path / "runs", make_record(**changes)))
        return made[-1]

    yield make
    for folder in made:
        folder.close()

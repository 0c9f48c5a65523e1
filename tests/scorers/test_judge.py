import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import psutil
import pytest

import scorers.judge
from itembank.item import Item
from scorers.judge import judge, judge_many, verdict_here, verdict_row
from scorers.processes import Died, Pool, TimeUp
from scorers.response import Response
from scorers.verdict import Defect, Outcome

PLUGINS = """
import scorers.methods
scorers.methods.__path__.append({folder!r})
from scorers.judge import verdict_here
"""
PLUGIN = """
VERSION = 7
def score(expect, response):
    if expect["do"] == "hang":
        while True:
            pass
    if expect["do"] == "exit":
        raise SystemExit(3)
    raise KeyError("gold")
"""


def item(scorer: str = "number", expect: Any = None, **more: Any) -> Item:
    message = {"role": "user", "content": "6 * 7?"}
    return Item(id="d-01", dimension="d", messages=(message,), scorer=scorer, expect=expect or {"value": "42"}, **more)


@pytest.fixture
def broken(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """A scorer `broken` that hangs, exits or raises, in this process and in the workers."""
    folder = tmp_path / "plugins"
    folder.mkdir()
    (folder / "broken.py").write_text(PLUGIN)
    (tmp_path / "with_broken.py").write_text(PLUGINS.format(folder=str(folder)))
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.setattr(scorers.methods, "__path__", [*scorers.methods.__path__, str(folder)])
    pool = Pool("with_broken:verdict_here", cpu_s=0.3)
    monkeypatch.setattr(scorers.judge, "POOL", pool)
    yield
    pool.close()


def test_the_verdict_names_its_scorer_and_version() -> None:
    verdict = judge(item(), Response(text="ANSWER: 42"))
    assert (verdict.outcome, verdict.scorer, verdict.scorer_version) == (Outcome.PASS, "number", 1)


@pytest.mark.parametrize(
    ("do", "reason", "detail"),
    [
        ("hang", "scorer_timeout", "took over"),
        ("exit", "scorer_error", "status 3"),
        ("raise", "scorer_error", "KeyError"),
    ],
)
def test_a_broken_scorer_is_nobodys_failure(broken: None, do: str, reason: str, detail: str) -> None:
    verdict = judge(item("broken", {"do": do}), Response(text="ANSWER: 42"))
    assert (verdict.outcome, verdict.reason) == (Outcome.UNSCORABLE, reason)
    assert detail in verdict.detail
    assert (verdict.scorer, verdict.scorer_version) == ("broken", 7)


def test_a_scorer_that_raises_here_is_data_too(broken: None) -> None:
    verdict = verdict_here((item("broken", {"do": "raise"}), Response(text="ANSWER: 42</s>")))
    assert (verdict.outcome, verdict.reason, verdict.detail) == (Outcome.UNSCORABLE, "scorer_error", "KeyError: 'gold'")
    assert verdict.scorer_version == 7 and len(verdict.defects) == 1


def test_a_guard_decides_before_a_broken_scorer(broken: None) -> None:
    verdict = judge(item("broken", {"do": "hang"}), Response(text="x", finish_reason="length"))
    assert verdict.reason == "truncated"


def test_the_cap_that_was_sent_decides_what_is_truncated() -> None:
    response = Response(text="ANSWER: 42", completion_tokens=100, token_cap=100)
    assert judge(item(), response).reason == "truncated"
    assert judge(item(max_tokens=100), Response(text="ANSWER: 42", completion_tokens=100)).reason == "truncated"
    assert judge(item(max_tokens=100), Response(text="ANSWER: 42", completion_tokens=100, token_cap=200)).reason == ""


def test_a_scorer_with_its_own_process_is_judged_here(monkeypatch: pytest.MonkeyPatch) -> None:
    import scorers.methods.number

    monkeypatch.setattr(scorers.methods.number, "OWN_PROCESS", True, raising=False)
    monkeypatch.setattr(scorers.judge, "POOL", None)
    assert judge(item(), Response(text="ANSWER: 42")).outcome is Outcome.PASS


def test_an_exempt_item_keeps_its_tokens() -> None:
    response = Response(text="a</s>b")
    exempt = item("verbatim", {"text": "a</s>b"}, tags=("about_control_tokens",))
    assert (judge(exempt, response).outcome, judge(exempt, response).defects) == (Outcome.PASS, ())
    verdict = judge(item("verbatim", {"text": "a</s>b"}), response)
    assert verdict.outcome is Outcome.FAIL
    assert verdict.defects == (Defect(kind="control_token", text="</s>"), Defect(kind="stop_overrun", text="b"))


def pairs(count: int) -> list[tuple[Item, Response]]:
    return [(item(), Response(text=f"ANSWER: {at}")) for at in range(count)]


def test_many_are_judged_in_order_and_no_process_is_left() -> None:
    before = len(psutil.Process().children())
    scorers.judge.POOL.close()
    half = item("math", {"value": "sqrt(2)/2"}), Response(text="ANSWER: \\frac{1}{\\sqrt{2}}")
    *verdicts, exact = judge_many([*pairs(200), half], workers=2)
    assert exact.outcome is Outcome.PASS
    assert [verdict.extracted for verdict in verdicts] == [str(at) for at in range(200)]
    assert [at for at, verdict in enumerate(verdicts) if verdict.outcome is Outcome.PASS] == [42]
    assert len(psutil.Process().children()) <= before
    assert verdicts == [verdict_here(pair) for pair in pairs(200)]


def test_a_reader_that_stops_early_leaves_no_process() -> None:
    scorers.judge.POOL.close()
    before = psutil.Process().children()
    verdicts = judge_many(iter(pairs(500)))
    next(verdicts)
    verdicts.close()
    assert psutil.Process().children() == before
    assert list(judge_many([])) == []


@pytest.mark.parametrize("error", [TimeUp(), Died("gone")])
def test_a_lost_process_still_gives_a_whole_verdict(monkeypatch: pytest.MonkeyPatch, error: Exception) -> None:
    class Lost:
        def ask(self, request: Any) -> Any:
            raise error

    monkeypatch.setattr(scorers.judge, "POOL", Lost())
    verdict = judge(item(), Response(text="ANSWER: 42"))
    assert verdict.outcome is Outcome.UNSCORABLE and verdict.scorer == "number" and verdict.scorer_version == 1


def test_a_row_has_the_contracts_keys_in_order() -> None:
    row = verdict_row(item(), 3, judge(item(), Response(text="ANSWER: 42<|im_end|>")))
    assert json.dumps(row) == json.dumps(
        {
            "item": "d-01",
            "dimension": "d",
            "repeat": 3,
            "outcome": "pass",
            "reason": "",
            "detail": "",
            "extracted": "42",
            "defects": [{"kind": "control_token", "text": "<|im_end|>"}],
            "scorer": "number",
            "scorer_version": 1,
        }
    )

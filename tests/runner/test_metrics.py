"""Prometheus text: what is there is read, what is absent is absent."""

import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from runner import metrics
from runner.metrics import counters, info, names, samples, value

PAGE = r"""# HELP a help
# TYPE a counter
a{m="x",path="c:\\d \"q\"\n}"} 3 1700000000
a{m="y"} 4
b_bucket{le="+Inf"} 9
usage{e="0"} 0.25
usage{e="1"} 0.5
odd NaN
big +Inf
neg -1.5e3
broken{ 3
nothing
word x
"""


def test_samples_with_their_labels() -> None:
    found = list(samples(PAGE))
    assert [(sample.name, sample.value) for sample in found[:2]] == [("a", 3.0), ("a", 4.0)]
    assert found[0].labels == {"m": "x", "path": 'c:\\d "q"\n}'}
    assert names(PAGE) == {"a", "b_bucket", "usage", "odd", "big", "neg"}


def test_counters_by_alias() -> None:
    aliases = {
        "running": ("new_a", "a"),
        "kv_cache_usage": ("usage",),
        "waiting": ("absent",),
        "drafts": ("odd",),
        "finished": ("big",),
    }
    assert counters(PAGE, aliases) == {"running": 7.0, "kv_cache_usage": 0.5}
    assert counters("a 1\nnew_a 2\n", aliases) == {"running": 2.0}, "the newest name counts alone"
    assert counters("a 0\n", aliases) == {"running": 0.0}, "a printed zero is a zero"
    assert counters("", aliases) == {}


def test_information_and_single_values() -> None:
    assert info(PAGE, "absent", "a")["m"] == "x"
    assert info(PAGE, "absent") == {}
    assert value(PAGE, "absent", "usage") == 0.5
    assert value(PAGE, "big") is None
    assert value(PAGE, "absent") is None


def test_a_page_without_end_is_read_up_to_a_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(metrics, "MOST_SAMPLES", 10)
    assert len(list(samples("a 1\n" * 20))) == 10


@pytest.mark.parametrize(
    "line", ["a{" + 'x="' * 40_000, 'a{x="' + "\\" * 100_000 + '"} 1', "a" * 200_000, "a" + " " * 100_000]
)
def test_hostile_lines_take_linear_time(line: str) -> None:
    started = time.process_time()
    list(samples(line))
    assert time.process_time() - started < 2.0


@settings(max_examples=60, deadline=None)
@given(st.text())
def test_any_text_is_read(text: str) -> None:
    list(samples(text))


@settings(max_examples=60, deadline=None)
@given(
    st.dictionaries(st.from_regex(r"[a-z_]{1,5}", fullmatch=True), st.text(max_size=10), max_size=4),
    st.floats(allow_nan=False),
)
def test_what_is_written_is_read(labels: dict[str, str], number: float) -> None:
    if any(char in text for text in labels.values() for char in "\r\v\f\x1c\x1d\x1e\x85\u2028\u2029"):
        return
    escaped = {k: v.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n") for k, v in labels.items()}
    inside = ",".join(f'{name}="{text}"' for name, text in escaped.items())
    (sample,) = samples(f"m{{{inside}}} {number!r}\n")
    assert (sample.name, sample.labels, sample.value) == ("m", labels, number)

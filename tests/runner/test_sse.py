from hypothesis import given
from hypothesis import strategies as st

from runner.sse import Event, events, is_done, is_finished

payloads = st.lists(
    st.text(alphabet=st.characters(exclude_characters="\n\r", exclude_categories=["Cs"]), min_size=1).filter(
        lambda text: not text.startswith(" ")
    ),
    max_size=8,
)


def framed(texts: list[str], line_end: bytes) -> bytes:
    return b"".join(b"data: " + text.encode() + line_end * 2 for text in texts)


@given(payloads, st.sampled_from([b"\n", b"\r\n"]))
def test_what_is_framed_comes_back(texts: list[str], line_end: bytes) -> None:
    assert [event.data.decode() for event in events(framed(texts, line_end))] == texts


@given(payloads, st.sampled_from([b"\n", b"\r\n"]))
def test_the_end_of_an_event_is_that_of_its_line(texts: list[str], line_end: bytes) -> None:
    stream = framed(texts, line_end)
    ends = [event.end for event in events(stream)]
    assert ends == sorted(ends)
    for event in events(stream):
        assert stream[: event.end].endswith(event.data + line_end)


@given(st.binary())
def test_no_bytes_break_it(stream: bytes) -> None:
    for event in events(stream):
        assert 0 < event.end <= len(stream)


@given(st.lists(st.sampled_from([b"data: {}", b"data:x", b"\n", b"\r\n", b": c", b"event: e", b"{}", b"data"])))
def test_events_do_not_depend_on_the_fast_way(parts: list[bytes]) -> None:
    """Every stream reads the same when a comment line keeps it off the fast way."""
    stream = b"".join(parts)
    slow = b"".join(b": x\n" + line for line in stream.splitlines(keepends=True))
    assert [event.data for event in events(slow)] == [event.data for event in events(stream)]


def test_lines_of_one_event_are_joined() -> None:
    assert list(events(b"data: a\ndata:b\ndata:  c\n\n")) == [Event(b"a\nb\n c", 24)]


def test_the_name_belongs_to_its_event_alone() -> None:
    found = [(event.name, event.data) for event in events(b"event: error\ndata: x\n\ndata: y\n\n")]
    assert found == [(b"error", b"x"), (b"", b"y")]


def test_done_is_a_line_of_its_own() -> None:
    assert is_done(b"data: [DONE]\n\n")
    assert is_done(b"x\r\ndata:[DONE]")
    assert not is_done(b'data: {"content": "data: [DONE]"}')
    assert not is_done(b'data: {"content": "\\ndata: [DONE]"}')


def test_finish_reason_is_a_field_and_no_text() -> None:
    assert is_finished(b'"finish_reason":"stop"')
    assert is_finished(b'"finish_reason": "stop"')
    assert not is_finished(b'"finish_reason": null')
    assert not is_finished(b'"content": "\\"finish_reason\\": \\"stop\\""')

"""What runs in the child, run here: the codec, the calls, the limits and the order of things."""

import math
import os
import resource
import sys
from collections import Counter, OrderedDict, defaultdict
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from scorers import harness
from scorers.harness import Opaque, decode, encode

SCALARS = st.one_of(st.none(), st.booleans(), st.integers(), st.floats(allow_nan=False), st.text(), st.binary())
KEYS = st.one_of(st.none(), st.integers(2), st.text(), st.tuples(st.integers(), st.text()))
PLAIN = st.recursive(
    SCALARS,
    lambda inner: st.one_of(
        st.lists(inner), st.tuples(inner, inner), st.dictionaries(KEYS, inner), st.sets(KEYS), st.frozensets(KEYS)
    ),
    max_leaves=20,
)


@given(PLAIN)
def test_plain_values_come_back_as_they_were(value: Any) -> None:
    data = encode(value)
    assert decode(data) == (value, len(data))
    assert repr(type(decode(data)[0])).replace("frozenset", "set") == repr(type(value)).replace("frozenset", "set")


@given(st.binary(max_size=40))
@settings(max_examples=500)
def test_decoding_any_bytes_raises_nothing_but_value_errors(data: bytes) -> None:
    with suppress(ValueError):
        decode(data, mapping=list, bag=list)


@given(PLAIN, st.data())
def test_decoding_damaged_data_raises_nothing_but_value_errors(value: Any, data: st.DataObject) -> None:
    raw = bytearray(encode(value))
    raw[data.draw(st.integers(0, len(raw) - 1))] = data.draw(st.integers(0, 255))
    with suppress(ValueError):
        decode(bytes(raw), mapping=list, bag=list)


def test_numbers_of_any_length_pass() -> None:
    assert decode(encode(-(10**5000)))[0] == -(10**5000)


def test_nan_and_subclasses_are_plain() -> None:
    assert math.isnan(decode(encode(math.nan))[0])
    assert decode(encode([Counter("aa"), OrderedDict(b=1), defaultdict(int, c=2)]))[0] == [{"a": 2}, {"b": 1}, {"c": 2}]

    class Liar(list):
        def __iter__(self) -> Any:
            return iter([42])

        def __len__(self) -> int:
            return 9

    assert decode(encode(Liar([1])))[0] == [1]


def test_what_is_not_plain_is_named() -> None:
    nested: Any = []
    for _ in range(500):
        nested = [nested]
    cyclic: list[Any] = []
    cyclic.append(cyclic)
    for value, name in ((object(), "object"), (nested, "deep"), (cyclic, "deep"), ("x" * 2_000_000, "large")):
        found = decode(encode(value))[0]
        assert isinstance(found, Opaque) and name in repr(found)
    assert len(decode(encode("x" * 2_000_000, limit=1 << 30))[0]) == 2_000_000


def test_recursion_is_no_crash(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: Any) -> None:
        raise RecursionError

    monkeypatch.setattr(harness, "_put", refuse)
    assert "deep" in repr(decode(encode([]))[0])


def written(code: str, *calls: Any) -> list[Any]:
    data = bytearray()
    harness.solve({"code": code, "entry": "f", "calls": [encode(call) for call in calls]}, data.extend)
    sys.modules.pop(harness.MODULE)
    found, at = [], 0
    while at < len(data):
        value, at = decode(bytes(data), at)
        found.append(value)
    return found


def test_solving_writes_one_outcome_for_the_import_and_one_a_call() -> None:
    assert written("def f(x, k=0):\n    return x + k", ([1], {}), ([1], {"k": 2})) == [
        *(("returned",), None),
        *(("returned",), 1),
        *(("returned",), 3),
    ]
    assert written("f = 1", ([], {})) == [("missing",), None]
    assert written("def f(:", ([], {}))[0][0] == "uncompiled"
    assert written("raise KeyError('x')", ([], {}))[0] == ("raised", ["KeyError", "LookupError", *EXCEPTION], "'x'")
    own = "class E(ValueError):\n    def __str__(self):\n        raise self\ndef f():\n    raise E"
    names = [f"{harness.MODULE}.E", "ValueError", *EXCEPTION]
    assert written(own, ([], {}))[2:] == [("raised", names, ""), None]


EXCEPTION = ["Exception", "BaseException", "object"]


def test_the_hook_refuses_addresses_and_foreign_machine_code(tmp_path: Path) -> None:
    refuse = harness.hook(str(tmp_path))
    refuse("open", ("x",))
    refuse("import", ("m", None))
    refuse("import", ("m", str(tmp_path / "lib.so")))
    for event, details in (("socket.connect", ()), ("ctypes.dlopen", ("x",)), ("import", ("m", "/elsewhere/evil.so"))):
        with pytest.raises(PermissionError):
            refuse(event, details)


def test_the_child_limits_itself_solves_and_leaves(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    job = {"code": "def f(): return 7", "entry": "f", "calls": [encode(([], {}))], "sentinel": "s", "cpu_ms": 1500}
    job |= {"memory_bytes": 1 << 28, "mark": 5, "tasks": 9}
    (tmp_path / "job").write_bytes(encode(job))
    (tmp_path / "result").touch()
    limits: dict[int, tuple[int, int]] = {}
    done: list[Any] = []
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(resource, "setrlimit", limits.__setitem__)
    monkeypatch.setattr(os, "dup2", lambda *pair: done.append(pair[1]))
    monkeypatch.setattr(os, "closerange", lambda *_: done.append("closed"))
    monkeypatch.setattr(os, "_exit", done.append)
    monkeypatch.setattr(sys, "addaudithook", lambda _: done.append("hooked"))
    harness.main()
    sys.modules.pop(harness.MODULE)
    assert done == [0, 1, 2, "closed", "hooked", 0]
    assert not (tmp_path / "job").exists()
    assert limits[resource.RLIMIT_CPU] == (2, 3)
    assert limits[resource.RLIMIT_FSIZE] == (harness.FILE_BYTES, harness.FILE_BYTES + 5)
    assert limits[resource.RLIMIT_NPROC] == (9, 9)
    data = (tmp_path / "result").read_bytes()
    assert b"i7;" in data and b"s3:ends1:s" in data


@pytest.mark.parametrize("data", [b"s9:ab", b"s-1:ab", b"b3:", b"l7:N", b"?", b""])
def test_sizes_beyond_the_data_are_malformed(data: bytes) -> None:
    with pytest.raises(ValueError, match="malformed data"):
        decode(data)

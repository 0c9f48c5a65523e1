"""Model-written Python against tests: the calls happen in a sandbox, the comparison here. Never reads printed text.

The code is the last complete fence that is untagged or tagged python, or a message without any fence that compiles.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from scorers import sandbox
from scorers.fences import fences
from scorers.harness import Opaque, decode, encode
from scorers.response import Response
from scorers.verdict import Example, Outcome, Verdict, failed, passed, unscorable

VERSION = 1
OWN_PROCESS = True
TAGS = ("", "python", "python3", "py", "py3")
UNLIMITED = 1 << 30

EXPECT_SCHEMA: Mapping[str, Any] = {
    "type": "object",
    "required": ["entry", "tests"],
    "additionalProperties": False,
    "properties": {
        "entry": {"type": "string", "pattern": r"^[A-Za-z_][A-Za-z0-9_]*$"},
        "tests": {
            "type": "array",
            "minItems": 1,
            "items": {
                "type": "object",
                "additionalProperties": False,
                "properties": {
                    "args": {"type": "array"},
                    "kwargs": {"type": "object"},
                    "returns": True,
                    "raises": {"type": "string"},
                },
            },
        },
        "checker": {"type": ["string", "null"]},
        "cpu_seconds": {"type": "number", "exclusiveMinimum": 0, "maximum": 60},
        "memory_mb": {"type": "integer", "minimum": 32},
    },
}


@dataclass(frozen=True, slots=True)
class Pairs:
    """A dict from the sandbox, unhashed: keys chosen to collide would cost us hours."""

    pairs: Sequence[tuple[Any, Any]]

    def __repr__(self) -> str:
        return "{" + ", ".join(f"{key!r}: {value!r}" for key, value in self.pairs) + "}"


@dataclass(frozen=True, slots=True)
class Bag:
    """A set from the sandbox, unhashed."""

    items: Sequence[Any]

    def __repr__(self) -> str:
        return "{" + ", ".join(map(repr, self.items)) + "}" if self.items else "set()"


def score(expect: Mapping[str, Any], response: Response) -> Verdict:
    """PASS if every test came to what it should; FAIL names the first that did not."""
    code, fenced = code_of(response.text)
    if code is None:
        return failed("no_answer", "no complete code fence that is untagged or tagged python")
    tests = expect["tests"]
    limits = sandbox.Limits(
        cpu_seconds=float(expect.get("cpu_seconds", 5)), memory_mb=int(expect.get("memory_mb", 512))
    )
    calls = [encode((test.get("args", []), test.get("kwargs", {})), UNLIMITED) for test in tests]
    try:
        run = sandbox.run(code, expect["entry"], calls, limits)
        fault = _load_fault(run, expect["entry"], fenced) or _first_fault(run, tests, expect)
        if fault is None and expect.get("checker"):
            fault = _checker_fault(expect["checker"], run, tests, limits)
    except sandbox.NoSandboxError as error:
        return unscorable("no_sandbox", str(error))
    return failed(fault[0], fault[1], code) if fault else passed(code)


def code_of(text: str) -> tuple[str | None, bool]:
    """The code in a message, and whether a fence said that it is code; None where no fence qualifies."""
    found = fences(text)
    if not found:
        return text.strip(), False
    code = [fence.content for fence in found if fence.tag in TAGS]
    return (code[-1], True) if code else (None, True)


def same(expected: Any, found: Any) -> bool:
    """Whether a value from the sandbox (`Pairs` for a dict, `Bag` for a set) is the expected plain value.

    A tuple equals a list, 2.0 equals 2, a bool is no int, NaN equals NaN, a set is only a set.
    """
    if isinstance(expected, list | tuple):
        alike = isinstance(found, list | tuple) and len(found) == len(expected)
        return alike and all(same(*pair) for pair in zip(expected, found, strict=True))
    if isinstance(expected, dict):
        if not isinstance(found, Pairs) or len(found.pairs) != len(expected):
            return False
        by_key = {_key(key): value for key, value in found.pairs}
        return all(_key(key) in by_key and same(value, by_key[_key(key)]) for key, value in expected.items())
    if isinstance(expected, set | frozenset):
        items = {_key(item) for item in expected}
        return isinstance(found, Bag) and len(found.items) == len(items) == len(items & set(map(_key, found.items)))
    if isinstance(expected, int | float) and not isinstance(expected, bool):
        number = isinstance(found, int | float) and not isinstance(found, bool)
        return number and (found == expected or (found != found and expected != expected))
    return type(found) is type(expected) and bool(found == expected)


def _key(value: Any) -> bytes:
    """Bytes that are equal for values that Python's dicts take for one key, except that a bool is no int."""
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    if isinstance(value, tuple):
        return b"(" + b",".join(map(_key, value)) + b")"
    if isinstance(value, Bag | set | frozenset):
        items = value.items if isinstance(value, Bag) else value
        return b"{" + b",".join(sorted(map(_key, items))) + b"}"
    return encode(value, UNLIMITED)


def _load_fault(run: sandbox.Run, entry: str, fenced: bool) -> tuple[str, str] | None:
    """Why the code as a whole is no answer: a reason and a sentence."""
    if not run.outcomes:
        return _ending(run, "while it was imported")
    head = run.outcomes[0][0]
    if head[0] == "returned":
        return None
    if head[0] == "missing":
        return "no_answer", f"the code defines no function {entry}"
    if head[0] == "uncompiled" and not fenced:
        return "no_answer", "no code fence, and the message as a whole is no Python"
    return "raised", f"importing the code raised {_error(head)}"


def _first_fault(run: sandbox.Run, tests: Sequence[Mapping[str, Any]], expect: Mapping[str, Any]) -> Any:
    """Why the first failing test fails: a reason and a sentence; None if none does."""
    for number, test in enumerate(tests, 1):
        if number >= len(run.outcomes):
            return _ending(run, f"in test {number}")
        head, data = run.outcomes[number]
        fault = _fault(test, head, data, bool(expect.get("checker")))
        if fault:
            return fault[0], f"test {number}: {_call(expect['entry'], test)} {fault[1]}"
    return None if run.complete else _ending(run, "after the last test")


def _fault(test: Mapping[str, Any], head: tuple[Any, ...], data: bytes, checked: bool) -> tuple[str, str] | None:
    if "raises" in test:
        if head[0] == "returned":
            return "wrong", f"did not raise {test['raises']}"
        return None if _is_kind(test["raises"], head) else ("raised", f"raised {_error(head)}, not {test['raises']}")
    if head[0] != "returned":
        return "raised", f"raised {_error(head)}"
    value = decode(data, 0, Pairs, Bag)[0]
    if isinstance(value, Opaque):
        return "wrong", f"returned {value!r}, which is no plain data"
    if checked or same(test.get("returns"), value):
        return None
    return "wrong", f"returned {_short(value)}, not {_short(test.get('returns'))}"


def _checker_fault(
    checker: str, run: sandbox.Run, tests: Sequence[Mapping[str, Any]], limits: sandbox.Limits
) -> tuple[str, str] | None:
    """Let the item's own `check(args, kwargs, result)` judge, in a process of its own."""
    numbers = [number for number, test in enumerate(tests, 1) if "raises" not in test]
    calls = []
    for number in numbers:
        args = (
            encode(tests[number - 1].get("args", []), UNLIMITED),
            encode(tests[number - 1].get("kwargs", {}), UNLIMITED),
        )
        calls.append(b"t2:l3:" + b"".join(args) + run.outcomes[number][1] + b"m0:")
    judged = sandbox.run(checker, "check", calls, limits)
    if not judged.outcomes or judged.outcomes[0][0][0] != "returned":
        raise ValueError(f"the item's checker cannot be used: {judged.outcomes[:1]}")
    for position, number in enumerate(numbers, 1):
        if position >= len(judged.outcomes):
            return "wrong", f"test {number}: the checker could not finish with the result"
        head, data = judged.outcomes[position]
        if head[0] != "returned":
            return "wrong", f"test {number}: the checker raised {_error(head)} on the result"
        if data != b"T":
            return "wrong", f"test {number}: the checker rejects the result"
    return None


def _ending(run: sandbox.Run, where: str) -> tuple[str, str]:
    if run.late:
        return "timeout", f"the time was up {where}"
    return "raised", f"the process ended {where}"


def _is_kind(expected: str, head: tuple[Any, ...]) -> bool:
    """Whether one of the raised exception's classes has the expected name; only a built-in one is a built-in's."""
    import builtins

    names = [str(name) for name in head[1]]
    return expected in (names if hasattr(builtins, expected) else [name.rpartition(".")[2] for name in names])


def _error(head: tuple[Any, ...]) -> str:
    return f"{str(head[1][0]).rpartition('.')[2]}: {head[2]}" if len(head) == 3 and head[1] else "an error"


def _call(entry: str, test: Mapping[str, Any]) -> str:
    words = [_short(value) for value in test.get("args", [])]
    words += [f"{name}={_short(value)}" for name, value in test.get("kwargs", {}).items()]
    text = f"{entry}({', '.join(words)})"
    return text if len(text) <= 90 else text[:86] + "...)"


def _short(value: Any) -> str:
    try:
        text = repr(value)
    except ValueError:
        return "a number of thousands of digits"
    return text if len(text) <= 80 else text[:77] + "..."


_EXPECT = {"entry": "f", "tests": [{"args": [2], "returns": 4}, {"args": ["x"], "raises": "TypeError"}]}
EXAMPLES = (
    Example(_EXPECT, "```python\ndef f(x):\n    return x**2\n```", Outcome.PASS),
    Example(_EXPECT, "def f(x):\n    return x**2", Outcome.PASS),
    Example(_EXPECT, "```python\ndef f(x):\n    return x*2\n```", Outcome.FAIL, "wrong"),
    Example(_EXPECT, "```python\ndef f(x):\n    return 4/0\n```", Outcome.FAIL, "raised"),
    Example(_EXPECT, "```python\nimport os\ndef f(x):\n    os._exit(0)\n```", Outcome.FAIL, "raised"),
    Example(_EXPECT, "```java\nint f;\n```", Outcome.FAIL, "no_answer"),
    Example(_EXPECT, "The function squares: def f(x): return x**2", Outcome.FAIL, "no_answer"),
)

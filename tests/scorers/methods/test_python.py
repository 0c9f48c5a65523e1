import pytest

from scorers import confine
from scorers.methods import python
from scorers.methods.python import score
from scorers.response import Response
from scorers.verdict import Outcome, Verdict


def judged(body: str, tests: list[dict], **expect: object) -> Verdict:
    return score({"entry": "f", "tests": tests, **expect}, Response(text=f"```python\n{body}\n```"))


def returned(expression: str, expected: object) -> bool:
    verdict = judged(f"def f():\n    return {expression}", [{"args": [], "returns": expected}])
    assert verdict.reason in ("", "wrong"), verdict
    return verdict.outcome is Outcome.PASS


@pytest.mark.parametrize("example", python.EXAMPLES)
def test_examples(example: object) -> None:
    verdict = score(example.expect, Response(text=example.response))
    assert (verdict.outcome, verdict.reason) == (example.outcome, example.reason), verdict.detail


def test_values_compare_by_plain_value() -> None:
    tests = [
        ("(1, 2)", [1, 2], True),
        ("[1, (2, [3])]", [1, [2, [3]]], True),
        ("2.0", 2, True),
        ("2", 2.0, True),
        ("True", 1, False),
        ("1", True, False),
        ("True", True, True),
        ("{1, 2}", [1, 2], False),
        ("frozenset({1, 2})", {1, 2}, True),
        ("{1, 2, 3}", {1, 2}, False),
        ("{(1, 2)}", {(1, 2)}, True),
        ("float('nan')", float("nan"), True),
        ("float('inf')", float("inf"), True),
        ("0.5", float("nan"), False),
        ("-0.0", 0, True),
        ("{'a': 1, 2: [None]}", {2: [None], "a": 1}, True),
        ("{1.0: 'x'}", {1: "x"}, True),
        ("{True: 'x'}", {1: "x"}, False),
        ("{'a': 1}", {"a": 2}, False),
        ("{'a': 1}", {"b": 1}, False),
        ("{}", [], False),
        ("'a'", "a", True),
        ("b'a'", "a", False),
        ("bytearray(b'a')", b"a", True),
        ("None", None, True),
        ("None", 0, False),
        ("10 ** 6000", 10**6000, True),
        ("10 ** 6000 + 1", 10**6000, False),
        ("__import__('collections').Counter('aab')", {"a": 2, "b": 1}, True),
        ("__import__('collections').namedtuple('P', 'x y')(1, 2)", [1, 2], True),
        ("type('L', (), {'__eq__': lambda s, o: True, '__hash__': lambda s: 1})()", 4, False),
        ("type('I', (int,), {'__eq__': lambda s, o: True})(3)", 4, False),
        ("range(2)", [0, 1], False),
        ("(n for n in (1, 2))", [1, 2], False),
        ("'\\ud800'", "\ud800", True),
    ]
    source = "def f(n):\n    return [" + ", ".join(f"lambda: {text}" for text, _, _ in tests) + "][n]()"
    for number, (text, expected, right) in enumerate(tests):
        verdict = judged(source, [{"args": [number], "returns": expected}])
        assert verdict.outcome == (Outcome.PASS if right else Outcome.FAIL), (text, expected, verdict.detail)
        assert right or verdict.reason == "wrong"
    assert returned("[float('nan'), {'k': (1, 2.0)}]", [float("nan"), {"k": [1.0, 2]}])


def test_exceptions_count_by_class() -> None:
    tests = [{"args": [], "raises": "LookupError"}]
    assert judged("def f():\n    return {}['x']", tests).outcome is Outcome.PASS
    assert judged("def f():\n    return 1/0", tests).reason == "raised"
    assert judged("def f():\n    return 1", tests).reason == "wrong"
    assert judged("class LookupError(Exception): pass\ndef f():\n    raise LookupError", tests).reason == "raised"
    own = "class Broke(ValueError): pass\ndef f():\n    raise Broke('no')"
    assert judged(own, [{"args": [], "raises": "Broke"}]).outcome is Outcome.PASS
    lying = "class E(Exception):\n    def __str__(self):\n        raise self\ndef f():\n    raise E"
    assert judged(lying, [{"args": [], "raises": "E"}]).outcome is Outcome.PASS


def test_arguments_are_fresh_for_each_test() -> None:
    body = "def f(a, *, k=None):\n    a.append(k)\n    return a"
    tests = [{"args": [[1]], "kwargs": {"k": 2}, "returns": [1, 2]}] * 3
    assert judged(body, tests).outcome is Outcome.PASS


CHECKER = "def check(args, kwargs, result):\n    return sorted(result) == sorted(args[0]) and result != args[0]"


def test_a_checker_judges_what_equality_cannot() -> None:
    tests = [{"args": [[1, 2, 3]]}, {"args": [None], "raises": "TypeError"}]
    assert judged("def f(a):\n    return list(a)[::-1]", tests, checker=CHECKER).outcome is Outcome.PASS
    assert judged("def f(a):\n    return list(a)", tests, checker=CHECKER).reason == "wrong"
    assert "raised TypeError" in judged("def f(a):\n    return None if a else list(a)", tests, checker=CHECKER).detail
    assert judged("def f(a):\n    return object() if a else list(a)", tests, checker=CHECKER).reason == "wrong"
    slow = "def check(args, kwargs, result):\n    while True: pass"
    assert "could not finish" in judged("def f(a):\n    return list(a)", tests, checker=slow, cpu_seconds=0.5).detail
    with pytest.raises(ValueError, match="checker"):
        judged("def f(a):\n    return list(a)", tests, checker="check = 1")


def test_code_is_the_last_complete_python_fence() -> None:
    tests = [{"args": [], "returns": 1}]
    right, wrong = "def f():\n    return 1", "def f():\n    return 2"
    fence = "```"
    texts = {
        f"{fence}python\n{wrong}\n{fence}\nBetter:\n{fence}py\n{right}\n{fence}\nDone.": "",
        f"{fence}\n{right}\n{fence}\n{fence}bash\npython x.py\n{fence}": "",
        f"{fence}{right}\n{fence}": "",
        right: "",
        f"{right}\n{fence}": "",
        f"Here: {right}": "no_answer",
        f"{fence}python\n{right}": "no_answer",
        f"{fence}json\n{{}}\n{fence}": "no_answer",
        f"{fence}python\n{wrong[4:]}\n{fence}": "raised",
        f"{fence}python\ng = 1\n{fence}": "no_answer",
        f"{fence}python\nraise SystemExit\n{fence}": "raised",
        f"{fence}python\nimport os; os._exit(0)\n{fence}": "raised",
    }
    for text, reason in texts.items():
        verdict = score({"entry": "f", "tests": tests}, Response(text=text))
        assert verdict.reason == reason, (text, verdict)


def test_code_is_imported_not_run_as_main() -> None:
    body = "if __name__ == '__main__':\n    raise SystemExit\n"
    body += "from dataclasses import dataclass\n@dataclass\nclass P:\n    x: int\n"
    assert judged(body + "def f():\n    return P(3).x", [{"args": [], "returns": 3}]).outcome is Outcome.PASS


@pytest.mark.long
def test_time_and_memory_limits() -> None:
    assert judged("def f():\n    while True: pass", [{"args": []}], cpu_seconds=0.5).reason == "timeout"
    assert judged("import time\ndef f():\n    time.sleep(99)", [{"args": []}], cpu_seconds=0.1).reason == "timeout"
    assert judged("while True: pass", [{"args": []}], cpu_seconds=0.5).reason == "timeout"
    verdict = judged("def f():\n    return len('x' * (1 << 30))", [{"args": []}], memory_mb=128)
    assert verdict.reason == "raised" and "MemoryError" in verdict.detail


def test_long_calls_and_values_are_cut_in_the_detail() -> None:
    verdict = judged("def f(a, k):\n    return a", [{"args": ["x" * 200], "kwargs": {"k": 1}, "returns": "y" * 200}])
    assert len(verdict.detail) < 300 and verdict.detail.count("...") == 3


def test_no_sandbox_is_nobody_s_fault(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(confine, "means", lambda: None)
    verdict = judged("def f(): pass", [{"args": []}])
    assert (verdict.outcome, verdict.reason) == (Outcome.UNSCORABLE, "no_sandbox")
    assert "install" in verdict.detail


def test_forged_dicts_and_sets_are_compared_unhashed() -> None:
    pairs, bag = python.Pairs, python.Bag
    assert python.same({"a": 1, "b": 2}, pairs([("b", 2), ("a", 1.0)]))
    assert not python.same({"a": 1, "b": 2}, pairs([("a", 1), ("a", 1)]))
    assert not python.same({"a": 1}, [("a", 1)])
    assert python.same({(1, frozenset({2}))}, bag([(1.0, bag([2]))]))
    assert not python.same({1, 2}, bag([1, 1]))
    assert not python.same({1}, [1])
    assert (repr(pairs([("a", bag([1]))])), repr(bag([]))) == ("{'a': {1}}", "set()")

import pytest

from scorers.methods import math
from scorers.methods.math import fault, score
from scorers.processes import TimeUp
from scorers.response import Response
from scorers.verdict import Example, Outcome, Verdict
from tests.scorers.methods.math_cases import DIFFERENT, EQUAL


def judged(answer: str, gold: str, kind: str = "expression") -> Verdict:
    return score({"value": gold, "kind": kind}, Response(text=f"ANSWER: {answer}"))


@pytest.mark.parametrize("example", math.EXAMPLES)
def test_examples(example: Example) -> None:
    assert isinstance(example.response, str)
    verdict = score(example.expect, Response(text=example.response))
    assert (verdict.outcome, verdict.reason) == (example.outcome, example.reason), verdict.detail


@pytest.mark.parametrize(("kind", "answer", "gold"), [(kind, *pair) for kind, pairs in EQUAL.items() for pair in pairs])
def test_equal_both_ways(kind: str, answer: str, gold: str) -> None:
    assert fault({"value": gold, "kind": kind}) == ""
    assert judged(answer, gold, kind).outcome is Outcome.PASS, judged(answer, gold, kind).detail
    assert judged(gold, answer, kind).outcome is Outcome.PASS


@pytest.mark.parametrize(
    ("kind", "answer", "gold"), [(kind, *pair) for kind, pairs in DIFFERENT.items() for pair in pairs]
)
def test_different(kind: str, answer: str, gold: str) -> None:
    assert judged(answer, gold, kind).outcome is Outcome.FAIL


@pytest.mark.parametrize(
    "answer",
    [
        "5^{(5^{(5^{(5^5)}-4)}-5)/16}",
        "10^{10^{10}}",
        "2^{10001}",
        "1001!",
        "((9!)!)!",
        "e^{10^9}",
        "9" * 1001,
        "(" * 500 + "1" + ")" * 500,
        "x" * 3000,
        "1e99999",
        "\\frac{\\dfrac{5^{(5^{(5^{(5^5)})}-4)}-5}{16}}{1}",
        "(2^{10000})^{10000}",
        "\\binom{10^9}{10^8}",
        "2 +",
        "2 3",
        "x ] y",
        "__import__('os').system('true')",
        "\\input{/etc/passwd}",
        "1 < 2",
    ],
)
def test_what_is_too_large_or_no_mathematics_is_malformed(answer: str) -> None:
    assert judged(answer, "1").reason == "malformed"


def test_an_e_behind_a_number_may_be_either() -> None:
    assert judged("2e-1", "2*e - 1").outcome is Outcome.PASS
    assert judged("2e-1", "0.2").outcome is Outcome.PASS
    assert judged("2e-1", "e").outcome is Outcome.FAIL


def test_a_value_that_cannot_be_read_is_the_item_s_fault() -> None:
    assert fault({"value": "2 +"}) != ""
    assert fault({"value": "1/0"}) != ""
    assert fault({"value": "1/2004!"}) == ""
    with pytest.raises(ValueError, match="not read as expression"):
        judged("1", "2 +")


def test_what_no_process_can_tell_is_nobody_s_fault(monkeypatch: pytest.MonkeyPatch) -> None:
    def late(request: tuple[str, object, object]) -> bool:
        if request[0] == late_at:
            raise TimeUp
        return True

    monkeypatch.setattr(math.WORKERS, "ask", late)
    late_at = "digits"
    verdict = judged("\\pi", "pi")
    assert (verdict.outcome, verdict.reason) == (Outcome.UNSCORABLE, "scorer_timeout")
    late_at = "proof"
    assert judged("\\pi", "pi").outcome is Outcome.PASS


def test_an_answer_without_a_value_is_malformed() -> None:
    assert judged("[i, 1]", "[0, 1]", "interval").reason == "malformed"
    assert fault({"value": "[i, 1]", "kind": "interval"}) == "an end of an interval is not real"
    assert judged("1/(\\pi - \\pi)", "pi").outcome is Outcome.FAIL
    assert judged("2 7/4", "15/4").reason == "malformed"
    assert judged("30° + 60°", "90").outcome is Outcome.PASS
    assert judged("2^{30°}", "2^{pi/6}").outcome is Outcome.PASS

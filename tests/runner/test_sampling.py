import random

from itembank.item import Item
from runner.config import Sampling
from runner.exchange import Exchange, Failure, FailureKind
from runner.retry import BASE_S, LONGEST_S, is_lost, is_passing, is_refused, pause_s
from runner.sampling import interleaved, order, request_seed, token_cap

IDS = tuple(f"d-{n:02d}" for n in range(20))


def failing(kind, status=None, **fields):
    return Exchange(request={}, failure=Failure(kind=kind, status=status), due_ns=0, done_ns=1, **fields)


def test_each_repeat_has_its_own_order_and_the_same_one_again():
    assert order(IDS, 0, 1) == order(tuple(reversed(IDS)), 0, 1)
    assert sorted(order(IDS, 0, 1)) == sorted(IDS)
    assert len({tuple(order(IDS, 0, repeat)) for repeat in range(1, 6)}) == 5


def test_seeds_differ_by_item_and_repeat_and_none_is_sent_at_zero():
    assert request_seed(Sampling(temperature=0.0), "a", 1) is None
    warm = Sampling(temperature=0.7, seed=3)
    seeds = {request_seed(warm, item, repeat) for item in IDS for repeat in (1, 2, 3)}
    assert len(seeds) == 60
    assert request_seed(warm, "a", 1) == request_seed(warm, "a", 1) != request_seed(Sampling(temperature=0.7), "a", 1)


def test_the_lower_cap_holds():
    item = Item(id="d-01", dimension="d", messages=(), scorer="text", expect={}, max_tokens=100)
    assert token_cap(Sampling(max_tokens=64), item) == 64
    assert token_cap(Sampling(max_tokens=4096), item) == 100


def test_sides_take_turns_abba():
    assert [side for repeat in (1, 2) for side in interleaved(2, repeat)] == [0, 1, 1, 0]


def test_only_what_may_pass_before_the_first_byte_is_asked_again():
    assert is_passing(failing(FailureKind.CONNECT))
    assert is_passing(failing(FailureKind.HTTP_STATUS, 503))
    assert is_passing(failing(FailureKind.TIMEOUT))
    assert not is_passing(failing(FailureKind.TIMEOUT, read_ns=(1,)))
    assert not is_passing(failing(FailureKind.HTTP_STATUS, 400))
    assert not is_passing(failing(FailureKind.CUT_STREAM, read_ns=(1,), token_ns=(1,)))
    assert not is_passing(failing(FailureKind.HTTP_STATUS, 503, token_ns=(1,)))
    assert not is_passing(Exchange(request={}, due_ns=0, done_ns=1))


def test_a_lost_and_a_refusing_server_are_told_apart():
    assert is_lost(Failure(kind=FailureKind.CONNECT))
    assert not is_lost(Failure(kind=FailureKind.TIMEOUT))
    assert is_refused(Failure(kind=FailureKind.HTTP_STATUS, status=401))
    assert not is_refused(Failure(kind=FailureKind.HTTP_STATUS, status=400))


def test_pauses_jitter_below_a_doubling_bound_and_heed_retry_after():
    rng = random.Random(1)
    failure = Failure(kind=FailureKind.CONNECT)
    for attempt in range(12):
        assert 0 <= pause_s(attempt, failure, rng) <= min(LONGEST_S, BASE_S * 2**attempt)
    asked = Failure(kind=FailureKind.HTTP_STATUS, status=429, retry_after_s=2.0)
    assert pause_s(0, asked, rng) == 2.0
    patient = Failure(kind=FailureKind.HTTP_STATUS, status=429, retry_after_s=1e9)
    assert pause_s(0, patient, rng) == LONGEST_S

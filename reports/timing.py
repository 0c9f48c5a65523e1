"""The four times of one exchange, in seconds. Looks at one exchange only; levels are read in `reading.py`.

Every time is None where it does not exist: of a failed exchange, of a reply that was not streamed, of
a reply whose tokens the server did not count.
"""

from itertools import pairwise

from runner.exchange import Exchange

NS = 1e9


def end_ns(exchange: Exchange) -> int:
    """When the last byte of the reply was read.

    A server may hold the stream open after its end, or send comments into it: neither our waiting nor they count.
    """
    return min(exchange.read_ns[-1], exchange.done_ns) if exchange.read_ns else exchange.done_ns


def ttft_s(exchange: Exchange) -> float | None:
    """Time to first token: request written to first text, reasoning or tool-call content.

    Role-only and usage-only events are no tokens. vLLM, SGLang and AIPerf define it alike, but take the first
    event of any kind or start before the connection stands.
    """
    if exchange.failure or not exchange.stream or not exchange.token_ns or exchange.sent_ns is None:
        return None
    return (exchange.token_ns[0] - exchange.sent_ns) / NS


def e2e_s(exchange: Exchange) -> float | None:
    """End-to-end latency: request written to last byte read."""
    if exchange.failure or exchange.sent_ns is None:
        return None
    return (end_ns(exchange) - exchange.sent_ns) / NS


def tpot_s(exchange: Exchange) -> float | None:
    """Time per output token after the first: (last token - first token) / (tokens - 1).

    The meaning of vLLM's `benchmark_serving`; AIPerf calls the same formula ITL, GuideLLM's TPOT includes the
    first token. Tokens are the server's own count, so several tokens in a chunk do not bend it; None below two.
    """
    tokens = completion_tokens(exchange)
    if ttft_s(exchange) is None or tokens is None or tokens < 2:
        return None
    return (exchange.token_ns[-1] - exchange.token_ns[0]) / NS / (tokens - 1)


def itl_s(exchange: Exchange) -> tuple[float, ...]:
    """Inter-token latencies: the gaps between reads that brought content (vLLM's meaning of ITL).

    Gaps between chunks, not between tokens: they mean the latter only where a chunk holds one token.
    """
    if ttft_s(exchange) is None:
        return ()
    return tuple((b - a) / NS for a, b in pairwise(exchange.token_ns))


def completion_tokens(exchange: Exchange) -> int | None:
    """Generated tokens by the server's own count, or None where it did not say or the exchange failed."""
    return None if exchange.failure or exchange.usage is None else exchange.usage.completion_tokens

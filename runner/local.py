"""The embedded real engine: llama.cpp's own HTTP server inside this process, run as `python -m runner.local`.

It uses one thread, since two collapse as soon as anything else runs on a small machine. It measures nothing.
"""

import argparse
import signal
import sys
import threading
from pathlib import Path

from runner.config import Launch, ServingConfig

CONTEXT_PER_SLOT = 4096
DRAFT_TOKENS = 3


def embedded(
    name: str, gguf: Path, *, slots: int, context: int = CONTEXT_PER_SLOT, draft: Path | None = None
) -> ServingConfig:
    """A serving that triplicate launches itself: `gguf` with `slots` sequences at once, optionally with a drafter."""
    command = [sys.executable, "-m", "runner.local", "--gguf", str(gguf), "--port", "{port}"]
    command += ["--parallel", str(slots), "--context", str(context)]
    if draft:
        command += ["--spec-draft-model", str(draft), "--spec-draft-n-max", str(DRAFT_TOKENS)]
    return ServingConfig(
        name=name,
        launch=Launch(command=tuple(command), ready_timeout_s=120.0, cwd=str(Path(__file__).parent.parent)),
        intended={"max_concurrent_sequences": slots, "context_length": context},
    )


def serve(gguf: Path, port: int, slots: int, context: int, draft: Path | None, draft_tokens: int) -> None:
    """Serve until SIGTERM or SIGINT; `context` tokens for each of `slots` sequences."""
    import xllamacpp

    params = xllamacpp.CommonParams()
    params.model.path = str(gguf)
    params.model_alias = {gguf.stem}
    params.hostnames = ["127.0.0.1"]
    params.port = port
    params.n_parallel = slots
    params.n_ctx = context * slots
    params.cpuparams.n_threads = params.cpuparams_batch.n_threads = 1
    params.endpoint_metrics = params.endpoint_slots = params.endpoint_props = True
    params.cache_ram_mib = 0
    if draft:
        params.speculative.draft.mparams.path = str(draft)
        params.speculative.draft.n_max = draft_tokens
        params.speculative.draft.cpuparams.n_threads = 1
        params.speculative.types = [xllamacpp.common_speculative_type.COMMON_SPECULATIVE_TYPE_DRAFT_SIMPLE]
    stop = threading.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda *_: stop.set())
    server = xllamacpp.Server(params)
    stop.wait()
    del server


def main() -> None:
    """Read the command line and serve."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--gguf", type=Path, required=True, help="the model file")
    parser.add_argument("--port", type=int, required=True, help="loopback port")
    parser.add_argument("--parallel", type=int, default=1, help="sequences at once (default 1)")
    parser.add_argument("--context", type=int, default=CONTEXT_PER_SLOT, help="tokens of context for each sequence")
    parser.add_argument("--spec-draft-model", type=Path, help="a draft model for speculative decoding")
    parser.add_argument("--spec-draft-n-max", type=int, default=DRAFT_TOKENS, help="tokens drafted at a time")
    arguments = parser.parse_args()
    draft, draft_tokens = arguments.spec_draft_model, arguments.spec_draft_n_max
    serve(arguments.gguf, arguments.port, arguments.parallel, arguments.context, draft, draft_tokens)


if __name__ == "__main__":
    main()

"""A working folder with simulated servers and a configuration that names them; runs commands in it."""

from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest

import triplicate
from itembank.bank import load_bank
from runner.simulator import Simulator, simulated
from runner.simulator_answers import Model


class Bench:
    """A working folder with a configuration, and the simulated servers that it names."""

    def __init__(self, root: Path, bank: Path, capture: pytest.CaptureFixture[str]) -> None:
        self.root, self.bank, self.capture = root, bank, capture
        self.servers = ExitStack()
        self.config = f'[bank]\nsource = "{bank}"\n'

    def serve(self, name: str, *, seed: int = 1, regress: int = 0, flaky: float = 0.15, **options: Any) -> Simulator:
        """Start a server and name it in the configuration."""
        noise = options.pop("noise", None)
        extra = options.pop("extra", "")
        model = Model(bank=load_bank(str(self.bank)), seed=seed, regress=regress, flaky=flaky, noise=noise)
        server = self.servers.enter_context(
            simulated(options.pop("preset", "batching"), speed=options.pop("speed", 2000), model=model, **options)
        )
        self.add(name, f'base_url = "{server.base_url}"\n{extra}')
        return server

    def add(self, name: str, text: str) -> None:
        """A serving in the configuration."""
        self.config += f'[[serving]]\nname = "{name}"\n{text}\n'
        (self.root / "triplicate.toml").write_text(self.config)

    def __call__(self, *words: str) -> tuple[int, str, str]:
        """(exit status, stdout, stderr) of one command."""
        self.capture.readouterr()
        try:
            status = triplicate.main(list(words))
        except SystemExit as stop:
            status = int(stop.code or 0)
        captured = self.capture.readouterr()
        return status, captured.out, captured.err

"""Over sockets: caps of simulated servers named exactly, and C requests really in flight at every level to 512."""

import json
import subprocess
import sys
import tempfile
from functools import partial
from typing import Any

from tests.bench._process import ROOT, simulator

CAPS = (1, 4, 9, 24, 48, None)
SPEED = 1.5
WIDE = (64, 128, 256, 512)


def swept(url: str, *arguments: str) -> dict[str, Any]:
    """The document of one `triplicate sweep`, run as a user runs it."""
    with tempfile.TemporaryDirectory() as out:
        command = [sys.executable, str(ROOT / "triplicate.py"), "sweep", url, "--json", "--out", out, *arguments]
        done = subprocess.run(command, capture_output=True, text=True, timeout=900, check=False)
    if not done.stdout:
        raise RuntimeError(done.stderr)
    document: dict[str, Any] = json.loads(done.stdout)
    return document


def named(cap: int | None) -> tuple[bool, str]:
    """Whether the sweep of a server with that cap says so, and what it says."""
    options = ["--cap", str(cap)] if cap is not None else []
    with simulator("batching", "--speed", str(SPEED), *options) as url:
        found = swept(url, "--max-tokens", "128", "--plateau-s", "0")
    peaks = all(row["peak_in_flight"] == row["concurrency"] for row in found["levels"])
    void = [row["concurrency"] for row in found["levels"] if row["void"]]
    held = found["k"] == cap and peaks
    text = f"cap {cap}: {found['signature']}, k {found['k']}, confirmed {found['confirmed']}, peaks reached {peaks}"
    return held, text + (f", void {void}" if void else "")


def wide() -> tuple[bool, str]:
    """Whether the peak in flight is C at wide levels."""
    with simulator("batching", "--speed", "0.5") as url:
        options = ["--levels", ",".join(map(str, WIDE)), "--max-tokens", "48", "--rounds", "1", "--plateau-s", "0"]
        rows = swept(url, *options)["levels"]
    peaks = {row["concurrency"]: row["peak_in_flight"] for row in rows}
    return peaks == {c: c for c in WIDE}, f"peak in flight {peaks}"


def main() -> int:
    """All caps, then the wide levels; 1 if anything is not as it should be."""
    good = True
    for measured in (*(partial(named, cap) for cap in CAPS), wide):
        held, text = measured()
        good &= held
        print(f"  {text}  {'holds' if held else 'FAILS'}", flush=True)
    return 0 if good else 1

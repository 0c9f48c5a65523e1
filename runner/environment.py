"""What a record says of the tool, the packages and the host that measured. Reads no secret."""

import importlib.metadata
import os
import platform
import subprocess
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

PACKAGES = ("aiohttp", "httpx", "httpx-aiohttp", "jsonschema", "msgspec", "sympy", "uvloop")


def tool() -> dict[str, str]:
    """Version and commit of triplicate, Python and the packages that can change a result."""
    found = {"version": _version("triplicate"), "commit": _commit(), "python": platform.python_version()}
    return found | {name: version for name in PACKAGES if (version := _version(name)) != "unknown"}


def host() -> Mapping[str, Any]:
    """The measuring machine: system, processor kind and count."""
    return {
        "system": f"{platform.system()} {platform.release()}",
        "machine": platform.machine(),
        "cpus": os.cpu_count(),
    }


def anchor() -> dict[str, int]:
    """The wall clock and the monotonic clock of the timestamps, read together (ns)."""
    return {"wall_ns": time.time_ns(), "monotonic_ns": time.perf_counter_ns()}


def _version(package: str) -> str:
    try:
        return importlib.metadata.version(package)
    except importlib.metadata.PackageNotFoundError:
        return "unknown"


def _commit() -> str:
    """The commit of a checkout, marked where files differ from it; `unknown` for an installed wheel."""
    root = Path(__file__).parent.parent
    if not (root / ".git").exists():
        return "unknown"
    command = ["git", "-C", str(root), "describe", "--always", "--dirty", "--abbrev=12"]
    try:
        return subprocess.run(command, capture_output=True, text=True, timeout=5, check=True).stdout.strip()
    except (OSError, subprocess.SubprocessError):
        return "unknown"

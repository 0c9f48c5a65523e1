"""Reads the GPUs of a local server through NVML, where the `gpu` extra and a driver are present; else says nothing."""

import asyncio
from collections import Counter
from typing import Any

import psutil

from runner.facts import Findings, facts
from runner.probes._processes import server_process
from runner.probes._recorded import Recorded
from runner.record import Fact
from runner.site import Site

RECORDED: tuple[Recorded, ...] = ()


async def probe(site: Site) -> Findings | None:
    """Name, number and memory of the GPUs that the server's processes use, or None if NVML is not there."""
    if not (site.serving.pid or site.is_local()):
        return None
    return await asyncio.to_thread(_read, site)


def _read(site: Site) -> Findings | None:
    try:
        import pynvml
    except ImportError:
        return None
    try:
        pynvml.nvmlInit()
    except pynvml.NVMLError:
        return None
    try:
        devices = [_device(pynvml, index) for index in range(pynvml.nvmlDeviceGetCount())]
        driver = _text(pynvml.nvmlSystemGetDriverVersion())
    except pynvml.NVMLError as error:
        return Findings(notes=(f"NVML: {error}",))
    finally:
        pynvml.nvmlShutdown()
    if not devices:
        return None
    used = [device for device in devices if device["pids"] & _family(site)]
    found = facts("NVML", {"gpu_driver": driver})
    if used:
        return Findings(facts=found + _facts(used, "NVML, GPUs of the server's processes", counted=True))
    note = "no process of the server was found on a GPU (another user's, or in a container?)"
    source = "inferred: NVML of this machine, the server was found on none of its GPUs"
    return Findings(facts=found + _facts(devices, source, counted=False), notes=(note,))


def _facts(devices: list[dict[str, Any]], source: str, *, counted: bool) -> tuple[Fact, ...]:
    kinds = Counter(device["name"] for device in devices)
    name = next(iter(kinds)) if len(kinds) == 1 else ", ".join(f"{n} x {kind}" for kind, n in sorted(kinds.items()))
    values: dict[str, Any] = {"gpu_model": name, "gpu_memory_bytes": min(device["memory"] for device in devices)}
    return facts(source, values | ({"gpu_count": len(devices)} if counted else {}))


def _device(nvml: Any, index: int) -> dict[str, Any]:
    handle = nvml.nvmlDeviceGetHandleByIndex(index)
    return {
        "name": _text(nvml.nvmlDeviceGetName(handle)),
        "memory": int(nvml.nvmlDeviceGetMemoryInfo(handle).total),
        "pids": {process.pid for process in nvml.nvmlDeviceGetComputeRunningProcesses(handle)},
    }


def _family(site: Site) -> set[int]:
    """The server's process with everything below it and the parents that may be its main process."""
    try:
        process = server_process(site.port, site.serving.pid)
        if process is None:
            return set()
        above = [parent for parent in process.parents()[:2] if parent.pid > 1]
        return {member.pid for top in (process, *above) for member in (top, *top.children(recursive=True))}
    except psutil.Error:
        return set()


def _text(value: Any) -> str:
    return value.decode("utf-8", "replace") if isinstance(value, bytes) else str(value)

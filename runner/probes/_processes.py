"""Finds the process behind a listening port, and the main process above it. Reads; signals nothing."""

import re
from collections.abc import Callable, Iterable

import psutil

_TITLE = re.compile(r"^[\w.-]+::\w")


def server_process(port: int, pid: int = 0) -> psutil.Process | None:
    """The process that listens on `port` of this machine; with a `pid`, that process or what listens below it.

    Several processes on one port have a parent in common, which is taken if it can be seen. None if there is none.
    """
    listening = [psutil.Process(each) for each in sorted(_listening(port))]
    if pid:
        given = psutil.Process(pid)
        below = {child.pid for child in given.children(recursive=True)} | {pid}
        listening = [process for process in listening if process.pid in below]
        return _common(listening) or given
    return _common(listening)


def main_process(process: psutil.Process, is_engine: Callable[[list[str]], bool]) -> psutil.Process:
    """The process whose command line is the server's.

    It lies above workers that overwrote their titles, and is the highest of several that are engines.
    """
    parents = process.parents()
    while is_titled(process.cmdline()) and parents:
        process = parents.pop(0)
    while parents and is_engine(_cmdline(parents[0])):
        process = parents.pop(0)
    return process


def is_titled(argv: list[str]) -> bool:
    """Whether a worker overwrote its command line with a title, as `VLLM::EngineCore` does."""
    return bool(argv) and bool(_TITLE.match(argv[0]))


def _cmdline(process: psutil.Process) -> list[str]:
    try:
        return process.cmdline()
    except psutil.Error:
        return []


def _listening(port: int) -> set[int]:
    try:
        connections = psutil.net_connections("tcp")
    except psutil.AccessDenied:
        return set()
    open_ports = [(each.laddr[1], each.pid) for each in connections if each.status == psutil.CONN_LISTEN and each.laddr]
    return {pid for number, pid in open_ports if number == port and pid}


def _common(processes: Iterable[psutil.Process]) -> psutil.Process | None:
    """The one that is an ancestor of all the others or, where none is, their nearest common parent; else the first."""
    lines = [[process, *process.parents()] for process in processes]
    if len(lines) < 2:
        return lines[0][0] if lines else None
    shared = set.intersection(*(set(line) for line in lines))
    nearest = next((process for process in lines[0] if process in shared and process.pid > 1), None)
    return nearest or lines[0][0]

"""What is read off local processes: real ones that only carry the names of engines, and made-up trees."""

import asyncio
import os
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import ModuleType
from typing import Any

import psutil
import pytest

from runner.facts import Findings
from runner.launch import free_port
from runner.probes import _processes, gpu, ollama, process
from tests.runner.replayed import Replayed, site_of

LISTENS = "import socket, sys, time; s = socket.create_server(('127.0.0.1', int(sys.argv[-1]))); time.sleep(600)"
FORKS = f"""
import os, socket, subprocess, sys, time
if "serve" in sys.argv:
    worker = subprocess.Popen(["VLLM::APIServer_0", "-c", {LISTENS!r}, sys.argv[-1]], executable=sys.executable)
    time.sleep(600)
"""


@contextmanager
def engine(folder: Path, name: str, code: str, *arguments: str, **env: str) -> Iterator[tuple[int, int]]:
    """A Python script under an engine's name that listens; yields its pid and port."""
    script = folder / name
    script.write_text(code)
    port = free_port()
    command = [sys.executable, str(script), *arguments, "--port", str(port)]
    with subprocess.Popen(command, env={**os.environ, **env}, cwd=folder) as running:
        try:
            end = time.monotonic() + 20
            while not _processes.server_process(port) and time.monotonic() < end:
                time.sleep(0.02)
            yield running.pid, port
        finally:
            for child in psutil.Process(running.pid).children(recursive=True):
                child.kill()
            running.kill()


def read(port: int, pid: int = 0, host: str = "127.0.0.1") -> Findings | None:
    site = site_of(Replayed({}), base_url=f"http://{host}:{port}/v1", pid=pid)
    return asyncio.run(process.probe(site))


def values(findings: Findings | None) -> dict[str, Any]:
    assert findings is not None
    return {fact.name: fact.value for fact in reversed(findings.facts)}


def test_flags_are_read_off_the_untitled_parent(tmp_path: Path) -> None:
    typed = [
        "serve",
        "org/model",
        "--max_num_seqs=9",
        "-tp",
        "2",
        "--no-enable-prefix-caching",
        "--api-key",
        "hunter22x",
    ]
    typed += ["--speculative-config", '{"method":"ngram","num_speculative_tokens":3}', "--enforce-eager"]
    with engine(tmp_path, "vllm", FORKS, *typed) as (pid, port):
        findings = read(port)
        found = values(findings)
        given = values(read(1, pid=pid))
    assert found["pid"] == given["pid"] == pid
    assert found["engine"] == "vllm"
    assert found["model"] == "org/model"
    assert found["max_concurrent_sequences"] == 9
    assert found["tensor_parallel_size"] == 2
    assert found["prefix_caching"] is False
    assert (found["speculative_method"], found["speculative_tokens"]) == ("ngram", 3)
    assert "--enforce-eager true" in found["other_flags"]
    assert "hunter22x" not in repr(findings)
    assert found["process_started_at"].startswith("20")
    assert {fact.source for fact in findings.facts if fact.name == "max_concurrent_sequences"} == {
        f"/proc/{pid}/cmdline"
    }  # type: ignore[union-attr]


def test_environment_names_are_read_and_nothing_else_is(tmp_path: Path) -> None:
    with engine(tmp_path, "llama-server", LISTENS, LLAMA_ARG_N_PARALLEL="6", HF_TOKEN="hunter22x") as (pid, port):
        findings = read(port)
    assert values(findings)["max_concurrent_sequences"] == 6
    assert f"/proc/{pid}/environ LLAMA_ARG_N_PARALLEL" in {fact.source for fact in findings.facts}  # type: ignore[union-attr]
    assert "hunter22x" not in repr(findings)


@pytest.mark.parametrize(("age_s", "is_newer"), [(-3600, False), (3600, True)])
def test_a_configuration_file_is_read_and_dated(tmp_path: Path, age_s: int, is_newer: bool) -> None:
    (tmp_path / "serve.yaml").write_text(
        "max_batch_size: 32\nspeculative_config: {decoding_type: MTP, max_draft_len: 2}\n"
    )
    os.utime(tmp_path / "serve.yaml", (time.time() + age_s, time.time() + age_s))
    with engine(tmp_path, "trtllm-serve", LISTENS, "m", "--config", "serve.yaml", "--max_batch_size", "9") as (_, port):
        findings = read(port)
    assert findings is not None
    caps = [(fact.value, fact.source) for fact in findings.facts if fact.name == "max_concurrent_sequences"]
    assert [value for value, _ in caps] == [9, 32]
    assert "serve.yaml" in caps[1][1]
    assert values(findings)["speculative_tokens"] == 2
    assert any("changed after" in note for note in findings.notes) == is_newer


@pytest.mark.parametrize("content", [None, b"\xff\xfe", b"a: [", b"- 1"])
def test_a_configuration_file_that_cannot_be_read(tmp_path: Path, content: bytes | None) -> None:
    if content is not None:
        (tmp_path / "c.yaml").write_bytes(content)
    notes: list[str] = []
    process._of_file(__import__("runner.probes.vllm", fromlist=["x"]), tmp_path / "c.yaml", 0.0, notes)
    assert notes


def test_a_program_that_is_no_engine_is_named_in_a_note(tmp_path: Path) -> None:
    with engine(tmp_path, "nginx", LISTENS) as (pid, port):
        findings = read(port)
    assert findings is not None
    assert values(findings)["pid"] == pid
    assert "engine" not in values(findings)
    assert "is nginx" in findings.notes[0]


def test_the_child_that_runs_a_model_is_read(tmp_path: Path) -> None:
    child = ["llama-server", "-c", "import time; time.sleep(600)", "-np", "3", "--spec-type", "draft-mtp"]
    code = f"import subprocess, sys\nsubprocess.Popen({child!r}, executable=sys.executable)\n{LISTENS}"
    with engine(tmp_path, "ollama", code, "serve") as (_, port):
        end = time.monotonic() + 10
        while "max_concurrent_sequences" not in (found := values(read(port))) and time.monotonic() < end:
            time.sleep(0.05)
    assert (found["engine"], found["max_concurrent_sequences"]) == ("ollama", 3)
    assert (found["speculative_decoding"], found["speculative_method"]) == (True, "draft-mtp")
    assert ollama.from_child({"np": "1"})["speculative_tokens"] == 0


def test_a_server_elsewhere_and_a_port_of_nobody() -> None:
    assert read(8000, host="engine.example") is None
    findings = read(free_port())
    assert findings is not None
    assert "no process" in findings.notes[0]


def test_a_process_that_is_gone_is_a_note(tmp_path: Path) -> None:
    with subprocess.Popen([sys.executable, "-c", ""]) as gone:
        gone.wait()
    findings = read(1, pid=gone.pid)
    assert findings is not None
    assert "cannot be read" in findings.notes[0]


class Made:
    """A process of a made-up tree."""

    def __init__(self, pid: int, argv: list[str], parent: "Made | None" = None) -> None:
        self.pid, self.argv, self.up = pid, argv, parent

    def cmdline(self) -> list[str]:
        if not self.argv:
            raise psutil.AccessDenied(self.pid)
        return self.argv

    def parents(self) -> list["Made"]:
        return [self.up, *self.up.parents()] if self.up else []


INIT = Made(1, ["/sbin/init"])


def test_up_to_the_launcher_of_several_programs() -> None:
    shell = Made(10, ["bash", "run.sh"], INIT)
    launcher = Made(11, ["text-generation-launcher", "--num-shard", "2"], shell)
    router = Made(12, ["text-generation-router"], launcher)
    main: Any = _processes.main_process
    assert main(router, lambda argv: process.engine_of(argv) is not None) is launcher
    worker = Made(20, ["sglang::scheduler_TP0"], Made(21, ["python", "-m", "sglang.launch_server"], Made(22, [], INIT)))
    assert main(worker, lambda argv: process.engine_of(argv) is not None).pid == 21


def test_several_listeners_have_a_parent_in_common() -> None:
    common: Any = _processes._common
    parent = Made(30, ["trtllm-serve"], INIT)
    first, second = Made(31, ["trtllm-serve", "frontend"], parent), Made(32, ["trtllm-serve", "frontend"], parent)
    assert common([first, second]) is parent
    assert common([parent, first]) is parent
    assert common([first]) is first
    strangers = Made(40, ["a"], INIT), Made(41, ["b"], INIT)
    assert common(list(strangers)) is strangers[0]
    assert common([]) is None


def test_connections_that_may_not_be_read(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(_: str) -> None:
        raise psutil.AccessDenied(1)

    monkeypatch.setattr(psutil, "net_connections", refuse)
    assert _processes.server_process(80) is None


class Nvml(ModuleType):
    """A stand-in for pynvml with two GPUs."""

    class NVMLError(Exception):
        pass

    def __init__(
        self, pids: list[int], *, names: tuple[Any, ...] = ("NVIDIA L4", "NVIDIA L4"), broken: str = ""
    ) -> None:
        super().__init__("pynvml")
        self.pids, self.kinds, self.broken, self.shut = pids, names, broken, False

    def nvmlInit(self) -> None:
        if self.broken == "init":
            raise self.NVMLError("no driver")

    def nvmlShutdown(self) -> None:
        self.shut = True

    def nvmlDeviceGetCount(self) -> int:
        if self.broken == "count":
            raise self.NVMLError("lost")
        return len(self.kinds)

    def nvmlSystemGetDriverVersion(self) -> bytes:
        return b"580.1"

    def nvmlDeviceGetHandleByIndex(self, index: int) -> int:
        return index

    def nvmlDeviceGetName(self, index: int) -> Any:
        return self.kinds[index]

    def nvmlDeviceGetMemoryInfo(self, _: int) -> Any:
        return type("Memory", (), {"total": 24 << 30})

    def nvmlDeviceGetComputeRunningProcesses(self, index: int) -> list[Any]:
        return [type("Process", (), {"pid": pid}) for pid in self.pids[index : index + 1]]


def gpus(
    nvml: ModuleType | None, monkeypatch: pytest.MonkeyPatch, host: str = "127.0.0.1", pid: int = 0
) -> Findings | None:
    monkeypatch.setitem(sys.modules, "pynvml", nvml)
    return asyncio.run(gpu.probe(site_of(Replayed({}), base_url=f"http://{host}:1/v1", pid=pid)))


def test_the_gpus_of_the_server_are_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    nvml = Nvml([os.getpid(), 999_999_999], names=(b"NVIDIA L4", "NVIDIA T4"))
    found = values(gpus(nvml, monkeypatch, pid=os.getpid()))
    assert (found["gpu_model"], found["gpu_count"], found["gpu_memory_bytes"]) == ("NVIDIA L4", 1, 24 << 30)
    assert found["gpu_driver"] == "580.1"
    assert nvml.shut


def test_gpus_without_the_server_are_inferred(monkeypatch: pytest.MonkeyPatch) -> None:
    findings = gpus(Nvml([999_999_999]), monkeypatch, pid=os.getpid())
    assert findings is not None
    assert "gpu_count" not in values(findings)
    assert next(fact.source for fact in findings.facts if fact.name == "gpu_model").startswith("inferred")
    assert gpus(Nvml([]), monkeypatch) is not None, "a port of nobody"
    assert gpus(Nvml([]), monkeypatch, pid=999_999_999) is not None, "a process that is gone"
    mixed = Nvml([os.getpid(), os.getpid()], names=("NVIDIA L4", "NVIDIA T4"))
    assert values(gpus(mixed, monkeypatch, pid=os.getpid()))["gpu_model"] == "1 x NVIDIA L4, 1 x NVIDIA T4"


def test_no_gpu_is_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    assert gpus(None, monkeypatch) is None
    assert gpus(Nvml([], broken="init"), monkeypatch) is None
    assert gpus(Nvml([], names=()), monkeypatch) is None
    assert gpus(Nvml([]), monkeypatch, host="engine.example") is None
    broken = gpus(Nvml([], broken="count"), monkeypatch)
    assert broken is not None
    assert "lost" in broken.notes[0]

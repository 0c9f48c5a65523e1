"""Reads a local server's process: command line, environment, configuration files and age.

What was typed is what was asked for, which is less than what the server made of it; the engine's own pages come first.
Workers overwrite their titles, so the flags are read at the main process. Nothing is signalled or traced.
"""

import asyncio
from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path, PurePath
from types import ModuleType
from typing import Any

import psutil

import runner.probes
from itembank import plugins
from runner.facts import Findings, facts
from runner.probes._flags import arguments, as_flags, flags_of, positional, program
from runner.probes._processes import main_process, server_process
from runner.probes._recorded import Recorded
from runner.record import Fact
from runner.redact import redacted_tree
from runner.site import Site

IGNORED = {
    "host",
    "port",
    "uvicorn-log-level",
    "log-level",
    "log-requests",
    "disable-log-requests",
    "log-file",
    "verbose",
}
LARGEST_FILE = 1 << 20

RECORDED: tuple[Recorded, ...] = ()


async def probe(site: Site) -> Findings | None:
    """The facts of the process that listens on the server's port, or None if the server is not on this machine."""
    if not (site.serving.pid or site.is_local()):
        return None
    return await asyncio.to_thread(_read, site)


def engine_of(argv: list[str]) -> ModuleType | None:
    """The engine probe whose program this command line starts; None if it is none's."""
    name = program(argv)
    for plugin in plugins.names(runner.probes):
        module = plugins.load(runner.probes, plugin)
        if any(name == known or name.startswith(f"{known} ") for known in getattr(module, "PROGRAMS", ())):
            return module
    return None


def _read(site: Site) -> Findings:
    try:
        listening = server_process(site.port, site.serving.pid)
        if listening is None:
            return Findings(notes=(f"no process of this machine that can be seen listens on port {site.port}",))
        chosen = main_process(listening, lambda argv: engine_of(argv) is not None)
        argv, started = chosen.cmdline(), chosen.create_time()
    except psutil.Error as error:
        return Findings(notes=(f"the server's process cannot be read: {type(error).__name__}",))
    source = f"/proc/{chosen.pid}/cmdline"
    age = datetime.fromtimestamp(started, UTC).isoformat(timespec="seconds")
    found = facts(f"/proc/{chosen.pid}/stat", {"pid": chosen.pid, "process_started_at": age})
    found += facts(source, {"command": " ".join(str(word) for word in redacted_tree(argv, site.secrets))})
    module = engine_of(argv)
    if module is None:
        note = (
            f"process {chosen.pid} on port {site.port} is {program(argv) or 'unnamed'}, which is no engine known here"
        )
        return Findings(facts=found, notes=(note,))
    found = facts(source, {"engine": module.ENGINE}) + found + _typed(module, argv, source, site)
    notes: list[str] = []
    found += _of_environment(module, chosen, notes)
    for path in _config_files(module, argv, chosen):
        found += _of_file(module, path, started, notes)
    return Findings(facts=found + _of_children(module, chosen), notes=tuple(notes))


def _typed(module: ModuleType, argv: list[str], source: str, site: Site) -> tuple[Fact, ...]:
    flags = flags_of(arguments(argv))
    others = {name: value for name, value in flags.items() if name not in {*module.FLAGS, *IGNORED}}
    shown = redacted_tree([word for pair in sorted(others.items()) for word in (f"--{pair[0]}", pair[1])], site.secrets)
    values = _values(module, flags)
    values.setdefault("model", positional(argv, "serve"))
    return facts(source, {**values, "other_flags": " ".join(shown)})


def _values(module: ModuleType, flags: Mapping[str, str]) -> dict[str, Any]:
    """The facts of an engine's options; what the engine's own reading of them says goes first."""
    values = {module.FLAGS[name]: value for name, value in flags.items() if name in module.FLAGS}
    return values | (module.from_flags(flags) if hasattr(module, "from_flags") else {})


def _of_environment(module: ModuleType, process: psutil.Process, notes: list[str]) -> tuple[Fact, ...]:
    names: Mapping[str, str] = getattr(module, "ENVIRONMENT", {})
    if not names:
        return ()
    try:
        environ = process.environ()
    except psutil.Error:
        notes.append(f"/proc/{process.pid}/environ cannot be read")
        return ()
    found: tuple[Fact, ...] = ()
    for variable, name in names.items():
        if variable in environ:
            found += facts(f"/proc/{process.pid}/environ {variable}", {name: environ[variable]})
    return found


def _config_files(module: ModuleType, argv: list[str], process: psutil.Process) -> list[Path]:
    flags = flags_of(arguments(argv))
    named = [flags[name] for name in getattr(module, "CONFIG_FLAGS", ()) if name in flags]
    try:
        return [Path(process.cwd()) / name for name in named]
    except psutil.Error:
        return [Path(name) for name in named if Path(name).is_absolute()]


def _of_file(module: ModuleType, path: Path, started: float, notes: list[str]) -> tuple[Fact, ...]:
    """The facts of a configuration file, which may have been edited after the server read it."""
    import yaml

    try:
        changed, size = path.stat().st_mtime, path.stat().st_size
        tree = yaml.safe_load(path.read_text("utf-8")) if size <= LARGEST_FILE else None
    except (OSError, UnicodeDecodeError, yaml.YAMLError, RecursionError):
        notes.append(f"the configuration file {path} cannot be read")
        return ()
    is_newer = changed > started
    state = "changed after the process started" if is_newer else "as old as the process or older"
    if is_newer:
        notes.append(f"the configuration file {path} changed after the process started: it may say what is not loaded")
    found = facts(str(path), {"config_file": f"{PurePath(path).name}: {state}"})
    return found + facts(f"{path} ({state})", _values(module, as_flags(tree)))


def _of_children(module: ModuleType, process: psutil.Process) -> tuple[Fact, ...]:
    """The facts of the one child process that an engine runs its model in, where it does."""
    programs: tuple[str, ...] = getattr(module, "CHILD_PROGRAMS", ())
    found = []
    for child in process.children(recursive=True) if programs else ():
        try:
            argv = child.cmdline()
        except psutil.Error:
            continue
        if program(argv).split(" ")[0] in programs:
            found.append(facts(f"/proc/{child.pid}/cmdline (child)", module.from_child(flags_of(arguments(argv)))))
    return found[0] if len(found) == 1 else ()

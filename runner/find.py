"""Finds the run folder that a user means. Reads run.json files and nothing else."""

from pathlib import Path

from itembank.errors import UserError, nearest
from runner import DEFAULT_OUT
from runner.store import read_record, safe_name


def find_run(name: str, out: Path = DEFAULT_OUT, kind: str = "quality") -> Path:
    """The folder of a RUN: a run folder, or a serving's name for its newest complete run of that kind.

    Raises UserError with the nearest name where there is none.
    """
    path = Path(name)
    if is_run(path):
        return path
    if _is_folder(path) and path.parent != out and path != out / safe_name(name):
        raise UserError(f"{path} is no run folder: it has no run.json")
    servings = sorted(child.name for child in out.iterdir() if child.is_dir()) if out.is_dir() else []
    if safe_name(name) not in servings:
        raise UserError(f"no run {name!r} in {out}; {nearest(name, servings)}")
    complete = [path for path in run_folders(out / safe_name(name)) if _is_complete(path, name, kind)]
    if not complete:
        raise UserError(f"{out / safe_name(name)} holds no complete {kind} run; finish one first")
    return max(complete, key=lambda path: (read_record(path).started_at, path.name))


def find_runs(name: str, out: Path = DEFAULT_OUT) -> list[Path]:
    """The run folder of that name, or a serving's newest complete run of each kind."""
    found, problem = [], None
    for kind in ("quality", "ladder"):
        try:
            found.append(find_run(name, out, kind))
        except UserError as error:
            problem = error
    if not found and problem:
        raise problem
    return list(dict.fromkeys(found))


def is_run(path: Path) -> bool:
    """Whether that is a run folder; a text that can be no path is none."""
    try:
        return (path / "run.json").is_file()
    except OSError:
        return False


def _is_folder(path: Path) -> bool:
    try:
        return path.is_dir()
    except OSError:
        return False


def run_folders(root: Path) -> list[Path]:
    """Every run folder below `root`, oldest name first."""
    return sorted(path.parent for path in root.rglob("run.json"))


def _is_complete(path: Path, name: str, kind: str) -> bool:
    """Names that share a folder (`a/b`, `a_b`) are told apart by the record."""
    record = read_record(path)
    return record.kind == kind and record.status == "complete" and record.serving.get("name") == name

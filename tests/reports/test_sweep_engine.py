"""The ladder on the embedded real engine: its slots are found, measured and named."""

import json
from pathlib import Path

import pytest

import reports.void
import triplicate
from runner.local import embedded
from runner.weights import model_file

pytestmark = pytest.mark.engine


@pytest.mark.parametrize(
    ("slots", "levels", "signature"),
    [
        (1, "1,2,4", "QUEUES"),
        pytest.param(4, "1,2,4,8", "CAPPED", marks=pytest.mark.soak),
        pytest.param(8, "1,4,8,16", "CAPPED", marks=pytest.mark.soak),
        pytest.param(8, "1,4,8", None, marks=pytest.mark.soak),
    ],
    ids=["one slot queues", "four slots cap", "eight slots cap", "eight slots are enough for eight"],
)
def test_slots(
    slots: int,
    levels: str,
    signature: str | None,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """Shapes only: figures of a small shared machine mean nothing, and its lag is not what is tested here."""
    for name in ("LAG_S", "SKEW_S", "CPU_SHARE"):
        monkeypatch.setattr(reports.void, name, 60.0)
    monkeypatch.chdir(tmp_path)
    launch = embedded("engine", model_file(), slots=slots).launch
    assert launch is not None
    Path("triplicate.toml").write_text(
        f'[[serving]]\nname = "engine"\n[serving.intended]\nmax_concurrent_sequences = {slots}\n'
        f"[serving.launch]\ncommand = {json.dumps(list(launch.command))}\ncwd = {json.dumps(launch.cwd)}\n"
    )
    options = ["--levels", levels, "--max-tokens", "16", "--rounds", "1", "--plateau-s", "0", "--json"]
    assert triplicate.main(["sweep", "engine", *options]) == 0
    found = json.loads(capsys.readouterr().out)
    assert [row["void"] for row in found["levels"]] == [None] * len(found["levels"])
    assert found["cap"]["intended"]["value"] == found["cap"]["found"]["value"] == slots
    if signature is None:
        assert found["k"] is None and found["signature"] not in ("QUEUES", "CAPPED", "VOID")
    else:
        assert (found["signature"], found["k"]) == (signature, slots)

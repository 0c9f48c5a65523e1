"""The golden runs, and runs whose every name and text tries to break out of whatever shows it."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from reports.report import Report, report_of
from runner.store import RunFolder
from tests.hostile import HOSTILE
from tests.reports.conftest import write_run

GOLDEN = Path(__file__).parents[2] / "data" / "runs" / "v1"
BREAKOUT = "</script><img src=x onerror=window.pwned=1><!--\u2028]]>"
ATTACKS = [
    BREAKOUT,
    "<script>window.pwned=1</script>",
    "=cmd|'/C calc'!A0",
    "@everyone | [click](javascript:window.pwned=1) `x` **y** {{ 7*7 }}",
    "\x1b[2J\x1b]0;title\x07\x9b31m",
    "\u202egnp.exe\u2066\u200b\ufeff",
    "a\x00b\r\nc",
    "&lt;b&gt; &amp; ]]> <![CDATA[",
    "x" * 1_000_000,
    *(text for text in HOSTILE if text.isprintable() or text.isascii()),
]


def golden_runs() -> list[Path]:
    return [path for name in ("incumbent", "candidate") for path in sorted((GOLDEN / name).iterdir())]


@pytest.fixture(scope="session")
def golden() -> Report:
    return report_of(golden_runs())


@pytest.fixture(scope="session")
def hostile(tmp_path_factory: pytest.TempPathFactory) -> Report:
    """Two servings, named by attacks, that answered attacks to items named by attacks."""
    root = tmp_path_factory.mktemp("hostile")
    items = [f"{attack[:60]}-{place:02}" for place, attack in enumerate(ATTACKS)]
    letters = "pf"
    runs = [
        write_run(
            root,
            name,
            [letters[(place + side) % 2] * 3 for place in range(len(items))],
            items=items,
            texts=lambda item, repeat, side=side: ATTACKS[int(item[-2:])] + ("!" if side else ""),
            defects={(items[0], 1): ("control_token", BREAKOUT)},
            facts={"model": BREAKOUT, BREAKOUT: ATTACKS[4], "command": ATTACKS[2]},
            reasons={"p": "", "f": ATTACKS[1], "u": ""},
        )
        for side, name in enumerate((BREAKOUT, "=" + ATTACKS[4] + ATTACKS[5]))
    ]
    return report_of([run.path for run in runs])


@pytest.fixture
def made_report(make_run: Callable[..., RunFolder]) -> Callable[..., Report]:
    """A report on runs given as name=rows."""

    def made(options: dict[str, Any] | None = None, **rows: list[str]) -> Report:
        return report_of([make_run(name, each, **(options or {})).path for name, each in rows.items()])

    return made

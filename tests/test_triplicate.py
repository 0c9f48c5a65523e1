"""The command line as a whole: what a newcomer sees, and that asking for help costs nothing."""

import argparse
import subprocess
import sys
from pathlib import Path

import pytest

import triplicate
from itembank.errors import UserError

ROOT = Path(__file__).parent.parent
HEAVY = {"asyncio", "aiohttp", "httpx", "msgspec", "numpy", "scipy", "sympy", "jsonschema", "rich", "yaml", "datasets"}


def commands() -> dict[str, argparse.ArgumentParser]:
    """Every command of the whole line, by its words."""
    found: dict[str, argparse.ArgumentParser] = {}

    def walk(parser: argparse.ArgumentParser, words: str) -> None:
        for action in parser._actions:
            if isinstance(action, argparse._SubParsersAction):
                for name, sub in action.choices.items():
                    found[f"{words} {name}".strip()] = sub
                    walk(sub, f"{words} {name}".strip())

    walk(triplicate.parser(), "")
    return found


def test_help_imports_nothing_heavy():
    code = "import sys, triplicate; triplicate.parser().format_help(); print(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True)
    assert not HEAVY & set(done.stdout.split())


@pytest.mark.parametrize("name", sorted(commands()))
def test_every_argument_has_help(name):
    for action in commands()[name]._actions:
        if not isinstance(action, argparse._SubParsersAction):
            assert action.help, f"{name}: {action.dest} has no help"
    commands()[name].format_help()


def test_alone_it_says_what_to_do_first(capsys):
    assert triplicate.main([]) == 0
    assert "triplicate demo" in capsys.readouterr().out


def test_a_group_alone_shows_its_commands(capsys):
    assert triplicate.main(["bank"]) == 0
    assert "list" in capsys.readouterr().out


def test_an_unknown_command_is_bad_usage(capsys):
    with pytest.raises(SystemExit) as ended:
        triplicate.main(["bnak"])
    assert ended.value.code == 2
    assert "bank" in capsys.readouterr().err


def test_a_user_error_is_one_line(capsys, monkeypatch):
    def act(_: argparse.Namespace) -> int:
        """Fail."""
        raise UserError("two\nlines")

    monkeypatch.setattr(triplicate, "parser", lambda: with_command(act))
    assert triplicate.main(["x"]) == 2
    assert capsys.readouterr().err == "triplicate: two lines\n"


@pytest.mark.parametrize(("error", "status"), [(KeyboardInterrupt, 130), (BrokenPipeError, 0)])
def test_interrupts_and_closed_pipes_end_quietly(error, status, monkeypatch):
    def act(_: argparse.Namespace) -> int:
        """End."""
        raise error

    monkeypatch.setattr(triplicate, "parser", lambda: with_command(act))
    monkeypatch.setattr(sys, "stdout", open("/dev/null", "w"))  # noqa: SIM115, PTH123
    try:
        assert triplicate.main(["x"]) == status
    finally:
        sys.stdout.close()


def with_command(act):
    parser = argparse.ArgumentParser()
    parser.add_subparsers().add_parser("x").set_defaults(act=act)
    return parser

"""The command line: collects the commands of the four layers and runs one. Does nothing itself."""

import argparse
import io
import os
import signal
import sys
import threading

COMMAND_LAYERS = ("itembank", "scorers", "runner", "reports")
LONGEST_LINE = 4000


def parser() -> argparse.ArgumentParser:
    """The whole command line; a command of two words becomes a command with sub-commands."""
    import importlib

    top = argparse.ArgumentParser(
        prog="triplicate",
        description="Is the candidate as good as what runs now, and what does it cost or gain under load?",
        epilog="Start with `triplicate demo`; then name your servings in triplicate.toml and `triplicate run NAME`.",
    )
    groups = {"": top.add_subparsers(metavar="COMMAND")}
    for layer in COMMAND_LAYERS:
        for name, (add, act) in importlib.import_module(f"{layer}.commands").COMMANDS.items():
            group, _, word = name.rpartition(" ")
            if group not in groups:
                sub = groups[""].add_parser(group, help=f"{group} commands")
                sub.set_defaults(act=lambda _, sub=sub: sub.print_help() or 0)
                groups[group] = sub.add_subparsers(metavar="COMMAND")
            summary = act.__doc__.splitlines()[0]
            command = groups[group].add_parser(word, help=summary, description=summary)
            add(command)
            command.set_defaults(act=act)
    return top


def main(argv: list[str] | None = None) -> int:
    """Run one command; the exit status is the contract's."""
    from itembank.errors import UserError

    _end_in_order()
    top = parser()
    arguments = top.parse_args(argv)
    if not hasattr(arguments, "act"):
        top.print_help()
        return 0
    try:
        status: int = arguments.act(arguments)
    except UserError as error:
        from runner.failure import one_line
        from runner.redact import secret_values

        sys.stderr.write(f"triplicate: {one_line(str(error), secret_values(), LONGEST_LINE)}\n")
        return 2
    except KeyboardInterrupt:
        return 130
    except BrokenPipeError:
        # Whoever read the output has gone; nothing must be written to it any more at the end.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    return status


def _end_in_order() -> None:
    """Take SIGTERM as Ctrl-C, so that the record says so; print what the terminal cannot show as an escape."""
    if threading.current_thread() is threading.main_thread():
        signal.signal(signal.SIGTERM, lambda *_: signal.raise_signal(signal.SIGINT))
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(errors="backslashreplace")


if __name__ == "__main__":
    sys.exit(main())

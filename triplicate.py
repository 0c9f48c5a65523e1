"""The command line: collects the commands of the four layers and runs one. Does nothing itself."""

import argparse
import os
import sys

COMMAND_LAYERS = ("itembank", "scorers", "runner", "reports")


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

    top = parser()
    arguments = top.parse_args(argv)
    if not hasattr(arguments, "act"):
        top.print_help()
        return 0
    try:
        status: int = arguments.act(arguments)
    except UserError as error:
        from runner.redact import redacted, secret_values

        sys.stderr.write(f"triplicate: {redacted(str(error), secret_values())}\n")
        return 2
    except KeyboardInterrupt:
        return 130
    except BrokenPipeError:
        # Whoever read the output has gone; nothing must be written to it any more at the end.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    return status


if __name__ == "__main__":
    sys.exit(main())

"""The commands of this layer."""

import argparse
from collections.abc import Callable

from runner.simulate import add_simulate, simulate

Command = tuple[Callable[[argparse.ArgumentParser], None], Callable[[argparse.Namespace], int]]

COMMANDS: dict[str, Command] = {
    "simulate": (add_simulate, simulate),
}

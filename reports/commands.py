"""The commands of this layer."""

import argparse
from collections.abc import Callable

Command = tuple[Callable[[argparse.ArgumentParser], None], Callable[[argparse.Namespace], int]]

COMMANDS: dict[str, Command] = {}

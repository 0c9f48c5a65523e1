"""The commands of this layer."""

import argparse
from collections.abc import Callable

from reports import compare, decide, demo, identity_commands, report_command, speccheck, sweep

Command = tuple[Callable[[argparse.ArgumentParser], None], Callable[[argparse.Namespace], int]]

COMMANDS: dict[str, Command] = {
    "demo": (demo.add_demo, demo.demo),
    "compare": (compare.add_compare, compare.compare),
    "decide": (decide.add_decide, decide.decide),
    "speccheck": (speccheck.add_speccheck, speccheck.speccheck),
    "load": (speccheck.add_load, speccheck.load),
    "plan": (compare.add_plan, compare.plan),
    "sweep": (sweep.add_sweep, sweep.sweep),
    "probe": (identity_commands.add_probe, identity_commands.probe),
    "report": (report_command.add_report, report_command.report),
    "ledger list": (identity_commands.add_list, identity_commands.list_figures),
    "ledger check": (identity_commands.add_check, identity_commands.check),
}

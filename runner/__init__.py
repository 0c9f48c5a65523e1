"""Asks, times and records. Stores raw replies and nanoseconds; computes nothing from them."""

from pathlib import Path

DEFAULT_OUT = Path("runs")
"""Where run folders go unless the user says otherwise."""

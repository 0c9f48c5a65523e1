"""Asks, times and records. Stores raw replies and nanoseconds; computes nothing from them."""

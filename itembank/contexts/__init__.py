"""Deterministic long documents; one plugin a file."""

"""Explains and decides; pure functions over run folders."""

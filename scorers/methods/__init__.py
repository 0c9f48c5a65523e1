"""The scorers; one plugin a file, found by its name."""

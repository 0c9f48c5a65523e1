"""Report formats; one plugin a file, found by its name."""

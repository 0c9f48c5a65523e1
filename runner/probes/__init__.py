"""Engine probes; one plugin a file, found by its name."""

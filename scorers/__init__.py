"""How an answer is judged, by code alone. Sees an item's `expect` and a `Response`, nothing else."""

"""What is asked: items, banks of items, and the documents they refer to. Knows nothing of judging or servers."""

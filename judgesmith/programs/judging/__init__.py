"""The core of judging: from a saved question to a score, and from one item to many."""

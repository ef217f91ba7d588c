"""Which of two texts is better: pairs, ties, preferences, and strengths from comparisons."""

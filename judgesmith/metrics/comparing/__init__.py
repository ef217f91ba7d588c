"""Is one judge better than another: tests on the same rows, and how many rows they need."""

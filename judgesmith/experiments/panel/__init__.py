"""A panel of saved judges: its rows, its weights, what it takes."""

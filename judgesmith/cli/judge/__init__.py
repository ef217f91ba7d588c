"""Commands that make judges, and show them."""

"""What happens when things go wrong: promises, and whether they held."""

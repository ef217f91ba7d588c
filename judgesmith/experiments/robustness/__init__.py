"""Changed texts, and whether a judge detects the changes."""

"""Whether a judge points where people point: spans of characters."""

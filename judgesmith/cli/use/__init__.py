"""Commands that use a judge."""

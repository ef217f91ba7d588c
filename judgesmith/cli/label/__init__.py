"""Commands that ask people."""

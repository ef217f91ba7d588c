"""Leaving a part of the method out, to see what it is worth."""

"""Which rows people should rate next, and how what they say comes back."""

"""Commands that run whole experiments."""

"""How far numbers have moved from what they were, and whether that is more than chance."""

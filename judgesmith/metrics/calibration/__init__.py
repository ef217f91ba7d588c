"""Whether scores mean what they say: maps, errors, intervals, and when to abstain."""

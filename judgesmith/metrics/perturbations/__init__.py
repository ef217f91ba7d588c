"""Whether a judge notices damage: signed-rank tests, combined, and what they come to."""

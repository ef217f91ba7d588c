"""How often intervals hold the truth, and tests their level."""

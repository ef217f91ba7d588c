"""Commands that say how far a judge can be trusted."""

"""Scores that rise and fall together: correlations, at three levels, and which rows make them."""

"""Numbers learned from ratings: weights, calibration, panels."""

"""Ensembles: panels, supervisors, calibrated judges."""

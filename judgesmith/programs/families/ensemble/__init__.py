"""Judges that hold judges: panels, supervisors, calibrated judges."""

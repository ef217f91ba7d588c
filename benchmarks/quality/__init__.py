"""How well judges, metrics and detectors do on rated data."""

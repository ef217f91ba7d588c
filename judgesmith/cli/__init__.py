"""Front door."""

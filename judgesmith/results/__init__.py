"""What every result shows, and how far a run is."""

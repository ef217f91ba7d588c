"""The errors that a judge finds in texts, shown and held against known ones."""

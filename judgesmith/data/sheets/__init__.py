"""Sheets that people fill in: cells, and columns of ratings."""

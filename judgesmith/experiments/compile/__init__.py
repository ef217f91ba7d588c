"""Compiling a judge: what decides, the split, the search, the report, what it takes."""

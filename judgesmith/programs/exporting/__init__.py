"""Saved judges in forms that other tools run, each verified against the judge it came from."""

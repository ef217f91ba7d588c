"""Rows as files and tables hold them; each format is one entry in a registry."""

"""Cached answers: in a file, in a database, in a recording."""

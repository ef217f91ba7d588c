"""Answers on record: in a file, in a database, on a tape."""

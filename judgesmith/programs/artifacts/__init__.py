"""Compiled judges on disk: written, read, compared, explained."""

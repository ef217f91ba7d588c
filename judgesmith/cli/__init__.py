"""The command line: it parses, calls and prints; everything else lives one room down."""

from judgesmith.cli.main import main

__all__ = ["main"]

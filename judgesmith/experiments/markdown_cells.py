"""Texts from anywhere as cells of a Markdown table."""

from __future__ import annotations

from judgesmith.programs.artifacts.card import printable


def markdown_cell(text: str) -> str:
    r"""Return anybody's text on one line, in which nothing is markup.

    Examples
    --------
    >>> print(markdown_cell("a |\n<b>"))
    a \| \<b\>
    """
    line = printable(" ".join(text.split()))
    return "".join(f"\\{one}" if one in "\\`*_[]<>|#&" else one for one in line)

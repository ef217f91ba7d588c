"""Line ends of texts that are read: one kind, whatever system a text was written on."""

from __future__ import annotations


def unix_lines(text: str) -> str:
    r"""Return a text in which every line ends as ``\n`` does, for prompts and pages.

    The judged text itself stays as it came, and offsets are offsets in it.

    Examples
    --------
    >>> unix_lines("one\r\ntwo\rthree\n")
    'one\ntwo\nthree\n'
    """
    return text.replace("\r\n", "\n").replace("\r", "\n") if "\r" in text else text

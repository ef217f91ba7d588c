"""One promise, what was measured of it, and whether it held: a row of a Markdown table."""

HEAD = ("| promise | measured | held |", "| --- | --- | --- |")
BROKEN = "| **no** |"


def row(promise: str, measured: object, held: bool) -> str:
    """Return a row; it ends in ``BROKEN`` where the promise did not hold.

    >>> row("no answer is asked for again", "0 of 500", True)
    '| no answer is asked for again | 0 of 500 | yes |'
    """
    cells = [" ".join(str(cell).split()).replace("|", "\\|") for cell in (promise, measured)]
    return f"| {cells[0]} | {cells[1]} {'| yes |' if held else BROKEN}"

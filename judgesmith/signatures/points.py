"""Reading a score as models write it: 85, 85.5, "85/100", **85**."""

import re

_POINTS = re.compile(
    r"""^[\s*_`"'(]*                                   # quotes and markdown before
        (?:(?:overall\s+)?score\s*[:=]?[\s*_`]*)?      # "Score:"
        (-?\d+(?:\.\d+)?)                              # the number
        \s*(?:/\s*100|out\s+of\s+100|%|points?)?       # "/100", "out of 100"
        [\s*_`"').]*$""",
    re.VERBOSE | re.IGNORECASE,
)


def read_points(answer: object) -> float:
    """Return the number that an answer gives, read leniently but without guessing.

    Raises
    ------
    ValueError
        If the answer is not one number, perhaps "out of 100".

    Examples
    --------
    >>> read_points("Score: 85 / 100"), read_points("85.5")
    (85.0, 85.5)
    """
    if isinstance(answer, int | float) and not isinstance(answer, bool):
        return float(answer)
    found = _POINTS.match(answer) if isinstance(answer, str) else None
    if found is None:
        raise ValueError(f"expected one number from 0 to 100; got {str(answer)[:80]!r}.")
    return float(found[1])

"""Reading a score as models write it: 85, 85.5, "85/100", **85**."""

import re

_POINTS = re.compile(
    r"""[\s*_`"'(]*                                    # quotes and markdown before
        (?:(?:overall\s+)?score\s*[:=]?[\s*_`]*)?      # "Score:"
        (-?\d+(?:\.\d+)?)                              # the number
        \s*(?:/\s*100|out\s+of\s+100|%|points?)?       # "/100", "out of 100"
        [\s*_`"').]*""",
    re.VERBOSE | re.IGNORECASE,
)

# The pattern tries several ways through a run of blanks; nothing this long is one number.
_LONGEST = 100


def read_points(answer: object) -> float:
    """Return the number that an answer gives, read leniently but without guessing.

    Digits may be of any script. Whether the number is on a scale is for the caller to say.

    Raises
    ------
    ValueError
        If the answer is not one number, perhaps "out of 100".

    Examples
    --------
    >>> read_points("Score: 85 / 100"), read_points("85.5")
    (85.0, 85.5)
    """
    found = None
    if isinstance(answer, str):
        text = answer.strip()
        found = _POINTS.fullmatch(text) if len(text) <= _LONGEST else None
    elif isinstance(answer, int | float) and not isinstance(answer, bool):
        try:
            return float(answer)
        except OverflowError:
            answer = "a whole number of more than 300 digits"
    if found is None:
        raise ValueError(f"expected one number from 0 to 100; got {str(answer)[:80]!r}.")
    return float(found[1])


def whole(points: float) -> int | float:
    """Return a whole number as ``int``, so that it is written ``85``, and any other as it is.

    Examples
    --------
    >>> whole(85.0), whole(85.5)
    (85, 85.5)
    """
    return int(points) if points == points // 1 else points

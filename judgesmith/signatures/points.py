"""Reading a score as models write it: 85, 85.5, "85/100", **Score:** 85 out of 100."""

import re

# Runs of blanks and marks are possessive (``*+``): what they took they do not give back.
_POINTS = re.compile(
    r"""[\s*_`"'(\[<]*+                                       # quotes and markdown before
        (?:(?:the\s+)?
           (?:(?:(?:overall|final)\s+)?(?:score|rating|grade)|overall)
           (?:\s*\(0\s*[-–]\s*100\))?                         # "Score (0-100)"
           [\s*_`"']*+(?:[:=：]|is\b)?                        # "Score:", "**Score**:", "score is"
        |[:=：])?
        [\s*_`"'(\[<]*+
        (?:\+(?=\d))?(-?\d+(?:\.\d+)?)                                     # the number
        [\s*_`"'\])>]*+
        (?:\(?\s*(?:[/／]|out\s+of)[\s*_`]*+(?:100|１００)(?:\.0+)?)?    # "/100", "(out of 100)"
        [\s*_`"')]*+
        (?:[%％分点點점]|points?|pts?)?
        [\s*_`"')\]>.。]*+""",
    re.VERBOSE | re.IGNORECASE,
)

# A pattern is tried in several ways; nothing this long is one number.
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
    >>> read_points("**Score**: 85 / 100"), read_points("85.5")
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

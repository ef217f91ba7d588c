"""Reading a score as models write it: 85, 85.5, "85/100", **Score:** 85 out of 100."""

import functools
import re

from judgesmith.errors import InputError
from judgesmith.signatures.scale import PERCENT, Scale


# Runs of blanks and marks are possessive (``*+``): what they took they do not give back.
@functools.lru_cache(maxsize=64)
def _pattern(low: str, high: str) -> re.Pattern[str]:
    """Return what a number from ``low`` to ``high`` looks like in an answer."""
    wide = high.translate(_WIDE)
    return re.compile(
        rf"""[\s*_`"'(\[<]*+                                      # quotes and markdown before
        (?:(?:the\s+)?
           (?:(?:(?:overall|final)\s+)?(?:score|rating|grade)|overall)
           (?:\s*\({low}\s*[-–]\s*{high}\))?                    # "Score (0-100)"
           [\s*_`"']*+(?:[:=：]|is\b)?                        # "Score:", "**Score**:", "score is"
        |[:=：])?
        [\s*_`"'(\[<]*+
        (?:\+(?=\d))?(-?\d+(?:\.\d+)?)                                     # the number
        [\s*_`"'\])>]*+
        (?:\(?\s*(?:[/／]|out\s+of)[\s*_`]*+(?:{high}|{wide})(?:\.0+)?)?    # "/100"
        [\s*_`"')]*+
        (?:[%％分点點점]|points?|pts?)?
        [\s*_`"')\]>.。]*+""",
        re.VERBOSE | re.IGNORECASE,
    )


_WIDE = {ord("0") + digit: ord("０") + digit for digit in range(10)}

# A pattern is tried in several ways; nothing this long is one number.
_LONGEST = 100

_AROUND = " \t\r\n*_`\"'()[]<>.。:!“”‘’"
_CALLED = re.compile(
    r"(?:(?:the\s+)?(?:overall|final)\s+)?(?:score|rating|grade|answer|verdict)[\s*_`\"']*+"
    r"(?:[:=：]|\bis\b)",
    re.IGNORECASE,
)

_YES = frozenset({"yes", "y", "true", "complete"})
_NO = frozenset({"no", "n", "false", "incomplete", "not"})
_FIRST_WORD = re.compile(
    r"[\W_]*+(?:(?:is_)?(?:complete|answer|verdict)[\s*_`\"']*+[:=：][\W_]*+)?([^\W\d_]+)",
    re.IGNORECASE,
)
_YES_OR_NO = re.compile(
    r"[\s*_`\"'“‘(\[]*+(yes|no|true|false)[\s*_`\"'”’)\]]*+(?:$|[.,;:!–—])", re.IGNORECASE
)


def read_points(answer: object, scale: Scale = PERCENT) -> float:
    """Return the number that an answer gives, read leniently but without guessing.

    Digits may be of any script. Whether the number is on the scale is for the caller to say.

    Parameters
    ----------
    answer : object
        What a model wrote.
    scale : Scale
        What it was asked to answer on.

    Raises
    ------
    ValueError
        If the answer is not one number, perhaps "out of 100".

    Examples
    --------
    >>> read_points("**Score**: 85 / 100"), read_points("85.5")
    (85.0, 85.5)
    >>> read_points("4 out of 5", Scale(low=1, high=5))
    4.0
    """
    found = None
    if isinstance(answer, str):
        text = answer.strip()
        pattern = _pattern(f"{scale.low:g}", f"{scale.high:g}")
        found = pattern.fullmatch(text) if len(text) <= _LONGEST else None
    elif isinstance(answer, int | float) and not isinstance(answer, bool):
        try:
            return float(answer)
        except OverflowError:
            answer = "a whole number of more than 300 digits"
    if found is None:
        raise InputError(
            f"expected one number from {scale.low:g} to {scale.high:g}; got {str(answer)[:80]!r}."
        )
    return float(found[1])


def read_level(answer: object, scale: Scale) -> float | str:
    """Return the number or, on a scale of words, the word that an answer gives.

    Raises
    ------
    ValueError
        If it gives none.

    Examples
    --------
    >>> read_level("**Fair.**", Scale.categorical("poor", "fair"))
    'fair'
    >>> read_level("true", Scale.categorical("no", "yes"))
    'yes'
    """
    if not scale.labels:
        return read_points(answer, scale)
    text = str(answer)[:_LONGEST].strip(_AROUND)
    if called := _CALLED.match(text):
        text = text[called.end() :].strip(_AROUND)
    said = text.casefold()
    for label in scale.labels:
        if said == label.casefold():
            return label
    by_name = {label.casefold(): label for label in scale.labels}
    if by_name.keys() == {"no", "yes"} and (found := _YES_OR_NO.match(text)):
        again = _YES_OR_NO.match(text, found.end())
        if again is None or read_yes(again[1]) == read_yes(found[1]):
            return by_name["yes" if read_yes(found[1]) else "no"]
    raise InputError(f"expected one of {', '.join(scale.labels)}; got {str(answer)[:80]!r}.")


def read_yes(answer: object) -> bool:
    """Return whether an answer says yes, by its first word.

    Raises
    ------
    ValueError
        If the first word is neither yes nor no.

    Examples
    --------
    >>> read_yes("**Yes**, they are."), read_yes("complete: False"), read_yes(True)
    (True, False, True)
    """
    found = _FIRST_WORD.match(str(answer))
    word = found[1].casefold() if found else ""
    if word not in _YES | _NO:
        raise InputError(f"expected yes or no; got {str(answer).strip()[:80]!r}.")
    return word in _YES


def whole(points: float) -> int | float:
    """Return a whole number as ``int``, so that it is written ``85``, and any other as it is.

    Examples
    --------
    >>> whole(85.0), whole(85.5)
    (85, 85.5)
    """
    return int(points) if points == points // 1 else points

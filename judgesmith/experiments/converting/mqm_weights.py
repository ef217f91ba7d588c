"""What an error costs: severities of MQM, and the weights of Freitag and others (2021)."""

from __future__ import annotations

SEVERITIES = ("Neutral", "Minor", "Major", "Critical")
NO_ERROR = "no-error"
ATTENTION_TEST = "hotw-test"
"""A deliberate error that only shows whether the rater is awake."""

NON_TRANSLATION = 25.0
_PUNCTUATION = 0.1
_POINTS = {"Neutral": 0.0, "Minor": 1.0, "Major": 5.0, "Critical": 5.0}
_BY_NAME = {name.casefold(): name for name in SEVERITIES}


def severity_name(said: str) -> str | None:
    """Return a severity as it is usually written, None where it is none.

    Examples
    --------
    >>> severity_name("major"), severity_name("No-error")
    ('Major', None)
    """
    return _BY_NAME.get(_plain(said))


def is_no_error(said: str) -> bool:
    """Say whether a severity says that there is no error.

    Examples
    --------
    >>> is_no_error("No-error"), is_no_error("no_error"), is_no_error("Minor")
    (True, True, False)
    """
    return _plain(said) == NO_ERROR


def is_attention_test(said: str) -> bool:
    """Say whether a row only tests the rater.

    Examples
    --------
    >>> is_attention_test("HOTW-test")
    True
    """
    return _plain(said) == ATTENTION_TEST


def error_weight(category: str, severity: str) -> float:
    """Return the points that an error takes: 0 to 25.

    A text that is no translation takes 25, a major error 5, a minor one 1, or .1 where it is only
    punctuation. The paper knows no critical errors; they weigh as much as major ones.

    Parameters
    ----------
    category : str
        Such as ``Fluency/Punctuation``.
    severity : {"Neutral", "Minor", "Major", "Critical"}
        As ``severity_name`` returns it.

    References
    ----------
    Freitag, Foster, Grangier, Ratnakar, Tan and Macherey (2021), "Experts, Errors, and Context",
    TACL. arXiv:2104.14478.

    Examples
    --------
    >>> error_weight("Accuracy/Omission", "Major"), error_weight("Fluency/Punctuation", "Minor")
    (5.0, 0.1)
    >>> error_weight("Non-translation!", "Major"), error_weight("Style/Awkward", "Neutral")
    (25.0, 0.0)
    """
    kind = _plain(category)
    if severity in ("Major", "Critical") and kind.startswith("non-translation"):
        return NON_TRANSLATION
    if severity == "Minor" and kind.startswith("fluency/punctuation"):
        return _PUNCTUATION
    return _POINTS[severity]


def _plain(word: str) -> str:
    return word.strip().casefold().replace("_", "-")

"""Errors that members of a panel found in one response, numbered for whoever merges them."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from string import ascii_uppercase

from judgesmith.signatures.judgement import ErrorSpan
from judgesmith.signatures.line_ends import unix_lines


@dataclass(frozen=True, slots=True, kw_only=True)
class Annotation:
    """An error, and whose it is.

    Attributes
    ----------
    number : int
        From 1 on, in the order of members and of their lists.
    member : str
        Who found it.
    error : ErrorSpan
        As that member states it.
    """

    number: int
    member: str
    error: ErrorSpan

    @property
    def span(self) -> tuple[int, int] | None:
        """Where in the response it is; None for what is missing there or was not found."""
        return span_of(self.error)


@dataclass(frozen=True, slots=True, kw_only=True)
class Merged:
    """One error that annotations come to.

    Attributes
    ----------
    error : ErrorSpan
        The error.
    members : tuple of str
        Whose annotations it rests on, in the panel's order.
    numbers : tuple of int
        Of these annotations.
    """

    error: ErrorSpan
    members: tuple[str, ...]
    numbers: tuple[int, ...]


def span_of(error: ErrorSpan) -> tuple[int, int] | None:
    """Return where an error is, None where it has no place that holds a character.

    Examples
    --------
    >>> span_of(ErrorSpan(text="ferry", start=4, end=9)), span_of(ErrorSpan(text="none"))
    ((4, 9), None)
    """
    if error.start is None or error.end is None or error.start >= error.end:
        return None
    return error.start, error.end


def numbered(errors: Mapping[str, Sequence[ErrorSpan]], response: str) -> list[Annotation]:
    """Return errors as annotations, without those whose place is not in the response.

    What a member quotes and the response does not have cannot be merged with anything, nor can
    it be checked; whoever calls this counts it.

    Parameters
    ----------
    errors : dict of str to sequence of ErrorSpan
        By member.
    response : str
        What they are about.
    """
    kept = [
        (member, error)
        for member, several in errors.items()
        for error in several
        if not is_invented(error, response)
    ]
    return [
        Annotation(number=number, member=member, error=error)
        for number, (member, error) in enumerate(kept, start=1)
    ]


def is_invented(error: ErrorSpan, response: str) -> bool:
    """Say whether an error quotes what the response does not have, rather than miss something.

    Judges that do not say how they located an error are taken by what they quote.

    Examples
    --------
    >>> is_invented(ErrorSpan(text="the moon", located="unresolved"), "The ferry left.")
    True
    >>> is_invented(ErrorSpan(text="none", located="missing"), "The ferry left.")
    False
    """
    span = span_of(error)
    if span is not None:
        return not 0 <= span[0] < span[1] <= len(response)
    if error.located is not None:
        return error.located == "unresolved"
    return bool(error.text.strip())


def shown(annotations: Sequence[Annotation], response: str) -> str:
    r"""Return annotations as lines of JSON, which no text in them can break.

    Members are called A, B, … in the order they come: a name says nothing about an error. Places
    are places in the response as it is shown, in which all lines end alike.

    Examples
    --------
    >>> error = ErrorSpan(text="Ten", start=0, end=3, severity=4, explanation="It was nine.")
    >>> print(shown([Annotation(number=1, member="x", error=error)], "Ten left."))
    {"n": 1, "annotator": "A", "severity": 4, "at": [0, 3], "location": "Ten", "why": "It was nine."}
    """  # noqa: E501 - what is shown is one line
    letters = _letters({one.member: None for one in annotations})
    lines = []
    for one in annotations:
        span = one.span
        severity = one.error.severity
        whole = severity is not None and float(severity).is_integer()
        plain = {
            "n": one.number,
            "annotator": letters[one.member],
            "severity": int(severity) if whole and severity is not None else severity,
            "at": None if span is None else [len(unix_lines(response[:end])) for end in span],
            "location": None if span is None else unix_lines(response[slice(*span)]),
            "why": unix_lines(one.error.explanation),
        }
        lines.append(json.dumps(plain, ensure_ascii=False))
    return "\n".join(lines)


def read_shown(text: str) -> Iterator[Annotation]:
    """Yield annotations from the lines that ``shown`` wrote; lines of any other kind are none.

    Examples
    --------
    >>> error = ErrorSpan(text="Ten", start=0, end=3, severity=4, explanation="It was nine.")
    >>> one = Annotation(number=1, member="A", error=error)
    >>> list(read_shown(shown([one], "Ten left."))) == [one]
    True
    """
    for line in text.split("\n"):
        try:
            plain = json.loads(line)
            start, end = plain["at"] or (None, None)
            yield Annotation(
                number=plain["n"],
                member=plain["annotator"],
                error=ErrorSpan(
                    text=plain["location"] or "",
                    start=start,
                    end=end,
                    severity=plain["severity"],
                    explanation=plain["why"],
                ),
            )
        except (ValueError, TypeError, KeyError, RecursionError):
            continue


def _letters(members: Mapping[str, None]) -> dict[str, str]:
    """Return a letter for each member, two from the twenty-seventh on."""
    return {
        name: ascii_uppercase[place % 26] * (1 + place // 26) for place, name in enumerate(members)
    }

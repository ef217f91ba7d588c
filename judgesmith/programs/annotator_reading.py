"""An annotator's answer read part by part: which error a line is about, and what of it.

A label says what a line is about; without one a line goes on with what stands before it, or
tells a whole error in its own way. After the score lines are about the score.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from judgesmith.errors import InputError
from judgesmith.programs.annotator_levels import level_in, severity_in
from judgesmith.programs.annotator_lines import Piece, closing_of, has_further_label
from judgesmith.programs.annotator_stated import Stated, StatedError, says_none
from judgesmith.signatures.annotating import LEVELS
from judgesmith.signatures.answer_scale import Level
from judgesmith.signatures.scale import Scale

_AND = re.compile(
    r"\s*(?:,|;|/|&|…|\.{3}|→|\b(?:and|or|und|oder|y|o|et|ou|e|vs\.?)\b|和|与)\s*", re.I
)
_BEHIND = re.compile(r"[\s*_`]*(?:[:：=–—>→,-]|\(|is\b|ist\b)")
_GRADED = re.compile(
    r"[(\[]\s*(?:severity\s*[:=]?\s*)?(?P<in>[^()\[\]]{1,24})[)\]]"
    r"|\bseverity\s*+(?:(?:level|score|of|is|:|=|-)\s*+)*+(?P<said>[\w/]{1,12})",
    re.IGNORECASE,
)
_COUNTED = re.compile(
    r"\(?(?:\d+|one|two|three|four|five|six|seven|eight)(?: \w+){0,3}[.:)]*", re.I
)
_RULE = re.compile(r"[-*_=#~—–\s]{3,}")
_SHORTEST = 4  # characters of a location that is punctuation alone
_MOST = 200  # errors that are read; eight are asked for


class _Draft:
    """An error that is being read."""

    def __init__(self) -> None:
        self.location: str | None = None
        self.explanation: str | None = None
        self.severity: str | None = None

    @property
    def is_empty(self) -> bool:
        return self.location is None and self.explanation is None and self.severity is None


class Reading:
    """What was read of an answer so far, part by part.

    Examples
    --------
    >>> reading = Reading()
    >>> for label, text in (("location", '"Rome"'), ("severity", "4"), ("score", "Fair")):
    ...     reading.take(Piece(label, text))
    >>> found = reading.stated(LEVELS, "")
    >>> found.errors[0].location, found.score
    ('"Rome"', 'Fair')
    """

    def __init__(self) -> None:
        self.errors: list[StatedError] = []
        self.scores: list[str] = []
        self.maybe = ""  # a grade that stood with an error, should there be no other score
        self.words: list[str] = []  # about the score
        self.draft = _Draft()
        self.field = ""  # what the next line without a label goes on with
        self.overall = False  # whether lines are about the whole
        self.alone = ""  # the last line that has no label

    def take(self, piece: Piece) -> None:
        """Go on with the next part of the answer."""
        if piece.begins and piece.label in ("location", "explanation", "severity"):
            if not self._lacks(piece.label):
                self._close()
            self.overall = False
        if piece.label is None:
            self._plain(piece)
            return
        self.alone = ""
        take = getattr(self, f"_{piece.label}")
        take(piece.text)

    def _lacks(self, label: str) -> bool:
        """Say whether the error that is being read has a place, no grade yet, and not this."""
        one = self.draft
        return one.location is not None and one.severity is None and getattr(one, label) is None

    def _errors(self, text: str) -> None:
        self._close()
        self.overall = False
        self.field = ""
        if text and not says_none(text):
            self._item(text)

    def _location(self, text: str) -> None:
        if self.draft.location is not None:
            self._close()
        self.overall = False
        self.draft.location = text
        self.field = "location"

    def _explanation(self, text: str) -> None:
        if self.overall and self.draft.is_empty:
            self._reason(text)
            return
        if self.draft.explanation is not None:
            text = f"{self.draft.explanation} {text}".strip()
        self.draft.explanation = text
        self.field = "explanation"

    def _severity(self, text: str) -> None:
        if self.draft.severity is None:
            self.draft.severity = text
        self.field = "" if text else "severity"

    def _grade(self, text: str) -> None:
        in_error = not self.draft.is_empty and self.draft.severity is None
        if in_error and not self.overall:
            self.draft.severity, self.maybe, self.field = text, text, ""
        else:
            self._score(text)

    def _score(self, text: str) -> None:
        self._close()
        self.overall = True
        if text:
            self.scores.append(text)
        self.field = "" if text else "score"

    def _reason(self, text: str) -> None:
        self._close()
        self.overall = True
        if text:
            self.words.append(text)
        self.field = "words"

    def _goes_on(self, piece: Piece) -> bool:
        """Say whether a bullet stands in the explanation of an error rather than begins one."""
        return self.field == "explanation" and not piece.numbered

    def _plain(self, piece: Piece) -> None:
        text = "" if _RULE.fullmatch(piece.text) else piece.text
        if not text and piece.begins and not self.overall:
            self._close()
        if not text:
            self.field = "" if self.field in ("location", "explanation") else self.field
            return
        if self.field == "score":
            self._score(text)
        elif piece.begins and not self.overall and not self._goes_on(piece):
            self._close()
            self._item(text)
        elif self.field == "location" and self._is_further(text):
            self.field = ""
        elif self.field in ("location", "explanation", "severity", "item"):
            name = "explanation" if self.field == "item" else self.field
            before = getattr(self.draft, name) or ""
            setattr(self.draft, name, f"{before}\n{text}".strip())
        elif self.overall:
            self.words.append(text)
            self.alone = text
        elif says_none(text):
            self.alone = text
        elif closing_of(text) is not None:
            self._close()
            self._item(text)
        else:
            self.alone = text

    def _is_further(self, text: str) -> bool:
        """Say whether a line has a label of its own, and is in no quotation that is still open."""
        before = self.draft.location or ""
        is_open = before[:1] in tuple('"“„«「『`') and closing_of(before) is None
        return not is_open and has_further_label(text)

    def _item(self, text: str) -> None:
        """Take an error that is told in one line without labels."""
        if says_none(text) or _COUNTED.fullmatch(text):
            return
        quoted = _quoted_at_start(text)
        rest = text[quoted:]
        self.draft.location = text[:quoted].strip() or None
        graded = next((one for one in _GRADED.finditer(rest) if _grade_of(one) is not None), None)
        if graded is not None:
            self.draft.severity = graded["in"] or graded["said"]
            rest = f"{rest[: graded.start()].rstrip()} {rest[graded.end() :].lstrip()}"
        rest = rest.strip(" \t*_`:：=–—-→>,|")
        if self.draft.location is None and (inner := _first_quoted(rest)):
            self.draft.location = inner
        self.draft.explanation = rest or None
        self.field = "item"

    def _close(self) -> None:
        one, self.draft, self.field = self.draft, _Draft(), ""
        if one.is_empty or len(self.errors) >= _MOST:
            return
        location, said = (one.location or "").strip(), (one.explanation or "").strip()
        if not any(map(str.isalnum, location)) and len(location) < _SHORTEST:
            location = ""  # dots or a dash, as in the form that was shown
        if says_none(said or location) and (not location or says_none(location)):
            return
        if not location and not said:
            return
        if said.endswith("**") and said.count("**") % 2:
            said = said[:-2].rstrip()  # of a line that is bold as a whole
        severity = None if one.severity is None else severity_in(one.severity)
        self.errors.append(StatedError(location=location, explanation=said, severity=severity))

    def stated(self, answers: Scale, text: str) -> Stated:
        """Return all that was read, at the end."""
        self._close()
        said = self.scores or ([self.maybe] if self.maybe else [])
        if not said and _is_level(self.alone):
            said = [self.alone]
        if not said:
            raise InputError(f"there is no overall score in it: {' '.join(text.split())[:80]!r}.")
        words = " ".join(one for one in self.words if one != said[-1])
        score = _one_of(said, answers)
        return Stated(errors=tuple(self.errors), score=score, explanation=words)


def _one_of(said: Sequence[str], answers: Scale) -> Level:
    """Return the score that lines give which are called one; words of praise may be among them.

    Raises
    ------
    ValueError
        If none gives one, or two give different ones.
    """
    found: dict[Level, None] = {}
    problem: ValueError | None = None
    for one in said:
        try:
            found[level_in(one, answers)] = None
        except ValueError as fault:
            problem = problem or fault
    levels = list(found)
    if len(levels) > 1:
        raise InputError(f"it gives two overall scores, {levels[0]} and {levels[1]}.")
    if not levels:
        assert problem is not None
        raise problem
    return levels[0]


def _is_level(line: str) -> bool:
    """Say whether a line is a word of the scale, or a number of it, and nothing else."""
    plain = line.strip("*_`\"' .()[]")
    return plain.capitalize() in LEVELS.labels or plain in tuple("12345")


def _grade_of(found: re.Match[str]) -> float | None:
    return severity_in(found["in"] or found["said"])


def _quoted_at_start(text: str) -> int:
    """Return where quotations that open a text end, if something follows them; else 0."""
    at = 0
    while (end := closing_of(text[at:])) is not None:
        at += end
        joined = _AND.match(text, at)
        if joined is None or closing_of(text[joined.end() :]) is None:
            break
        at = joined.end()
    return at if at and (at == len(text) or _BEHIND.match(text, at) or text[at].isspace()) else 0


def _first_quoted(text: str) -> str:
    """Return the first quotation inside a text, marks included; empty without one."""
    for place, character in enumerate(text):
        opens = character in '"“„«「『' or (character in "'‘`" and not text[:place][-1:].isalnum())
        if opens and (end := closing_of(text[place:])) is not None:
            return text[place : place + end]
    return ""

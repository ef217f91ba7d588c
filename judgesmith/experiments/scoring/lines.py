"""A row on its way into a file, what is counted of all of them, and what the logger is told."""

from __future__ import annotations

import json
import logging
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from judgesmith.data.scores import sampled_reason, stated_reason
from judgesmith.errors import InputError
from judgesmith.programs.judging.runner import is_unread
from judgesmith.signatures import Judgement, Reason
from judgesmith.signatures.judgement import Cause, by_code, by_sentence

Note = Mapping[str, Any]
"""What is counted of a row: ``problem``, ``reason``, ``stated``, ``sampled`` and ``label``, if any,
and ``again`` where another try may give it a score."""

_DECODER = json.JSONDecoder()


class ScoreLine(NamedTuple):
    """A row as it is kept until its file is whole."""

    number: int
    key: str
    note: Note | None  # what is counted of it; None for a score about which there is nothing to say
    row: str

    def written(self) -> str:
        """Return the line as JSON, without its end."""
        note = "null" if self.note is None else json.dumps(self.note)
        return f'[{self.number}, "{self.key}", {note}, {self.row}]'

    @property
    def again(self) -> bool:
        """Whether another try may give the row a score."""
        return self.note is not None and bool(self.note.get("again"))

    @property
    def scored(self) -> bool:
        return self.note is None or "problem" not in self.note


def read_line(text: str) -> ScoreLine:
    """Return a line that ``ScoreLine.written`` wrote."""
    number, key, rest = text.rstrip("\n").split(", ", 2)
    note = None
    if rest.startswith("null, "):
        row = rest[6:-1]
    else:
        note, end = _DECODER.raw_decode(rest)
        row = rest[end + 2 : -1]
    if not (text.startswith("[") and row.startswith("{") and row.endswith("}")):
        raise InputError(f"expected [number, key, note, row]; got {text[:80]!r}.")
    return ScoreLine(int(number[1:]), key[1:-1], note, row)


def note_of(judgement: Judgement) -> Note | None:
    """Return what is counted of a judgement; None where there is nothing."""
    if judgement.problem is None and not judgement.weighting and judgement.label is None:
        return None
    return dict(_counted(judgement)) or None


def _counted(judgement: Judgement) -> Iterator[tuple[str, Any]]:
    cause = judgement.cause
    if cause is not None:
        yield "problem", cause.text
        yield "reason", cause.reason.value
        if cause.reason in (Reason.OVER_BUDGET, Reason.UNREACHABLE) or is_unread(judgement):
            yield "again", True
    if (reason := stated_reason(judgement)) is not None:
        yield "stated", reason
    if (reason := sampled_reason(judgement)) is not None:
        yield "sampled", reason
    if judgement.label is not None:
        yield "label", judgement.label


LOGGER = logging.getLogger("judgesmith")
"""Where records go; what a record says is in its ``event`` and ``details``."""

LOGGER.addHandler(logging.NullHandler())  # who does not listen is told nothing


def log_event(level: int, event: str, said: str, **details: Any) -> None:
    """Log a sentence, with one word for what happened and plain data about it."""
    LOGGER.log(level, said, extra={"event": event, "details": details})


@dataclass(frozen=True, slots=True, kw_only=True)
class Scored:
    """What a scoring run wrote.

    Attributes
    ----------
    n_rows, n_unscored : int
        Rows written, and those among them without a score.
    causes : dict of Cause to int
        Why rows have no score, code and sentence, with how many, most frequent first.
    stated : dict of str to int
        Why scores are the ones that the model stated although probabilities were to weigh them,
        with the number of such rows, most frequent first.
    sampled : dict of str to int
        How many samples verdicts rest on that were to be probabilities, and why, likewise.
    labels : dict of str to int
        Rows by the label that they got, most frequent first; empty where the judge gives none.
    notes : tuple of str
        What was assumed about the columns of the inputs and converted.
    """

    n_rows: int
    n_unscored: int
    causes: Mapping[Cause, int]
    stated: Mapping[str, int] = field(default_factory=dict)
    sampled: Mapping[str, int] = field(default_factory=dict)
    labels: Mapping[str, int] = field(default_factory=dict)
    notes: tuple[str, ...] = ()

    @property
    def reasons(self) -> dict[str, int]:
        """Why rows have no score in sentences, with how many, most frequent first."""
        return by_sentence(self.causes)

    def unscored_dict(self) -> dict[str, dict[str, int]]:
        """Return why rows have no score ready for JSON, by sentence and by code."""
        return {"problems": self.reasons, "reasons": by_code(self.causes)}


@dataclass(kw_only=True)
class Tally:
    """The counts of a scoring run in progress; ``n_again`` rows are worth another try."""

    n_rows: int = 0
    n_again: int = 0
    causes: Counter[Cause] = field(default_factory=Counter)
    stated: Counter[str] = field(default_factory=Counter)
    sampled: Counter[str] = field(default_factory=Counter)
    labels: Counter[str] = field(default_factory=Counter)

    def count(self, note: Note | None, n: int = 1) -> None:
        self.n_rows += n
        if note is None:
            return
        if (problem := note.get("problem")) is not None:
            self.causes[Cause(Reason.read(note.get("reason")), problem)] += n
        if (reason := note.get("stated")) is not None:
            self.stated[reason] += n
        if (reason := note.get("sampled")) is not None:
            self.sampled[reason] += n
        if (label := note.get("label")) is not None:
            self.labels[label] += n
        self.n_again += n * bool(note.get("again"))

    def add(self, other: Tally) -> None:
        self.n_rows += other.n_rows
        self.n_again += other.n_again
        self.causes.update(other.causes)
        self.stated.update(other.stated)
        self.sampled.update(other.sampled)
        self.labels.update(other.labels)

    def scored(self, notes: tuple[str, ...] = ()) -> Scored:
        return Scored(
            n_rows=self.n_rows,
            n_unscored=self.causes.total(),
            causes=dict(self.causes.most_common()),
            stated=dict(self.stated.most_common()),
            sampled=dict(self.sampled.most_common()),
            labels=dict(self.labels.most_common()),
            notes=notes,
        )

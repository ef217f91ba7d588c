"""What a sheet asks of explanations, in which columns, and how its rows are told apart.

The questions are those of Active-Critic's study of its own explanations. The id of a row says
which sheet, text and part it belongs to, so that rows can be sorted and columns moved.
"""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass

OVERALL_PART = "overall"
NOT_ASKED = "-"


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """What is asked of an explanation.

    Attributes
    ----------
    name : str
        The column.
    text : str
        The question in words.
    points : tuple of int or None
        The lowest and the highest answer; None where the answer is no number.
    labels : tuple of str
        The answers to choose from, in lower case; empty where the answer is yes or no, or points.
    whole_only : bool
        Whether it is asked of the overall explanation alone.
    of_aspects : bool
        Whether it is asked only where criteria are explained, too.
    """

    name: str
    text: str
    points: tuple[int, int] | None = None
    labels: tuple[str, ...] = ()
    whole_only: bool = False
    of_aspects: bool = False

    def is_asked(self, *, whole: bool, aspects: bool) -> bool:
        """Say whether a row has this question.

        Parameters
        ----------
        whole : bool
            Whether the row is about an overall explanation.
        aspects : bool
            Whether criteria of the same text are explained, too.
        """
        return (whole or not self.whole_only) and (aspects or not self.of_aspects)


QUESTIONS = (
    Question(name="clear", text="Is the explanation clear?"),
    Question(name="relevant", text="Is it about the criterion (overall: about overall quality)?"),
    Question(name="fits_score", text="Does it fit the score?"),
    Question(name="factual", text="Is what it says of source and response right?"),
    Question(
        name="agrees_with_aspects",
        text="Does the overall explanation agree with those of the criteria?",
        whole_only=True,
        of_aspects=True,
    ),
    Question(
        name="separates_cases",
        text="Does it tell this response from a better or a worse one?",
        whole_only=True,
    ),
    Question(
        name="usefulness",
        text="How useful are all explanations of this response, from 1 (not) to 5 (very)?",
        points=(1, 5),
        whole_only=True,
    ),
)

COLUMNS = (
    *("id", "source_id", "system_id", "key", "part", "score", "scale", "explanation"),
    *("source", "context", "response"),
    *(question.name for question in QUESTIONS),
)

_ID = re.compile(r"(x[0-9a-f]{12})-([0-9]{1,9})of([0-9]{1,9})-item([0-9]{1,9})-(\w*)")


@dataclass(frozen=True, slots=True)
class RowId:
    """Which row of which sheet, as its first cell says.

    Examples
    --------
    >>> row = RowId(sheet="x0123456789ab", number=7, n_rows=120, item=2, part="factcheck")
    >>> str(row)
    'x0123456789ab-007of120-item002-factcheck'
    >>> RowId.read(str(row)) == row
    True
    """

    sheet: str
    number: int
    n_rows: int
    item: int
    part: str

    def __str__(self) -> str:
        """Return the id as it is written; ids sort as the rows were."""
        width = len(str(self.n_rows))
        place = f"{self.number:0{width}}of{self.n_rows}"
        return f"{self.sheet}-{place}-item{self.item:0{width}}-{self.part}"

    @classmethod
    def read(cls, cell: str) -> RowId | None:
        """Return what an id says; None where the cell holds none."""
        found = _ID.fullmatch(cell.strip())
        if found is None:
            return None
        sheet, number, n_rows, item, part = found.groups()
        return cls(sheet, int(number), int(n_rows), int(item), part)

    @property
    def is_whole(self) -> bool:
        """Whether the row is about an overall explanation."""
        return self.part == OVERALL_PART


def part_mark(part: str) -> str:
    """Return the letters and digits of a part's name, as they end the ids of its rows."""
    plain = unicodedata.normalize("NFKD", part).casefold()
    return "".join(re.findall(r"[^\W_]+", plain))


def blank_cells(*, whole: bool, aspects: bool) -> list[str]:
    """Return the cells of a row to fill in: blank where something is asked."""
    return [
        "" if question.is_asked(whole=whole, aspects=aspects) else NOT_ASKED
        for question in QUESTIONS
    ]

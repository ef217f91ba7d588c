"""What an annotator's answer says: its errors in their order, an overall score, and why.

Asked for in plain text, it comes with markdown, numbering, tables, tags, as JSON by mistake, or
with the score first. What is said is read from all of these; what is not said is not guessed.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from judgesmith.programs.annotator_json import stated_in_json
from judgesmith.programs.annotator_lines import Piece, pieces_of
from judgesmith.programs.annotator_reading import Reading
from judgesmith.programs.annotator_stated import Stated
from judgesmith.programs.answers import without_thoughts
from judgesmith.signatures.scale import Scale

_SURROGATE = re.compile("[\ud800-\udfff]")
_END = re.compile(r"(?:</s>|<\|\w{1,20}\|>|<(?:eos|end_of_turn)>)")
_FENCE = re.compile(r"^[ \t]*+(?:```|~~~)\w*+[ \t]*+$", re.MULTILINE)
_TAG = re.compile(
    r"<(/?)(errors?|annotation|location|span|explanation|severity|overall[_ ]score|score"
    r"|score[_ ]explanation)>",
    re.IGNORECASE,
)
_ROW = re.compile(r"\s*\|(.*\|.*)\|\s*\Z")
_RULE = re.compile(r"[\s|:+-]+\Z")
_LEAST_CELLS = 2


def stated_in(answer: str, answers: Scale) -> Stated:
    r"""Return what an annotator's answer says.

    Parameters
    ----------
    answer : str
        As the model wrote it.
    answers : Scale
        What the overall score was asked for on: five words, or 1 to 5.

    Raises
    ------
    ValueError
        If there is no overall score in it, or there are two; one sentence says which.

    Examples
    --------
    >>> from judgesmith.signatures.annotating import LEVELS
    >>> said = '1. Location: "in 1998"\n   Explanation: It was 1989.\n   Severity: 4\nOverall: Fair'
    >>> stated_in(said, LEVELS).errors
    (StatedError(location='"in 1998"', explanation='It was 1989.', severity=4.0),)
    >>> stated_in("Errors: No Error\nOverall score: **Excellent**", LEVELS).score
    'Excellent'
    """
    text = _END.sub("", without_thoughts(_SURROGATE.sub("\ufffd", answer)))
    if (found := stated_in_json(_FENCE.sub("", text), answers)) is not None:
        return found
    reading = Reading()
    for piece in _pieces(_TAG.sub(_as_label, _FENCE.sub("", text))):
        reading.take(piece)
    return reading.stated(answers, text)


def _as_label(found: re.Match[str]) -> str:
    name = found[2].casefold().replace("_", " ")
    if name in ("error", "errors", "annotation"):
        return "\n1.\n" if name != "errors" and not found[1] else "\n"
    return "\n" if found[1] else f"\n{name}: "


def _pieces(text: str) -> Iterator[Piece]:
    """Yield the parts of an answer line by line, with rows of a table as lines with labels."""
    columns: list[str] | None = None
    for line in text.splitlines():
        row = _ROW.match(line)
        if row is None:
            columns = None
            yield from pieces_of(line)
            continue
        cells = [one.strip() for one in row[1].split("|")]
        if _RULE.match(line):
            continue
        if columns is None:
            columns = [cell.strip("*_ ") for cell in cells]
            if len(cells) > _LEAST_CELLS or not columns[1:]:
                continue
        if len(cells) == len(columns) > _LEAST_CELLS:
            yield Piece(None, "", begins=True)
            for name, cell in zip(columns, cells, strict=True):
                yield from pieces_of(f"{name}: {cell}")
        else:
            yield from pieces_of(": ".join(cells))

"""How the offline model writes texts of a wanted quality, and compares two texts: by rule.

It understands neither task nor criterion. A good text is the beginning of the source; a worse one
says less of it and goes on, for as long, with words that say nothing. Which of two texts is
better is what the counts behind its scores say of each.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from math import exp

from judgesmith.programs.features import lexical_features
from judgesmith.programs.models.request import Prefix
from judgesmith.programs.offline.answering import Piece, Words, answers_signature
from judgesmith.programs.offline.families import family_of
from judgesmith.programs.offline.judging import read_criteria
from judgesmith.programs.offline.prior import (
    criterion_belief,
    criterion_terms,
    facet_values,
    limited,
)
from judgesmith.programs.offline.reader import Fields, Question

_LEVEL = re.compile(r"(\d+) of (\d+)")
_SENTENCE = re.compile(r"\S.*?(?:[.!?](?=\s|$)|$)", re.DOTALL | re.MULTILINE)
_MOST_WORDS = 60  # of a good text, which ends with a sentence
_ABOUT_NOTHING = ("whatever", "somewhere", "it", "was", "and", "then", "again", "anyhow", "they")
_NEAR = 4.0  # points within which two texts count as alike
_SLOPE = 8.0  # points that make a verdict clear


@answers_signature(
    inputs="criterion level source",
    outputs="exemplar",
    optional="task manner context worse better",
)
def _write(prefix: Prefix, question: Question, fields: Fields) -> Mapping[str, Sequence[Piece]]:
    """Answer ``WriteEnd`` and ``WriteBetween``: by the level alone, not by the texts beside it."""
    found = _LEVEL.match(fields["level"] or "")
    level, n = (int(found[1]), int(found[2])) if found else (1, 1)
    share = (level - 1) / (n - 1) if n > 1 else 1.0
    return {"exemplar": [text_of_quality(fields.get("source") or "", min(max(share, 0.0), 1.0))]}


def text_of_quality(source: str, share: float) -> str:
    """Return a text that keeps a share of the beginning of a source, and babbles for the rest.

    Parameters
    ----------
    source : str
        What the text is about.
    share : float
        From 0, which keeps nothing, to 1, which adds nothing.

    Examples
    --------
    >>> source = "The bridge opened on Monday. Ann cut the ribbon. It rained."
    >>> text_of_quality(source, 1.0)
    'The bridge opened on Monday. Ann cut the ribbon. It rained.'
    >>> text_of_quality(source, 0.5)
    'The bridge opened on Monday. Ann whatever somewhere it was and'
    """
    words: list[str] = []
    for sentence in _SENTENCE.findall(source[:20_000]):
        more = sentence.split()
        if words and len(words) + len(more) > _MOST_WORDS:
            break
        words += more[:_MOST_WORDS]
    words = words or ["Nothing", "is", "given", "here."]
    n_kept = round(share * len(words))
    kept = words[:n_kept]
    lost = [_ABOUT_NOTHING[place % len(_ABOUT_NOTHING)] for place in range(len(words) - n_kept)]
    if kept and lost:
        kept[-1] = kept[-1].rstrip(".!?,;:") or kept[-1]
    return " ".join((*kept, *lost))


@answers_signature(
    inputs="criterion source first second", outputs="verdict", optional="task context"
)
def _compare(prefix: Prefix, question: Question, fields: Fields) -> Mapping[str, Sequence[Piece]]:
    """Answer ``CompareThree`` and ``CompareYesNo``: by what each text would score."""
    lead = _points(fields, "second") - _points(fields, "first")
    better, worse = _odds(lead - _NEAR), _odds(-lead - _NEAR)
    if "Yes" in question.answers.labels:
        first_wins = worse + (1 - better - worse) / 2  # one of two words has to be said
        return {"verdict": [Words({"Yes": first_wins, "No": 1 - first_wins})]}
    chances = {"Better": better, "Similar": 1 - better - worse, "Worse": worse}
    return {"verdict": [Words(chances)]}


def _points(fields: Fields, name: str) -> float:
    """Return what a text would score on the criterion, 0 to 100."""
    text = fields.get(name) or ""
    if not any(map(str.isalnum, text)):
        return 0.0
    ((criterion, definition), *_) = read_criteria(fields.get("criterion") or "quality")
    features = lexical_features(fields.get("source") or "", fields.get("context"), text)
    belief = criterion_belief(family_of(criterion, definition))
    return limited(belief.predict(criterion_terms(facet_values(features)))[0])


def _odds(points: float) -> float:
    return 1 / (1 + exp(-max(min(points / _SLOPE, 300.0), -300.0)))

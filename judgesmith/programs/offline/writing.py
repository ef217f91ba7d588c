"""How the offline model writes a good text: whole sentences of the source, others each time."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from judgesmith.programs.models.request import Prefix
from judgesmith.programs.offline.answering import Piece, answers_signature
from judgesmith.programs.offline.reader import Fields, Question

_MOST_SENTENCES = 3
_MOST_CHARACTERS = 600  # of a text that has more than one sentence


@answers_signature(inputs="number source", outputs="reference", optional="task criteria context")
def _write_reference(
    prefix: Prefix, question: Question, fields: Fields
) -> Mapping[str, Sequence[Piece]]:
    """Answer ``WriteReference``."""
    number = (fields["number"] or "1").strip()
    place = int(number) if number.isdecimal() and len(number) < 10 else 1
    return {"reference": [extract_of(fields["source"] or "", place)]}


def extract_of(source: str, number: int) -> str:
    """Return up to three sentences of a source that follow each other, from the n-th sentence on.

    A text is the shorter the fewer sentences there are: of a source with three, two, so that an
    extract is no copy. Numbers beyond the last sentence begin at the first one again.

    Parameters
    ----------
    source : str
        What the text is about.
    number : int
        Which extract, from 1.

    Examples
    --------
    >>> source = "Ann left. It rained. Bob saw her. He wept."
    >>> [extract_of(source, number) for number in (1, 2, 3)]
    ['Ann left. It rained.', 'It rained. Bob saw her.', 'Bob saw her. He wept.']
    """
    # What finds sentences reads whole modules of rules, which no judge needs.
    from judgesmith.programs.perturbing.passage import Passage

    passage = Passage(source[:20_000])
    sentences = [" ".join(passage.shown(one).split()) for one in passage.sentences]
    if not sentences:
        return "Nothing is given here."
    wanted = min(max(1, (len(sentences) + 1) // 2), _MOST_SENTENCES)
    first = (number - 1) % len(sentences)
    taken = [sentences[first]]
    for sentence in sentences[first + 1 : first + wanted]:
        if sum(map(len, taken)) + len(sentence) > _MOST_CHARACTERS:
            break
        taken.append(sentence)
    return " ".join(taken)

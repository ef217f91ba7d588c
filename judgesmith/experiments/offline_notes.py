"""What a reader should know of the offline model's part, given the texts that it is to judge."""

from __future__ import annotations

from collections.abc import Sequence

from judgesmith.optimizers.base import OFFLINE
from judgesmith.signatures import RatedItem

_LOOKED_AT = 200


def offline_notes(items: Sequence[RatedItem], model: str, *, inferred: bool) -> list[str]:
    """Return what the offline model can and cannot see in these texts, in sentences.

    Parameters
    ----------
    items : sequence of RatedItem
        What is judged, or read by task inference. Up to 200 are looked at, from all over.
    model : str
        The model's name; of others than the offline model nothing is said.
    inferred : bool
        True where a rubric is inferred, False where texts are judged.

    Returns
    -------
    list of str
        Empty for a judge of texts that look English.

    Examples
    --------
    >>> spanish = "El puente fue cerrado por las obras y los vecinos no están contentos."
    >>> notes = offline_notes([RatedItem(response=spanish)], "offline", inferred=False)
    >>> [note.partition(":")[0].partition(",")[0] for note in notes]
    ['the texts look Spanish', 'the offline model judges these texts by shared words']
    >>> offline_notes([RatedItem(response=spanish)], "openai/gpt", inferred=False)
    []
    """
    if model != OFFLINE:
        return []
    from judgesmith.programs.offline.inferring import limits_between, limits_of

    step = max(1, len(items) // _LOOKED_AT)
    seen = items[::step][:_LOOKED_AT]
    responses = [item.response for item in seen]
    limits = limits_of(responses) + limits_between([item.source for item in seen], responses)
    if inferred:
        proposes = (
            "the offline model goes by the form of the texts, and by counts; it proposes from a "
            "list of qualities for each type of task, in English."
        )
        return [proposes, *limits]
    if not limits:
        return []
    return [
        *limits,
        "the offline model judges these texts by shared words, repetition, length and punctuation, "
        "not by grammar or meaning; --model NAME asks a language model.",
    ]

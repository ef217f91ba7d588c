"""Scores that probabilities were to weigh and did not: how many, why, and what they rest on."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping

from judgesmith.signatures.judgement import Judgement


def stated_reason(judgement: Judgement) -> str | None:
    """Return why a score of a judgement is the one that the model stated, for the first such one.

    None where probabilities weighed all of them, or were not asked for.

    Examples
    --------
    >>> how = {"mode": "stated", "stated": 70, "reason": "the endpoint gave none"}
    >>> stated_reason(Judgement(score=70, weighting={"overall": how}))
    'the endpoint gave none'
    >>> stated_reason(Judgement(score=70)) is None
    True
    """
    reasons = (one.reason for one in judgement.weighting.values() if one.mode == "stated")
    return next(reasons, None)


def stated_notes(judgements: Iterable[Judgement]) -> Iterator[str]:
    """Yield a sentence about scores that are not weighed, and one about those by samples."""
    n, reasons, drawn = 0, Counter[str](), Counter[str]()
    for one in judgements:
        n += 1
        if (reason := stated_reason(one)) is not None:
            reasons[reason] += 1
        if (reason := sampled_reason(one)) is not None:
            drawn[reason] += 1
    yield from stated_text(reasons, n)
    yield from sampled_text(drawn, n)


def other_models(judgements: Iterable[Judgement]) -> Iterator[str]:
    """Yield a sentence for every model that was asked instead of the judge's own.

    Examples
    --------
    >>> note = {"kind": "another model", "about": "overall", "text": "asked b instead of a."}
    >>> list(other_models([Judgement(score=70, notes=[note])] * 2))
    ['asked b instead of a.']
    """
    notes = (note for one in judgements for note in one.notes)
    yield from dict.fromkeys(note.text for note in notes if note.kind == "another model")


def sampled_reason(judgement: Judgement) -> str | None:
    """Return how many samples a score of a judgement rests on, and why; None where none does.

    Examples
    --------
    >>> how = {"mode": "samples", "stated": 70, "n": 5, "reason": "the endpoint gave none"}
    >>> sampled_reason(Judgement(score=70, weighting={"overall": how}))
    'n = 5: the endpoint gave none'
    """
    drawn = (one for one in judgement.weighting.values() if one.mode == "samples")
    return next((f"n = {one.n}: {one.reason}" for one in drawn), None)


def sampled_text(reasons: Mapping[str, int], n_rows: int) -> Iterator[str]:
    """Yield a sentence about rows whose scores rest on samples, if there are any.

    Parameters
    ----------
    reasons : dict of str to int
        How many samples and why (``sampled_reason``), with the number of rows.
    n_rows : int
        Of all rows.

    Examples
    --------
    >>> print(next(sampled_text({"n = 5: the endpoint gave none": 3}, 4)).partition(";")[0])
    on 3 of 4 rows scores rest on several sampled answers, not on probabilities
    """
    n = sum(reasons.values())
    if n:
        most = max(reasons, key=lambda reason: reasons[reason])
        yield (
            f"on {n} of {n_rows} rows scores rest on several sampled answers, not on "
            f"probabilities; on {reasons[most]} of them with {most}. Few samples are a coarse "
            "stand-in: for comparisons with texts some 1000 are said to come within a point of "
            "what probabilities give."
        )


def stated_text(reasons: Mapping[str, int], n_rows: int) -> Iterator[str]:
    """Yield a sentence about rows with scores that are not weighed, if there are any.

    Parameters
    ----------
    reasons : dict of str to int
        Why, with the number of rows.
    n_rows : int
        Of all rows.

    Examples
    --------
    >>> list(stated_text({"the endpoint gave none": 3}, 4))[0].partition(",")[0]
    'on 3 of 4 rows a score is the one that the model stated'
    >>> list(stated_text({}, 4))
    []
    """
    n = sum(reasons.values())
    if n:
        most = max(reasons, key=lambda reason: reasons[reason])
        yield (
            f"on {n} of {n_rows} rows a score is the one that the model stated, not the mean by "
            f"probabilities that the judge asks for; on {reasons[most]} of them because {most}."
        )

"""The steps of a reference metric: no question, one number.

Free of DSPy, as the steps of all judges are; and they never yield, as nobody is asked.
"""

from __future__ import annotations

from collections.abc import Sequence
from statistics import fmean

from judgesmith.programs.judging import Steps
from judgesmith.programs.question_forms import QuestionForm
from judgesmith.programs.reference_metrics import least_words, measure_of
from judgesmith.programs.reference_words import words_of
from judgesmith.programs.sampled_steps import Asking, Once, sampled_steps
from judgesmith.signatures.judgement import Judgement
from judgesmith.signatures.reference import ReferenceProtocol


def reference_forms(protocol: ReferenceProtocol) -> dict[str, QuestionForm]:
    """Return the questions of a reference metric: none."""
    return {}


def no_calls(protocol: ReferenceProtocol) -> int:
    """Return how many model calls a text takes: none."""
    return 0


def reference_steps(
    protocol: ReferenceProtocol,
    *,
    source: str,
    response: str,
    context: str | None = None,
    references: Sequence[str] = (),
) -> Steps:
    """Compare one response with what ``protocol`` says, and return a judgement.

    Raises
    ------
    TypeError
        At the first step, if source or response is no text.
    ImportError, ValueError
        If what the metric needs is not installed.
    """
    measure = measure_of(protocol)

    def once(asking: Asking) -> Once:
        yield from ()
        known = compared_with(protocol, source=source, context=context, references=references)
        if isinstance(known, str):
            return Judgement.unscored(known)
        if not response.strip():
            return Judgement(score=0.0, raw=0.0)  # nothing in common, whatever a metric smooths
        try:
            found = [measure(response, one) for one in known]
        except ValueError as fault:
            return Judgement.unscored(str(fault))
        score = max(found) if protocol.several == "max" else fmean(found)
        return Judgement(score=score, raw=score)

    return (
        yield from sampled_steps(protocol, once, source=source, response=response, context=context)
    )


def compared_with(
    protocol: ReferenceProtocol, *, source: str, context: str | None, references: Sequence[str]
) -> tuple[str, ...] | str:
    """Return the texts that a response is compared with, or the reason why there are none.

    Examples
    --------
    >>> compared_with(ReferenceProtocol(), source="s", context=None, references=())
    'no reference: the item has none, and a source is taken for one only where that is chosen'
    >>> compared_with(ReferenceProtocol(against="source"), source="s", context=None, references=())
    ('s',)
    """
    if protocol.against == "references":
        given = tuple(references)
        if not given:
            return (
                "no reference: the item has none, and a source is taken for one only where that is "
                "chosen"
            )
    elif protocol.against == "source":
        given = (source,)
    else:
        given = () if context is None else (context,)
        if not given:
            return "no context to compare with"
    least = least_words(protocol)
    kept = tuple(one for one in given if len(words_of(one)) >= least)
    if not kept:
        return (
            f"nothing to compare with: no text under {protocol.against} has "
            f"{'a word' if least == 1 else f'{least} words'}"
        )
    return kept

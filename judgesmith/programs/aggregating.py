"""From the numbers a model gave to the score a judge reports, by numbers learned elsewhere."""

from __future__ import annotations

from collections.abc import Callable
from statistics import fmean

from judgesmith.errors import InputError
from judgesmith.programs.features import FEATURE_INDEX, FeatureVector, lexical_features
from judgesmith.signatures.judgement import Judgement
from judgesmith.signatures.protocol import Aggregation


def aggregate(
    aggregation: Aggregation,
    judgement: Judgement,
    source: str,
    context: str | None,
    response: str,
) -> Judgement:
    """Return ``judgement`` with the score that ``aggregation`` makes of it.

    A judgement without the numbers that are needed becomes unscored, with the reason.

    Examples
    --------
    >>> found = Judgement(score=70, raw=70, criteria={"a": {"score": 40}, "b": {"score": 60}})
    >>> aggregate(Aggregation(kind="mean"), found, "s", None, "r").score
    50.0
    """
    if judgement.problem is not None or aggregation.kind == "overall":
        return judgement
    term = terms_of(judgement, source, context, response)
    try:
        if aggregation.kind == "mean":
            score = fmean(term(f"criterion:{name}") for name in judgement.criteria)
        else:
            score = aggregation.apply([term(name) for name in aggregation.terms])
    except ValueError as fault:
        return judgement.model_copy(update={"score": None, "problem": str(fault)})
    return judgement.model_copy(update={"score": score})


def check_terms(aggregation: Aggregation) -> None:
    """Refuse an aggregation that weighs lexical features this version does not count.

    Raises
    ------
    ValueError
        If there is such a term.
    """
    parts = (term.partition(":") for term in aggregation.terms)
    unknown = [name for kind, _, name in parts if kind == "lexical" and name not in FEATURE_INDEX]
    if unknown:
        raise InputError(
            f"the aggregation weighs lexical features that this version of judgesmith does not "
            f"count: {', '.join(unknown)}. Compile the judge again."
        )


def terms_of(
    judgement: Judgement, source: str, context: str | None, response: str
) -> Callable[[str], float]:
    """Return a function from a term's name to its value for this judgement.

    The function raises ValueError for a term the judgement has no number for.
    """
    features: FeatureVector | None = None

    def term(name: str) -> float:
        nonlocal features
        kind, _, rest = name.partition(":")
        if kind == "overall":
            value = judgement.raw
        elif kind == "criterion":
            one = judgement.criteria.get(rest)
            value = None if one is None else one.score
        else:
            features = features or lexical_features(source, context, response)
            value = features[rest]
        if value is None:
            raise InputError(f"there is no number for {name}, which the judge needs.")
        return float(value)

    return term

"""Why there is no score, in one word of few, for counting."""

from __future__ import annotations

from judgesmith.programs.readable import is_unread
from judgesmith.programs.running import NOT_REACHED, REFUSED, was_not_asked
from judgesmith.signatures.judgement import Judgement

_REASONS = (
    (NOT_REACHED, "unreached"),
    ("the model could not be asked", "unreached"),
    (REFUSED, "refused"),
)


def reason_class(judgement: Judgement) -> str:
    """Return one word for why there is no score.

    Returns
    -------
    str
        ``budget``, ``abstained``, ``unreached``, ``refused``, ``too_long``, ``unreadable`` or
        ``other``.

    Examples
    --------
    >>> reason_class(Judgement.unscored("not asked: the budget of 2 calls is spent."))
    'budget'
    >>> reason_class(Judgement.unscored("the model could not be reached: HTTP 503"))
    'unreached'
    """
    problem = judgement.problem or ""
    if was_not_asked(judgement):
        return "budget"
    if getattr(judgement, "abstained", False):
        return "abstained"
    for start, reason in _REASONS:
        if problem.startswith(start):
            return reason
    if "longer than the model reads" in problem:
        return "too_long"
    return "unreadable" if is_unread(judgement) else "other"

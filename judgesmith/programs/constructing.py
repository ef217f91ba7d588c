"""What the constructors of most families share: a protocol that was checked, told questions."""

from __future__ import annotations

import difflib
from collections.abc import Mapping
from typing import Any, TypeVar

import dspy

from judgesmith.errors import InputError
from judgesmith.programs.aggregating import check_terms
from judgesmith.programs.weighing import OVERALL
from judgesmith.signatures.judge_protocol import JudgeProtocol
from judgesmith.signatures.made_once import without_fields
from judgesmith.signatures.plain_faults import record_faults

Own = TypeVar("Own", bound=JudgeProtocol)

_TOLD = ("task", "criteria", "criterion")
_LINES = ("steps", "questions", "shows", "ignores")


def own_protocol(
    kind: type[Own], given: Own | None, choices: Mapping[str, Any], *, called: str = ""
) -> Own:
    """Return what a judge of one family is decided by.

    Parameters
    ----------
    kind : type of JudgeProtocol
        The family's protocol, whose default of ``judge`` is the family.
    given : JudgeProtocol or None
        Where to start from; None starts from the defaults.
    choices : dict of str to Any
        Parts of the protocol to set otherwise.
    called : str
        What a message calls such a protocol; empty puts ``protocol`` after the family's name.

    Raises
    ------
    ValueError
        If the protocol is of another family, or one that ``chosen`` refuses.

    Examples
    --------
    >>> from judgesmith.signatures.direct import DirectProtocol
    >>> own_protocol(DirectProtocol, None, {"samples": 3}).samples
    3
    """
    family = kind.model_fields["judge"].default
    start = kind(judge=family) if given is None else given
    if start.judge != family:
        wanted = called or f"{_with_article(family)} protocol"
        raise InputError(f"expected {wanted}; got one of {start.judge}.")
    return chosen(start, choices, kind=kind)


def chosen(given: Own, choices: Mapping[str, Any], *, kind: type[Own] | None = None) -> Own:
    """Return a protocol with some parts set otherwise, if a judge can follow it.

    Parameters
    ----------
    given : JudgeProtocol
        Where to start from.
    choices : dict of str to Any
        The parts to set.
    kind : type of JudgeProtocol or None
        What to return; None returns what was given.

    Raises
    ------
    ValueError
        If the parts make no such protocol, its aggregation weighs what is not counted, or each
        criterion is to be scored and the rubric has none.
    """
    own = validated(kind or type(given), {**dict(given), **choices})
    check_lines_given(own, choices)
    check_terms(own.aggregation)
    if own.scores_criteria and not own.rubric.criteria:
        needs, otherwise = "needs criteria to ask about", ""
        if "asks" in type(own).model_fields:
            needs, otherwise = "that asks for criteria needs some", ", or let it ask for the whole"
        raise InputError(
            f"{_with_article(own.judge)} judge {needs}; the rubric has none. Give it at least one "
            f"under 'criteria', as name: definition{otherwise}."
        )
    return own


def validated(kind: type[Own], parts: Mapping[str, Any]) -> Own:
    """Return the protocol that has these parts.

    Raises
    ------
    ValueError
        If they make none; one sentence says what is wrong with each.

    Examples
    --------
    >>> from judgesmith.signatures.pairs import PairsProtocol
    >>> validated(PairsProtocol, {"beam": "many"})
    Traceback (most recent call last):
    ...
    judgesmith.InputError: beam: expected a whole number; got 'many'
    """
    with record_faults():
        return kind.model_validate(dict(parts))


def check_lines_given(own: JudgeProtocol, choices: Mapping[str, Any]) -> None:
    """Refuse steps or questions, given to a judge, for what is no criterion of it.

    Under the whole wording of a criterion they may be for other rubrics, and are kept.

    Raises
    ------
    ValueError
        If there are some.

    Examples
    --------
    >>> from judgesmith.signatures.checklist import ChecklistProtocol
    >>> own = ChecklistProtocol(rubric={"criteria": {"wit": "Funny?"}}, questions={"wti": ["A?"]})
    >>> check_lines_given(own, {"questions": {"wti": ["A?"]}})
    Traceback (most recent call last):
    ...
    judgesmith.InputError: questions for 'wti', which is no criterion; did you mean wit?
    """
    names = own.rubric.names
    for part in _LINES:
        if part not in choices or part not in type(own).model_fields:
            continue
        for name in getattr(own, part):
            if ":" in name or name in (*names, OVERALL):
                continue
            near = difflib.get_close_matches(name, names, n=1, cutoff=0.5)
            known = f"there are {', '.join(names)}." if names else "the rubric has none."
            meant = f"did you mean {near[0]}?" if near else known
            raise InputError(f"{part} for {name[:80]!r}, which is no criterion; {meant}")


def without_untold(
    signature: type[dspy.Signature], told: Mapping[str, str]
) -> type[dspy.Signature]:
    """Return a question without the fields for task and criteria that nothing is told in.

    Examples
    --------
    >>> from judgesmith.signatures.direct_questions import (ScoreWhole)
    >>> list(without_untold(ScoreWhole, {"criteria": "wit: Funny?"}).input_fields)
    ['criteria', 'source', 'context', 'response']
    """
    untold = [name for name in _TOLD if name in signature.input_fields and name not in told]
    return without_fields(signature, *untold)


def _with_article(name: str) -> str:
    return f"{'an' if name[:1] in 'aeiou' else 'a'} {name}"

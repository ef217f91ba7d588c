"""Models by role: work beside the judging that a family may have another model do."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, TypeVar

from judgesmith.errors import InputError
from judgesmith.programs.family import Family

if TYPE_CHECKING:
    import dspy

    from judgesmith.programs.judge import Judge

Model = TypeVar("Model")


def check_roles(family: Family, roles: Iterable[str]) -> None:
    """Refuse roles that a family of judges does not have.

    Raises
    ------
    ValueError
        If there is one; the message names the nearest.

    Examples
    --------
    >>> from judgesmith.programs.families import family_of
    >>> check_roles(family_of("exemplar"), ["writer"])
    >>> check_roles(family_of("exemplar"), ["writter"])
    Traceback (most recent call last):
    ...
    judgesmith.InputError: a judge of the family exemplar has no role 'writter'; did you mean \
writer?
    """
    known = [name for name, _ in family.roles]
    for role in roles:
        if role in known:
            continue
        near = difflib.get_close_matches(role[:80], known, n=1, cutoff=0.5)
        has = f"it has {', '.join(known) or 'none'}."
        raise InputError(
            f"a judge of the family {family.name} has no role {role[:80]!r}; "
            f"{f'did you mean {near[0]}?' if near else has}"
        )


def by_question(family: Family, models: Mapping[str, Model]) -> dict[str, Model]:
    """Return models by the questions that are asked of them, from models by role.

    Examples
    --------
    >>> from judgesmith.programs.families import family_of
    >>> by_question(family_of("exemplar"), {"writer": "openai/m"})
    {'end': 'openai/m', 'between': 'openai/m'}
    """
    check_roles(family, models)
    return {
        question: models[role]
        for role, questions in family.roles
        if role in models
        for question in questions
    }


def with_roles(judge: Judge, models: Mapping[str, dspy.LM]) -> Judge:
    """Return a copy of a judge that has some of its work done by other models.

    Parameters
    ----------
    judge : Judge
        Left as it is.
    models : dict of str to dspy.LM
        By role; the family says which there are.

    Raises
    ------
    ValueError
        If the family has no such role.

    Examples
    --------
    >>> from judgesmith.programs.exemplar import ExemplarJudge
    >>> from judgesmith.programs.models import model
    >>> judge = with_roles(ExemplarJudge(), {"writer": model("openai/m", ledger=None)})
    >>> sorted(judge.own_models()), judge.own_models()["end"].model
    (['between', 'end'], 'openai/m')
    """
    from judgesmith.programs.families import family_of

    own = by_question(family_of(judge.protocol.judge), models)
    other = judge.with_protocol(judge.protocol)
    for name, predictor in other.named_predictors():
        predictor.lm = own.get(name, predictor.lm)
    return other

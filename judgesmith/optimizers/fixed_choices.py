"""Choices that a search does not make: which there are to name, and the space without them."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Sequence

from judgesmith.errors import InputError
from judgesmith.optimizers.competing_models import MODEL
from judgesmith.optimizers.demonstration_choices import NAMES, N
from judgesmith.programs.judging.choices import own_settings
from judgesmith.programs.judging.registry import family_of
from judgesmith.signatures.config import ActiveCriticConfig, JudgeConfig
from judgesmith.signatures.space import Space


def check_fixed(fixed: Sequence[str], protocol: JudgeConfig, more: Iterable[str] = ()) -> None:
    """Refuse names of choices that no search has for such a judge.

    Names of the choices about an Active-Critic judge are good for every family: what a family has
    not to choose stays as it is anyway, so one setting can serve several.

    Parameters
    ----------
    fixed : sequence of str
        Names of choices.
    protocol : JudgeConfig
        Of the judge that is searched.
    more : iterable of str
        Choices of a space that was given.

    Raises
    ------
    ValueError
        If there is no choice of such a name.

    Examples
    --------
    >>> check_fixed(["samples", "demonstrations.order"], ActiveCriticConfig())
    >>> check_fixed(["sampels"], ActiveCriticConfig())
    Traceback (most recent call last):
    judgesmith.InputError: fixed names choices of the search, and there is no 'sampels'; did \
you mean samples?
    """
    kind = type(protocol)
    known = list(dict.fromkeys((*more, *_names(protocol))))
    known += [name for name in _names(kind.model_validate({})) if name not in known]
    own = list(known)
    if family_of(protocol.judge).has_demonstrations:
        own += NAMES
    # What is set and never searched stays as it is, too.
    known += [name for name in own_settings(protocol) if name not in known]
    known += [name for name in (*_names(ActiveCriticConfig()), *NAMES, MODEL) if name not in known]
    for name in fixed:
        if name not in known and str(name).partition(".")[0] not in protocol.by_criterion:
            near = difflib.get_close_matches(str(name)[:80], known, n=1, cutoff=0.5)
            meant = f"did you mean {near[0]}?" if near else f"give some of {', '.join(own)}."
            raise InputError(
                f"fixed names choices of the search, and there is no {str(name)[:80]!r}; {meant}"
            )


def _names(protocol: JudgeConfig) -> tuple[str, ...]:
    names: tuple[str, ...] = family_of(protocol.judge).judge_of(protocol).space().names
    return names


def without_fixed(space: Space, fixed: Sequence[str]) -> Space:
    """Return a space in which some choices are not made: there a judge stays as it is.

    Without the choice of how many demonstrations are shown there are none. Without another choice
    about them they are drawn as is usual: the first set that is spread over the scores, in the
    order in which it was drawn, without runs of the judge.

    Examples
    --------
    >>> from judgesmith.optimizers.demonstration_choices import demonstration_choices
    >>> space = Space(choices=demonstration_choices(40, most=3, n_draws=2))
    >>> without_fixed(space, ["demonstrations.chosen", "demonstrations.runs"]).names
    ('demonstrations', 'demonstrations.draw', 'demonstrations.order')
    >>> without_fixed(space, ["demonstrations"]).names
    ()
    """
    return space.without(*fixed, *(NAMES if N in fixed else ()))

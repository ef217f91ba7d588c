"""What may be chosen about an Active-Critic judge, as far as its own protocol decides it."""

from __future__ import annotations

from collections.abc import Mapping

from judgesmith.programs.choices import (
    answers_choice,
    field_choice,
    reduction_choices,
    rubric_choice,
    samples_choice,
)
from judgesmith.signatures.protocol import Protocol
from judgesmith.signatures.rubric import Rubric
from judgesmith.signatures.space import Space

_WITH_RUBRIC = ("fine", "coarse")


def critic_space(protocol: Protocol, rubrics: Mapping[str, Rubric] | None = None) -> Space:
    """Return the choices about a judge; what its protocol says is always the first option.

    Parameters
    ----------
    protocol : Protocol
        Where the search starts from.
    rubrics : dict of str to Rubric, or None
        Rubrics that compete with the protocol's own, by name. Each that describes the task also
        competes without its description.

    Examples
    --------
    >>> space = critic_space(Protocol())
    >>> space.names[:6]
    ('variant', 'rubric', 'criteria_calls', 'overall', 'explain', 'answers')
    >>> space.names[6:]
    ('samples', 'reduction', 'weighting')
    >>> space.sets({"variant": "vanilla"})["variant"]
    'vanilla'
    """
    variants = ("fine", "coarse", "vanilla") if protocol.rubric.criteria else ("vanilla",)
    choices = [field_choice(protocol, "variant", variants)]
    if len(variants) > 1:
        choices += [
            rubric_choice(protocol, rubrics, variant=_WITH_RUBRIC),
            field_choice(protocol, "criteria_calls", ("joint", "separate"), variant=("fine",)),
            field_choice(protocol, "overall", ("asked", "mean"), variant=("fine",)),
            field_choice(protocol, "explain", ("before", "after", "none"), variant=_WITH_RUBRIC),
        ]
    choices += [answers_choice(protocol), samples_choice(protocol)]
    return Space(choices=(*choices, *reduction_choices(protocol)))

"""The model as a choice of a search: which of several is asked, by name."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING

from judgesmith.errors import InputError
from judgesmith.optimizers.combined import WeightedSum
from judgesmith.optimizers.constrained import Constrained
from judgesmith.optimizers.effort_objectives import DollarsPerItem
from judgesmith.optimizers.objectives import Agreement, Objective
from judgesmith.optimizers.several_objectives import atoms_of
from judgesmith.programs.judging.rows import knows_costs
from judgesmith.signatures.space import Choice, Option, Space

if TYPE_CHECKING:
    import dspy

MODEL = "model"
"""The name of the choice; its options' ids are names of models."""


def with_models(space: Space, own: str, others: Iterable[str]) -> Space:
    """Return a space in which the model is chosen, first of all; without others it stays as it is.

    Parameters
    ----------
    space : Space
        What else may be chosen.
    own : str
        The model that is asked where nothing is said.
    others : iterable of str
        Models that compete with it.

    Examples
    --------
    >>> with_models(Space(choices=()), "offline", ["openai/m"]).complete({})
    {'model': 'offline'}
    """
    ids = (own, *others)
    if len(ids) == 1:
        return space
    choice = Choice(name=MODEL, options=tuple(Option(id=one) for one in ids))
    return Space(choices=(choice, *space.choices))


def check_models(lm: dspy.LM, models: Mapping[str, dspy.LM], objective: object) -> None:
    """Refuse models that cannot compete.

    Raises
    ------
    ValueError
        If one has the name of the first, or the objective minds dollars and nobody knows what one
        of them costs.
    """
    own = str(lm.model)
    if own in models:
        raise InputError(f"{own} competes with itself; name every model once.")
    if not minds_dollars(objective):
        return
    for name, one in {own: lm, **models}.items():
        if not knows_costs(one):
            raise InputError(
                f"the objective {objective} needs to know what answers of {name} cost: that takes "
                "its price (--price IN,OUT) and a ledger; leave usd out, or give both."
            )


def minds_dollars(objective: object) -> bool:
    """Say whether an objective, or one of several, looks at what judgements cost.

    Examples
    --------
    >>> from judgesmith.optimizers.grammar import parse_objectives
    >>> [minds_dollars(parse_objectives(one)) for one in ("q", "q, -usd", "q; usd <= .01")]
    [False, True, True]
    """
    return any(isinstance(one, DollarsPerItem) for one in atoms_of(objective))


def without_dollars(objective: Objective) -> Objective:
    """Return an objective for judges that make the same calls: what these cost tells none apart.

    Terms in dollars are left out, and so are conditions with such a term; ``q`` takes the place
    of nothing at all.

    Examples
    --------
    >>> from judgesmith.optimizers.grammar import parse_objective
    >>> print(without_dollars(parse_objective("q - 9*usd; usd <= .01; scored >= .9")))
    q; scored >= 0.9
    """
    if not minds_dollars(objective):
        return objective
    if isinstance(objective, Constrained):
        kept = tuple(one for one in objective.constraints if not minds_dollars(one.left))
        aim = without_dollars(objective.aim)
        if not kept:
            return aim
        whole = aim if isinstance(aim, WeightedSum) else WeightedSum(((1.0, aim),))  # type: ignore[arg-type]
        return Constrained(whole, kept)
    if isinstance(objective, WeightedSum):
        terms = tuple(one for one in objective.terms if not minds_dollars(one[1]))
        return WeightedSum(terms) if terms else Agreement("q")
    return Agreement("q")

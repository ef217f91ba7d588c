"""Perturbations by the names that people give them."""

from __future__ import annotations

import difflib
from collections.abc import Mapping, Sequence

from judgesmith.errors import InputError
from judgesmith.programs.perturbing.catalogue import (
    ADDITIONS,
    CONTROLS,
    PERTURBATIONS,
    Amount,
    perturbations_for,
)
from judgesmith.signatures.perturbation import Perturbation

GROUPS = ("task", "additions", "controls", "all")
"""Names of several perturbations: those of the task, further ones, controls, whatever there is."""

_WITHOUT_AMOUNT = frozenset(
    {
        *("case_loss", "punctuation_loss", "number_swap", "random_ending", "wrong_ending"),
        *("random_answer", "key_sentence_omission", "unsupported_addition", "repetition"),
        *("truncation", "padding"),
    }
)
"""Kinds that change a text in one way only."""

_LEAST = {"reordering": 2}
"""Places below which a kind changes nothing; 1 for others."""


def perturbations_named(names: Sequence[str], task: str | None = None) -> tuple[Perturbation, ...]:
    """Return the perturbations that are meant, each once, in the order of their names.

    Parameters
    ----------
    names : sequence of str
        Each a perturbation (``reordering/minor``), a kind (``reordering``), which stands for the
        degrees that the task has of it, or all there are, or one of ``GROUPS``.
    task : str or None
        See ``perturbations_for``.

    Raises
    ------
    ValueError
        If nothing is called so, or nothing is named.

    Examples
    --------
    >>> [way.name for way in perturbations_named(["reordering", "padding"], "summarization")]
    ['reordering/minor', 'reordering/major', 'padding']
    >>> perturbations_named(["tipos"])
    Traceback (most recent call last):
    judgesmith.InputError: no change is called 'tipos'; did you mean character_typos?
    """
    if not names:
        raise InputError("no change is named; name one at least.")
    found = [way for name in names for way in _meant(name, task)]
    return tuple(dict.fromkeys(found))


def _meant(name: str, task: str | None) -> Sequence[Perturbation]:
    groups = {
        "task": perturbations_for(task),
        "additions": ADDITIONS,
        "controls": CONTROLS,
        "all": tuple(PERTURBATIONS.values()),
    }
    if name in groups:
        return groups[name]
    of_task = [way for way in groups["task"] if name in (way.kind, way.name)]
    own = [PERTURBATIONS[name]] if "/" in name and name in PERTURBATIONS else of_task
    own = own or [way for way in groups["all"] if way.kind == name]
    if not own:
        raise InputError(f"no change is called {name!r}; {_known(name, groups)}")
    return own


def _known(name: str, groups: Mapping[str, Sequence[Perturbation]]) -> str:
    kinds = list(dict.fromkeys(way.kind for way in groups["all"]))
    close = difflib.get_close_matches(name, [*kinds, *PERTURBATIONS, *groups], n=1)
    close = close or [kind for kind in kinds if kind.endswith(name)] or _endings(name, kinds)
    return f"did you mean {close[0]}?" if close else f"name one of {', '.join(kinds)}."


def _endings(name: str, kinds: Sequence[str]) -> list[str]:
    """Return the kind whose last word is close to a name."""
    by_end = {kind.rpartition("_")[2]: kind for kind in kinds}
    return [by_end[end] for end in difflib.get_close_matches(name, by_end, n=1)]


def named_amounts(given: Sequence[str], task: str | None = None) -> dict[str, Amount]:
    """Return how many places are to be changed, from texts such as ``character_typos/minor=20``.

    Parameters
    ----------
    given : sequence of str
        Each a name, as for ``perturbations_named``, and a whole number from 1 on.
    task : str or None
        Whose degrees a kind alone stands for.

    Raises
    ------
    ValueError
        If one cannot be read, two are of the same change, or a change is made in one way only.

    Examples
    --------
    >>> named_amounts(["character_typos=20", "reordering/minor=3"], "story_completion")
    {'character_typos': 20, 'reordering/minor': 3}
    """
    found: dict[str, Amount] = {}
    for one in given:
        name, separator, number = one.partition("=")
        if not (separator and number.strip().isdecimal() and int(number) >= 1):
            raise InputError(
                f"an amount is written KIND=NUMBER, such as character_typos/minor=20; got {one!r}."
            )
        for way in perturbations_named([name.strip()], task):
            if way.name in found:
                raise InputError(f"the amount of {way.name} is given twice; keep one of the two.")
            if way.kind in _WITHOUT_AMOUNT:
                raise InputError(f"{way.kind} is made in one way only; leave its amount out.")
            if int(number) < (least := _LEAST.get(way.kind, 1)):
                raise InputError(f"the amount of {way.name} is {least} or more; got {number}.")
            found[way.name] = int(number)
    return found

"""What people are to rate suggested rows on: what the judge was made to agree with them on."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from judgesmith.errors import InputError
from judgesmith.experiments.columns import OVERALL
from judgesmith.experiments.dataset import DataSet
from judgesmith.experiments.targets import FRACTION, MEAN, PLUS
from judgesmith.programs.artifacts.record import SavedRecord
from judgesmith.signatures import Scale


def asked_criteria(
    judge: SavedRecord, dataset: DataSet, rate: Mapping[str, Scale | None] | None = None
) -> dict[str, Scale]:
    """Return the criteria to be rated, each with its scale.

    By default those of the judge's target. Scales are those that the data states, or the one of
    the judge's target.

    Parameters
    ----------
    judge : saved judge
        Whose target it is.
    dataset : DataSet
        Rows, of which some may be rated: then the criteria of the target ``mean`` are theirs.
    rate : dict of str to (Scale or None), or None
        These criteria instead, with scales where the caller knows better.

    Raises
    ------
    ValueError
        If the criteria of a mean, or a scale, cannot be told.
    """
    given = dict(rate or {})
    names = list(given) or _names(judge, dataset)
    found: dict[str, Scale] = {}
    for name in names:
        scale = given.get(name) or dataset.scales.get(name)
        if scale is None and (len(names) == 1 or judge.human_scale != FRACTION):
            scale = judge.human_scale
        if scale is None:
            raise InputError(
                f"the scale of {name} is not known: the judge's target is {judge.target}, on "
                f"{judge.human_scale}.",
                hint=f"say it, as in --rate {name}=LOW..HIGH.",
            )
        found[name] = scale
    return found


def read_rates(texts: Sequence[str]) -> dict[str, Scale | None]:
    """Return the criteria, with their scales where they are said, that ``NAME[=LOW..HIGH]`` say.

    Raises
    ------
    ValueError
        If there is no name, a scale cannot be read, or a criterion is named twice.

    Examples
    --------
    >>> found = read_rates(["clear", "kind=1..5"])
    >>> list(found), found["clear"], str(found["kind"])
    (['clear', 'kind'], None, '1..5')
    """
    found: dict[str, Scale | None] = {}
    for text in texts:
        name, separator, scale = text.rpartition("=") if "=" in text else (text, "", "")
        name = name.strip()
        if not name:
            raise InputError(
                f"what is to be rated is written NAME or NAME=LOW..HIGH; got {text!r}."
            )
        if name in found:
            raise InputError(f"{name} is to be rated twice.", hint="name it once.")
        found[name] = Scale.parse(scale) if separator else None
    return found


def _names(judge: SavedRecord, dataset: DataSet) -> list[str]:
    """Return the criteria of a judge's target."""
    if judge.target != MEAN or MEAN in dataset.scales:
        known = dataset.scales
        # A criterion may have the sign in its name.
        return [judge.target] if judge.target in known else judge.target.split(PLUS)
    rated = [name for name in dataset.criteria if name != OVERALL]
    if not rated:
        raise InputError(
            "the judge's target is the mean of several criteria, which these rows do not tell.",
            hint="say each, as in --rate clear=1..5 --rate kind=1..5, or give the rated rows, too.",
        )
    return rated

"""A saved judge asked more often, or at another temperature, than it was compiled with."""

from __future__ import annotations

from typing import Any

from judgesmith.errors import InputError
from judgesmith.programs.saved import SavedJudge
from judgesmith.programs.saved_kinds import AnySaved, SavedHolder
from judgesmith.signatures.plain_faults import record_faults

_MOST_SAMPLES = 1000  # as for any protocol


@record_faults()
def with_sampling(
    judge: AnySaved, *, samples: int | None = None, temperature: float | None = None
) -> AnySaved:
    """Return a saved judge with other settings of its calls; its questions stay.

    Parameters
    ----------
    judge : SavedJudge or SavedHolder
        Of any kind; members of one that holds others are changed likewise.
    samples : int or None
        Answers to every question, of which the scores are reduced; None leaves it as it is.
    temperature : float or None
        Of every call; None leaves it as it is.

    Raises
    ------
    ValueError
        If the judge cannot be asked so.

    Examples
    --------
    >>> import judgesmith
    >>> made = judgesmith.compile(
    ...     judgesmith.read("sample"),
    ...     judgesmith.CompileSettings(criteria="given", optimizer="none", holdout=0),
    ... )
    >>> with_sampling(made.saved, samples=5).protocol.samples, made.saved.protocol.samples
    (5, 1)
    """
    wanted: dict[str, Any] = {"samples": samples, "temperature": temperature}
    wanted = {name: value for name, value in wanted.items() if value is not None}
    if not wanted:
        return judge
    if samples is not None and not 1 <= samples <= _MOST_SAMPLES:
        raise InputError(f"samples are from 1 to {_MOST_SAMPLES}; got {samples}.")
    if isinstance(judge, SavedJudge):
        protocol = judge.protocol
        other = type(protocol).model_validate({**dict(protocol), **wanted})
        return judge.model_copy(update={"protocol": other})
    assert isinstance(judge, SavedHolder)
    members = {
        name: with_sampling(one, samples=samples, temperature=temperature)  # type: ignore[arg-type]
        for name, one in judge.members.items()
    }
    return judge.model_copy(update={"members": members})

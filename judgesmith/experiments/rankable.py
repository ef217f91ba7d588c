"""Whether rows can be ranked at all, which their sources tell before any model is asked."""

from __future__ import annotations

from collections.abc import Sequence

from judgesmith.errors import InputError
from judgesmith.programs.judging.registry import family_of
from judgesmith.programs.judging.runner import sources_of
from judgesmith.signatures import RatedItem


def check_rankable(items: Sequence[RatedItem], *, judge: str, what_for: str) -> None:
    """Refuse rows of which no two share a source, for a family that ranks within sources.

    Parameters
    ----------
    items : sequence of RatedItem
        Rows that are judged for one purpose.
    judge : str
        The family of judges.
    what_for : str
        The purpose, as in ``to choose by``.

    Raises
    ------
    ValueError
        If each of them stands alone.

    Examples
    --------
    >>> alone = [RatedItem(source=f"bridge {n}", response="It opened.") for n in range(2)]
    >>> check_rankable(alone, judge="direct", what_for="here")
    >>> check_rankable(alone, judge="pairs", what_for="here")
    Traceback (most recent call last):
    ...
    judgesmith.InputError: pairs ranks the responses to a source, and none of the 2 rows here \
shares its source (id, source and context) with another; give several responses to each source.
    """
    if not family_of(judge).ranks or any(len(group) > 1 for group in sources_of(items)):
        return
    raise InputError(
        f"{judge} ranks the responses to a source, and none of the {len(items)} rows {what_for} "
        "shares its source (id, source and context) with another.",
        hint="give several responses to each source.",
    )

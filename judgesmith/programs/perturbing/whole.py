"""A text replaced as a whole by one that belongs elsewhere."""

from __future__ import annotations

from judgesmith.programs.perturbing.case import Case, Found
from judgesmith.signatures.perturbation import Skipped

WRONG_ENDING = "wrong_ending"
"""The field of a row that holds an ending known to be wrong."""


def another_text(case: Case) -> Found:
    """Put the text of another source in the place of this one."""
    given = None if case.donors is None else case.donors.other_than(case.item, case.rng)
    if given is None:
        return Skipped(reason="no text of another source to put in its place")
    return _replaced(case, given)


def wrong_ending(case: Case) -> Found:
    """Put the ending that the row itself calls wrong in the place of the right one."""
    given = case.item.extra.get(WRONG_ENDING)
    if not isinstance(given, str) or not given.strip():
        return Skipped(reason=f"the row has no field {WRONG_ENDING}")
    if given.split() == case.passage.text.split():
        return Skipped(reason="the wrong ending is the right one")
    return _replaced(case, given)


def _replaced(case: Case, text: str) -> Found:
    if not case.passage.words:
        return Skipped(reason="no word")
    return [(0, len(case.passage.text), text)]

"""What is told and kept of how the best of many was held against the judge as it was."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from judgesmith.optimizers.search.confirmation import ConfirmationResult

USUAL = "that is a usual outcome with few rows, or a judge that fits already."


def confirmation_record(
    found: ConfirmationResult | None, *, taken: int | None, chosen_on: int
) -> dict[str, Any]:
    """Return what a search came to, ready for JSON.

    ``taken`` is the number of the trial that was taken, ``chosen_on`` how many rows candidates were
    compared on; under ``leaders`` is the best one, if any was better than the start.
    """
    return {
        "better": found is not None and found.passed,
        "taken": taken,
        "chosen_on": chosen_on,
        "leaders": [] if found is None else [found.to_dict()],
    }


def outcome_note(
    found: ConfirmationResult | None,
    objective: str,
    *,
    what: str = "",
    better: str = "agreed better",
) -> str:
    """Return in a sentence what a search came to.

    Parameters
    ----------
    found : ConfirmationResult or None
        Of the best candidate; None where none was better than the start.
    objective : str
        What values are of.
    what : str
        What distinguishes the candidate, if that can be said in a few words.
    better : str
        What a better judge would have done.
    """
    if found is None:
        return f"nothing {better} on these rows, so the search keeps the judge as it was; {USUAL}"
    name = f"number {found.number}{f', {what}' if what else ''}"
    values = (
        f"{objective} {number_text(found.chosen)} on the {found.n_rows} rows to choose by, "
        f"{number_text(found.chosen_before)} as it was ({tested_text(found)})"
    )
    if found.passed:
        return (
            f"taken was {name}: {values}. The best of several looks better on the rows it was "
            "chosen by than it is: see the rows held out."
        )
    return (
        f"the search keeps the judge as it was: the best was {name}, with {values}, which may be "
        f"luck; {USUAL}"
    )


def aggregation_note(
    found: ConfirmationResult | None, names: Sequence[str], objective: str
) -> list[str]:
    """Return why the numbers of a judge are not weighed anew; nothing where they are.

    ``names`` are those of the ways to weigh them, by number.
    """
    if found is None or found.passed:
        return []
    return [
        f"the judge's numbers are weighed as before ({names[0]}): the best other way "
        f"({names[found.number]}) changes the cross-validated {objective} by "
        f"{tested_text(found)}, which may be luck."
    ]


def tested_text(found: ConfirmationResult) -> str:
    """Return a difference and its test in a few words."""
    if math.isnan(found.p_value):
        return f"{number_text(found.gain, '+.3f')}, untested among {found.n_compared} compared"
    return (
        f"{number_text(found.gain, '+.3f')}, standard error {number_text(found.standard_error)}, "
        f"p {p_text(found.p_value)} over {found.n_compared} compared"
    )


def p_text(value: float) -> str:
    """Return a p-value, ``undefined`` where there is none.

    Examples
    --------
    >>> p_text(0.0123), p_text(0.0001), p_text(math.nan)
    ('0.012', 'below 0.001', 'undefined')
    """
    return "below 0.001" if value < 0.001 else number_text(value)


def number_text(value: float, form: str = ".3f") -> str:
    """Return a number, ``undefined`` where it is nan."""
    return "undefined" if math.isnan(value) else f"{value:{form}}"

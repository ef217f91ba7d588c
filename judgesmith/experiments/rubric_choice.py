"""Whether an inferred rubric is worth more than the general one that anybody can start from."""

from __future__ import annotations

import math

from judgesmith.experiments.confirmation_notes import number_text, tested_text
from judgesmith.experiments.fronts import deciding_objective
from judgesmith.experiments.parts import Parts
from judgesmith.experiments.tuning import Tuning
from judgesmith.optimizers.base import OFFLINE
from judgesmith.optimizers.search.confirmation import ConfirmationResult
from judgesmith.programs import Judge


def better_start(work: Tuning, parts: Parts, general: Judge, inferred: Judge) -> Judge:
    """Return the judge with the rubric that agrees better with people on the rows to choose by.

    Both are compared as they are, without demonstrations. The rubric that was made for the task is
    taken unless the general one is better beyond luck; with the offline model, which does not read
    what it infers from, it is the other way round. A rubric that leaves more than 5 % of the rows
    without a score loses against one that does not.

    Parameters
    ----------
    work : Tuning
        Asks, and takes note of what came out.
    parts : Parts
        The rows.
    general, inferred : Judge
        Alike but for their rubrics.
    """
    objective = deciding_objective(work.settings)
    judges = {"general": general, "inferred": inferred}
    # Where nothing tells them apart, an offline model keeps the general one.
    names = sorted(judges, reverse=str(work.lm.model) != OFFLINE)
    start, other = names
    both, chosen, found = work.held(
        judges[start],
        judges[other],
        parts.selection,
        stages=(f"{start} rubric", f"{other} rubric"),
    )
    tables = dict(zip(names, both, strict=True))
    values = {name: objective.value(table) for name, table in tables.items()}
    name = names[chosen]
    for one in judges:
        work.history.append(
            {
                "stage": "rubric",
                "name": one,
                "value": None if math.isnan(values[one]) else values[one],
                "share_scored": tables[one].share_scored,
                "taken": one == name,
            }
        )
    compared = (
        f"{objective} {number_text(values['inferred'])} with what was inferred, "
        f"{number_text(values['general'])} with the general rubric, on the {len(parts.selection)} "
        "rows to choose by"
    )
    kept = found if found is not None and not found.passed else None
    work.notes.append(_told(compared, inferred=name == "inferred", kept=kept))
    return judges[name]


def _told(values: str, *, inferred: bool, kept: ConfirmationResult | None) -> str:
    """Return which rubric was taken and why, in one sentence.

    ``kept`` is how the other one was better, if that was put down to luck.

    Examples
    --------
    >>> print(_told("q 1.31 and 1.20", inferred=True, kept=None))
    the inferred task and criteria were taken: q 1.31 and 1.20.
    """
    which = "inferred" if inferred else "general"
    why = ""
    if kept is not None:
        why = (
            f", which luck explains ({tested_text(kept)}), and "
            + (
                "those made for the task"
                if inferred
                else "the general ones, with the offline model,"
            )
            + " stay then"
        )
    instead = "" if inferred else "; --criteria inferred takes the inferred ones all the same"
    return f"the {which} task and criteria were taken: {values}{why}{instead}."

"""Whether an inferred rubric is worth more than the general one that anybody can start from."""

from __future__ import annotations

import math
from statistics import NormalDist

import numpy as np

from judgesmith.experiments.parts import Parts
from judgesmith.experiments.tuning import Tuning
from judgesmith.optimizers.demonstrations import ENOUGH_SCORED
from judgesmith.optimizers.judge_optimizer import OFFLINE
from judgesmith.optimizers.several_objectives import SeveralObjectives
from judgesmith.programs import Judge
from judgesmith.programs.holding import scale_of


def better_start(work: Tuning, parts: Parts, general: Judge, inferred: Judge) -> Judge:
    """Return the judge with the rubric that agrees better with people on the rows to choose by.

    Both are compared as they are, without demonstrations. Where they differ by no more than a
    standard error, the rubric that was made for the task is taken; with the offline model, which
    does not read what it infers from, the general one is. A rubric that leaves more than 5 % of
    the rows without a score loses against one that does not.

    Parameters
    ----------
    work : Tuning
        Asks, and takes note of what came out.
    parts : Parts
        The rows.
    general, inferred : Judge
        Alike but for their rubrics.
    """
    settings = work.settings
    objective = settings.aims
    assert not isinstance(objective, SeveralObjectives)  # which are of a search of the protocol
    tables = [
        parts.selection.judged(
            work.judged(judge, parts.selection, stage), work.targets, judge_scale=scale_of(judge)
        )
        for judge, stage in ((general, "general rubric"), (inferred, "inferred rubric"))
    ]
    gain = objective.gain(tables[1], tables[0], rng=np.random.default_rng([settings.seed, 13]))
    width = 2 * NormalDist().inv_cdf(0.5 + gain.confidence / 2)
    error = (gain.high - gain.low) / width
    offline = str(work.lm.model) == OFFLINE
    # Where nothing can be told apart (nan), both comparisons are false and the tie decides.
    taken = gain.value > error if offline else not -gain.value > error
    enough = [table.share_scored >= ENOUGH_SCORED for table in tables]
    if enough[0] != enough[1]:
        taken = enough[1]
    for name, table in (("general", tables[0]), ("inferred", tables[1])):
        value = objective.value(table)
        work.history.append(
            {
                "stage": "rubric",
                "name": name,
                "value": None if math.isnan(value) else value,
                "share_scored": table.share_scored,
                "taken": (name == "inferred") == taken,
            }
        )
    values = (
        f"{objective} {gain.first:.3f} with what was inferred, {gain.second:.3f} with the general "
        f"rubric, on the {len(parts.selection)} rows to choose by"
    )
    alike = abs(gain.value) <= error and enough[0] == enough[1]
    work.notes.append(_told(values, taken=taken, within=error if alike else None))
    return inferred if taken else general


def _told(values: str, *, taken: bool, within: float | None) -> str:
    """Return which rubric was taken and why, in one sentence.

    ``within`` is the standard error that they differ by at most; None where they differ by more.

    Examples
    --------
    >>> print(_told("q 1.31 and 1.30", taken=False, within=0.05).partition("; ")[0])
    the general task and criteria were taken: q 1.31 and 1.30, no more than a standard error \
(0.050) apart, where a model that does not read what it infers from keeps the general ones
    """
    which, why = "inferred" if taken else "general", ""
    if within is not None:
        kept = (
            "those made for the task are kept"
            if taken
            else "a model that does not read what it infers from keeps the general ones"
        )
        why = f", no more than a standard error ({within:.3f}) apart, where {kept}"
    elif not taken:
        why = ", which does not speak for what was inferred"
    instead = "" if taken else "; --criteria inferred takes it all the same"
    return f"the {which} task and criteria were taken: {values}{why}{instead}."

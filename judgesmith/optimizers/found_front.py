"""The front that a search of protocols has found: judges, and how well each does."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import dspy
import numpy as np

from judgesmith.metrics import Estimate
from judgesmith.optimizers.front_search import FrontSearch
from judgesmith.optimizers.protocol_candidates import JudgeOnRows
from judgesmith.programs.judging.judge import Judge


@dataclass(frozen=True, kw_only=True, eq=False)
class FoundMember:
    """One judge on the front.

    Attributes
    ----------
    number : int
        Of its trial.
    picked : dict of str to str
        Its configuration; empty for what the search started from.
    judge : Judge
        As it was searched, before anything is learned for it.
    lm : dspy.LM
        The model it was found with.
    values : dict of str to Estimate
        Every objective on the rows that it was chosen by.
    n_calls : float
        Calls per item there, on average.
    is_knee : bool
        Whether it is the judge that the search returns.
    """

    number: int
    picked: Mapping[str, str]
    judge: Judge
    lm: dspy.LM
    values: Mapping[str, Estimate]
    n_calls: float
    is_knee: bool


def found_front(search: FrontSearch[JudgeOnRows], *, seed: int) -> tuple[FoundMember, ...]:
    """Return the front of a search that has ended, in the order in which its members were tried.

    Parameters
    ----------
    search : FrontSearch
        After ``run``.
    seed : int
        Of the resamples behind intervals, which are the same for all members.
    """
    rows = sorted(search.order.tolist())
    several, knee = search.objectives, search.knee
    found = []
    for one in search.members:
        table = one.candidate.table(rows)
        estimates = {
            name: aim.estimate(table, rng=np.random.default_rng([seed, 12]))
            for name, aim in zip(several.names, several.aims, strict=True)
        }
        found.append(
            FoundMember(
                number=one.number,
                picked=dict(one.picked),
                judge=one.candidate.judge,
                lm=one.candidate.asking.lm,
                values=estimates,
                n_calls=float(np.mean(table.n_calls)),
                is_knee=one is knee,
            )
        )
    return tuple(found)

"""Several objectives in a compilation: which one decides what, and the front as it is saved."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from judgesmith.errors import InputError
from judgesmith.experiments.agreeing import agreement_report, plain
from judgesmith.experiments.parts import Parts
from judgesmith.experiments.settings import CompileSettings
from judgesmith.optimizers.objectives.agreement import Agreement
from judgesmith.optimizers.objectives.base import Objective
from judgesmith.optimizers.protocol import ParetoMember, ProtocolSearch
from judgesmith.optimizers.space.demonstrations import shown_keys
from judgesmith.optimizers.storage import importances
from judgesmith.optimizers.trials import ENOUGH_SCORED, TrialRecord
from judgesmith.programs.artifacts.saved import FrontMember
from judgesmith.programs.families.ensemble.judges import scale_of
from judgesmith.programs.judging.executors import endpoint_of
from judgesmith.programs.judging.judge import Judge

if TYPE_CHECKING:
    import dspy

    from judgesmith.experiments.tuning import Tuning


def check_searched(settings: CompileSettings) -> None:
    """Refuse objectives and models that only a search of the protocol can mind.

    Raises
    ------
    ValueError
        If there are several objectives or models, or one objective minds dollars, and the protocol
        is not searched; an objective looks at changed versions and texts are rewritten; or several
        objectives are screened for.
    """
    objective = settings.aims
    if settings.screen and len(objective.each) > 1:
        raise InputError(
            f"several objectives ({objective}) have a front, and a search that screens (--screen) "
            "looks for the best by one.",
            hint="name one.",
        )
    if settings.optimizer == "protocol":
        return
    if "versions" in objective.needs and settings.optimizer not in ("random", "none"):
        raise InputError(
            f"texts are learned from single rows, and {objective} looks at changed versions of "
            "all.",
            hint="leave discernment out, or search demonstrations or the protocol (--optimizer "
            "random or protocol).",
        )
    if len(objective.each) > 1:
        raise InputError(
            f"several objectives ({objective}) have a front only in a search of the protocol "
            f"(--optimizer protocol), and this is --optimizer {settings.optimizer}.",
            hint="name one.",
        )
    if "usd" in objective.needs:
        raise InputError(
            f"what judgements cost ({objective}) is known only in a search of the protocol "
            f"(--optimizer protocol), and this is --optimizer {settings.optimizer}.",
            hint="leave usd out.",
        )


def endpoints_of(lm: dspy.LM, models: Mapping[str, dspy.LM]) -> str:
    """Return where answers come from, of all models that compete, without secrets."""
    return " ".join(map(endpoint_of, (lm, *models.values())))


def deciding_objective(settings: CompileSettings) -> Objective:
    """Return the objective by which scores are learned to be aggregated.

    Of several the first that looks at scores, and without dollars, which all ways to aggregate
    the same answers cost alike.
    """
    return settings.aims.leading.without("usd", instead=Agreement("q"))


def each_objective(settings: CompileSettings) -> tuple[Objective, ...]:
    """Return every objective, the one that scores are aggregated by first."""
    objective = settings.aims
    first = str(objective.leading)
    return tuple(sorted(objective.each, key=lambda one: str(one) != first))


def saved_front(
    found: Sequence[ParetoMember],
    work: Tuning,
    parts: Parts,
    *,
    judge: Judge,
    selection: Mapping[str, Any],
    seed: Sequence[int],
) -> tuple[FrontMember, ...]:
    """Return a front as it is saved: each judge with learned aggregation, ready to be taken.

    Parameters
    ----------
    found : sequence of ParetoMember
        The front of the search.
    work : Tuning
        Asks: the rows to show are judged by each, for the fit of its aggregation.
    parts : Parts
        The rows.
    judge : Judge
        What became of the one at the knee.
    selection : dict
        Its agreement on the rows that it was chosen by.
    seed : sequence of int
        Of the resamples behind intervals.
    """
    members = []
    for one in found:
        own: Judge = judge
        agreement: Mapping[str, Any] | None = selection
        if not one.is_knee:
            own, agreement = _finished(one, work, parts, seed)
        members.append(
            FrontMember(
                number=one.number,
                picked=dict(one.picked),
                model=str(one.lm.model),
                calls=one.n_calls,
                values={name: value.to_dict() for name, value in one.values.items()},
                knee=one.is_knee,
                agreement={"selection": agreement},
                protocol=own.protocol,
                questions=own.templates(),
            )
        )
    return tuple(members)


def _finished(
    one: ParetoMember, work: Tuning, parts: Parts, seed: Sequence[int]
) -> tuple[Judge, Mapping[str, Any] | None]:
    """Return a member with its aggregation, and its agreement on the rows it was chosen by."""
    own = replace(work, lm=one.lm, history=[], notes=[])
    judge = own.aggregated(one.judge, parts).for_own_rubric()
    rows = parts.selection.without(shown_keys(judge.protocol.demonstrations))
    table = rows.judged(own.judged(judge, rows, "front"), judge_scale=scale_of(judge))
    work.complete = work.complete and own.complete
    if table.n_unscored == table.n or not table.is_rated:
        return judge, None
    return judge, plain(agreement_report(table, rng=np.random.default_rng(list(seed))))


def importance_entries(search: ProtocolSearch) -> list[dict[str, Any]]:
    """Return how much each choice had to do with being among the best, for the history.

    One entry per objective: ``stage`` is ``importances``, ``objective`` its name, and ``shares``
    are by choice, largest first. None where too few configurations have a value.
    """
    names = search.objective.names
    found = ((name, importances(search.study_, place)) for place, name in enumerate(names))
    return [
        {"stage": "importances", "objective": name, "shares": shares}
        for name, shares in found
        if shares
    ]


def front_notes(found: Sequence[ParetoMember], trials: Sequence[TrialRecord] = ()) -> list[str]:
    """Return what a reader should know of a front, in sentences.

    Parameters
    ----------
    found : sequence of ParetoMember
        The front.
    trials : sequence of TrialRecord
        Everything that was tried, the judge as it was first. Where nobody is on the front of
        several objectives, they tell why.
    """
    if not found:
        return _nobody_note([one for one in trials if one.values])
    knee = next((one for one in found if one.is_knee), None)
    numbers = ", ".join(str(one.number) for one in found)
    if knee is None or len(found) == 1:
        return [f"number {numbers} is at least as good as every other on all objectives."]
    values = ", ".join(f"{name} {one.value:.4g}" for name, one in knee.values.items())
    return [
        f"the front holds {len(found)} judges, number {numbers}; taken was number {knee.number}, "
        f"at its knee ({values} on the rows it was chosen by). 'judgesmith show' lists them, and "
        "'judgesmith take' saves another one without asking anything."
    ]


def _nobody_note(trials: Sequence[TrialRecord]) -> list[str]:
    """Return why nobody is on a front; nothing where nothing was tried."""
    if not trials:
        return []
    whole = [one for one in trials if one.n_rows == trials[0].n_rows]
    enough = [one for one in whole if one.share_scored >= ENOUGH_SCORED]
    why = []
    if n := len(whole) - len(enough):
        why.append(
            f"{n} of {len(whole)} left more than {1 - ENOUGH_SCORED:.0%} of the rows without a "
            f"score (the judge as it was: {1 - trials[0].share_scored:.0%})"
        )
    undefined = [
        name for name in trials[0].values if any(math.isnan(one.values[name]) for one in enough)
    ]
    if undefined:
        why.append(f"{', '.join(undefined)} is undefined for {len(enough)} of {len(whole)}")
    reasons = " and ".join(why) or "none could be compared with the others"
    return [
        "nobody is on the front, so the judge as it was stays and there is none to take: of the "
        f"judges that were judged on all rows to choose by, {reasons}. A judge on the front gives "
        f"a score to {ENOUGH_SCORED:.0%} of the rows, and has a value on every objective."
    ]

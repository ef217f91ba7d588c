"""What a search of the protocol would ask: at most, and as a rule."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from judgesmith.experiments.judging_estimate import calls_per_text
from judgesmith.experiments.screened_estimate import screened_texts
from judgesmith.experiments.settings import CompileSettings
from judgesmith.optimizers.space.candidates import judge_space, with_demonstrations, without_fixed
from judgesmith.optimizers.space.demonstrations import CHOSEN, RUNS, N
from judgesmith.programs import Judge
from judgesmith.programs.judging.registry import family_of
from judgesmith.signatures import Rubric
from judgesmith.signatures.space import Space

SAME_COST = ("rubric", "explain", "answers", "reduction", "weighting")
"""The choices that do not decide how many calls a judgement takes."""

RACED_SHARE = 0.5
"""Of the rows to choose by, how many a configuration is judged on before it falls behind: from .2
to .65 in twenty searches (``benchmarks/protocol_search.py``), .5 on average, the start included."""

USUAL_FRONT = 4
"""Judges on a front as a rule: a guess, for it depends on the objectives."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SearchCalls:
    """Calls of a search and of what follows with the judge that it finds.

    Attributes
    ----------
    most, expected : float
        Calls if everything costs what the costliest does and nobody falls behind; and with
        options drawn evenly, of which the usual share falls behind.
    """

    most: float
    expected: float


def search_calls(
    settings: CompileSettings,
    *,
    n_pool: int,
    n_selection: int,
    n_heldout: int,
    competing: bool,
    sizes: Sequence[int] = (),
    by_row: Sequence[int] = (),
) -> SearchCalls:
    """Return how many calls a search of the protocol takes, with the rest of the compilation.

    Parameters
    ----------
    settings : CompileSettings
        Of the compilation. Criteria that are still to be inferred count, at most, as many as may
        be, and as a rule as many as the general rubric has.
    n_pool, n_selection, n_heldout : int
        Rows to show, to choose by, to report on.
    competing : bool
        Whether a second rubric competes.
    sizes : sequence of int
        How many responses each source has; empty takes what is usual.
    by_row : sequence of int
        Texts of each row to choose by: itself, and changed versions of it; empty for one each.
    """
    student = _student(settings)
    own = _space(settings, student, competing=competing)
    space = with_demonstrations(
        own, student, n_pool, most=settings.n_demonstrations, n_demo_sets=settings.n_draws
    )
    space = without_fixed(space, settings.fixed)
    dearest = _dearest(settings, student, own, sizes)
    usual = sum(share * cost for share, cost in _costs(student, own, sizes))
    start = _calls(student, sizes)
    # Without a rubric that competes with it, the inferred one is that of the start.
    first = start if competing else _calls(_with_criteria(student, _most_criteria(settings)), sizes)
    n_trials = min(settings.n_trials, space.size * (1 + len(settings.models)))
    reported = n_selection + n_heldout
    # Each configuration may show runs of its own of every row of the pool; the fit of the
    # aggregation judges the pool by the judge that was found.
    most = first * reported + n_trials * dearest * (n_selection + n_pool)
    expected = start * reported + n_trials * usual * (
        RACED_SHARE * n_selection + _share_with_runs(space) * n_pool
    )
    if settings.screen:
        # Few rows may be parts of sources, of which a text can take more calls.
        parts = {1, max(sizes, default=1)}
        by_part = {_dearest(settings, student, own, [size]) for size in parts}
        tried = screened_texts(n_trials, by_row or [1] * n_selection, anew=len(by_part) > 1)
        most += max(dearest, *by_part) * tried - n_trials * dearest * n_selection
        expected += usual * tried - n_trials * usual * RACED_SHARE * n_selection
    most += dearest * (n_pool + n_heldout)
    # Each other judge on a front has its aggregation fitted, too.
    several = len(settings.aims.each) > 1
    most += several * n_trials * dearest * n_pool
    # Weights are learned for the judge as it was, too, to see whether the winner is still better.
    weighed = settings.learn_weights and not several
    most += weighed * first * n_pool
    expected += usual * (n_pool + n_heldout) + weighed * start * n_pool / 2
    expected += several * min(n_trials, USUAL_FRONT - 1) * usual * n_pool
    return SearchCalls(most=most, expected=min(expected, most))


def dearest_calls(settings: CompileSettings, sizes: Sequence[int] = ()) -> float:
    """Return the calls of one judgement by the costliest judge that a search may find.

    ``sizes`` are the numbers of responses to each source; none takes what is usual.

    Examples
    --------
    >>> dearest_calls(CompileSettings(criteria="given", fixed=("criteria_calls", "samples")))
    2
    """
    student = _student(settings)
    return _dearest(settings, student, _space(settings, student, competing=False), sizes)


def _student(settings: CompileSettings) -> Judge:
    judge: Judge
    judge, _ = family_of(settings.protocol.judge).judge_of(settings.protocol).as_if_prepared()
    return judge


def _space(settings: CompileSettings, student: Judge, *, competing: bool) -> Space:
    """Return what may be chosen, demonstrations left aside."""
    rubrics = {"inferred": settings.protocol.rubric.model_copy(update={"task": "another"})}
    own = judge_space(student, rubrics if competing else None, ("score",))
    if len(settings.target) > 1:
        own = own.without("variant")
    return own.without(*settings.fixed)


def _most_criteria(settings: CompileSettings) -> int:
    """Return how many criteria a judge has at most: what is inferred is not known yet."""
    given = len(settings.protocol.rubric.criteria)
    inferred = settings.inference.most if settings.criteria_from == "inferred" else 0
    return max(given, inferred)


def _dearest(
    settings: CompileSettings, student: Judge, space: Space, sizes: Sequence[int]
) -> float:
    largest = _with_criteria(student, _most_criteria(settings))
    return max(cost for _, cost in _costs(largest, space, sizes))


def _calls(judge: Judge, sizes: Sequence[int]) -> float:
    return calls_per_text(judge.protocol, sizes)


def _with_criteria(student: Judge, n: int) -> Judge:
    """Return a judge that scores ``n`` criteria: as many as may be inferred."""
    criteria = [{"name": f"criterion {place}", "definition": "as named"} for place in range(n)]
    rubric = Rubric.model_validate({"criteria": criteria})
    judge = student.with_protocol(student.protocol.model_copy(update={"rubric": rubric}))
    return judge.as_if_prepared()[0]


def _costs(student: Judge, space: Space, sizes: Sequence[int]) -> list[tuple[float, float]]:
    """Return calls per judgement, with the share of evenly drawn configurations that take them."""
    reduced = space.without(*(name for name in space.names if name in SAME_COST))
    counts = {one.name: len(one.options) for one in reduced.choices}
    found = []
    for picked in reduced.configurations():
        share = 1.0
        for name in picked:
            share /= counts[name]
        decided = student.protocol.model_copy(update={"demonstrations": {}, "instructions": {}})
        judge = student.with_protocol(decided).with_choices(picked, space=reduced)
        found.append((share, _calls(judge, sizes)))
    return found


def _share_with_runs(space: Space) -> float:
    """Return which share of evenly drawn configurations shows runs of the judge."""
    by_name = {one.name: one for one in space.choices}
    if RUNS not in by_name:
        return 0.0
    shows = by_name[N]
    share = (len(shows.ids) - ("0" in shows.ids)) / len(shows.ids)
    runs = by_name[RUNS]
    share *= (len(runs.ids) - 1) / len(runs.ids)
    if CHOSEN in runs.only_if:
        share *= len(runs.only_if[CHOSEN]) / len(by_name[CHOSEN].ids)
    if "variant" in runs.only_if:
        share *= len(runs.only_if["variant"]) / len(by_name["variant"].ids)
    return share

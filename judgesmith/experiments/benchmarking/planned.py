"""What building a benchmark will ask, step by step, before anything is asked."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from judgesmith.experiments.benchmarking.anchor_texts import texts_looked_at
from judgesmith.experiments.benchmarking.beginning import Start
from judgesmith.experiments.benchmarking.errors_per_rating import TRIED
from judgesmith.experiments.benchmarking.local_building import CHECKED_SOURCES
from judgesmith.experiments.benchmarking.models import BenchmarkModels
from judgesmith.experiments.benchmarking.rating_levels import rating_levels
from judgesmith.programs.benchmarking import CALLS_PER_PAIR
from judgesmith.programs.perturbing.perturber import changes_by_rule

ATTEMPTS = 3
"""Times that a model is asked for an error at most; everything else is asked twice at most."""

MOST_SIDES = 4
"""Sides that a criterion has at most, where they are not known yet."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PlannedStep:
    """What one step asks of one model.

    Attributes
    ----------
    step, role, model : str
        What is done, by whom.
    calls : int
        Questions, if every first answer can be used and texts have room for all errors.
    max_calls : int
        The most there can be.
    """

    step: str
    role: str
    model: str
    calls: int
    max_calls: int


def planned_steps(start: Start, models: BenchmarkModels) -> list[PlannedStep]:
    """Return what building a benchmark asks, less what is on record already.

    Parameters
    ----------
    start : Start
        From ``start_of``.
    models : BenchmarkModels
        Who does the work; without a model, rules put errors in and ask nothing.

    Raises
    ------
    ValueError
        If the data have no such ratings as the perspective takes.

    Examples
    --------
    >>> from judgesmith.experiments import read_items
    >>> from judgesmith.experiments.benchmarking.beginning import start_of
    >>> from judgesmith.experiments.benchmarking.settings import ROLES, BenchmarkSettings
    >>> from judgesmith.programs.lm import model
    >>> settings = BenchmarkSettings(perspective="local", n_sources=2, n_candidates=3)
    >>> by_role = dict.fromkeys(ROLES, model("offline", ledger=None))
    >>> start = start_of(read_items("sample"), settings)
    >>> [(one.step, one.calls) for one in planned_steps(start, BenchmarkModels(by_role=by_role))]
    [('criteria taken apart', 2), ('references written', 6), ('comparator checked', 120)]
    """
    by_rule = changes_by_rule(models.by_role["injector"])
    return [
        PlannedStep(
            step=step,
            role=role,
            model=models.names[role],
            calls=n,
            max_calls=n * (ATTEMPTS if step in _BY_INJECTOR else 2),
        )
        for step, role, n in _steps(start)
        if n and not (step in _BY_INJECTOR and by_rule)
    ]


_BY_INJECTOR = ("errors put in", "pilot: errors put in", "single errors put in")


def _steps(start: Start) -> Iterator[tuple[str, str, int]]:
    settings, n_sources = start.settings, len(start.sources)
    texts = [
        len(one.first.references) + len(good) + settings.n_written
        for one, good in zip(start.sources, start.responses, strict=True)
    ]
    yield "criteria taken apart", "injector", len(start.unnamed.criteria)
    yield "references written", "writer", n_sources * settings.n_written
    yield "references rated", "rater", sum(n for n in texts if n > settings.n_references)
    if settings.perspective == "local":
        n_criteria = len(start.rubric.criteria)
        checked = min(n_sources, CHECKED_SOURCES)
        yield "errors put in", "injector", n_criteria * n_sources * settings.steps
        pairs = n_criteria * checked * settings.steps
        yield "comparator checked", "comparator", CALLS_PER_PAIR * pairs
        return
    yield from _global_steps(start, [min(n, settings.n_references) for n in texts])


def _global_steps(start: Start, n_references: list[int]) -> Iterator[tuple[str, str, int]]:
    settings, n_sources = start.settings, len(start.sources)
    n_pilot = settings.n_pilot(n_sources)
    rated = anchors = pairs = made = pilot = compared = piloted = single = 0
    for name in start.rubric.names:
        levels = rating_levels(name, start.dataset.scales.get(name))
        sides = sum(one.criterion == name for one in start.sub_aspects) or MOST_SIDES
        n_looked_at = len(texts_looked_at(start.dataset, name, levels, settings.n_anchors))
        anchors = settings.n_anchors * len(levels)
        rated += n_looked_at * settings.n_samples
        pairs += settings.n_anchors**2 * len(levels) * (len(levels) - 1) // 2
        made += (own := n_sources * settings.n_made * len(levels))
        compared += own * anchors
        pilot += (tried := n_pilot * len(TRIED))
        piloted += tried * anchors
        single += n_pilot * max(n_references) * sides
    yield "anchors rated", "rater", rated
    yield "comparator checked", "comparator", CALLS_PER_PAIR * (pairs + single)
    yield "pilot: errors put in", "injector", pilot
    yield "pilot: compared with anchors", "comparator", CALLS_PER_PAIR * piloted
    yield "errors put in", "injector", made
    yield "compared with anchors", "comparator", CALLS_PER_PAIR * compared
    yield "single errors put in", "injector", single

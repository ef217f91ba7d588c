"""Building a benchmark by injected errors, for the local and the global perspective.

The local perspective has sequences of texts, each with one error more than the one before. The
global perspective has texts with a rating on the scale of the data, found by comparisons; a pilot
shows how many errors correspond to which rating.
"""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from judgesmith.errors import InputError
from judgesmith.experiments.benchmark.anchor_texts import AnchorTexts, NoAnchorError, anchor_texts
from judgesmith.experiments.benchmark.models import refuse_unfinished
from judgesmith.experiments.benchmark.plan import (
    AnchorRelations,
    Built,
    OneMore,
    Plan,
    SeenErrors,
    compare_with_anchors,
    counts_dict,
    errors_counted,
    item_of,
    seen_errors,
)
from judgesmith.experiments.benchmark.report import ANCHORS, CANDIDATES
from judgesmith.experiments.benchmark.rows import (
    BenchmarkSource,
    BenchmarkText,
    drawn_sources,
    local_scale,
)
from judgesmith.experiments.benchmark.settings import Dropped, no_criterion_left
from judgesmith.metrics.anchors import AnchorRatings, Balance, balanced, rating_of
from judgesmith.metrics.comparators import neighbour_probabilities
from judgesmith.metrics.records import plain
from judgesmith.programs.perturbing.error_kinds import InjectionJob, drawn_sub_aspects
from judgesmith.programs.perturbing.injecting import inject_each, sequences
from judgesmith.programs.perturbing.rewriting import (
    Counts,
)
from judgesmith.results.progress import tell
from judgesmith.signatures.perturbation import Skipped, SubAspect, Target
from judgesmith.signatures.questions.texts import Reference
from judgesmith.signatures.rubric import Criterion

TRIED = (0, 1, 2, 3, 4, 6, 8, 10, 12, 15)
"""Numbers of errors that a pilot tries: few errors apart where few errors matter most."""


FEWEST_TEXTS = 3
"""Texts that two ratings must each have for their order to say anything: three against three are
all the other way round in one of twenty pilots in which errors make no difference."""


class UnratedPilotError(InputError):
    """No text of a pilot could be rated."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ErrorsPerRating:
    """How many errors texts get that are to have each rating."""

    levels: tuple[float, ...]
    n_errors: tuple[int, ...]
    n_texts: tuple[int, ...]

    @property
    def in_order(self) -> bool:
        """Say whether no rating takes more errors than a lower one, as one would expect."""
        return _falling(self.n_errors)

    @property
    def inverted(self) -> bool:
        """Say whether some rating takes more errors than a lower one, with enough texts of both."""
        both = zip(self.n_errors, self.n_texts, strict=True)
        return not _falling([n for n, n_texts in both if n_texts >= FEWEST_TEXTS])

    def to_dict(self) -> dict[str, Any]:
        rows = zip(self.levels, self.n_errors, self.n_texts, strict=True)
        return {f"{level:g}": {"n_errors": n, "pilot_texts": of} for level, n, of in rows}


def _falling(numbers: Sequence[int]) -> bool:
    return all(a >= b for a, b in pairwise(numbers))


def errors_per_rating(
    ratings: ArrayLike, n_errors: Sequence[int], *, levels: Sequence[float]
) -> ErrorsPerRating:
    """Return the median number of errors of the pilot's texts, by the rating that they had."""
    rated = np.asarray(ratings, dtype=np.float64)
    counts = np.asarray(n_errors, dtype=np.float64)
    own = [np.sort(counts[rated == level]) for level in levels]
    if not any(map(len, own)):
        raise UnratedPilotError(
            f"none of the {len(rated)} texts of the pilot could be rated, so the number of errors "
            "per rating is unknown.",
            hint="use another comparator, or build the local perspective.",
        )
    known = [(place, float(of[(len(of) - 1) // 2])) for place, of in enumerate(own) if len(of)]
    if known[0][0] > 0:
        known.insert(0, (0, float(counts.max())))
    if known[-1][0] < len(own) - 1:
        known.append((len(own) - 1, 0.0))
    places, medians = np.array(known, dtype=np.float64).T
    line = np.interp(np.arange(len(own)), places, medians)
    return ErrorsPerRating(
        levels=tuple(map(float, levels)),
        n_errors=tuple(int(one) for one in np.ceil(line - 0.5)),
        n_texts=tuple(map(len, own)),
    )


CHECKED_SOURCES = 30
"""Sources with whose sequences the comparator is checked: enough for an interval by kind."""

_Begun = tuple[BenchmarkSource, Reference, tuple[Target, ...]]


def build_local(plan: Plan) -> Built:
    """Return sequences from references, each text with one error more than the one before."""
    texts: list[BenchmarkText] = []
    criteria: dict[str, dict[str, Any]] = {}
    for place, criterion in enumerate(plan.criteria):
        kept, told = _sequences(plan, criterion, place)
        checked = _checked(plan, criterion, kept)
        texts += _texts(plan, criterion, kept)
        criteria[criterion.name] = {**told, "comparator": checked.to_dict()}
    if not texts:
        reasons = dict.fromkeys(
            why for one in criteria.values() for why in one["errors"]["dropped"]
        )
        raise InputError(
            f"no text could be made worse on any criterion: {'; '.join(reasons)}.",
            hint="give longer references, other sub-aspects, or another injector.",
        )
    order = {source.id: place for place, source in enumerate(plan.sources)}
    texts.sort(key=lambda one: order[one.source.id])
    return Built(texts=tuple(texts), criteria=criteria, files={})


def _sequences(plan: Plan, criterion: Criterion, place: int) -> tuple[list[_Begun], dict[str, Any]]:
    """Return the sequences of one criterion, and what is to be said of them."""
    settings = plan.settings
    begun = [
        (source, own[place % len(own)])
        for source in plan.sources
        if (own := plan.references.get(source.id, ()))
    ]
    sides = plan.sub_aspects[criterion.name]
    jobs = [plan.job(source, criterion, one, sides, key="steps") for source, one in begun]
    watch = plan.tells(f"errors put in ({criterion.name})", len(jobs))
    with plan.models.step("errors put in", "injector") as lm, errors_counted() as counts:
        made = sequences(
            jobs,
            settings.steps,
            lm,
            seed=settings.seed,
            donors=plan.donors,
            concurrency=plan.models.concurrency,
            told=plan.note,
            counts=counts,
        )
        found = []
        for (source, reference), (_, targets) in zip(begun, made, strict=True):
            found.append((source, reference, targets))
            tell(watch)
    kept = [one for one in found if len(one[2]) > 1]
    lengths = Counter(len(targets) for _, _, targets in found)
    return kept, {
        "sources": len(begun),
        "sequences": len(kept),
        "texts": sum(len(targets) for _, _, targets in kept),
        "lengths": {str(n): lengths[n] for n in sorted(lengths)},
        "short": counts.short,
        "lost": counts.lost,
        "errors": counts_dict(counts),
        "kinds": _kinds(kept),
    }


def _kinds(kept: Sequence[_Begun]) -> dict[str, int]:
    """Return how many errors of each side there are, most frequent first."""
    sides = Counter(error.sub_aspect for _, _, targets in kept for error in targets[-1].errors)
    return dict(sides.most_common())


def _checked(plan: Plan, criterion: Criterion, kept: Sequence[_Begun]) -> SeenErrors:
    pairs = [
        OneMore(source=source, better=better, worse=worse)
        for source, _, targets in kept[:CHECKED_SOURCES]
        for better, worse in itertools.pairwise(targets)
    ]
    with plan.models.step("comparator checked", "comparator") as lm:
        tell = plan.tells(f"comparator checked ({criterion.name})", len(pairs))
        return seen_errors(
            pairs,
            plan.comparator(criterion, lm),
            on_progress=tell,
            note=lambda said: plan.note(f"{criterion.name}: {said}"),
        )


def _texts(plan: Plan, criterion: Criterion, kept: Sequence[_Begun]) -> Iterator[BenchmarkText]:
    steps = plan.settings.steps
    for source, reference, targets in kept:
        for step, target in enumerate(targets):
            yield BenchmarkText(
                source=source,
                criterion=criterion,
                target=target,
                reference=reference.id,
                rating=steps - target.n_errors,
                scale=local_scale(steps),
                more={"step": step},
            )


COPY = "the same text as another one of its source"


@dataclass(frozen=True, slots=True, kw_only=True)
class CandidateText:
    """A text that is to be rated."""

    source: BenchmarkSource
    reference: Reference
    target: Target
    aimed: float | None = None  # the rating that its number of errors is for; None in a pilot


@dataclass(frozen=True, slots=True, kw_only=True)
class Order:
    """A text that is to be made."""

    source: BenchmarkSource
    reference: Reference
    n_errors: int
    aimed: float | None = None
    sides: tuple[SubAspect, ...] = ()


def made_candidates(
    plan: Plan, criterion: Criterion, orders: Sequence[Order], *, step: str
) -> tuple[list[CandidateText], Counts]:
    """Return the texts of some orders, and what became of the others."""
    jobs: dict[int, InjectionJob] = {}
    n_before: Counter[tuple[str, str]] = Counter()
    n_asked: Counter[tuple[str, str, tuple[SubAspect, ...]]] = Counter()
    for place, order in enumerate(orders):
        own = (order.source.id, order.reference.id)
        n_before[own] += 1
        if order.n_errors:
            job = _job(plan, criterion, order, key=f"{step} {n_before[own]}")
            # What is asked twice is to be answered twice: a model would make the same text again.
            asked = (*own, job.sub_aspects)
            jobs[place] = job.model_copy(update={"sample": n_asked[asked]})
            n_asked[asked] += 1
    watch = plan.tells(f"{step} ({criterion.name})", len(jobs))
    made: dict[int, Target] = {}
    with plan.models.step(step, "injector") as lm, errors_counted() as counts:
        done = inject_each(
            jobs.values(),
            lm,
            seed=plan.settings.seed,
            donors=plan.donors,
            concurrency=plan.models.concurrency,
            told=plan.note,
            counts=counts,
        )
        for place, (_, found) in zip(jobs, done, strict=True):
            if not isinstance(found, Skipped):
                made[place] = found
            tell(watch)
    candidates: dict[tuple[str, str], CandidateText] = {}
    for place, order in enumerate(orders):
        target = made.get(place) if order.n_errors else Target(text=order.reference.text)
        if target is None:
            continue
        known = candidates.setdefault(
            (order.source.id, target.text),
            CandidateText(
                source=order.source, reference=order.reference, target=target, aimed=order.aimed
            ),
        )
        if known.target is not target:
            counts.made -= bool(order.n_errors)
            counts.dropped[COPY] += 1
    return list(candidates.values()), counts


def _job(plan: Plan, criterion: Criterion, order: Order, *, key: str) -> InjectionJob:
    known = plan.sub_aspects[criterion.name]
    job = plan.job(order.source, criterion, order.reference, known, key=key)
    rng = job.generator(plan.settings.seed)
    sides = order.sides or drawn_sub_aspects(known, order.n_errors, rng)
    return job.model_copy(update={"sub_aspects": sides})


PILOT, MAKE = "pilot: errors put in", "errors put in"


def build_global(plan: Plan) -> Built:
    """Return texts with ratings, as many of each as can be had from every source."""
    texts: list[BenchmarkText] = []
    criteria: dict[str, dict[str, Any]] = {}
    anchors: list[dict[str, Any]] = []
    lines: list[dict[str, Any]] = []
    # All anchors before anything else: what cannot be is said before the larger part is paid.
    chosen, dropped = _anchored(plan)
    for own in chosen:
        found = _Criterion(plan, own.criterion, own).built()
        if isinstance(found, Dropped):
            dropped.append(found)
            continue
        anchors += own.rows()
        texts += found.texts
        criteria[own.criterion.name] = found.told
        lines += found.lines
    if not criteria:
        raise no_criterion_left(dropped)
    for one in dropped:
        plan.note(one.sentence)
    if not texts:
        raise InputError(
            "no text could be rated on any criterion.",
            hint="use another comparator, or take --perspective local.",
        )
    order = {source.id: place for place, source in enumerate(plan.sources)}
    texts.sort(key=lambda one: order[one.source.id])
    return Built(
        texts=tuple(texts),
        criteria=criteria,
        dropped=tuple(dropped),
        files={ANCHORS: anchors, CANDIDATES: lines},
    )


def _anchored(plan: Plan) -> tuple[list[AnchorTexts], list[Dropped]]:
    """Return the anchors of each criterion, and the criteria for which there are none in order."""
    chosen, dropped = [], []
    for criterion in plan.criteria:
        try:
            own = anchor_texts(plan, criterion)
        except NoAnchorError as none:
            without = Dropped(criterion=criterion.name, why="no_anchor", ratings=none.ratings)
            dropped.append(without)
            continue
        inverted = Dropped(criterion=criterion.name, why="anchors_inverted")
        if not own.accuracy.inverted or _kept(plan, inverted):
            chosen.append(own)
        else:
            dropped.append(inverted)
    return chosen, dropped


def _kept(plan: Plan, inverted: Dropped) -> bool:
    """Say whether a criterion is kept although its order is inverted, and note it if so."""
    if plan.settings.keep_inverted:
        plan.note(f"{inverted.criterion}: {inverted.fact}.")
    return plan.settings.keep_inverted


@dataclass(frozen=True, kw_only=True)
class _Found:
    texts: list[BenchmarkText]
    told: dict[str, Any]
    lines: list[dict[str, Any]]


@dataclass(frozen=True, kw_only=True, eq=False)
class _Rated:
    """Candidates, compared with anchors and rated."""

    candidates: list[CandidateText]
    relations: AnchorRelations
    ratings: AnchorRatings


class _Criterion:
    """The work on one criterion."""

    def __init__(self, plan: Plan, criterion: Criterion, anchors: AnchorTexts) -> None:
        self.plan = plan
        self.criterion = criterion
        self.anchors = anchors
        self.sources = tuple(one for one in plan.sources if plan.references.get(one.id))

    def built(self) -> _Found | Dropped:
        """Return the texts of the criterion, or why there are none."""
        plan, settings, levels = self.plan, self.plan.settings, self.anchors.levels
        rng = np.random.default_rng([settings.seed, 1])
        chosen = drawn_sources(self.sources, settings.n_pilot(len(self.sources)), rng=rng)
        try:
            needs, pilot = self._pilot(chosen)
        except UnratedPilotError:
            return Dropped(criterion=self.criterion.name, why="pilot_unrated")
        inverted = Dropped(criterion=self.criterion.name, why="pilot_inverted")
        if needs.inverted and not _kept(plan, inverted):
            return inverted
        if not needs.in_order and not needs.inverted:
            plan.note(
                f"{self.criterion.name}: in the pilot a higher rating had more errors than a lower "
                f"one, but fewer than {FEWEST_TEXTS} texts had one of them, which may be chance."
            )
        candidates, counts = made_candidates(
            plan, self.criterion, list(self._orders(needs)), step=MAKE
        )
        rated = self._rated(candidates, "compared with anchors")
        balance = balanced(
            rated.ratings.ratings,
            rated.ratings.values,
            sources=[one.source.id for one in candidates],
            levels=levels,
            per_rating=settings.per_rating,
            all_sources=[one.id for one in plan.sources],
        )
        told = {
            "anchors": self.anchors.to_dict(),
            "pilot": {"sources": len(chosen), "ratings": needs.to_dict(), "errors": pilot},
            "errors": counts_dict(counts),
            "compared": rated.relations.to_dict(),
            "tied": rated.ratings.n_tied,
            "unrated": rated.ratings.n_unrated,
            "balance": balance.to_dict(),
            "texts": len(balance.kept),
            "as_aimed": self._as_aimed(rated, balance),
            "neighbours": self._neighbours(rated, balance),
            "comparator": self._seen(chosen).to_dict(),
        }
        kept = set(balance.kept)
        return _Found(
            texts=[self._text(rated, place) for place in self._in_order(rated, balance)],
            told=told,
            lines=[self._line(rated, place, place in kept) for place in range(len(candidates))],
        )

    def _pilot(self, sources: Sequence[BenchmarkSource]) -> tuple[ErrorsPerRating, dict[str, Any]]:
        """Return how many errors make which rating, tried on a few sources."""
        orders = [
            Order(source=source, reference=own[turn % len(own)], n_errors=n)
            for source in sources
            for turn, n in enumerate(TRIED)
            if (own := self.plan.references[source.id])
        ]
        candidates, counts = made_candidates(self.plan, self.criterion, orders, step=PILOT)
        rated = self._rated(candidates, "pilot: compared with anchors")
        needs = errors_per_rating(
            rated.ratings.ratings,
            [one.target.n_errors for one in candidates],
            levels=self.anchors.levels,
        )
        return needs, counts_dict(counts)

    def _orders(self, needs: ErrorsPerRating) -> Iterator[Order]:
        """Yield what is to be made of every source, each text from the next reference."""
        for source in self.sources:
            references = itertools.cycle(self.plan.references[source.id])
            for rating, n_errors in zip(needs.levels, needs.n_errors, strict=True):
                for _ in range(self.plan.settings.n_made):
                    yield Order(
                        source=source,
                        reference=next(references),
                        n_errors=n_errors,
                        aimed=rating,
                    )

    def _rated(self, candidates: list[CandidateText], step: str) -> _Rated:
        """Return candidates with the ratings that comparisons give them."""
        plan, levels = self.plan, self.anchors.levels
        items = [item_of(one.source, one.target.text) for one in candidates]
        total = len(items) * sum(map(len, self.anchors.items))
        with plan.models.step(step, "comparator") as lm:
            relations = compare_with_anchors(
                items,
                self.anchors.items,
                plan.comparator(self.criterion, lm),
                on_progress=plan.tells(f"{step} ({self.criterion.name})", total),
            )
        refuse_unfinished([relations.tally.cause])
        aimed = [np.nan if one.aimed is None else one.aimed for one in candidates]
        ratings = rating_of(
            relations.signs, levels=levels, aimed=aimed, n_anchors=relations.n_anchors
        )
        return _Rated(candidates=candidates, relations=relations, ratings=ratings)

    def _in_order(self, rated: _Rated, balance: Balance) -> list[int]:
        """Return the places of what is kept, of each source the best ratings first."""
        return sorted(
            balance.kept,
            key=lambda place: (-float(rated.ratings.ratings[place]), place),
        )

    def _text(self, rated: _Rated, place: int) -> BenchmarkText:
        one = rated.candidates[place]
        return BenchmarkText(
            source=one.source,
            criterion=self.criterion,
            target=one.target,
            reference=one.reference.id,
            rating=float(rated.ratings.ratings[place]),
            scale=self.anchors.scale,
            more={"aimed": one.aimed, "value": round(float(rated.ratings.values[place]), 9)},
        )

    def _line(self, rated: _Rated, place: int, kept: bool) -> dict[str, Any]:
        """Return what became of a candidate."""
        one = rated.candidates[place]
        rating, value = rated.ratings.ratings[place], rated.ratings.values[place]
        return {
            "source_id": one.source.id,
            "criterion": self.criterion.name,
            "reference": one.reference.id,
            "n_errors": one.target.n_errors,
            "aimed": one.aimed,
            "rating": plain(float(rating)),
            "value": plain(round(float(value), 9)),
            "kept": kept,
        }

    def _as_aimed(self, rated: _Rated, balance: Balance) -> dict[str, Any]:
        """Return how many of the texts that are kept have the rating they were made for."""
        aimed = [rated.candidates[place].aimed for place in balance.kept]
        given = [float(rated.ratings.ratings[place]) for place in balance.kept]
        n_equal = sum(a == b for a, b in zip(aimed, given, strict=True))
        return {"texts": len(given), "as_aimed": n_equal}

    def _neighbours(self, rated: _Rated, balance: Balance) -> Any:
        kept = list(balance.kept)
        return plain(
            neighbour_probabilities(
                rated.relations.signs[kept],
                rated.ratings.ratings[kept],
                levels=self.anchors.levels,
                sources=[rated.candidates[place].source.id for place in kept],
                n_anchors=rated.relations.n_anchors[kept],
            )
        )

    def _seen(self, sources: Sequence[BenchmarkSource]) -> Any:
        """Return which single errors of every side the comparator detects."""
        plan = self.plan
        orders = [
            Order(source=source, reference=reference, n_errors=1, sides=(side,))
            for source in sources
            for reference in plan.references[source.id]
            for side in plan.sub_aspects[self.criterion.name]
        ]
        made, _ = made_candidates(plan, self.criterion, orders, step="single errors put in")
        pairs = [
            OneMore(source=one.source, better=Target(text=one.reference.text), worse=one.target)
            for one in made
        ]
        with plan.models.step("comparator checked", "comparator") as lm:
            return seen_errors(
                pairs,
                plan.comparator(self.criterion, lm),
                note=lambda said: plan.note(f"{self.criterion.name}: {said}"),
            )

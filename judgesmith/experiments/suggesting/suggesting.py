"""Choosing which rows of a set people should rate next, by what a judge says of them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from judgesmith.errors import InputError
from judgesmith.experiments.dataset import DataSet, check_dataset
from judgesmith.experiments.suggesting.candidates import Candidates, doubts_of, score_before
from judgesmith.experiments.suggesting.marks import RANDOM
from judgesmith.experiments.suggesting.strategies import DEFAULT, STRATEGIES, diverse
from judgesmith.programs import judge_items
from judgesmith.programs.artifacts.saved_ensembles import AnySaved
from judgesmith.programs.judging.runner import judges_sources
from judgesmith.signatures import RatedItem
from judgesmith.signatures.judgement import Cause, Reason

if TYPE_CHECKING:
    import dspy


@dataclass(frozen=True, kw_only=True, eq=False)
class Suggestions:
    """Rows to rate next, and what became of the others.

    Attributes
    ----------
    rows : tuple of (RatedItem, str)
        The rows in random order, each with the strategy that it was chosen by.
    n_rows : int
        Rows that there were.
    n_rated, n_seen, n_repeated : int
        Of these, rows that are rated already; that the judge was made from; and that repeat the
        texts of another one. They are left out, each counted once, in this order.
    n_unasked : int
        Rows that were left out by ``at_most``.
    n_unscored : int
        Rows without a score.
    causes : dict of Cause to int
        Why, code and sentence, with how many, most frequent first.
    """

    rows: tuple[tuple[RatedItem, str], ...]
    n_rows: int
    n_rated: int
    n_seen: int
    n_repeated: int
    n_unasked: int = 0
    n_unscored: int = 0
    causes: Mapping[Cause, int] = field(default_factory=dict)

    @property
    def counts(self) -> dict[str, int]:
        """How many rows were chosen by which strategy."""
        return dict(Counter(by for _, by in self.rows))


@dataclass(frozen=True, kw_only=True, eq=False)
class Unrated:
    """Rows of a set that a judge may be asked about.

    Attributes
    ----------
    places : tuple of int
        Where they stand in the set.
    known : frozenset of int
        Groups of the set's rows that are rated or that the judge has seen.
    n_rated, n_seen, n_repeated, n_unasked
        See ``Suggestions``.
    """

    places: tuple[int, ...]
    known: frozenset[int]
    n_rated: int
    n_seen: int
    n_repeated: int
    n_unasked: int

    @classmethod
    def among(
        cls,
        dataset: DataSet,
        seen: Collection[str],
        *,
        criteria: Collection[str] = (),
        at_most: int | None = None,
        rng: np.random.Generator,
    ) -> Unrated:
        """Return the rows that nobody has rated, that were not seen, and each text once.

        Parameters
        ----------
        dataset : DataSet
            The rows.
        seen : collection of str
            Keys of the rows that the judge was made from.
        criteria : collection of str
            A row that lacks a rating on one of these is not rated; none are all that are rated.
        at_most : int or None
            How many are drawn at random, if there are more.
        rng : Generator
            Draws them.
        """
        counts = Counter[str]()
        kept: list[int] = []
        texts: set[str] = set()
        known = set()
        for place, item in enumerate(dataset):
            what = _left_out(item, seen, texts, criteria)
            counts[what] += 1
            if what in ("rated", "seen"):
                known.add(int(dataset.groups[place]))
            if not what:
                kept.append(place)
                texts.add(item.key)
        n_unasked = 0
        if at_most is not None and len(kept) > at_most:
            n_unasked = len(kept) - at_most
            kept = sorted(int(place) for place in rng.choice(kept, at_most, replace=False))
        return cls(
            places=tuple(kept),
            known=frozenset(known),
            n_rated=counts["rated"],
            n_seen=counts["seen"],
            n_repeated=counts["repeated"],
            n_unasked=n_unasked,
        )


def suggest(
    judge: AnySaved,
    dataset: DataSet,
    *,
    n: int = 20,
    n_random: int = 0,
    strategy: str = DEFAULT,
    criteria: Collection[str] = (),
    at_most: int | None = None,
    seed: int = 0,
    lm: dspy.LM | None = None,
    concurrency: int = 32,
    progress: Callable[[int], None] | None = None,
) -> Suggestions:
    """Return the rows of a set whose rating would help the judge most.

    Rows that are rated, that the judge was made from, or that repeat another's texts are left
    out and counted. So is what the judge could not score.

    Parameters
    ----------
    judge : SavedJudge, SavedPanel or SavedCalibrated
        What judges; it must not rank, since ranks within a source tell no doubt.
    dataset : DataSet
        Rows, rated or not.
    n, n_random : int
        Rows that the strategy chooses, and rows that are drawn at random besides.
    strategy : {"stratified", "coverage", "disagreement", "random"}
        How rows are chosen, see ``STRATEGIES``.
    criteria : collection of str
        What is to be rated: a row that lacks one of these ratings is not rated yet. By default
        any rating will do.
    at_most : int or None
        Rows that are judged; of more, so many are drawn at random. None judges all.
    seed : int
        Of all that is drawn.
    lm, concurrency, progress
        As for ``score_file``.

    Raises
    ------
    ValueError
        If there is no such strategy, nothing is to be chosen, no row is left, or the judge ranks.

    Examples
    --------
    >>> from judgesmith.experiments import CompileSettings, compile_judge, read_items
    >>> data = read_items("sample")
    >>> few = compile_judge(data.subset(range(24)), CompileSettings(criteria="given", n_rounds=1))
    >>> unrated = [item.model_copy(update={"human": {}}) for item in data]
    >>> found = suggest(few.saved, DataSet(name="pool", items=tuple(unrated)), n=4, n_random=2)
    >>> found.n_seen, len({item.source_id for item, _ in found.rows}), found.counts["random"]
    (16, 6, 2)
    """
    check_dataset(dataset)
    if strategy not in STRATEGIES:
        raise InputError(f"strategies are {', '.join(STRATEGIES)}; got {strategy!r}.")
    if n < 0 or n_random < 0 or not n + n_random:
        raise InputError(f"choose one row or more; got {n} chosen and {n_random} random ones.")
    refuse_ranking(judge)
    drawing, random, ordering, shuffling = np.random.default_rng([seed, 20]).spawn(4)
    unrated = Unrated.among(
        dataset, judge.seen_keys, criteria=criteria, at_most=at_most, rng=drawing
    )
    if not unrated.places:
        raise InputError(nothing_left(dataset.name, unrated))
    items = [dataset[place] for place in unrated.places]
    needed = bool(n) and strategy != RANDOM
    # Rows drawn at random are drawn of all, whatever the judge makes of them.
    chosen = [int(one) for one in random.permutation(len(items))[: n_random + n * (not needed)]]
    rows = [(items[place], RANDOM) for place in chosen]
    causes = Counter[Cause]()
    if needed:
        judgements = judge_items(judge, items, lm=lm, concurrency=concurrency, progress=progress)
        lost = (one.cause for one in judgements if score_before(one) is None)
        causes.update(one or Cause(Reason.OTHER, "") for one in lost)
        scored = [place for place, one in enumerate(judgements) if score_before(one) is not None]
        candidates = Candidates(
            items=tuple(items[place] for place in scored),
            scores=np.array([score_before(judgements[place]) for place in scored], dtype=float),
            doubt=doubts_of([judgements[place] for place in scored]),
            sources=dataset.groups[[unrated.places[place] for place in scored]],
        )
        order = STRATEGIES[strategy](candidates, n, ordering)
        drawn = set(chosen)
        taken = [place for place, at in enumerate(scored) if at in drawn]
        best = diverse(candidates, order, n, taken=taken, known=unrated.known)
        rows += [(candidates.items[place], strategy) for place in best]
    return Suggestions(
        rows=tuple(rows[int(place)] for place in shuffling.permutation(len(rows))),
        n_rows=len(dataset),
        n_rated=unrated.n_rated,
        n_seen=unrated.n_seen,
        n_repeated=unrated.n_repeated,
        n_unasked=unrated.n_unasked,
        n_unscored=causes.total(),
        causes=dict(causes.most_common()),
    )


def refuse_ranking(judge: AnySaved) -> None:
    """Refuse a judge whose scores are ranks within a source.

    Raises
    ------
    ValueError
        If it is one.
    """
    if judges_sources(judge):
        raise InputError(
            "the judge ranks the responses to each source, and ranks say of no text how sure it "
            "is.",
            hint="name a judge that scores single texts.",
        )


def nothing_left(name: str, unrated: Unrated) -> str:
    """Return why no row of a set is left to choose from."""
    return (
        f"no row of {name} is left to be rated: {unrated.n_rated} are rated, the judge was made "
        f"from {unrated.n_seen}, and {unrated.n_repeated} repeat another; give other texts."
    )


def _left_out(
    item: RatedItem, seen: Collection[str], texts: Collection[str], criteria: Collection[str]
) -> str:
    """Return why a row is left out, nothing for one that is not."""
    rated: Sequence[bool] = [bool(ratings) for ratings in item.human.values()]
    if criteria:
        rated = [all(item.human.get(name) for name in criteria)]
    if any(rated):
        return "rated"
    if item.key in seen:
        return "seen"
    return "repeated" if item.key in texts else ""

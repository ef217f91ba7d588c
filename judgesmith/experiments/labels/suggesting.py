"""Which rows of a set people should rate next, by what a judge says of them.

A strategy puts candidates in the order in which it would have them rated. What is taken of that
order is ``diverse``: no source twice and no near copy while there are others.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from judgesmith.data.columns import OVERALL
from judgesmith.data.items import DataSet, check_dataset
from judgesmith.data.sheets.ratings import RANDOM
from judgesmith.data.targets import FRACTION, MEAN, PLUS
from judgesmith.errors import InputError
from judgesmith.programs import score_batch
from judgesmith.programs.artifacts.record import SavedRecord
from judgesmith.programs.artifacts.saved_ensembles import AnySaved
from judgesmith.programs.families.ensemble.members import (
    CalibratedJudgement,
    PanelJudgement,
    doubt_of,
)
from judgesmith.programs.judging.runner import judges_sources
from judgesmith.results.base import Result
from judgesmith.results.progress import OnProgress, shows_progress
from judgesmith.signatures import Judgement, RatedItem, Scale
from judgesmith.signatures.judgement import Cause, Reason

if TYPE_CHECKING:
    import dspy


def asked_criteria(
    judge: SavedRecord, dataset: DataSet, rate: Mapping[str, Scale | None] | None = None
) -> dict[str, Scale]:
    """Return the criteria to be rated, each with its scale."""
    given = dict(rate or {})
    names = list(given) or _names(judge, dataset)
    found: dict[str, Scale] = {}
    for name in names:
        scale = given.get(name) or dataset.scales.get(name)
        if scale is None and (len(names) == 1 or judge.human_scale != FRACTION):
            scale = judge.human_scale
        if scale is None:
            raise InputError(
                f"the scale of {name} is not known: the judge's target is {judge.target}, on "
                f"{judge.human_scale}.",
                hint=f"say it, as in --rate {name}=LOW..HIGH.",
            )
        found[name] = scale
    return found


def read_rates(texts: Sequence[str]) -> dict[str, Scale | None]:
    """Return the criteria, with their scales where they are said, that ``NAME[=LOW..HIGH]`` say."""
    found: dict[str, Scale | None] = {}
    for text in texts:
        name, separator, scale = text.rpartition("=") if "=" in text else (text, "", "")
        name = name.strip()
        if not name:
            raise InputError(
                f"what is to be rated is written NAME or NAME=LOW..HIGH; got {text!r}."
            )
        if name in found:
            raise InputError(f"{name} is to be rated twice.", hint="name it once.")
        found[name] = Scale.parse(scale) if separator else None
    return found


def _names(judge: SavedRecord, dataset: DataSet) -> list[str]:
    """Return the criteria of a judge's target."""
    if judge.target != MEAN or MEAN in dataset.scales:
        known = dataset.scales
        # A criterion may have the sign in its name.
        return [judge.target] if judge.target in known else judge.target.split(PLUS)
    rated = [name for name in dataset.criteria if name != OVERALL]
    if not rated:
        raise InputError(
            "the judge's target is the mean of several criteria, which these rows do not tell.",
            hint="say each, as in --rate clear=1..5 --rate kind=1..5, or give the rated rows, too.",
        )
    return rated


FloatArray = NDArray[np.float64]
IntArray = NDArray[np.intp]


@dataclass(frozen=True, kw_only=True, eq=False)
class CandidateItems:
    """Scored rows without ratings."""

    items: tuple[RatedItem, ...]
    scores: FloatArray
    doubt: FloatArray
    sources: IntArray

    def __len__(self) -> int:
        return len(self.items)


def score_before(judgement: Judgement) -> float | None:
    """Return a score, also of a text that a calibrated judge leaves to people."""
    if isinstance(judgement, CalibratedJudgement) and judgement.uncalibrated is not None:
        return judgement.uncalibrated
    return judgement.score


def doubts_of(judgements: Sequence[Judgement]) -> FloatArray:
    """Return how unsure a judge is of each text: by members, calibration, or criteria."""
    own = np.array([_own_doubt(one) for one in judgements], dtype=float)
    told = np.isfinite(own)
    if told.any() and np.ptp(own[told]) > 0:
        return np.where(told, own, 0.0)
    names = sorted({name for one in judgements for name in one.criteria})
    said = np.array([[_points(one, name) for name in names] for one in judgements], dtype=float)
    said = said.reshape(len(judgements), len(names))
    known = np.isfinite(said)
    n_known = known.sum(axis=0)
    means = np.where(known, said, 0.0).sum(axis=0) / np.maximum(n_known, 1)
    apart = np.where(known, said - means, 0.0)
    n_said = np.maximum(known.sum(axis=1), 1)
    middle = apart.sum(axis=1) / n_said
    squares = np.where(known, (apart - middle[:, None]) ** 2, 0.0)
    return np.asarray(np.sqrt(squares.sum(axis=1) / n_said))


def _own_doubt(judgement: Judgement) -> float:
    """Return what a judgement itself says of how sure it is, nan where it says nothing."""
    found = None
    if isinstance(judgement, PanelJudgement):
        found = doubt_of(judgement, "members")
    elif isinstance(judgement, CalibratedJudgement):
        found = judgement.doubt
        if found is None and judgement.low is not None and judgement.high is not None:
            found = judgement.high - judgement.low
    return math.nan if found is None else found


def _points(judgement: Judgement, name: str) -> float:
    one = judgement.criteria.get(name)
    return math.nan if one is None or one.score is None else one.score


DEFAULT = "stratified"
"""What lost on none of the sets that benchmark ``suggesting`` was first run on."""

Strategy = Callable[[CandidateItems, int, np.random.Generator], list[int]]
"""Returns all candidates in order, given how many will be rated."""

_ALIKE = 0.8
_WORD = re.compile(r"\w+")


def at_random(candidates: CandidateItems, n: int, rng: np.random.Generator) -> list[int]:
    return [int(place) for place in rng.permutation(len(candidates))]


def by_disagreement(candidates: CandidateItems, n: int, rng: np.random.Generator) -> list[int]:
    """Return the rows that the judge is least sure of first; ties in random order."""
    order = np.lexsort((rng.permutation(len(candidates)), -candidates.doubt))
    return [int(place) for place in order]


def by_coverage(candidates: CandidateItems, n: int, rng: np.random.Generator) -> list[int]:
    """Return rows from all over the range of scores: one from each part of it in turn."""
    return _in_turn(_parts(candidates.scores, n), rng.permutation(len(candidates)), rng)


def by_stratum(candidates: CandidateItems, n: int, rng: np.random.Generator) -> list[int]:
    """Return rows from all over the range of scores, the least sure of each part first."""
    ranks = np.empty(len(candidates), dtype=np.intp)
    ranks[by_disagreement(candidates, n, rng)] = np.arange(len(candidates))
    return _in_turn(_parts(candidates.scores, n), ranks, rng)


STRATEGIES: Mapping[str, Strategy] = {
    "stratified": by_stratum,
    "coverage": by_coverage,
    "disagreement": by_disagreement,
    RANDOM: at_random,
}
"""All strategies by name."""


def diverse_rows(
    candidates: CandidateItems,
    order: Sequence[int],
    n: int,
    *,
    taken: Iterable[int] = (),
    known: Collection[int] = (),
) -> list[int]:
    """Return the first ``n`` rows of an order, without a source twice and without near copies."""
    before = set(taken)
    chosen: list[int] = []
    left = [place for place in order if place not in before]
    for once, apart in ((True, True), (False, True), (False, False)):
        sources = {int(candidates.sources[place]) for place in (*before, *chosen)}.union(known)
        words = [_words(candidates, place) for place in (*before, *chosen)]
        later = []
        for place in left:
            if len(chosen) == n:
                return chosen
            source, own = int(candidates.sources[place]), _words(candidates, place)
            if (once and source in sources) or (apart and any(_alike(own, one) for one in words)):
                later.append(place)
                continue
            chosen.append(place)
            sources.add(source)
            words.append(own)
        left = later
    return chosen


def _parts(scores: FloatArray, n: int) -> list[int]:
    """Return which of ``n`` equally wide parts of their range scores lie in."""
    width = float(np.ptp(scores))
    if width == 0:
        return [0] * len(scores)
    cells = np.floor((scores - scores.min()) / width * n)
    return [int(cell) for cell in np.minimum(cells, n - 1)]


def _in_turn(
    parts: Sequence[int], ranks: Sequence[int] | np.ndarray, rng: np.random.Generator
) -> list[int]:
    """Return places part by part in turn, the lowest rank of each part first."""
    rows: dict[int, list[int]] = {}
    for place in np.argsort(np.asarray(ranks), kind="stable").tolist():
        rows.setdefault(parts[place], []).append(place)
    turns = [rows[part] for part in sorted(rows)]
    order: list[int] = []
    for turn in range(max(map(len, turns), default=0)):
        of_turn = [one[turn] for one in turns if turn < len(one)]
        order += [of_turn[place] for place in rng.permutation(len(of_turn))]
    return order


def _words(candidates: CandidateItems, place: int) -> frozenset[str]:
    """Return the distinct words of a response, or the response where it has none."""
    text = candidates.items[place].response.casefold()
    return frozenset(_WORD.findall(text)) or frozenset((text,))


def _alike(first: frozenset[str], second: frozenset[str]) -> bool:
    """Say whether two texts share most of their words."""
    return len(first & second) >= _ALIKE * len(first | second)


@dataclass(frozen=True, kw_only=True, eq=False)
class Suggestions(Result):
    """Rows to rate next, and what became of the others.

    Attributes
    ----------
    rows : tuple of (RatedItem, str)
        The rows in random order, each with the strategy that chose it.
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
    chance : float or None
        The probability with which each row that could be chosen was drawn at random; None where
        none was.
    """

    rows: tuple[tuple[RatedItem, str], ...]
    n_rows: int
    n_rated: int
    n_seen: int
    n_repeated: int
    n_unasked: int = 0
    n_unscored: int = 0
    causes: Mapping[Cause, int] = field(default_factory=dict)
    chance: float | None = None

    def _rows(self) -> Iterator[dict[str, Any]]:
        for item, why in self.rows:
            ids = {"source_id": item.source_id, "system_id": item.system_id}
            yield {**ids, "why": why, "response": item.response}

    @property
    def counts(self) -> dict[str, int]:
        """How many rows each strategy chose."""
        return dict(Counter(by for _, by in self.rows))


@dataclass(frozen=True, kw_only=True, eq=False)
class Unrated:
    """Rows of a set that a judge may be asked about."""

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
        """Return the rows that are neither rated nor seen, each text once."""
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


@shows_progress
def _check_choice(strategy: str, n: int, n_random: int) -> None:
    if strategy not in STRATEGIES:
        raise InputError(f"strategies are {', '.join(STRATEGIES)}; got {strategy!r}.")
    if n < 0 or n_random < 0 or not n + n_random:
        raise InputError(f"choose one row or more; got {n} chosen and {n_random} random ones.")


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
    on_progress: OnProgress | None = None,
    progress: bool = True,
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
        Rows that the strategy chooses, and additional rows drawn at random.
    strategy : {"stratified", "coverage", "disagreement", "random"}
        How rows are chosen, see ``STRATEGIES``.
    criteria : collection of str
        What is to be rated: a row that lacks one of these ratings is not rated yet. By default
        any rating will do.
    at_most : int or None
        Rows that are judged; of more, so many are drawn at random. None judges all.
    seed : int
        Random seed.
    lm, concurrency, on_progress, progress
        As for ``score_file``.

    Raises
    ------
    ValueError
        If there is no such strategy, nothing is to be chosen, no row is left, or the judge ranks.

    Examples
    --------
    >>> from judgesmith.data import read_items
    >>> from judgesmith.experiments import CompileSettings, compile_judge
    >>> data = read_items("sample")
    >>> few = compile_judge(data.subset(range(24)), CompileSettings(criteria="given", n_rounds=1))
    >>> unrated = [item.model_copy(update={"human": {}}) for item in data]
    >>> found = suggest(few.saved, DataSet(name="pool", items=tuple(unrated)), n=4, n_random=2)
    >>> found.n_seen, len({item.source_id for item, _ in found.rows}), found.counts["random"]
    (16, 6, 2)
    """
    check_dataset(dataset)
    _check_choice(strategy, n, n_random)
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
        judgements = score_batch(
            judge, items, lm=lm, concurrency=concurrency, on_progress=on_progress
        )
        lost = (one.cause for one in judgements if score_before(one) is None)
        causes.update(one or Cause(Reason.OTHER, "") for one in lost)
        scored = [place for place, one in enumerate(judgements) if score_before(one) is not None]
        candidates = CandidateItems(
            items=tuple(items[place] for place in scored),
            scores=np.array([score_before(judgements[place]) for place in scored], dtype=float),
            doubt=doubts_of([judgements[place] for place in scored]),
            sources=dataset.groups[[unrated.places[place] for place in scored]],
        )
        order = STRATEGIES[strategy](candidates, n, ordering)
        drawn = set(chosen)
        taken = [place for place, at in enumerate(scored) if at in drawn]
        best = diverse_rows(candidates, order, n, taken=taken, known=unrated.known)
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
        chance=len(chosen) / (len(items) + unrated.n_unasked) if chosen else None,
    )


def refuse_ranking(judge: AnySaved) -> None:
    """Refuse a judge whose scores are ranks within a source."""
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

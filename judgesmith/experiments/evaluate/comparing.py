"""Which of two judges correlates better with human ratings, by how much, and how surely."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, get_args

import numpy as np

from judgesmith.data.items import DataSet
from judgesmith.data.reading import READ_OPTIONS, SourceGiven, as_dataset
from judgesmith.data.score_files import Scores
from judgesmith.data.targets import Targets, targets_of
from judgesmith.errors import InputError
from judgesmith.experiments.compile.settings import UNRATED
from judgesmith.experiments.evaluate.agreement import (
    STATISTICS,
    Gain,
    Unscored,
    gain_report,
    unscored,
)
from judgesmith.experiments.evaluate.judged_rows import (
    JudgedRows,
    JudgeGiven,
    as_judge,
    rows_of_judge,
    rows_of_scores,
)
from judgesmith.experiments.evaluate.label_summary import label_indices
from judgesmith.experiments.evaluate.label_verdicts import judged_labels
from judgesmith.experiments.evaluate.within_source import (
    LEVEL,
    check_within_source,
    only_within_sources,
)
from judgesmith.front_door import public
from judgesmith.metrics import PairedEstimate, holm, permutation_test, tie_aware_accuracy_difference
from judgesmith.metrics.arrays import Seed, fraction, generator
from judgesmith.metrics.comparing import SignificanceTest, Swap, williams_test
from judgesmith.metrics.correlation import Level, Statistic
from judgesmith.metrics.pairs import PairLevel
from judgesmith.metrics.records import plain
from judgesmith.metrics.verdicts import VerdictComparison, compare_verdicts
from judgesmith.optimizers import Agreement, PredictionTable
from judgesmith.optimizers.objectives.agreement import parse_agreement
from judgesmith.programs.artifacts.saved_ensembles import AnySaved
from judgesmith.programs.families.ensemble.judges import AnyJudge
from judgesmith.results.base import Result
from judgesmith.results.progress import OnProgress, shows_progress
from judgesmith.signatures.items import Aggregate
from judgesmith.signatures.judgement import by_code
from judgesmith.signatures.rubric import folded

if TYPE_CHECKING:
    from collections.abc import Sequence

    from judgesmith.programs.lm import AnyModel

PAIRS = "pairs"
"""What the share of pairs is called beside correlations."""

FEW_SOURCES_RESAMPLES = 10_000
"""Resamples under 100 sources, where the p-values of fewer cannot be small enough."""

PAIR_LEVELS: tuple[PairLevel, ...] = ("dataset", "sample")


@dataclass(frozen=True, kw_only=True, eq=False)
class ComparisonTests(Result):
    """What other tests say of the differences in a :data:`Gain`."""

    pairs: Mapping[PairLevel, PairedEstimate]
    holm: Mapping[Level, Mapping[str, float]]
    permutation: Mapping[Level, Mapping[Statistic, SignificanceTest]]
    swap: Swap
    williams: Mapping[Level, SignificanceTest]

    def to_dict(self) -> dict[str, Any]:
        return {
            "pairs": plain(self.pairs),
            "holm": plain(self.holm),
            "swap": self.swap,
            "permutation": {
                level: {statistic: _numbers(one) for statistic, one in row.items()}
                for level, row in self.permutation.items()
            },
            "williams": {level: _numbers(one) for level, one in self.williams.items()},
        }


def comparison_tests(
    first: PredictionTable,
    second: PredictionTable,
    gain: Gain,
    *,
    rng: np.random.Generator,
    confidence: float = 0.95,
) -> ComparisonTests:
    """Return the tests of the differences in ``gain``, of the same rows."""
    scored = np.flatnonzero(~(np.isnan(first.predicted) | np.isnan(second.predicted)))
    one, other = first.take(scored), second.take(scored)
    swap: Swap = "both" if len(np.unique(one.systems)) > 1 else "inputs"
    # The same permutations for every statistic: none depends on which others there are.
    seed = int(rng.integers(2**63))
    tested = {
        level: {
            statistic: permutation_test(
                one.human,
                one.predicted,
                other.predicted,
                sources=one.sources,
                systems=one.systems,
                statistic=statistic,
                level=level,
                swap=swap,
                seed=np.random.default_rng(seed),
            )
            for statistic in row
        }
        for level, row in gain.items()
    }
    williams: dict[Level, SignificanceTest] = {}
    if "dataset" in gain:
        williams["dataset"] = williams_test(one.human, one.predicted, other.predicted)
    if "system" in gain:
        williams["system"] = williams_test(*_system_means(one, other))
    pairs = {
        level: tie_aware_accuracy_difference(
            one.human,
            one.predicted,
            other.predicted,
            sources=one.sources.tolist(),
            level=level,
            confidence=confidence,
        ).reported()
        for level in PAIR_LEVELS
        if level in gain
    }
    return ComparisonTests(
        pairs=pairs, holm=_holm(gain, pairs), permutation=tested, swap=swap, williams=williams
    )


def _holm(gain: Gain, pairs: Mapping[PairLevel, PairedEstimate]) -> dict[Level, dict[str, float]]:
    """Return all p-values of a gain and of pairs, adjusted together."""
    given: dict[tuple[Level, str], float] = {
        (level, statistic): one.p_value
        for level, row in gain.items()
        for statistic, one in row.items()
    }
    given |= {(level, PAIRS): one.p_value for level, one in pairs.items()}
    found: dict[Level, dict[str, float]] = {level: {} for level in gain}
    for (level, name), p in zip(given, holm(list(given.values())).tolist(), strict=True):
        found[level][name] = p
    return found


def _system_means(first: PredictionTable, second: PredictionTable) -> list[np.ndarray]:
    """Return each system's mean by people, by the first, and by the second."""
    systems, codes = np.unique(first.systems, return_inverse=True)
    sizes = np.bincount(codes, minlength=len(systems))[codes]
    # Dividing first keeps sums of huge scores finite.
    return [
        np.bincount(codes, weights=values / sizes, minlength=len(systems))
        for values in (first.human, first.predicted, second.predicted)
    ]


def _numbers(test: SignificanceTest) -> dict[str, Any]:
    """Return the numbers of a test; what changes hands is told once, for all of them."""
    return {name: one for name, one in test.to_dict().items() if not isinstance(one, str)}


LabelRate = Literal["balanced_accuracy", "tnr", "tpr"]
"""What may decide between the labels of two judges; without another, the first."""

LABEL_RATES: tuple[LabelRate, ...] = get_args(LabelRate)

OBJECTIVE = "pearson"
"""What decides where raters gave ratings, unless told otherwise.

Compilations and evaluations lead with it, too. A search takes Q instead, so that no single
correlation decides.
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Side:
    """One of two judges that are compared."""

    label: str
    scored_by: str
    unscored: Unscored
    n_seen: int
    knows_seen: bool = True
    ranks: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class LabelComparison:
    """Differences of two judges' labels, A minus B; ``holm``: p-values adjusted for all three."""

    labels: tuple[str, ...]
    positive: str
    differences: VerdictComparison
    holm: Mapping[str, float]
    unseen: bool  # whether they are of rows that neither judge is known to be made from
    notes: tuple[str, ...]

    @property
    def rates(self) -> dict[str, PairedEstimate]:
        """The differences by name."""
        return {name: getattr(self.differences, name) for name in LABEL_RATES}

    def is_clear(self, name: str) -> bool:
        """Whether a difference is significant by its adjusted p-value and, if any, its interval."""
        one = self.rates[name]
        around_zero = one.low <= 0 <= one.high
        return self.holm[name] <= 1 - one.confidence and not (around_zero or one.has_few_groups)

    @property
    def better(self) -> Literal["a", "b"] | None:
        """Which judge's balanced accuracy is clearly higher."""
        if not self.is_clear("balanced_accuracy"):
            return None
        return "a" if self.rates["balanced_accuracy"].value > 0 else "b"

    def to_dict(self) -> dict[str, Any]:
        return {
            "labels": list(self.labels),
            "positive": self.positive,
            "better": self.better,
            **self.differences.to_dict(),
            "holm": plain(self.holm),
        }


def _compared_labels(
    first: JudgedRows,
    second: JudgedRows,
    targets: Targets,
    *,
    rng: np.random.Generator,
    confidence: float,
) -> LabelComparison | None:
    """Return the differences of labels; None where people, or either judge, give none."""
    if not targets.is_verdict:
        return None
    names = targets.scale.labels
    sides = [one for side in (first, second) if (one := judged_labels(side, targets)) is not None]
    if len(sides) < 2:
        return None
    both = np.all([one.labels >= 0 for one in sides], axis=0)
    unseen = both & ~(first.seen | second.seen)
    chosen = np.flatnonzero(unseen if unseen.any() else both)
    if not len(chosen):
        return None
    human = label_indices(targets)[targets.rated]
    columns = (human, *(one.labels for one in sides))
    labels, one_says, other_says = (
        [names[place] for place in column[chosen]] for column in columns
    )
    found = compare_verdicts(
        labels,
        one_says,
        other_says,
        sources=first.table.sources[chosen].tolist(),
        positive=targets.scale.positive,
        classes=names,
        confidence=confidence,
        seed=rng,
    )
    p = [getattr(found, name).p_value for name in LABEL_RATES]
    return LabelComparison(
        labels=names,
        positive=targets.scale.positive or "",
        differences=found,
        holm=dict(zip(LABEL_RATES, holm(p).tolist(), strict=True)),
        unseen=bool(unseen.any()),
        notes=tuple(dict.fromkeys(one.note for one in sides if one.note)),
    )


@dataclass(frozen=True, kw_only=True, eq=False)
class Comparison(
    Result,
    report="judgesmith.cli.trust.compare:print_compared",
    shows=("labels.differences", "unseen.dataset", "seen.dataset"),
):
    """How much better judge A agrees with people than judge B, on the same rows.

    Attributes
    ----------
    a, b : Side
        The judges.
    target : str
        The ratings that both are held against.
    objective : Agreement or str
        What decides: a statistic and its level, or of labels a rate, such as ``tnr``.
    unseen, seen : Gain or None
        A minus B on rows that neither is known to be made from, and on those that either is; None
        where no such row has a score from both. Where either's scores are ranks, what compares
        sources is undefined.
    tests : ComparisonTests
        Further tests, on unseen rows where there are any.
    n_unseen, n_seen, n_unrated : int
        Rated rows of either kind, and unrated rows.
    labels : LabelComparison or None
        Differences in TNR, TPR and balanced accuracy, where people gave labels such as pass and
        fail, and both judges do, or score on a known scale.
    """

    a: Side
    b: Side
    target: str
    objective: Agreement | LabelRate
    unseen: Gain | None
    seen: Gain | None
    tests: ComparisonTests
    n_unseen: int
    n_seen: int
    n_unrated: int
    labels: LabelComparison | None = None
    data: str = ""

    @property
    def by_label(self) -> LabelComparison | None:
        """What decides where a rate of labels is the objective; None where it is another."""
        return self.labels if isinstance(self.objective, str) else None

    @property
    def gain(self) -> PairedEstimate:
        """By how much A is better by the objective: on unseen rows where there are any."""
        if isinstance(self.objective, str):
            assert self.labels is not None  # refused by compare_judges
            return self.labels.rates[self.objective]
        report = self.unseen or self.seen
        assert report is not None  # refused by compare_judges
        return report[self.objective.level][self.objective.statistic]

    @property
    def knows_seen(self) -> bool:
        """Whether anybody knows which rows either judge was made from."""
        return self.a.knows_seen and self.b.knows_seen

    @property
    def better(self) -> Literal["a", "b"] | None:
        """Which judge agrees better, if the gain is clear; None otherwise."""
        if not self.is_clear:
            return None
        return "a" if self.gain.value > 0 else "b"

    @property
    def holm(self) -> float:
        """The p-value of the gain, adjusted by Holm's method for all differences reported."""
        if isinstance(self.objective, str):
            assert self.labels is not None
            return self.labels.holm[self.objective]
        return self.tests.holm[self.objective.level][self.objective.statistic]

    @property
    def is_clear(self) -> bool:
        """Whether the gain is clear by its interval and by its adjusted p-value, both."""
        if self.by_label is not None:
            return self.by_label.is_clear(str(self.objective))
        return self.gain.is_clear and self.holm <= 1 - self.gain.confidence

    def to_dict(self) -> dict[str, Any]:
        """Return everything ready for JSON; nothing is called held out that may be seen."""
        known = self.knows_seen
        sides = {"a": self.a, "b": self.b}
        seen_by = {name: side.n_seen if side.knows_seen else None for name, side in sides.items()}
        decided_on_unseen = self.unseen is not None
        if self.by_label is not None:
            decided_on_unseen = self.by_label.unseen
        unseen = "unseen" if known else "unknown"
        return {
            "a": self.a.label,
            "b": self.b.label,
            "target": self.target,
            "scored_by": {"a": self.a.scored_by, "b": self.b.scored_by},
            "rows": {
                "compared": self.gain.n,
                "unseen": self.n_unseen if known else None,
                "seen": None if set(seen_by.values()) == {None} else self.n_seen,
                "unknown": 0 if known else self.n_unseen,
                "seen_by": seen_by,
                "unscored": {"a": self.a.unscored.n, "b": self.b.unscored.n},
                "unrated": self.n_unrated,
            },
            "problems": {"a": self.a.unscored.reasons, "b": self.b.unscored.reasons},
            "reasons": {"a": by_code(self.a.unscored.causes), "b": by_code(self.b.unscored.causes)},
            "objective": {
                "name": str(self.objective),
                "on": unseen if decided_on_unseen else "seen",
                "better": self.better,
                "gain": self.gain.to_dict(),
            },
            "heldout": plain(self.unseen) if known else None,
            "seen": plain(self.seen),
            "unknown": None if known else plain(self.unseen),
            "tests": self.tests.to_dict(),
            **({"labels": self.labels.to_dict()} if self.labels is not None else {}),
        }


@public("judgesmith.compare", READ_OPTIONS)
@shows_progress
def compare_judges(
    first: JudgeGiven | Scores,
    second: JudgeGiven | Scores,
    dataset: DataSet | SourceGiven,
    targets: Targets | None = None,
    *,
    objective: Agreement | str | None = None,
    aggregate: Aggregate = "mean",
    lm: AnyModel | str | None = None,
    seed: Seed = 0,
    confidence: float = 0.95,
    labels: tuple[str, str] = ("A", "B"),
    concurrency: int = 32,
    on_progress: OnProgress | None = None,
    progress: bool = True,
    **reading: Any,
) -> Comparison:
    """Judge every rated row with both and report how much better the first agrees with people.

    Both are compared on the rows that both scored. Rows that either is known to be made from are
    compared apart. What is more and what is better is as for ``evaluate_judge``.

    Parameters
    ----------
    first, second : Judge, CompositeJudge, a saved one, its folder, CompileResult or Scores
        Judge A and judge B, or what they said, as ``read_scores`` returns it.
    dataset : DataSet, or what ``judgesmith.read`` reads
        Rated items.
    targets : Targets or None
        Which ratings count; None takes what both were made for, where they say so, or the set's
        own default.
    objective : Agreement, str or None
        What decides, such as ``pearson``, ``q@sample`` or, of labels, ``balanced_accuracy``,
        ``tnr`` or ``tpr``; everything else is reported next to it. None takes balanced accuracy of
        labels, else ``OBJECTIVE``, at sample level where scores of either are ranks.
    aggregate : {"mean", "median", "mode", "unanimous"}
        How several ratings become one value on the target of None.
    lm : model, str or None
        The model that judges ask; None takes DSPy's current one, or the offline model.
    seed : int or numpy.random.Generator
        Draws the intervals.
    confidence : float, between 0 and 1
        Nominal coverage of the intervals.
    labels : (str, str)
        What judges are called in the report; scores have a label of their own.
    concurrency : int
        Requests under way at once.
    on_progress : callable or None
        Told of every ``ProgressEvent``.
    progress : bool
        Whether a terminal or a notebook shows a bar, where ``on_progress`` is None.
    **reading
        For data that is not read yet what ``judgesmith.read`` takes, such as ``scale="1..5"``.

    Raises
    ------
    ValueError
        If the target is unrated, the two were made for different ones and none is given, no row
        has a score from both, the objective compares sources and scores of either are ranks, or
        it is a rate of labels and there are none.

    Examples
    --------
    >>> from judgesmith.data.reading import read_items
    >>> from judgesmith.programs import ActiveCritic
    >>> from judgesmith.signatures import ActiveCriticConfig
    >>> found = compare_judges(
    ...     ActiveCritic(), ActiveCritic(ActiveCriticConfig(variant="vanilla")),
    ...     read_items("sample"),
    ...     seed=0,
    ... )
    >>> found.gain.n, found.gain.value == found.gain.first - found.gain.second
    (160, True)
    """
    rng = generator(seed)
    dataset = as_dataset(dataset, "compare", **reading)
    first, second = (
        one if isinstance(one, Scores) else as_judge(one, "compare") for one in (first, second)
    )
    wanted = parse_compared(objective) if isinstance(objective, str) else objective
    own: str | None = None
    if targets is None:
        targets = targets_of(dataset, shared_target(first, second, dataset) or "auto", aggregate)
        own = targets.name
    check_compared(wanted, targets)
    sides = [
        rows_of_scores(one, dataset, targets)
        if isinstance(one, Scores)
        else rows_of_judge(
            one,
            dataset,
            targets,
            own=made_for(one, dataset) or own,
            lm=lm,
            label=label,
            concurrency=concurrency,
            on_progress=on_progress,
        )
        for one, label in zip((first, second), labels, strict=True)
    ]
    a, b = sides
    return compare_rows(
        a, b, targets, objective=wanted, rng=rng, confidence=confidence, data=dataset.name
    )


def compare_rows(
    first: JudgedRows,
    second: JudgedRows,
    targets: Targets,
    *,
    objective: Agreement | LabelRate | None = None,
    rng: np.random.Generator,
    confidence: float = 0.95,
    data: str,
) -> Comparison:
    fraction(confidence, name="confidence")
    ranking = [side.label for side in (first, second) if side.ranks]
    unscored_by = [np.isnan(side.table.predicted) for side in (first, second)]
    scored = ~(unscored_by[0] | unscored_by[1])
    if not scored.any():
        raise InputError(_nothing_shared(first, second))
    seen = first.seen | second.seen
    # What is seen must not change what is said of the rows that are not.
    seeds = rng.integers(2**63, size=2).tolist()
    by_label = _compared_labels(first, second, targets, rng=rng, confidence=confidence)
    decides = _objective(objective, ranking, targets, by_label)
    also = () if isinstance(decides, str) else (decides.statistic,)
    statistics = list(dict.fromkeys((*STATISTICS, *also)))
    gains: list[Gain | None] = []
    tests: ComparisonTests | None = None
    for rows in (np.flatnonzero(~seen), np.flatnonzero(seen)):
        if not scored[rows].any():
            gains.append(None)
            continue
        tables = first.table.take(rows), second.table.take(rows)
        gain = gain_report(
            *tables,
            rng=np.random.default_rng(seeds[0]),
            statistics=statistics,
            confidence=confidence,
            n_resamples=_n_resamples(tables[0]),
        )
        tested = {level: row for level, row in gain.items() if not ranking or level == LEVEL}
        gains.append(only_within_sources(gain) if ranking else gain)
        tests = tests or comparison_tests(
            *tables, tested, rng=np.random.default_rng(seeds[1]), confidence=confidence
        )
    assert tests is not None
    return Comparison(
        a=_side(first),
        b=_side(second),
        target=targets.name,
        objective=decides,
        unseen=gains[0],
        seen=gains[1],
        tests=tests,
        n_unseen=int(np.sum(~seen)),
        n_seen=int(np.sum(seen)),
        n_unrated=targets.n_unrated,
        labels=by_label,
        data=data,
    )


def _n_resamples(table: PredictionTable) -> int:
    """Return how many resamples let a p-value stay below 0.05 when Holm's method adjusts it."""
    return FEW_SOURCES_RESAMPLES if len(np.unique(table.sources)) < 100 else 1000


def parse_compared(text: str) -> Agreement | LabelRate:
    """Return the objective of a comparison that a text names."""
    name = next((one for one in LABEL_RATES if one == text.strip()), None)
    return name or parse_agreement(text)


def check_compared(objective: Agreement | LabelRate | None, targets: Targets) -> None:
    """Refuse a rate of labels where raters gave none."""
    if isinstance(objective, str) and not targets.is_verdict:
        raise InputError(
            f"{objective} counts labels, and {targets.name} has ratings on {targets.scale}.",
            hint="name a correlation, such as pearson.",
        )


def _objective(
    told: Agreement | LabelRate | None,
    ranking: Sequence[str],
    targets: Targets,
    labels: LabelComparison | None,
) -> Agreement | LabelRate:
    """Return what decides: what was told, if it is one for judges of which these rank."""
    if isinstance(told, str):
        check_compared(told, targets)
        if labels is None:
            raise InputError(f"{told} counts labels, and there is no row that both judges label.")
        return told
    if told is None and labels is not None:
        return LABEL_RATES[0]
    if told is None:
        return parse_agreement(f"{OBJECTIVE}@{LEVEL}" if ranking else OBJECTIVE)
    for label in ranking:
        check_within_source(str(told), judge=label)
    return told


def made_for(given: AnyJudge | AnySaved | Scores, dataset: DataSet) -> str | None:
    """Return the target that a judge or scores say they are about, None where they say none."""
    if isinstance(given, Scores):
        found = given.criterion if given.criterion in dataset.criteria else given.target
    else:
        found = getattr(given, "target", None)
    return None if found == UNRATED and found not in dataset.criteria else found


def shared_target(
    first: AnyJudge | AnySaved | Scores, second: AnyJudge | AnySaved | Scores, dataset: DataSet
) -> str | None:
    """Return the target that both are about, None where neither says."""
    a, b = made_for(first, dataset), made_for(second, dataset)
    if a is not None and b is not None and folded(a) != folded(b):
        raise InputError(
            f"A was made for {a} and B for {b}.", hint="say which ratings both are held against."
        )
    return a if a is not None else b


def _side(rows: JudgedRows) -> Side:
    return Side(
        label=rows.label,
        scored_by=rows.scored_by,
        unscored=unscored(rows.table),
        n_seen=int(np.sum(rows.seen)),
        knows_seen=rows.knows_seen,
        ranks=rows.ranks,
    )


def _nothing_shared(first: JudgedRows, second: JudgedRows) -> str:
    n = len(first.seen)
    said = []
    for name, side in (("A", first), ("B", second)):
        missing = unscored(side.table)
        commonest = list(missing.reasons.items())[:1]
        because = "".join(f" ({k} × {reason.removesuffix('.')})" for reason, k in commonest)
        said.append(f"{name} scored {n - missing.n}{because}")
    return (
        f"no rated row has a score from both: of {n}, {said[0]} and {said[1]}; name two that "
        "scored the same rows."
    )

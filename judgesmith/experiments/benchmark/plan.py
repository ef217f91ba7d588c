"""What the steps of building a benchmark share: models, comparisons with anchors, progress."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from judgesmith.experiments.benchmark.models import (
    BenchmarkModels,
    UnfinishedError,
    refuse_unfinished,
)
from judgesmith.experiments.benchmark.rows import BenchmarkSource, BenchmarkText
from judgesmith.experiments.benchmark.settings import BenchmarkSettings, Dropped
from judgesmith.metrics import Estimate
from judgesmith.metrics.comparators import SeenKind, anchor_pairs, seen_kinds
from judgesmith.metrics.records import Record, plain
from judgesmith.metrics.resampling import share_interval
from judgesmith.programs.benchmarking import AcrossPair, Comparator, Compared
from judgesmith.programs.perturbing.catalogue import Donors
from judgesmith.programs.perturbing.error_kinds import InjectionJob
from judgesmith.programs.perturbing.rewriting import (
    Counts,
)
from judgesmith.results.progress import OnProgress, staged
from judgesmith.signatures.items import RatedItem
from judgesmith.signatures.judgement import Cause, Reason
from judgesmith.signatures.perturbation import InjectedError, SubAspect, Target
from judgesmith.signatures.questions.texts import Reference
from judgesmith.signatures.rubric import Criterion

if TYPE_CHECKING:
    import dspy

    from judgesmith.data.items import DataSet


@dataclass(slots=True, kw_only=True)
class AnswerTally:
    """What became of the pairs that were asked about."""

    n: int = 0
    n_similar: int = 0
    n_disagree: int = 0
    n_unanswered: int = 0
    cause: Cause | None = None  # why the first of those, if any, has no answer

    def add(self, found: Compared) -> float:
        """Count a pair and return its sign, nan without an answer."""
        self.n += 1
        sign = found.sign
        if sign is None:
            self.n_unanswered += 1
            over_budget = found.cause is not None and found.cause.reason is Reason.OVER_BUDGET
            if self.cause is None or over_budget:
                self.cause = found.cause
            return float("nan")
        self.n_similar += sign == 0
        self.n_disagree += bool(found.disagree)
        return float(sign)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class AnchorRelations(Record):
    """How texts compare with the anchors of each rating."""

    signs: NDArray[np.float64]  # 1: the text is better, -1: the anchor, 0: similar, nan: unknown
    n_anchors: NDArray[np.int64]
    tally: AnswerTally

    def to_dict(self) -> dict[str, Any]:
        return _as_dict(self.tally)


def compare_with_anchors(
    texts: Sequence[RatedItem],
    anchors: Sequence[Sequence[RatedItem]],
    comparator: Comparator,
    *,
    on_progress: OnProgress | None = None,
) -> AnchorRelations:
    """Compare every text with every anchor that was written about another source."""
    widest = max(map(len, anchors), default=0)
    signs = np.full((len(texts), len(anchors), widest), np.nan)
    n_anchors = np.zeros(signs.shape[:2], dtype=np.int64)

    def cells() -> Iterator[tuple[int, int, int]]:
        for row, text in enumerate(texts):
            for level, several in enumerate(anchors):
                for place, anchor in enumerate(several):
                    if not same_source(text, anchor):
                        yield row, level, place

    asked = (AcrossPair(texts[r], anchors[level][place]) for r, level, place in cells())
    tally = AnswerTally()
    answers = comparator.each(asked, on_progress=on_progress)
    for cell, (_, found) in zip(cells(), answers, strict=True):
        signs[cell] = tally.add(found)
        n_anchors[cell[:2]] += 1
    return AnchorRelations(signs=signs, n_anchors=n_anchors, tally=tally)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class PairSigns(Record):
    """What a comparator says of pairs."""

    signs: NDArray[np.float64]  # 1: the first is better, -1: the second, 0: neither, nan: no answer
    disagreed: tuple[bool | None, ...]
    tally: AnswerTally

    def to_dict(self) -> dict[str, Any]:
        return _as_dict(self.tally)


def compare_pairs(
    pairs: Iterable[tuple[RatedItem, RatedItem]],
    comparator: Comparator,
    *,
    on_progress: OnProgress | None = None,
) -> PairSigns:
    """Compare the two texts of every pair, such as one without an error and the same with it."""
    tally, signs, disagreed = AnswerTally(), [], []
    asked = (AcrossPair(first, second) for first, second in pairs)
    for _, found in comparator.each(asked, on_progress=on_progress):
        signs.append(tally.add(found))
        disagreed.append(found.disagree)
    return PairSigns(
        signs=np.asarray(signs, dtype=np.float64), disagreed=tuple(disagreed), tally=tally
    )


def compare_anchors(
    anchors: Sequence[Sequence[RatedItem]],
    comparator: Comparator,
) -> tuple[PairSigns, list[tuple[int, int]], list[int]]:
    """Compare all anchors of different ratings with each other."""
    flat = [anchor for several in anchors for anchor in several]
    levels_of = [level for level, several in enumerate(anchors) for _ in several]
    pairs = anchor_pairs(levels_of)
    asked = ((flat[one], flat[two]) for one, two in pairs)
    return compare_pairs(asked, comparator), pairs, levels_of


def same_source(one: RatedItem, other: RatedItem) -> bool:
    """Say whether two texts have a source in common, by its id or by what it says."""
    same_id = bool(one.source_id) and one.source_id == other.source_id
    return same_id or (bool(one.source.strip()) and one.source == other.source)


def _as_dict(tally: AnswerTally) -> dict[str, Any]:
    found: dict[str, Any] = plain(
        {
            "pairs": tally.n,
            "similar": tally.n_similar,
            "orders_disagree": tally.n_disagree,
            "unanswered": tally.n_unanswered,
            "problem": tally.cause and str(tally.cause),
        }
    )
    return found


@dataclass(kw_only=True)
class Plan:
    """What a benchmark is built from, by whom, and what is to be said of it."""

    dataset: DataSet
    settings: BenchmarkSettings
    sources: tuple[BenchmarkSource, ...]
    references: Mapping[str, Sequence[Reference]]
    criteria: tuple[Criterion, ...]
    task: str
    sub_aspects: Mapping[str, tuple[SubAspect, ...]]
    models: BenchmarkModels
    donors: Donors
    on_progress: OnProgress | None = None
    notes: dict[str, None] = field(default_factory=dict)

    def note(self, sentence: str) -> None:
        """Keep a sentence for the report, unless it is there."""
        self.notes.setdefault(sentence)

    def tells(self, stage: str, total: int | None = None) -> OnProgress | None:
        """Return what is told how many more of a stage are done."""
        return staged(self.on_progress, stage, total)

    def comparator(self, criterion: Criterion, lm: dspy.LM) -> Comparator:
        """Return what says which of two texts is better on a criterion."""
        return Comparator(criterion, task=self.task, lm=lm, concurrency=self.models.concurrency)

    def job(
        self,
        source: BenchmarkSource,
        criterion: Criterion,
        reference: Reference,
        sub_aspects: Sequence[SubAspect],
        *,
        key: str,
    ) -> InjectionJob:
        """Return what errors are put into; ``key`` tells apart those with equal texts."""
        first = source.first
        return InjectionJob(
            key=f"{criterion.name}/{source.id}/{reference.id}/{key}",
            task=self.task,
            source_id=source.id,
            source=first.source,
            context=first.context,
            target=Target(text=reference.text),
            criterion=criterion.name,
            definition=criterion.definition,
            sub_aspects=tuple(sub_aspects),
        )


@contextmanager
def errors_counted() -> Iterator[Counts]:
    """Return what errors are counted in; a budget that ended in the block ends the run after it."""
    counts = Counts()
    yield counts
    if counts.codes[Reason.OVER_BUDGET]:
        raise UnfinishedError("the budget is spent before all errors were put in.")


def counts_dict(counts: Counts) -> dict[str, Any]:
    """Return what became of errors, ready for JSON, most frequent reasons first."""
    return {
        "wanted": counts.wanted,
        "made": counts.made,
        "asked": counts.asked,
        "retried": counts.retried,
        "faults": dict(counts.faults.most_common()),
        "dropped": dict(counts.dropped.most_common()),
    }


def item_of(source: BenchmarkSource, text: str) -> RatedItem:
    """Return a text about a source, without ratings."""
    first = source.first
    return RatedItem(
        source_id=source.id,
        source=first.source,
        context=first.context,
        response=text,
    )


@dataclass(frozen=True, kw_only=True)
class Built:
    """A benchmark, and what its report says by criterion."""

    texts: tuple[BenchmarkText, ...]
    criteria: Mapping[str, dict[str, Any]]
    dropped: tuple[Dropped, ...] = ()
    files: Mapping[str, Sequence[Mapping[str, Any]]]


MODEL = "model"
"""The kind of errors that no rule made."""


@dataclass(frozen=True, slots=True, kw_only=True)
class OneMore:
    """A text and the same text with one error more."""

    source: BenchmarkSource
    better: Target
    worse: Target


def error_name(error: InjectedError) -> str:
    """Return what an error is called: its rule and its side, or its side alone."""
    return error.sub_aspect if error.kind == MODEL else f"{error.kind} ({error.sub_aspect})"


@dataclass(frozen=True, slots=True, kw_only=True)
class SeenErrors(Record):
    """What a comparator detects."""

    accuracy: Estimate
    similar: float
    n_unanswered: int
    kinds: tuple[SeenKind, ...]


def seen_errors(
    pairs: Sequence[OneMore],
    comparator: Comparator,
    *,
    on_progress: OnProgress | None = None,
    note: Callable[[str], None] | None = None,
) -> SeenErrors:
    """Return how often a comparator prefers the text that has one error less."""
    asked = (
        (item_of(one.source, one.better.text), item_of(one.source, one.worse.text)) for one in pairs
    )
    found = compare_pairs(asked, comparator, on_progress=on_progress)
    refuse_unfinished([found.tally.cause])
    if note is not None and found.tally.cause:
        note(
            f"{found.tally.n_unanswered} of {len(pairs)} pairs that the comparator was checked "
            f"with have no answer, for example: {found.tally.cause.text.rstrip('.')}."
        )
    signs, sources = found.signs, [one.source.id for one in pairs]
    answered = [place for place, sign in enumerate(signs.tolist()) if sign == sign]
    return SeenErrors(
        accuracy=share_interval(
            [int(signs[place] == 1) for place in answered],
            sources=[sources[place] for place in answered],
        ),
        similar=found.tally.n_similar / len(answered) if answered else float("nan"),
        n_unanswered=found.tally.n_unanswered,
        kinds=seen_kinds(
            [error_name(one.worse.errors[-1]) for one in pairs], signs, sources=sources
        ),
    )

"""What all steps of building a benchmark share: from what, by whom, and how far it is."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from judgesmith.experiments.anchor_comparisons import Told
from judgesmith.experiments.benchmarking.dropping import Dropped
from judgesmith.experiments.benchmarking.models import BenchmarkModels, UnfinishedError
from judgesmith.experiments.benchmarking.rows import BenchmarkText
from judgesmith.experiments.benchmarking.settings import BenchmarkSettings
from judgesmith.experiments.benchmarking.sources import BenchmarkSource
from judgesmith.programs.benchmarking import Comparator
from judgesmith.programs.perturbing.catalogue import Donors
from judgesmith.programs.perturbing.injection.injecting import Counts, InjectionJob
from judgesmith.signatures.items import RatedItem
from judgesmith.signatures.judgement import Reason
from judgesmith.signatures.perturbation import SubAspect, Target
from judgesmith.signatures.questions.texts import Reference
from judgesmith.signatures.rubric import Criterion

if TYPE_CHECKING:
    import dspy

    from judgesmith.experiments.dataset import DataSet

Progress = Callable[[str, int, int | None], None]
"""Told of a stage how much more of how much is done."""


@dataclass(kw_only=True)
class Plan:
    """What a benchmark is built from, by whom, and what is to be said of it.

    Attributes
    ----------
    dataset : DataSet
        Rated texts; those of any source may become anchors.
    settings : BenchmarkSettings
        What is built.
    sources : tuple of BenchmarkSource
        What it is about.
    references : dict of str to tuple of Reference
        Good texts by id of the source; sources without any are left out.
    criteria : tuple of Criterion
        What it is for.
    task : str
        What the texts were written for; may be empty.
    sub_aspects : dict of str to tuple of SubAspect
        By criterion.
    models : BenchmarkModels
        Who does the work.
    donors : Donors
        Texts of other sources.
    progress : Progress or None
        Told how far it is.
    notes : dict of str to None
        Sentences for whoever reads the report, each once.
    """

    dataset: DataSet
    settings: BenchmarkSettings
    sources: tuple[BenchmarkSource, ...]
    references: Mapping[str, Sequence[Reference]]
    criteria: tuple[Criterion, ...]
    task: str
    sub_aspects: Mapping[str, tuple[SubAspect, ...]]
    models: BenchmarkModels
    donors: Donors
    progress: Progress | None = None
    notes: dict[str, None] = field(default_factory=dict)

    def note(self, sentence: str) -> None:
        """Keep a sentence for the report, unless it is there."""
        self.notes.setdefault(sentence)

    def tells(self, stage: str, total: int | None = None) -> Told | None:
        """Return what is told how many more of a stage are done."""
        progress = self.progress
        return None if progress is None else lambda n: progress(stage, n, total)

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
def counting() -> Iterator[Counts]:
    """Return what errors are counted in; a budget that ended in the block ends the run after it.

    Raises
    ------
    UnfinishedError
        If errors were not put in because nobody could be asked any more.
    """
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


def item_of(source: BenchmarkSource, text: str, system: str = "") -> RatedItem:
    """Return a text about a source, without ratings."""
    first = source.first
    return RatedItem(
        source_id=source.id,
        system_id=system,
        source=first.source,
        context=first.context,
        response=text,
    )


@dataclass(frozen=True, kw_only=True)
class Built:
    """A benchmark, and what its report says by criterion.

    Attributes
    ----------
    texts : tuple of BenchmarkText
        In the order in which they are to stand.
    criteria : dict of str to JSON
        By criterion.
    dropped : tuple of Dropped
        Criteria that were left out on the way.
    files : dict of str to rows
        What else belongs into the folder.
    """

    texts: tuple[BenchmarkText, ...]
    criteria: Mapping[str, dict[str, Any]]
    dropped: tuple[Dropped, ...] = ()
    files: Mapping[str, Sequence[Mapping[str, Any]]]

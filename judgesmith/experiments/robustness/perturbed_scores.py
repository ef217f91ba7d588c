"""What a judge says of originals and of their changed versions, each text by itself and once."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Literal

import numpy as np
from numpy.typing import NDArray

from judgesmith.data.items import DataSet
from judgesmith.data.score_files import Scores
from judgesmith.data.scores import recorded_judgement
from judgesmith.errors import InputError
from judgesmith.experiments.robustness.perturbed_set import PerturbedSet
from judgesmith.programs import score_batch
from judgesmith.programs.judging.runner import judges_sources
from judgesmith.results.progress import OnProgress, shows_progress
from judgesmith.signatures import Judgement, RatedItem
from judgesmith.signatures.items import item_to_judge
from judgesmith.signatures.rubric import folded

if TYPE_CHECKING:
    import dspy

    from judgesmith.programs.artifacts.saved_ensembles import AnySaved
    from judgesmith.programs.families.ensemble.judges import AnyJudge

FloatArray = NDArray[np.float64]
By = Literal["criteria", "score"]
"""Which of a judge's numbers are its metrics: its scores on criteria, or the one of the whole."""

SCORE = "score"
"""What the one metric of a judge without criteria is called."""

Verdicts = tuple[Judgement | None, ...]


@dataclass(frozen=True, kw_only=True, eq=False)
class VersionScores:
    """A judge's verdicts on the texts of a perturbed set."""

    label: str
    metrics: tuple[str, ...]
    whole: bool
    of_originals: tuple[Judgement, ...]
    of_versions: tuple[Verdicts, ...]  # by kind and original; None: no version
    n_texts: int = 0

    @cached_property
    def originals(self) -> FloatArray:
        """Scores of originals, shape (n_items, n_metrics); nan where unscored."""
        return self._table(self.of_originals)

    @cached_property
    def versions(self) -> FloatArray:
        """Scores of versions, shape (n_kinds, n_items, n_metrics); nan also without a version."""
        shape = (len(self.of_versions), len(self.of_originals), len(self.metrics))
        return np.array([self._table(one) for one in self.of_versions]).reshape(shape)

    @property
    def problems(self) -> Mapping[str, int]:
        """Why judged texts have no score, with how many, most frequent first."""
        every = [*self.of_originals, *(one for row in self.of_versions for one in row)]
        given = (one.problem for one in every if one is not None and one.problem is not None)
        return dict(Counter(given).most_common())

    def _table(self, judgements: Sequence[Judgement | None]) -> FloatArray:
        return np.array([self._row(one) for one in judgements]).reshape(-1, len(self.metrics))

    def _row(self, judgement: Judgement | None) -> list[float]:
        if judgement is None:
            return [np.nan] * len(self.metrics)
        if self.whole:
            return [_number(judgement.score)]
        given = judgement.criteria
        return [_number(given[name].score) if name in given else np.nan for name in self.metrics]


@shows_progress
def score_perturbed(
    judge: AnyJudge | AnySaved,
    perturbed: PerturbedSet,
    *,
    by: By = "criteria",
    lm: dspy.LM | None = None,
    label: str = "judge",
    concurrency: int = 32,
    on_progress: OnProgress | None = None,
    progress: bool = True,
) -> VersionScores:
    """Judge every text of a perturbed set by itself, equal texts once.

    Nothing tells the judge which text it reads: not what was changed or how, no ids, and no
    reference that is the original itself. An original is judged right before its versions, so that
    a budget that ends early leaves whole pairs.

    Parameters
    ----------
    judge : Judge, CompositeJudge, or a saved one
        One that judges each text by itself.
    perturbed : PerturbedSet
        Originals and versions.
    by : {"criteria", "score"}
        What its metrics are; a judge without criteria has its score alone.
    lm, label, concurrency, on_progress, progress
        As for ``evaluate_judge``.

    Raises
    ------
    ValueError
        If the judge compares the responses to a source with each other.
    """
    if judges_sources(judge):
        raise InputError(
            "this judge compares the responses to a source with each other, and originals and "
            "versions are to be judged apart.",
            hint="use one that judges each text by itself.",
        )
    texts = blind_texts(perturbed)
    found = score_batch(
        judge, list(texts.values()), lm=lm, concurrency=concurrency, on_progress=on_progress
    )
    said = dict(zip(texts, found, strict=True))
    criteria = criteria_of(found, by)
    of_originals = tuple(said[_text(one, one)] for one in perturbed.originals)
    of_versions = tuple(
        tuple(
            None if one is None else said[_text(one, original)]
            for one, original in zip(row, perturbed.originals, strict=True)
        )
        for row in perturbed.versions
    )
    return VersionScores(
        label=label,
        metrics=criteria or (SCORE,),
        whole=not criteria,
        of_originals=of_originals,
        of_versions=of_versions,
        n_texts=len(texts),
    )


def recorded_versions(
    scores: Scores,
    dataset: DataSet,
    perturbed: PerturbedSet,
    *,
    by: By = "criteria",
    criterion: str | None = None,
) -> VersionScores:
    """Return what a file of scores says of a perturbed set.

    Parameters
    ----------
    scores : Scores
        Of the rows of ``dataset``.
    dataset : DataSet
        The rows that ``perturbed`` was read from.
    perturbed : PerturbedSet
        Originals and versions.
    by : {"criteria", "score"}
        As for ``score_perturbed``.
    criterion : str or None
        The one of the judge's criteria that is tested; None tests all.

    Raises
    ------
    ValueError
        If there is no such criterion.
    """
    said = {
        item.ids: recorded_judgement(float(value), cause, own)
        for item, value, cause, own in zip(
            dataset,
            scores.values,
            scores.problems,
            scores.criteria or [{}] * len(scores.values),
            strict=True,
        )
    }
    criteria = criteria_of(list(said.values()), by)
    # A file that says which criterion its numbers are on was read for this one alone.
    if criterion is not None and scores.criterion is None:
        criteria = (_named_criterion(criterion, list(said.values())),)
    return VersionScores(
        label=scores.label,
        metrics=criteria or (scores.criterion or SCORE,),
        whole=not criteria,
        of_originals=tuple(said[one.ids] for one in perturbed.originals),
        of_versions=tuple(
            tuple(None if one is None else said[one.ids] for one in row)
            for row in perturbed.versions
        ),
    )


def blind_texts(perturbed: PerturbedSet) -> dict[str, RatedItem]:
    """Return every different text to judge, without anything that tells originals from versions."""
    texts: dict[str, RatedItem] = {}
    for place, original in enumerate(perturbed.originals):
        for one in (original, *(row[place] for row in perturbed.versions)):
            if one is not None:
                texts.setdefault(_text(one, original), _blind(one, original))
    return texts


def criteria_of(judgements: Sequence[Judgement], by: By) -> tuple[str, ...]:
    """Return the criteria that are metrics; none where the score of the whole is the one."""
    names = dict.fromkeys(name for one in judgements for name in one.criteria)
    return tuple(names) if by == "criteria" else ()


def _named_criterion(wanted: str, judgements: Sequence[Judgement]) -> str:
    known = {folded(name): name for name in criteria_of(judgements, "criteria")}
    if folded(wanted) not in known:
        raise InputError(
            f"the scores are on {', '.join(known.values()) or 'the whole alone'}, and {wanted} is "
            "none of that.",
            hint="name another criterion, or leave it out.",
        )
    return known[folded(wanted)]


def _blind(item: RatedItem, original: RatedItem) -> RatedItem:
    """Return the texts of an item; the original is no reference to judge its versions by."""
    others = tuple(one for one in item.references if one != original.response)
    return item_to_judge(item.source, item.response, item.context, others)


def _text(item: RatedItem, original: RatedItem) -> str:
    """Return what tells a text to judge from others."""
    return repr((item.key, _blind(item, original).references))


def _number(score: float | None) -> float:
    return np.nan if score is None else score

"""Annotating what was sampled, and what is left to learn from."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from judgesmith.errors import InputError
from judgesmith.experiments.dataset import DataSet
from judgesmith.experiments.distilling.examples import Example, example_of
from judgesmith.experiments.distilling.overlap import KnownInputs
from judgesmith.experiments.distilling.sampling import Sample, sample
from judgesmith.experiments.distilling.settings import DistilSettings
from judgesmith.programs.artifacts.saved_ensembles import AnySaved, narrowed, pointed_rubric
from judgesmith.programs.families.judge_models import DistilledJudge
from judgesmith.programs.judging.executors import calls_per_item
from judgesmith.programs.judging.prompts import Template
from judgesmith.programs.judging.runner import judge_items
from judgesmith.signatures.rubric import Rubric

if TYPE_CHECKING:
    import dspy


@dataclass(frozen=True, slots=True, kw_only=True)
class Distillation:
    """What is to be annotated, by whom.

    Attributes
    ----------
    judge : saved judge
        The teacher, of any kind that lists errors.
    rubric : Rubric
        What is asked about, and what a student will be asked about in the same words.
    sample : Sample
        The outputs.
    settings : DistilSettings
        How they were drawn.
    """

    judge: AnySaved
    rubric: Rubric
    sample: Sample
    settings: DistilSettings

    @property
    def calls(self) -> int:
        """Model calls at most, if every answer can be read, the ledger aside."""
        found = {of: calls_per_item(narrowed(self.judge, of)) for of, _ in self._by_criteria()}
        return sum(found[one.criteria] for one in self.sample.outputs)

    def examples(
        self,
        *,
        lm: dspy.LM | None = None,
        concurrency: int = 32,
        progress: Callable[[int], None] | None = None,
    ) -> tuple[Example, ...]:
        """Annotate every output on its criteria, and return what is made of each of them.

        Parameters
        ----------
        lm : dspy.LM or None
            The model, unless those of the judge are its own.
        concurrency : int
            Outputs that are annotated at the same time.
        progress : callable or None
            Told the number of outputs annotated since it was last told.

        Returns
        -------
        tuple of Example
            In the order of the data, and of the rubric; those left out among them.
        """
        found: dict[int, list[Example]] = {}
        for criteria, places in self._by_criteria():
            some = narrowed(self.judge, criteria)
            items = [self.sample.outputs[at].item for at in places]
            judged = judge_items(some, items, lm=lm, concurrency=concurrency, progress=progress)
            for at, judgement in zip(places, judged, strict=True):
                found[at] = [
                    example_of(
                        self.sample.outputs[at],
                        criterion,
                        judgement,
                        scale=some.scale,
                        unresolved=self.settings.unresolved,
                    )
                    for criterion in criteria
                ]
        return tuple(one for at in sorted(found) for one in found[at])

    def _by_criteria(self) -> Iterable[tuple[tuple[str, ...], list[int]]]:
        """Return places of outputs by the criteria that they are annotated on together."""
        found: dict[tuple[str, ...], list[int]] = {}
        for at, one in enumerate(self.sample.outputs):
            found.setdefault(one.criteria, []).append(at)
        return sorted(found.items())


def distillation(
    judge: AnySaved,
    dataset: DataSet,
    settings: DistilSettings | None = None,
    *,
    excluded: Iterable[str] = (),
) -> Distillation:
    """Return what is to be annotated for a student.

    Parameters
    ----------
    judge : saved judge
        The teacher.
    dataset : DataSet
        Outputs of systems; ratings are not read.
    settings : DistilSettings or None
        How much; None takes the defaults.
    excluded : iterable of str
        Inputs of sets that the student will be tested on.

    Raises
    ------
    ValueError
        If the judge lists no errors, or no output is left.
    """
    own = settings or DistilSettings()
    rubric = pointed_rubric(judge)
    known = KnownInputs(excluded)
    drawn = sample(dataset.items, dataset.groups, rubric.names, own, known=known)
    if not drawn.outputs:
        why = "every output is empty; give texts with a word"
        if drawn.n_shared:
            why = f"{drawn.n_shared} of {drawn.n_shared + drawn.n_sources} sources are excluded"
            why += "; give data about others"
        raise InputError(f"no output of {dataset.name} is left to annotate: {why}.")
    return Distillation(judge=judge, rubric=rubric, sample=drawn, settings=own)


def questions_of(rubric: Rubric) -> dict[str, Template]:
    """Return what a student is asked, by criterion; one empty name stands for the whole.

    Examples
    --------
    >>> list(questions_of(Rubric(criteria={"wit": "Is it funny?"}))), list(questions_of(Rubric()))
    (['wit'], [''])
    """
    asks = "criteria" if rubric.criteria else "overall"
    judge = DistilledJudge(rubric=rubric, asks=asks)
    return dict(zip(rubric.names or ("",), judge.templates().values(), strict=True))


def reasons_of(examples: Sequence[Example]) -> Mapping[str, int]:
    """Return why examples are left out, with how many, most frequent first."""
    reasons = Counter(one.left_out for one in examples if one.left_out)
    return dict(reasons.most_common())

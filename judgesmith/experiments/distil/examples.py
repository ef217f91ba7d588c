"""Annotating what was sampled, and each annotation as an example or the reason why it is none."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from judgesmith.data.items import DataSet
from judgesmith.errors import InputError
from judgesmith.experiments.distil.sampling import (
    DistilSample,
    DistilSettings,
    KnownInputs,
    Sampled,
    sample,
)
from judgesmith.experiments.scoring.estimates import NO_CALLS, RunEstimate, estimate_judging
from judgesmith.programs.artifacts.saved_ensembles import AnySaved, narrowed, pointed_rubric
from judgesmith.programs.families.ensemble.merging import share_of
from judgesmith.programs.families.forms import DISTILLED
from judgesmith.programs.families.forms.annotators import MOST_ERRORS, answer_in_form, errors_of
from judgesmith.programs.families.modules import DistilledJudge
from judgesmith.programs.judging.prompts import Template
from judgesmith.programs.judging.runner import score_batch, was_not_asked
from judgesmith.signatures.judgement import ErrorSpan, Judgement
from judgesmith.signatures.rubric import Rubric
from judgesmith.signatures.scale import Scale

if TYPE_CHECKING:
    import dspy

NOT_ASKED = "not asked, as the budget was spent"
UNSCORED = "no score"
CONTRADICTS = "score and errors contradict each other"
UNRESOLVED = "too many errors are nowhere in the output"
UNGRADED = "an error has no severity"
UNREADABLE = "the answer does not read back as it is"

_STEP = 5  # points that scores are taught in


@dataclass(frozen=True, slots=True, kw_only=True)
class DistilExample:
    """One output, one criterion, and what is to be answered.

    ``score``: 0 to 100, a multiple of 5; None if missing.
    """

    sampled: Sampled
    criterion: str
    answer: str = field(default="", repr=False)
    score: int | None = None
    n_errors: int = 0
    n_dropped: int = 0
    left_out: str = ""
    problem: str = ""

    def row(self) -> dict[str, Any]:
        """Return what is written of it, texts aside."""
        item = self.sampled.item
        said = {"problem": self.problem} if self.problem else {}
        return {
            "source_id": item.source_id,
            "system_id": item.system_id,
            "key": item.key,
            "criterion": self.criterion,
            "split": self.sampled.split,
            "score": self.score,
            "errors": self.n_errors,
            "errors_dropped": self.n_dropped,
            "left_out": self.left_out or None,
            **said,
        }

    def messages(self, question: Template) -> dict[str, list[dict[str, str]]]:
        """Return the example as a chat: what the student will be asked, and the answer."""
        item = self.sampled.item
        texts: Mapping[str, str | None] = {
            "source": item.source,
            "context": item.context,
            "response": item.response,
        }
        turns = [{"role": one.role, "content": one.text} for one in question.turns]
        asked = {"role": "user", "content": question.render(texts)}
        return {"messages": [*turns, asked, {"role": "assistant", "content": self.answer}]}


def example_of(
    sampled: Sampled, criterion: str, judgement: Judgement, *, scale: Scale, unresolved: float
) -> DistilExample:
    """Return what a judgement of one output makes of one criterion."""
    percent = _percent(judgement, criterion, scale)
    if percent is None:
        why = NOT_ASKED if was_not_asked(judgement) else UNSCORED
        said = judgement.criteria.get(criterion)
        problem = judgement.problem or (said.explanation if said else "") or UNSCORED
        return DistilExample(sampled=sampled, criterion=criterion, left_out=why, problem=problem)
    own = [one for one in judgement.errors if one.criterion == criterion]
    placed = [one for one in own if _is_placed(one, sampled.item.response)]
    score = rounded(percent)
    n_unresolved = len(own) - len(placed)
    kept = _most_severe(placed)
    found = DistilExample(
        sampled=sampled,
        criterion=criterion,
        score=score,
        n_errors=len(kept),
        n_dropped=len(own) - len(kept),
    )
    left_out = ""
    if n_unresolved > unresolved * len(own):
        left_out = UNRESOLVED
    elif any(one.severity is None for one in kept):
        left_out = UNGRADED
    elif (score == 100) == bool(kept):
        left_out = CONTRADICTS
    if left_out:
        return replace(found, left_out=left_out)
    answer = answer_in_form(kept, score)
    if not _reads_back(answer, len(kept), score):
        return replace(found, left_out=UNREADABLE)
    return replace(found, answer=answer)


def rounded(percent: float) -> int:
    """Return the multiple of five that is nearest to 0 to 100, halves up.

    A mean z of levels 1 to 5 stands at 100 (z - 1) / 4, where it is as soon as it is a percentage.
    """
    return int(_STEP * ((percent + 1e-9 + _STEP / 2) // _STEP))


def _percent(judgement: Judgement, criterion: str, scale: Scale) -> float | None:
    if criterion:
        said = judgement.criteria.get(criterion)
        return None if said is None else said.score
    share = share_of(judgement, "", scale)
    return None if share is None else 100 * share


def _is_placed(error: ErrorSpan, response: str) -> bool:
    """Say whether an error is in the output or says that something is missing there."""
    if error.start is not None and error.end is not None:
        return 0 <= error.start < error.end <= len(response)
    return error.located == "missing"


def _most_severe(errors: list[ErrorSpan]) -> list[ErrorSpan]:
    """Return the eight most severe errors, in the order of the output, what is missing last."""
    worst = sorted(errors, key=lambda one: -(one.severity or 0))[:MOST_ERRORS]
    return sorted(worst, key=lambda one: (one.start is None, one.start or 0, one.end or 0))


def _reads_back(answer: str, n_errors: int, score: int) -> bool:
    try:
        read = DISTILLED.read(answer)
    except ValueError:
        return False
    return read["score"] == score and len(errors_of(str(read["errors"]))) == n_errors


@dataclass(frozen=True, slots=True, kw_only=True)
class Distillation:
    """What is to be annotated, by whom."""

    judge: AnySaved
    rubric: Rubric
    sample: DistilSample
    settings: DistilSettings

    def estimate(self, lms: Mapping[str, dspy.LM], lm: dspy.LM) -> RunEstimate:
        """Return what annotating every output asks and costs."""
        found = NO_CALLS
        for criteria, places in self._by_criteria():
            items = [self.sample.outputs[place].item for place in places]
            found += estimate_judging([narrowed(self.judge, criteria)], items, lms, lm)
        return found

    def examples(
        self,
        *,
        lm: dspy.LM | None = None,
        concurrency: int = 32,
        progress: Callable[[int], None] | None = None,
    ) -> tuple[DistilExample, ...]:
        """Annotate every output on its criteria, and return what is made of each of them."""
        found: dict[int, list[DistilExample]] = {}
        for criteria, places in self._by_criteria():
            some = narrowed(self.judge, criteria)
            items = [self.sample.outputs[at].item for at in places]
            judged = score_batch(some, items, lm=lm, concurrency=concurrency, progress=progress)
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
    """Return what is to be annotated for a student."""
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
    """Return what a student is asked, by criterion; one empty name stands for the whole."""
    asks = "criteria" if rubric.criteria else "overall"
    judge = DistilledJudge(rubric=rubric, asks=asks)
    return dict(zip(rubric.names or ("",), judge.templates().values(), strict=True))


def reasons_of(examples: Sequence[DistilExample]) -> Mapping[str, int]:
    """Return why examples are left out, with how many, most frequent first."""
    reasons = Counter(one.left_out for one in examples if one.left_out)
    return dict(reasons.most_common())

"""Task inference: from rated examples to a rubric that a person can read and edit."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import dspy
import numpy as np
from dspy.utils.exceptions import AdapterParseError, ContextWindowExceededError

from judgesmith.errors import InputError
from judgesmith.programs.adapter import FencedAdapter
from judgesmith.programs.asking import current_lm
from judgesmith.programs.call_settings import call_config
from judgesmith.programs.inference_batches import RatedExample, batches_of, readable_examples
from judgesmith.programs.inference_settings import InferenceSettings
from judgesmith.programs.inference_steps import inference_steps
from judgesmith.programs.judging import Ask, Reply
from judgesmith.programs.models import ModelError, TransientModelError, sampling
from judgesmith.programs.models.stopping import STOPPING
from judgesmith.programs.replies import too_long, unreadable
from judgesmith.signatures.inferring import (
    DescribeTask,
    JudgeCompleteness,
    MergeDescriptions,
    ObserveExamples,
    ProposeCriteria,
    SelectCriteria,
)
from judgesmith.signatures.protocol import Protocol
from judgesmith.signatures.rated import RatedItem
from judgesmith.signatures.rubric import Rubric

if TYPE_CHECKING:
    from collections.abc import Mapping

_REFUSED = (400, 413, 422)  # statuses that speak of one request, not of the set-up


class TaskInference(dspy.Module):
    """Find out from rated examples what is being judged, and by which criteria.

    Mini-batches of examples are read one after the other. From each, a model adds to its
    observations, describes the task, and proposes criteria, until it finds them complete or a
    cap is reached; then descriptions are merged, and criteria selected and ranked. The same
    rows, settings and model ask the same questions in the same order, so that a ledger under
    the model makes an interrupted inference go on where it was.

    Parameters
    ----------
    settings : InferenceSettings or None
        Caps, seed, and what is to be inferred; None starts from the defaults.
    **choices
        Settings to change, such as ``seed=1`` or ``inference="single"``.

    References
    ----------
    "Large Language Models Are Active Critics in NLG Evaluation", stage 1.

    Examples
    --------
    >>> items = [
    ...     RatedItem(source=f"Ann asked for {n} apples. She paid {n} coins.", response=text)
    ...     for n in range(4)
    ...     for text in (f"Ann bought {n} apples for {n} coins.", "Ann Ann a a.")
    ... ]
    >>> rubric = TaskInference(n_batches=1)(items=items, scores=[90, 10] * 4)
    >>> 4 <= len(rubric.criteria) <= 10, rubric.provenance["task"]
    (True, {'batches': [1]})
    """

    def __init__(self, settings: InferenceSettings | None = None, **choices: Any) -> None:
        super().__init__()
        self.settings = InferenceSettings.model_validate(
            {**dict(settings or InferenceSettings()), **choices}
        )
        self.observe = dspy.Predict(ObserveExamples)
        self.describe = dspy.Predict(DescribeTask)
        self.propose = dspy.Predict(ProposeCriteria)
        self.check = dspy.Predict(JudgeCompleteness)
        self.merge = dspy.Predict(MergeDescriptions)
        self.select = dspy.Predict(SelectCriteria)

    def forward(
        self,
        *,
        items: Sequence[RatedItem],
        scores: Sequence[float],
        given: Rubric | None = None,
        lm: dspy.LM | None = None,
        progress: Callable[[int], None] | None = None,
    ) -> Rubric:
        """Infer a rubric.

        Parameters
        ----------
        items : sequence of RatedItem
            The rows to learn from.
        scores : sequence of float
            What people said of each, from 0 (worst) to 100 (best).
        given : Rubric or None
            A task or criteria that are taken as they are; their inference is skipped.
        lm : dspy.LM or None
            The model; None takes DSPy's current one, or the offline model.
        progress : callable or None
            Told 1 after every answer.

        Returns
        -------
        Rubric
            With provenance: the batches that taught task and criteria, the rows they held
            (``RatedItem.key`` to source id), observations, notes and settings.

        Raises
        ------
        ValueError
            If rows and scores do not pair up, a score is off the scale, no row can be shown,
            or nothing could be inferred.
        ModelError, BudgetSpent, LedgerError
            If the model cannot be asked, or not further.
        Stopped
            If the process was asked to stop; answers are on record.
        """
        examples = _paired(items, scores)
        given = given or Rubric()
        if given.task and "task" in self.settings.without:
            raise InputError("a task is given and left out at once; drop one of the two.")
        examples, notes = readable_examples(examples, max_characters=self.settings.max_characters)
        batches = batches_of(
            examples,
            size=self.settings.batch_size,
            max_characters=self.settings.max_characters,
            rng=np.random.default_rng(self.settings.seed),
        )
        lm = lm or current_lm()
        config = call_config(Protocol(temperature=self.settings.temperature), lm)
        steps = inference_steps(batches, self.settings, given)
        reply: Reply | None = None
        with STOPPING.attended(), dspy.context(adapter=FencedAdapter(), lm=lm):
            while True:
                STOPPING.check()
                try:
                    ask = next(steps) if reply is None else steps.send(reply)
                except StopIteration as end:
                    record = end.value
                    break
                reply = self._asked(ask, config)
                if progress is not None:
                    progress(1)
        record.notes[:0] = notes
        rubric: Rubric = record.rubric(model=str(lm.model), rows=len(examples))
        return rubric

    def _asked(self, ask: Ask, config: Mapping[str, Any]) -> Reply:
        predictor = getattr(self, ask.predictor)
        try:
            with sampling(sample=ask.sample):
                answer = predictor(**ask.inputs, config=dict(config))
        except ContextWindowExceededError as fault:
            return too_long(fault)
        except AdapterParseError as fault:
            return unreadable(str(fault).split("\n")[0])
        except TransientModelError:
            raise
        except ModelError as fault:
            if fault.status not in _REFUSED:
                raise
            return Reply(problem=f"the model refused the request: {fault}", final=True)
        return Reply(fields=dict(answer.items()))


def _paired(items: Sequence[RatedItem], scores: Sequence[float]) -> list[RatedExample]:
    if len(items) != len(scores):
        raise InputError(f"every row needs a score; got {len(items)} rows, {len(scores)} scores.")
    off = [score for score in scores if not 0 <= score <= 100]
    if off:
        raise InputError(f"scores are from 0 (worst) to 100 (best); got {off[0]:g}.")
    return [
        RatedExample(item=item, score=float(score))
        for item, score in zip(items, scores, strict=True)
    ]

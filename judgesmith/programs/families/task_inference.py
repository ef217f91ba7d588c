"""Task inference: from rated examples to a rubric that a person can read and edit."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import dspy
import numpy as np
from dspy.utils.exceptions import AdapterParseError, ContextWindowExceededError

from judgesmith.errors import InputError
from judgesmith.programs.families.steps.inference_record import (
    InferenceSettings,
    RatedExample,
    batches_of,
    readable_examples,
)
from judgesmith.programs.families.steps.task_inference import inference_steps
from judgesmith.programs.judging.adapter import FencedAdapter
from judgesmith.programs.judging.executors import call_config, current_lm
from judgesmith.programs.judging.program import Ask, Reply
from judgesmith.programs.judging.replies import too_long, unreadable
from judgesmith.programs.lm import ModelError, TransientModelError, sampling
from judgesmith.programs.lm.limits import STOPPING
from judgesmith.signatures.config import ActiveCriticConfig
from judgesmith.signatures.items import RatedItem
from judgesmith.signatures.questions.task_inference import (
    DescribeTask,
    JudgeCompleteness,
    MergeDescriptions,
    ObserveExamples,
    ProposeCriteria,
    SelectCriteria,
)
from judgesmith.signatures.rubric import Rubric

if TYPE_CHECKING:
    from collections.abc import Mapping


_REFUSED = (400, 413, 422)  # statuses that speak of one request, not of the set-up


class TaskInference(dspy.Module):
    """Find out from rated examples what is being judged, and by which criteria."""

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
        """Infer a rubric."""
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
        config = call_config(ActiveCriticConfig(temperature=self.settings.temperature), lm)
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

"""A judge as a metric of DSPy: for ``dspy.Evaluate`` and for every DSPy optimizer."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from numbers import Real
from threading import Lock
from typing import TYPE_CHECKING, Any, Literal

from judgesmith.errors import InputError, JudgesmithError, did_you_mean
from judgesmith.front_door import Guessed, public
from judgesmith.programs.judging.executors import as_dspy, no_judge, open_judge, with_own_models
from judgesmith.programs.judging.runner import judges_sources, score_batch
from judgesmith.programs.lm import AnyModel
from judgesmith.signatures.items import RatedItem
from judgesmith.signatures.judgement import Judgement
from judgesmith.signatures.plain_data import record_faults
from judgesmith.signatures.scale import PERCENT, Scale, shortest

if TYPE_CHECKING:
    import dspy

Part = str | Callable[[Any], Any] | None
"""Where a text is found: the name of a field, a function of the example, or None."""

_REASONING = "reasoning"  # what dspy.ChainOfThought adds to an answer


@public("as_metric")
def as_metric(
    judge: Any,
    scale: str | Scale = "0..1",
    feedback: bool = True,
    *,
    source: Part = None,
    response: Part = None,
    context: Part = None,
    references: Part = None,
    unscored: Literal["raise"] | float = "raise",
    lm: AnyModel | str | None = None,
) -> JudgeMetric:
    """Return the judge as a metric for ``dspy.Evaluate`` and DSPy's optimizers.

    Parameters
    ----------
    judge : Judge, CompositeJudge, a saved one, its folder, or a CompileResult
        The judge itself, where this is its method.
    scale : str or Scale
        What the metric returns, as in ``"0..1"`` or ``"1..5"``; more is better.
    feedback : bool
        Whether GEPA, which asks about single predictors, gets the judge's explanation,
        criteria and error spans along with the score.
    source, response, context, references : str, callable or None
        Where the judge finds its texts. A name is a field of the example, for ``response`` of
        the prediction; a function takes the example or the prediction. None takes the only
        input of the example as source, the only field of the prediction but
        ``reasoning`` as response, and no context or references.
    unscored : "raise" or float
        What a response without a score comes to: an error, which ``dspy.Evaluate`` logs and
        counts as its ``failure_score``, or this number on ``scale``. Either way the metric's
        ``reasons`` count it.
    lm : dspy.LM, str or None
        The judge's model; None takes the one that it is bound to, or else DSPy's of now.

    Returns
    -------
    JudgeMetric
        Takes ``(example, prediction, trace=None, pred_name=None, pred_trace=None)``. It
        copies the judge, and asks one model with one cache and one budget.

    Raises
    ------
    InputError
        Before any call: for a scale, a choice or a judge that cannot be used, and when the
        metric is called, for fields that the example or the prediction lacks.

    Examples
    --------
    >>> import dspy, judgesmith
    >>> judge = judgesmith.ActiveCritic()
    >>> metric = judge.as_metric(lm=judgesmith.model("offline", ledger=None))
    >>> asked = dspy.Example(question="When does the ferry leave?").with_inputs("question")
    >>> 0 <= metric(asked, dspy.Prediction(answer="It leaves at nine.")) <= 1
    True
    """
    judge = open_judge(judge)
    if not hasattr(judge, "scale"):
        raise no_judge(judge, "as_metric")
    if judges_sources(judge):
        raise InputError(
            "as_metric: this judge compares the responses to a source, and a metric is given one.",
            hint="take another judge, such as judgesmith.ActiveCritic().",
        )
    with record_faults():
        own = Scale.parse(scale) if isinstance(scale, str) else scale
    if not isinstance(own, Scale) or not own.higher_is_better:
        raise InputError(
            f"as_metric: expected a scale on which more is better, such as '0..1'; got "
            f"{scale!r:.80}."
        )
    parts = {"source": source, "response": response, "context": context, "references": references}
    for name, part in parts.items():
        if not (part is None or isinstance(part, str) or callable(part)):
            raise InputError(
                f"as_metric: {name} must be the name of a field or a function; got {part!r:.80}."
            )
    return JudgeMetric(judge, own, parts, feedback, _choice_of_unscored(unscored, own), lm)


class AsMetric(Guessed):
    """What judges and saved judges have in common: they can be the metric of a DSPy program."""

    as_metric = as_metric


class JudgeMetric:
    """``metric(example, prediction, trace=None)``: the score that a judge gives a prediction.

    ``judge.as_metric`` makes it. It keeps its own copy of the judge and one model for all calls,
    so that the program under test cannot change either.

    Attributes
    ----------
    scale : Scale
        What it returns.
    n_calls : int
        How many predictions were judged.
    reasons : dict of str to int
        How many of them got no score, by the code of the reason.
    """

    def __init__(
        self,
        judge: Any,
        scale: Scale,
        parts: Mapping[str, Part],
        feedback: bool,
        unscored: float | None,
        lm: AnyModel | str | None,
    ) -> None:
        self.scale, self._parts = scale, parts
        self._feedback, self._unscored = feedback, unscored
        own = judge.deepcopy() if hasattr(judge, "deepcopy") else judge
        self._judge, found = with_own_models(own, lm)
        self._lm = as_dspy(found)
        self._judge_scale: Scale = own.scale
        self._lock = Lock()
        self.n_calls = 0
        self.reasons: Counter[str] = Counter()
        self.__name__ = "judge"

    def __deepcopy__(self, memo: object) -> JudgeMetric:
        return self  # one model, one count

    def __call__(
        self,
        gold: dspy.Example,
        pred: dspy.Prediction,
        trace: object = None,
        pred_name: str | None = None,
        pred_trace: object = None,
    ) -> float | dspy.Prediction:
        """Return the score, or score and feedback where GEPA asks about one predictor."""
        judgement = self.judgement(gold, pred)
        score = self._score_of(judgement)
        if pred_name is None or not self._feedback:
            return score
        import dspy

        words = feedback_of(judgement, score, self.scale)
        return dspy.Prediction(score=score, feedback=words)

    def judgement(self, gold: dspy.Example, pred: dspy.Prediction) -> Judgement:
        """Return all that the judge says of a prediction."""
        import dspy

        item = self._item(gold, pred)
        with dspy.context(trace=None):  # the judge's requests are no steps of the program
            (found,) = score_batch(self._judge, [item], lm=self._lm)
        with self._lock:
            self.n_calls += 1
            if found.reason is not None:
                self.reasons[found.reason.value] += 1
        return found

    def _score_of(self, judgement: Judgement) -> float:
        if judgement.score is not None:
            return self.scale.points(self._judge_scale.fraction(judgement.score))
        if self._unscored is None:
            raise JudgesmithError(
                f"the judge gave no score: {judgement.problem}",
                hint="to count such a response as a number instead: as_metric(unscored=…).",
            )
        return self._unscored

    def _item(self, gold: dspy.Example, pred: dspy.Prediction) -> RatedItem:
        asked, said = dict(gold.items()), dict(pred.items())
        texts: dict[str, Any] = {
            "source": self._text("source", asked, _inputs_of(gold), gold),
            "response": self._text("response", said, [k for k in said if k != _REASONING], pred),
        }
        if self._parts["context"] is not None:
            texts["context"] = self._text("context", asked, (), gold)
        if (where := self._parts["references"]) is not None:
            found = where(gold) if callable(where) else self._value("references", asked, where)
            several = found if isinstance(found, list | tuple) else [found]
            texts["references"] = tuple(map(str, several))
        return RatedItem(**texts)

    def _text(self, part: str, fields: Mapping[str, Any], usual: Any, of: Any) -> str:
        where = self._parts[part]
        if where is None:
            names = list(usual)
            if len(names) != 1:
                whose = "example's inputs" if part == "source" else "prediction's fields"
                raise InputError(
                    f"as_metric: which of the {whose} is the {part}? There are "
                    f"{', '.join(names) or 'none'}.",
                    hint=f"name it: as_metric({part}='{names[0] if names else 'FIELD'}').",
                )
            where = names[0]
        value = where(of) if callable(where) else self._value(part, fields, where)
        if value is None:
            raise InputError(f"as_metric: the {part} is None; it must be a text.")
        return value if isinstance(value, str) else str(value)

    def _value(self, part: str, fields: Mapping[str, Any], name: str) -> Any:
        if name not in fields:
            whose = "prediction" if part == "response" else "example"
            raise InputError(
                f"as_metric({part}={name!r}): the {whose} has no such field.",
                hint=did_you_mean(name, fields) or f"it has {', '.join(fields) or 'none'}.",
            )
        return fields[name]


def _inputs_of(example: dspy.Example) -> list[str]:
    try:
        return list(example.inputs().keys())
    except ValueError:  # with_inputs was never called
        return []


def _choice_of_unscored(given: object, scale: Scale) -> float | None:
    """Return the number that stands for a missing score; None where it is an error."""
    if isinstance(given, str) and given == "raise":
        return None
    is_number = isinstance(given, Real) and not isinstance(given, bool)
    if not is_number or math.isnan(number := float(given)) or number not in scale:  # type: ignore[arg-type]
        raise InputError(
            f"as_metric: unscored must be 'raise' or a number on {scale}; got {given!r:.80}."
        )
    return number


def feedback_of(judgement: Judgement, score: float, scale: Scale) -> str:
    """Return what a judge says, as text for a model that rewrites the program's instructions."""
    return "\n".join(_said(judgement, score, scale))


def _said(judgement: Judgement, score: float, scale: Scale) -> Iterator[str]:
    if judgement.problem is not None:
        yield f"The judge gave no score: {judgement.problem}"
        return
    said = f" ({judgement.label})" if judgement.label else ""
    yield f"Score: {shortest(round(score, 3))} on {scale}{said}."
    if judgement.explanation:
        yield judgement.explanation
    for name, one in judgement.criteria.items():
        points = "no score" if one.score is None else shortest(round(one.score, 1))
        why = f": {one.explanation}" if one.explanation and one.score is not None else ""
        yield f"- {name}, {points} on {PERCENT}{why}"
    if judgement.errors:
        yield "Errors in the response:"
    for error in judgement.errors:
        place = "" if error.start is None else f", characters {error.start} to {error.end}"
        grave = "" if error.severity is None else f", severity {shortest(error.severity)}"
        yield f'- "{error.text}"{place}{grave}: {error.explanation}'

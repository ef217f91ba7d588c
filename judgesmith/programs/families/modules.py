"""The judges as DSPy modules, and the module that infers tasks and criteria."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, ClassVar, Self

import dspy
import numpy as np

from judgesmith.errors import InputError
from judgesmith.programs.families.forms import PromptFormat, prompt_format_named
from judgesmith.programs.families.pairwise import (
    PairwiseConfig,
    Preference,
    ResponsePair,
    pair_steps,
    source_steps,
)
from judgesmith.programs.families.pointwise import (
    GENERAL_STEPS,
    MOST_WRITTEN,
    gptscore_forms,
    gptscore_template,
)
from judgesmith.programs.families.reference import measure_of
from judgesmith.programs.families.task_inference import (
    RatedExample,
    batches_of,
    inference_steps,
    readable_examples,
)
from judgesmith.programs.families.trained import PrometheusConfig, PromptFormatConfig
from judgesmith.programs.judging.adapter import PromptFormatAdapter, signature_in, template_in
from judgesmith.programs.judging.ask_once import QUESTIONS, STEPS, CriterionLines
from judgesmith.programs.judging.dspy_executor import ask_of, reply_to
from judgesmith.programs.judging.executors import current_lm
from judgesmith.programs.judging.judge import FamilyJudge, Judge, chosen
from judgesmith.programs.judging.program import ModelReply, PromptRequest, answered
from judgesmith.programs.judging.prompts import Template
from judgesmith.programs.judging.runner import CONCURRENCY
from judgesmith.programs.lm.limits import STOPPING
from judgesmith.results.progress import OnProgress, tell
from judgesmith.signatures.config import InferenceSettings, JudgeConfig, Sampling
from judgesmith.signatures.items import RatedItem, check_texts, item_to_judge
from judgesmith.signatures.judgement import Judgement
from judgesmith.signatures.questions.task_inference import (
    DescribeTask,
    JudgeCompleteness,
    MergeDescriptions,
    ObserveExamples,
    ProposeCriteria,
    SelectCriteria,
)
from judgesmith.signatures.questions.verdict import decided_on
from judgesmith.signatures.questions.wrapped import told_scale, wrapped_signature
from judgesmith.signatures.rubric import Rubric
from judgesmith.signatures.space import Picked, Space

if TYPE_CHECKING:
    from judgesmith.programs.artifacts.saved import SavedJudge


class ActiveCritic(FamilyJudge):
    """Score a response as Active-Critic does, by a protocol that can be compiled.

    ``vanilla`` asks once for an overall grade and shows graded examples (``grade``); ``coarse``
    asks once as well, with the task and the criteria (``rate``); ``fine`` first scores every
    criterion with an explanation (``assess``, or ``assess_1``, ``assess_2``, … in calls of their
    own), then the whole (``overall``, unless it is the mean of the criteria).

    References
    ----------
    "Large Language Models Are Active Critics in NLG Evaluation", stage 2.

    Examples
    --------
    >>> from judgesmith.programs import ActiveCritic
    >>> judge = ActiveCritic(variant="vanilla")
    >>> [name for name, _ in judge.named_predictors()]
    ['grade']
    """

    _family = "active-critic"

    def _signatures(self) -> dict[str, type[dspy.Signature]]:
        own: Any = self._settings
        if own.variant != "vanilla" and not own.rubric.criteria:
            raise InputError(
                f"the {own.variant} variant needs criteria; the rubric has none.",
                hint="give it at least one under 'criteria', as name: definition.",
            )
        return super()._signatures()


class DirectJudge(FamilyJudge):
    """Ask for a score and nothing else.

    Examples
    --------
    >>> judge = DirectJudge(answers="1..5")
    >>> judge(source="The bridge opened on Monday.", response="It opened on Monday.").score
    75.0
    >>> [name for name, _ in DirectJudge(asks="criteria").named_predictors()][-1]
    'one_6'
    """

    _family = "direct"


class ExplainEvalJudge(FamilyJudge):
    """Ask for an analysis and a score, in either order, or for the score alone."""

    _family = "explain-eval"


class _LinesJudge(FamilyJudge):
    """A judge whose model writes lines for each criterion before it judges."""

    _lines: ClassVar[CriterionLines]
    _stood_in: ClassVar[tuple[str, ...]]

    def prepared(
        self,
        lm: dspy.LM | None = None,
        *,
        rubrics: Sequence[Rubric] = (),
        concurrency: int = CONCURRENCY,
    ) -> tuple[Self, tuple[str, ...]]:
        own: Any = self.protocol
        if own.plan != "own":
            return self, ()
        name = self._lines.field
        found, problems = self._lines.completed(
            lm, getattr(own, name), (own.rubric, *rubrics), concurrency=concurrency
        )
        if found == getattr(own, name):
            return self, problems
        update: dict[str, Any] = {name: found}
        if self._lines is QUESTIONS:
            update["instructions"] = {}  # words written for one question do not fit another
        return self.with_protocol(own.model_copy(update=update)), problems

    def as_if_prepared(self, rubrics: Sequence[Rubric] = ()) -> tuple[Self, int]:
        own: Any = self.protocol
        if own.plan != "own":
            return self, 0
        name = self._lines.field
        found, n_calls = self._lines.stood_in(
            getattr(own, name), (own.rubric, *rubrics), by=self._stood_in
        )
        return self.with_protocol(own.model_copy(update={name: found})), n_calls


class GEvalJudge(_LinesJudge):
    """Score by evaluation steps, weighed by the probabilities of the scores."""

    _family = "g-eval"
    _lines = STEPS
    _stood_in = GENERAL_STEPS


class ChecklistJudge(_LinesJudge):
    """Score by yes-or-no questions about each criterion."""

    _family = "checklist"
    _lines = QUESTIONS
    _stood_in = ("Is it good?",) * MOST_WRITTEN


class VerdictJudge(FamilyJudge):
    """Write a critique, then give a label such as pass or fail, with its probability.

    Examples
    --------
    >>> judge = VerdictJudge(answers="wrong|right")
    >>> found = judge(source="The bridge opened on Monday.", response="It opened on Monday.")
    >>> found.label, round(found.probability["right"], 2) == round(found.score, 2)
    ('right', True)
    """

    _family = "verdict"

    def _signatures(self) -> dict[str, type[dspy.Signature]]:
        own: Any = self._settings
        forms = self.family.forms(own)
        return {
            name: decided_on(one, forms[name].answers or own.answers, own.explain)
            for name, one in super()._signatures().items()
        }


class WrappedJudge(FamilyJudge):
    """Ask the question of a DSPy signature; ``judgesmith.wrap`` makes it."""

    _family = "wrapped"

    def _signatures(self) -> dict[str, type[dspy.Signature]]:
        own: Any = self._settings
        return {"whole": wrapped_signature(own.question, own.answers)}


class ModuleJudge(FamilyJudge):
    """Run a module of the user's own, and read the score that it returns."""

    _family = "module"

    def adapter(self) -> dspy.Adapter:
        """Return DSPy's current adapter: the prompts are the module's own."""
        return dspy.settings.adapter or dspy.ChatAdapter(use_json_adapter_fallback=False)

    def templates(self) -> dict[str, Template]:
        return {}

    def _signatures(self) -> dict[str, type[dspy.Signature]]:
        return {}

    def _adopt(self, protocol: JudgeConfig) -> None:
        own: Any = protocol
        if own.live is None:
            raise InputError(
                f"the judge runs the module {own.module}, and a saved judge contains no code.",
                hint=f"give the module: judgesmith.load(folder, module={own.module}(…)).",
            )
        self.module = own.live.deepcopy()
        named = dict(self.named_predictors())
        if set(named) != set(own.questions):
            raise InputError(
                f"the judge was made of {own.module} with the predictors "
                f"{', '.join(own.questions)}; this module has {', '.join(named) or 'none'}."
            )
        for name, text in own.questions.items():
            named[name].signature = named[name].signature.with_instructions(text)
        for last in list(named.values())[-1:]:
            last.signature = told_scale(last.signature, own.output, own.answers)
        super()._adopt(protocol)

    async def _reply(self, ask: PromptRequest, *, blocking: bool) -> ModelReply:
        if ask.attempt:
            return ModelReply(kept=True)
        own: Any = self._settings
        given = {name: ask.inputs.get(text) for text, name in own.inputs.items()}
        lm = dspy.settings.lm
        if own.temperature:
            lm = lm.copy(temperature=own.temperature)
        with dspy.context(lm=lm):
            return await reply_to(ask, self._fields(given, blocking=blocking))

    async def _fields(self, given: Mapping[str, Any], *, blocking: bool) -> dict[str, Any]:
        own: Any = self._settings
        found = await self._found(given, blocking=blocking)
        fields = dict(found.items()) if isinstance(found, Mapping | dspy.Example) else {}
        score = fields.get(own.output) if fields else found
        if isinstance(score, bool):
            score = "yes" if score else "no"
        words = next((fields[one] for one in _WORDS if fields.get(one)), "")
        points = score if isinstance(score, int | float) else str(score)
        return {"score": points, "explanation": str(words)}

    async def _found(self, given: Mapping[str, Any], *, blocking: bool) -> Any:
        if blocking:
            return self.module(**given)
        if hasattr(self.module, "aforward"):
            return await self.module.acall(**given)
        return await asyncio.to_thread(self.module, **given)


_WORDS = ("explanation", "reasoning", "rationale", "feedback")


class GPTScoreJudge(FamilyJudge):
    """Score by the likelihood of the response; the model writes nothing."""

    _family = "gptscore"

    def templates(self) -> dict[str, Template]:
        own: Any = self._settings
        return {name: gptscore_template(own, name) for name in gptscore_forms(own)}


class ExemplarJudge(FamilyJudge):
    """Compare a response with texts written to be the worst, the best, and between.

    References
    ----------
    Direct scoring through comparisons with synthetic exemplars; levels between the ends by
    halving, for any number of them, and the normalised scores are ours.

    Examples
    --------
    >>> judge = ExemplarJudge(levels=3)
    >>> found = judge(source="The bridge opened on Monday.", response="It opened on Monday.")
    >>> found.weighting["criterion:relevance"].mode, len(found.calls)
    ('probabilities', 36)
    """

    _family = "exemplar"

    def _asked(self, question: str) -> str:
        own: Any = self._settings
        return str(own.form) if question == "compare" else question


class PairwiseJudge(FamilyJudge):
    """Rank the responses to a source by comparing two at a time, in both orders.

    A response by itself has no score: ask for all of a source with ``rank``, or for many sources
    with ``score_batch``. Scores are ranks within a source and say nothing about another one.

    Examples
    --------
    >>> source = "The bridge opened on Monday. Two thousand people crossed it."
    >>> said = ["The bridge opened on Monday.", "The the bridge in 1987 cats."]
    >>> [found.score for found in PairwiseJudge().rank(source=source, responses=said)]
    [100.0, 0.0]
    """

    _family = "pairs"
    _settings: PairwiseConfig

    def rank(
        self, *, source: str, responses: Sequence[str], context: str | None = None
    ) -> list[Judgement]:
        """Return the judgements of all responses to one source, in order, asked through DSPy."""
        items = [item_to_judge(source, one, context) for one in responses]
        return self.run(source_steps(self._settings, items))


class PreferenceJudge:
    """Compare two responses to a source, always in both orders.

    Parameters
    ----------
    judge : Pairs, SavedJudge, PairwiseConfig or None
        How it asks; None takes the defaults. A saved judge asks in the words that this version has.
    **choices
        Parts of the protocol to set, such as ``rubric``.

    Examples
    --------
    >>> judge = PreferenceJudge()
    >>> found = judge(
    ...     source="The bridge opened on Monday. Two thousand people crossed it.",
    ...     first="The the bridge in 1987 cats.",
    ...     second="The bridge opened on Monday.",
    ... )
    >>> found.probability < 0.5, found.disagree, found.given.mode
    (True, False, 'probabilities')
    """

    def __init__(
        self, judge: PairwiseJudge | SavedJudge | PairwiseConfig | None = None, **choices: Any
    ) -> None:
        asks: Any = judge
        if hasattr(asks, "program"):
            asks = asks.program()
        if isinstance(asks, Judge) and not isinstance(asks, PairwiseJudge):
            raise InputError(
                f"a {asks.protocol.judge} judge does not compare responses.",
                hint="use a pairs judge.",
            )
        if not isinstance(asks, PairwiseJudge) or choices:
            own: Any = asks.protocol if isinstance(asks, PairwiseJudge) else asks
            asks = PairwiseJudge(own, **choices)
        self.judge: PairwiseJudge = asks

    @property
    def protocol(self) -> PairwiseConfig:
        """How it asks."""
        own = self.judge.protocol
        assert isinstance(own, PairwiseConfig)
        return own

    def __call__(
        self, *, source: str, first: str, second: str, context: str | None = None
    ) -> Preference:
        """Return which of two responses to a source is better, asked through DSPy's model."""
        named = {"first response": first, "second response": second}
        check_texts({"source": source, "context": context or "", **named})
        pair = ResponsePair(source=source, first=first, second=second, context=context)
        return self.judge.run(pair_steps(self.protocol, pair))


class ReferenceJudge(FamilyJudge):
    """Compute a metric of the response and the item's references; no model is asked.

    Raises
    ------
    ImportError
        If the library behind the metric is not installed; the message names the extra.
    ValueError
        If METEOR is to know synonyms and WordNet is not there, or BERTScore's weights are not.

    Examples
    --------
    >>> judge = ReferenceJudge(metric="rouge1")
    >>> known = ["The bridge was opened on Monday."]
    >>> round(judge(source="", response="It opened on Monday.", references=known).score, 1)
    60.0
    >>> judge(source="", response="It opened on Monday.").problem[:12]
    'no reference'
    """

    _family = "reference"

    def _signatures(self) -> dict[str, type[dspy.Signature]]:
        own: Any = self._settings
        measure_of(own)  # a library that is missing is reported before anything is judged
        return {}

    def with_choices(self, picked: Picked, *, space: Space | None = None) -> Self:
        own: Any = self._settings
        if space is None and picked.get("metric") == "bertscore" != own.metric:
            asked = own.decided({"metric": "bertscore"})
            return self.with_protocol(asked).with_choices(picked)
        return super().with_choices(picked, space=space)


class _FormatsJudge(FamilyJudge):
    """A judge whose questions are asked in prompt formats."""

    def _formats(self) -> dict[str, PromptFormat]:
        forms = self.family.forms(self._settings)
        return {name: prompt_format_named(one.form) for name, one in forms.items()}

    def _signatures(self) -> dict[str, type[dspy.Signature]]:
        return {name: signature_in(form) for name, form in self._formats().items()}

    def adapter(self) -> PromptFormatAdapter:
        return _FormatsAdapter(list(self._formats().values()))

    def templates(self) -> dict[str, Template]:
        predictors = dict(self.named_predictors())
        return {
            name: template_in(form, name, predictors[name], self.fixed_inputs(name))
            for name, form in self._formats().items()
        }


class PromptFormatJudge(_FormatsJudge):
    """Ask a judge model in its own prompt format, once per criterion or once about the whole."""

    _family = "prometheus"

    @classmethod
    def _configured(cls, protocol: JudgeConfig | None, choices: Mapping[str, Any]) -> JudgeConfig:
        given = protocol or PrometheusConfig()
        if not isinstance(given, PromptFormatConfig):
            raise InputError(
                f"expected the configuration of a judge model; got one of {given.judge}."
            )
        return chosen(given, choices, kind=type(given))


class DistilledJudge(_FormatsJudge):
    """Ask a distilled model for errors with their places and a score from 0 to 100.

    References
    ----------
    Kartáč, Lango and Dušek (2025), "OpeNLGauge: An Explainable Metric for NLG Evaluation with
    Open-Weights LLMs", arXiv:2503.11858, on distillation. The words of the form are our own.

    Examples
    --------
    >>> judge = DistilledJudge(rubric={"criteria": {"faithfulness": "Is it true to the source?"}})
    >>> found = judge(source="Ann left Rome in May.", response="Then Bob left Rome.")
    >>> [(one.text, one.start, one.criterion) for one in found.errors]
    [('Bob', 5, 'faithfulness')]
    """

    _family = "distilled"


class AnnotatorJudge(_FormatsJudge):
    """Ask for errors, each with its place, reason and severity, and for an overall score.

    Each criterion is asked about by itself. The errors of a judgement have offsets in the
    response, or say why they have none.

    References
    ----------
    Kartáč, Lango and Dušek (2025), "OpeNLGauge: An Explainable Metric for NLG Evaluation with
    Open-Weights LLMs", arXiv:2503.11858. The words of all questions are our own.

    Examples
    --------
    >>> judge = AnnotatorJudge(rubric={"criteria": {"faithfulness": "Is it true to the source?"}})
    >>> found = judge(source="Ann left Rome in May.", response="Then Bob left Rome.")
    >>> [(one.text, one.start, one.located) for one in found.errors]
    [('Bob', 5, 'exact')]
    """

    _family = "annotator"


class _FormatsAdapter(PromptFormatAdapter):
    """Lays out each question in the format that shows the texts it has fields for."""

    def __init__(self, formats: Sequence[PromptFormat]) -> None:
        super().__init__(formats[0])
        self._formats = {frozenset(one.inputs): one for one in formats}

    def format(
        self, signature: type[dspy.Signature], demos: list[dict[str, Any]], inputs: dict[str, Any]
    ) -> list[dict[str, Any]]:
        form = self._formats[frozenset(signature.input_fields)]
        return PromptFormatAdapter(form).format(signature, demos, inputs)


class TaskInference(dspy.Module):
    """Infer the task and its criteria from rated examples."""

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
        on_progress: OnProgress | None = None,
    ) -> Rubric:
        examples = _paired(items, scores)
        given = given or Rubric()
        if given.task and "task" in self.settings.without:
            raise InputError("a task is both given and left out.", hint="drop one of the two.")
        examples, notes = readable_examples(examples, max_characters=self.settings.max_characters)
        batches = batches_of(
            examples,
            size=self.settings.batch_size,
            max_characters=self.settings.max_characters,
            rng=np.random.default_rng(self.settings.seed),
        )
        lm = lm or current_lm()
        sampling = Sampling(temperature=self.settings.temperature)

        def reply(ask: PromptRequest) -> ModelReply:
            found = ask_of(lm, getattr(self, ask.predictor), ask, sampling)
            tell(on_progress, 1)
            return found

        with STOPPING.attended():
            record = answered(inference_steps(batches, self.settings, given), reply)
        record.notes[:0] = notes
        rubric: Rubric = record.rubric(model=str(lm.model), rows=len(examples))
        return rubric


def _paired(items: Sequence[RatedItem], scores: Sequence[float]) -> list[RatedExample]:
    if len(items) != len(scores):
        raise InputError(f"every row needs a score; got {len(items)} rows, {len(scores)} scores.")
    off = [score for score in scores if not 0 <= score <= 100]
    if off:
        raise InputError(f"scores are from 0 (worst) to 100 (best); got {off[0]:g}.")
    return [RatedExample(item=a, score=float(b)) for a, b in zip(items, scores, strict=True)]

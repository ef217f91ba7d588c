"""The judges that ship as DSPy modules, and the module that infers tasks and criteria.

What each asks in which order stands beside this file, one file a family, free of DSPy.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Self, get_args

import dspy
import numpy as np

from judgesmith.errors import InputError
from judgesmith.programs.families.active_critic import assessing_names, critic_inputs
from judgesmith.programs.families.checklist import checklist_forms, checklist_inputs
from judgesmith.programs.families.exemplar import exemplar_forms, exemplar_inputs
from judgesmith.programs.families.g_eval import g_eval_forms, g_eval_inputs
from judgesmith.programs.families.gptscore import (
    gptscore_forms,
    gptscore_inputs,
    gptscore_template,
)
from judgesmith.programs.families.one_score import direct_forms, explain_eval_forms
from judgesmith.programs.families.pairwise import (
    Preference,
    pair_inputs,
    preference_steps,
    source_steps,
)
from judgesmith.programs.families.reference import measure_of, n_layers
from judgesmith.programs.families.task_inference import (
    InferenceSettings,
    RatedExample,
    batches_of,
    inference_steps,
    readable_examples,
)
from judgesmith.programs.judging.ask_once import QUESTIONS, STEPS
from judgesmith.programs.judging.dspy_executor import ask_of
from judgesmith.programs.judging.executors import current_lm
from judgesmith.programs.judging.judge import (
    FamilyJudge,
    Judge,
    answers_choice,
    asks_choices,
    field_choice,
    reduction_choice,
    reduction_choices,
    rubric_choice,
    samples_choice,
    without_untold,
)
from judgesmith.programs.judging.program import ModelReply, PromptRequest, answered
from judgesmith.programs.judging.prompts import Template
from judgesmith.programs.judging.runner import CONCURRENCY
from judgesmith.programs.judging.scoring import check_terms
from judgesmith.programs.lm.limits import STOPPING
from judgesmith.signatures.config import (
    DIRECT_ENDS,
    EXPLAIN_EVAL_ENDS,
    ActiveCriticConfig,
    DirectConfig,
    ExplainEvalConfig,
    GPTScoreConfig,
    Sampling,
)
from judgesmith.signatures.family_configs import (
    CHECKLIST_ENDS,
    G_EVAL_ENDS,
    GENERAL_STEPS,
    MOST_WRITTEN,
    ChecklistConfig,
    ExemplarConfig,
    GEvalConfig,
    Metric,
    PairwiseConfig,
    ReferenceConfig,
)
from judgesmith.signatures.items import RatedItem
from judgesmith.signatures.judgement import Judgement
from judgesmith.signatures.plain_data import record_faults
from judgesmith.signatures.questions.active_critic import (
    AssessCriteria,
    AssessCriterion,
    GradeResponse,
    RateByCriteria,
    ScoreOverall,
)
from judgesmith.signatures.questions.checklist import AnswerQuestion
from judgesmith.signatures.questions.direct import ScoreOne, ScoreWhole
from judgesmith.signatures.questions.exemplar import (
    CompareThree,
    CompareYesNo,
    WriteBetween,
    WriteEnd,
)
from judgesmith.signatures.questions.explain_eval import AnalyseOne, AnalyseWhole
from judgesmith.signatures.questions.g_eval import FollowForOne, FollowForWhole
from judgesmith.signatures.questions.on_scale import question_on, without_fields
from judgesmith.signatures.questions.pairwise import CompareTwo
from judgesmith.signatures.questions.task_inference import (
    DescribeTask,
    JudgeCompleteness,
    MergeDescriptions,
    ObserveExamples,
    ProposeCriteria,
    SelectCriteria,
)
from judgesmith.signatures.rubric import Rubric
from judgesmith.signatures.space import Choice, Option, Picked, Space

if TYPE_CHECKING:
    from judgesmith.programs.artifacts.saved import SavedJudge

_WITH_RUBRIC = ("fine", "coarse")


def critic_space(
    protocol: ActiveCriticConfig, rubrics: Mapping[str, Rubric] | None = None
) -> Space:
    """Return the choices about a judge; what its protocol says is always the first option."""
    variants = ("fine", "coarse", "vanilla") if protocol.rubric.criteria else ("vanilla",)
    choices = [field_choice(protocol, "variant", variants)]
    if len(variants) > 1:
        choices += [
            rubric_choice(protocol, rubrics, variant=_WITH_RUBRIC),
            field_choice(protocol, "criteria_calls", ("joint", "separate"), variant=("fine",)),
            field_choice(protocol, "overall", ("asked", "mean"), variant=("fine",)),
            field_choice(protocol, "explain", ("before", "after", "none"), variant=_WITH_RUBRIC),
        ]
    choices += [answers_choice(protocol), samples_choice(protocol)]
    return Space(choices=(*choices, *reduction_choices(protocol)))


class ActiveCritic(Judge):
    """Score a response as Active-Critic does, by a protocol that can be compiled.

    ``vanilla`` asks once for an overall grade and shows graded examples (``grade``); ``coarse``
    asks once as well, with the task and the criteria (``rate``); ``fine`` first scores every
    criterion with an explanation (``assess``, or ``assess_1``, ``assess_2``, … in calls of their
    own), then the whole (``overall``, unless it is the mean of the criteria).

    Parameters
    ----------
    protocol : Protocol or None
        The whole judge as one value; None starts from the defaults.
    **choices
        Parts of the protocol to set, such as ``variant="vanilla"`` or ``rubric=…``.

    Raises
    ------
    ValueError
        If the protocol is not one of an Active-Critic judge, or a variant other than vanilla has
        no criteria.

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

    _settings: ActiveCriticConfig

    @record_faults()
    def __init__(self, protocol: ActiveCriticConfig | None = None, **choices: Any) -> None:
        given = protocol or ActiveCriticConfig()
        family = choices.get("judge", given.judge)
        if family != "active-critic":
            raise InputError(f"expected an active-critic protocol; got one of {family}.")
        protocol = ActiveCriticConfig.model_validate({**dict(given), **choices})
        super().__init__(protocol)
        check_terms(protocol.aggregation)
        if protocol.variant != "vanilla" and not protocol.rubric.criteria:
            raise InputError(
                f"the {protocol.variant} variant needs criteria; the rubric has none.",
                hint="give it at least one under 'criteria', as name: definition.",
            )

        def question(signature: type[dspy.Signature]) -> dspy.Predict:
            asked = question_on(signature, protocol.answers, protocol.explain)
            return dspy.Predict(asked if protocol.rubric.task else without_fields(asked, "task"))

        if protocol.variant == "vanilla":
            self.grade = question(GradeResponse)
        elif protocol.variant == "coarse":
            self.rate = question(RateByCriteria)
        else:
            signature = AssessCriteria if protocol.criteria_calls == "joint" else AssessCriterion
            for name in assessing_names(protocol):
                setattr(self, name, question(signature))
            if protocol.overall == "asked":
                self.overall = question(ScoreOverall)
        self._adopt(protocol)

    def fixed_inputs(self, predictor: str) -> Mapping[str, str]:
        """Return task and criteria as far as the question has them."""
        return critic_inputs(self._settings, predictor)

    def space(self, rubrics: Mapping[str, Rubric] | None = None) -> Space:
        """Return what may be chosen about this judge; as it is comes first everywhere."""
        return critic_space(self._settings, rubrics)


class DirectJudge(FamilyJudge):
    """Ask for a score and nothing else.

    Parameters
    ----------
    protocol : DirectConfig or None
        The whole judge as one value; None starts from the defaults.
    **choices
        Parts of the protocol to set, such as ``asks="criteria"`` or ``answers="1..5"``.

    Raises
    ------
    ValueError
        If each criterion is to be scored and the rubric has none.

    Examples
    --------
    >>> judge = DirectJudge(answers="1..5")
    >>> judge(source="The bridge opened on Monday.", response="It opened on Monday.").score
    75.0
    >>> [name for name, _ in DirectJudge(asks="criteria").named_predictors()][-1]
    'one_6'
    """

    _settings: DirectConfig
    _family_config = DirectConfig

    def _signatures(self) -> dict[str, type[dspy.Signature]]:
        asked = {"whole": ScoreWhole, "each": ScoreOne}
        return self._scoring(direct_forms(self._settings), asked, ends=DIRECT_ENDS)

    def space(self, rubrics: Mapping[str, Rubric] | None = None) -> Space:
        """Return what may be chosen about this judge; as it is comes first everywhere."""
        own = self._settings
        choices = [*asks_choices(own, rubrics), answers_choice(own), samples_choice(own)]
        return Space(choices=(*choices, *reduction_choices(own)))


class ExplainEvalJudge(FamilyJudge):
    """Ask for an analysis and a score, in either order, or for the score alone."""

    _settings: ExplainEvalConfig
    _family_config = ExplainEvalConfig

    def _signatures(self) -> dict[str, type[dspy.Signature]]:
        own, asked = self._settings, {"whole": AnalyseWhole, "each": AnalyseOne}
        return self._scoring(explain_eval_forms(own), asked, own.explain, ends=EXPLAIN_EVAL_ENDS)

    def space(self, rubrics: Mapping[str, Rubric] | None = None) -> Space:
        """Return what may be chosen about this judge; as it is comes first everywhere."""
        own = self._settings
        choices = [
            *asks_choices(own, rubrics),
            field_choice(own, "explain", ("before", "after", "none")),
            answers_choice(own),
            samples_choice(own),
        ]
        return Space(choices=(*choices, *reduction_choices(own)))


G_EVAL_SAMPLES = (1, 5, 20)
"""How many answers compete where probabilities are lacking; the paper takes 20, at 1."""


class GEvalJudge(FamilyJudge):
    """Score by evaluation steps, weighed by the probabilities of the scores."""

    _settings: GEvalConfig
    _family_config = GEvalConfig

    def _signatures(self) -> dict[str, type[dspy.Signature]]:
        asked = {"whole": FollowForWhole, "each": FollowForOne}
        return self._scoring(g_eval_forms(self._settings), asked, ends=G_EVAL_ENDS)

    def fixed_inputs(self, predictor: str) -> Mapping[str, str]:
        """Return task, criteria and steps as far as the question has them."""
        return g_eval_inputs(self._settings, predictor)

    def prepared(
        self,
        lm: dspy.LM | None = None,
        *,
        rubrics: Sequence[Rubric] = (),
        concurrency: int = CONCURRENCY,
    ) -> tuple[Self, tuple[str, ...]]:
        """Return the judge with steps for its criteria and those of other rubrics.

        See ``Judge``.
        """
        own = self.protocol
        assert isinstance(own, GEvalConfig)
        if own.plan == "general":
            return self, ()
        several = (own.rubric, *rubrics)
        steps, problems = STEPS.completed(lm, own.steps, several, concurrency=concurrency)
        if steps == own.steps:
            return self, problems
        return self.with_protocol(own.model_copy(update={"steps": steps})), problems

    def as_if_prepared(self, rubrics: Sequence[Rubric] = ()) -> tuple[Self, int]:
        """Return the judge with general steps for all criteria; see ``Judge``."""
        own = self._settings
        if own.plan == "general":
            return self, 0
        steps, n_calls = STEPS.stood_in(own.steps, (own.rubric, *rubrics), by=GENERAL_STEPS)
        return self.with_protocol(self.protocol.model_copy(update={"steps": steps})), n_calls

    def space(self, rubrics: Mapping[str, Rubric] | None = None) -> Space:
        """Return what may be chosen about this judge; as it is comes first everywhere."""
        own = self._settings
        samples = samples_choice(own, G_EVAL_SAMPLES, warm=1.0)
        choices = [
            *asks_choices(own, rubrics),
            field_choice(own, "plan", ("own", "general")),
            answers_choice(own),
            field_choice(own, "weighting", ("probabilities", "none")),
            samples,
            reduction_choice(own, samples),
        ]
        return Space(choices=tuple(choices))


class ChecklistJudge(FamilyJudge):
    """Ask yes or no, question by question."""

    _settings: ChecklistConfig
    _family_config = ChecklistConfig

    def _signatures(self) -> dict[str, type[dspy.Signature]]:
        asked = {"each": AnswerQuestion}
        return self._scoring(checklist_forms(self._settings), asked, ends=CHECKLIST_ENDS)

    def fixed_inputs(self, predictor: str) -> Mapping[str, str]:
        """Return the task, if there is one, and the question."""
        return checklist_inputs(self._settings, predictor)

    def prepared(
        self,
        lm: dspy.LM | None = None,
        *,
        rubrics: Sequence[Rubric] = (),
        concurrency: int = CONCURRENCY,
    ) -> tuple[Self, tuple[str, ...]]:
        """Return the judge with questions for its criteria and those of other rubrics."""
        own = self.protocol
        assert isinstance(own, ChecklistConfig)
        if own.plan == "rubric":
            return self, ()
        several = (own.rubric, *rubrics)
        questions, problems = QUESTIONS.completed(
            lm, own.questions, several, concurrency=concurrency
        )
        if questions == own.questions:
            return self, problems
        # Words written for one question do not fit another.
        update = {"questions": questions, "instructions": {}}
        return self.with_protocol(own.model_copy(update=update)), problems

    def as_if_prepared(self, rubrics: Sequence[Rubric] = ()) -> tuple[Self, int]:
        """Return the judge with as many questions as a model is asked for at most."""
        own = self._settings
        if own.plan == "rubric":
            return self, 0
        by = ("Is it good?",) * MOST_WRITTEN
        questions, n_calls = QUESTIONS.stood_in(own.questions, (own.rubric, *rubrics), by=by)
        return self.with_protocol(own.model_copy(update={"questions": questions})), n_calls

    def space(self, rubrics: Mapping[str, Rubric] | None = None) -> Space:
        """Return what may be chosen about this judge; as it is comes first everywhere."""
        own = self._settings
        samples = samples_choice(own)
        return Space(
            choices=(
                rubric_choice(own, rubrics),
                field_choice(own, "plan", ("own", "rubric")),
                field_choice(own, "weighting", ("probabilities", "none")),
                samples,
                reduction_choice(own, samples),
            )
        )


class GPTScoreJudge(FamilyJudge):
    """Score by the likelihood of the response; the model writes nothing."""

    _settings: GPTScoreConfig
    _family_config = GPTScoreConfig

    def fixed_inputs(self, predictor: str) -> Mapping[str, str]:
        """Return task and criteria as far as the prompt names them."""
        return gptscore_inputs(self._settings, predictor)

    def templates(self) -> dict[str, Template]:
        """Return every prompt, rendered up to the item, by its name."""
        own = self._settings
        return {name: gptscore_template(own, name) for name in gptscore_forms(own)}

    def space(self, rubrics: Mapping[str, Rubric] | None = None) -> Space:
        """Return what may be chosen about this judge; as it is comes first everywhere."""
        return Space(choices=tuple(asks_choices(self._settings, rubrics)))


EXEMPLARS = (2, 3, 5, 9)
"""How many exemplars compete; more cost more calls and gain ever less."""


class ExemplarJudge(FamilyJudge):
    """Compare a response with texts written to be the worst, the best, and between.

    Parameters
    ----------
    protocol : ExemplarConfig or None
        The whole judge as one value; None starts from the defaults.
    **choices
        Parts of the protocol to set, such as ``levels=3`` or ``form="yes-no"``.

    Raises
    ------
    ValueError
        If each criterion is to be scored and the rubric has none.

    References
    ----------
    Direct scoring through comparisons with synthetic exemplars; levels between the ends by
    halving, for any number of them, and the normalised scores are ours.

    Examples
    --------
    >>> judge = ExemplarJudge(levels=3)
    >>> found = judge(source="The bridge opened on Monday.", response="It opened on Monday.")
    >>> found.weighting["overall"].mode, len(found.calls)
    ('probabilities', 6)
    """

    _settings: ExemplarConfig
    _family_config = ExemplarConfig
    _called = "a protocol of exemplar judges"

    def _signatures(self) -> dict[str, type[dspy.Signature]]:
        own = self._settings
        compare = CompareThree if own.form == "three" else CompareYesNo
        kinds = {"end": WriteEnd, "between": WriteBetween, "compare": compare}
        untold = () if own.rubric.task else ("task",)
        return {name: without_fields(kinds[name], *untold) for name in exemplar_forms(own)}

    def fixed_inputs(self, predictor: str) -> Mapping[str, str]:
        """Return task and manner as far as the question has them."""
        return exemplar_inputs(self._settings, predictor)

    def space(self, rubrics: Mapping[str, Rubric] | None = None) -> Space:
        """Return what may be chosen about this judge; as it is comes first everywhere."""
        own = self._settings
        choices = [
            *asks_choices(own, rubrics),
            _plain_choice(own, "levels", {str(n): n for n in EXEMPLARS}),
            field_choice(own, "form", ("three", "yes-no")),
            field_choice(own, "order", ("one", "both")),
            field_choice(own, "normalisation", ("affine", "level")),
            _plain_choice(own, "mirrored", {"no": False, "yes": True}),
        ]
        return Space(choices=tuple(choices))


def _plain_choice(protocol: ExemplarConfig, name: str, values: Mapping[str, Any]) -> Choice:
    """Return the choice between values that are no texts, by id; the protocol's own first."""
    own = getattr(protocol, name)
    ids = {value: option for option, value in values.items()}
    ordered = dict.fromkeys((own, *values.values()))
    options = tuple(Option(id=ids.get(one, str(one)), sets={name: one}) for one in ordered)
    return Choice(name=name, options=options)


class PairwiseJudge(FamilyJudge):
    """Rank the responses to a source by comparing two at a time, in both orders.

    A response by itself has no score: ask for all of a source with ``rank``, or for many sources
    with ``judge_items``. Scores are ranks within a source and say nothing about another one.

    Parameters
    ----------
    protocol : PairwiseConfig or None
        The whole judge as one value; None starts from the defaults.
    **choices
        Parts of the protocol to set, such as ``ranking="all"``.

    Raises
    ------
    ValueError
        If the parts make no such judge.

    Examples
    --------
    >>> source = "The bridge opened on Monday. Two thousand people crossed it."
    >>> said = ["The bridge opened on Monday.", "The the bridge in 1987 cats."]
    >>> [found.score for found in PairwiseJudge().rank(source=source, responses=said)]
    [100.0, 0.0]
    """

    _settings: PairwiseConfig
    _family_config = PairwiseConfig
    _called = "a protocol of pairs"

    def _signatures(self) -> dict[str, type[dspy.Signature]]:
        return {"compare": without_untold(CompareTwo, pair_inputs(self._settings))}

    def fixed_inputs(self, predictor: str) -> Mapping[str, str]:
        """Return task and criteria as far as there are any."""
        return pair_inputs(self._settings)

    def rank(
        self, *, source: str, responses: Sequence[str], context: str | None = None
    ) -> list[Judgement]:
        """Return the judgements of all responses to one source, in order, asked through DSPy."""
        return self.taken(
            source_steps(self._settings, source=source, context=context, responses=responses)
        )

    def space(self, rubrics: Mapping[str, Rubric] | None = None) -> Space:
        """Return what may be chosen about this judge; as it is comes first everywhere."""
        own = self._settings
        choices: list[Choice] = [rubric_choice(own, rubrics)] if own.rubric.criteria else []
        choices += [
            field_choice(own, "ranking", ("beam", "all")),
            field_choice(own, "weighting", ("probabilities", "none")),
        ]
        return Space(choices=tuple(choices))


class PreferenceJudge:
    """Say which of two responses to a source is better, always asked in both orders.

    Parameters
    ----------
    judge : Pairs, SavedJudge, PairwiseConfig or None
        How it asks; None takes the defaults. A saved judge asks in the words that this version has.
    **choices
        Parts of the protocol to set, such as ``rubric``.

    Raises
    ------
    ValueError
        If it is a judge that compares nothing.

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
                f"a judge of the kind {asks.protocol.judge} compares nothing.",
                hint="take one of pairs.",
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
        """Return which of two responses is better, asked through DSPy's current model.

        Parameters
        ----------
        source, first, second : str
            What was answered, and both answers, verbatim.
        context : str or None
            Further material that the responses may draw on.
        """
        steps = preference_steps(
            self.protocol, source=source, first=first, second=second, context=context
        )
        return self.judge.taken(steps)


class ReferenceJudge(Judge):
    """Compute a metric of the response and the item's references; no model is asked.

    Parameters
    ----------
    protocol : ReferenceConfig or None
        The whole judge as one value; None starts from the defaults.
    **choices
        Parts of the protocol to set, such as ``metric="chrf"``.

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

    _settings: ReferenceConfig

    @record_faults()
    def __init__(self, protocol: ReferenceConfig | None = None, **choices: Any) -> None:
        given = protocol or ReferenceConfig()
        if given.judge != "reference":
            raise InputError(f"expected a reference protocol; got one of {given.judge}.")
        own = ReferenceConfig.model_validate({**dict(given), **choices})
        super().__init__(own)
        check_terms(own.aggregation)
        measure_of(own)
        self._adopt(own)

    def fixed_inputs(self, predictor: str) -> Mapping[str, str]:
        """Return nothing: there are no questions."""
        return {}

    def space(self, rubrics: Mapping[str, Rubric] | None = None) -> Space:
        """Return what may be chosen about this judge; as it is comes first everywhere."""
        own = self._settings
        rouge = tuple(name for name in get_args(Metric) if name.startswith("rouge"))
        choices = [
            field_choice(own, "metric", _EVERYWHERE),
            field_choice(own, "against", ("references", "source", "context")),
            field_choice(own, "several", ("max", "mean"), against=("references",)),
            field_choice(own, "stem", ("none", "porter"), metric=rouge),
            field_choice(own, "tokens", ("13a", "intl", "zh", "char"), metric=("bleu",)),
        ]
        # What is not installed everywhere competes only where it was asked for.
        synonyms = ("none", "wordnet") if own.synonyms == "wordnet" else ("none",)
        choices.append(field_choice(own, "synonyms", synonyms, metric=("meteor",)))
        if own.metric == "bertscore":
            choices.append(_layer_choice(own))
        return Space(choices=tuple(choices))

    def with_choices(self, picked: Picked, *, space: Space | None = None) -> Self:
        """Return a judge decided as ``picked`` says, as every judge does.

        BERTScore can be picked by its name though it is not among what is searched.
        """
        if space is None and picked.get("metric") == "bertscore" != self._settings.metric:
            asked = self._settings.decided({"metric": "bertscore"})
            return self.with_protocol(asked).with_choices(picked)
        return super().with_choices(picked, space=space)


_EVERYWHERE = tuple(name for name in get_args(Metric) if name != "bertscore")


def _layer_choice(own: ReferenceConfig) -> Choice:
    layers: list[int | None] = [own.layer]
    layers += [one for one in (None, *range(1, n_layers(own))) if one != own.layer]
    options = tuple(Option(id=str(one or "last"), sets={"layer": one}) for one in layers)
    return Choice(name="layer", options=options, only_if={"metric": ("bertscore",)})


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
        examples = _paired(items, scores)
        given = given or Rubric()
        if given.task and "task" in self.settings.without:
            raise InputError("a task is given and left out at once.", hint="drop one of the two.")
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
            if progress is not None:
                progress(1)
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
    return [
        RatedExample(item=item, score=float(score))
        for item, score in zip(items, scores, strict=True)
    ]

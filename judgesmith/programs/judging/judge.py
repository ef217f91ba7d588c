"""What every judge is: a DSPy module decided by one value, its configuration, and its choices."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Self, TypeVar

import dspy

from judgesmith.errors import InputError
from judgesmith.front_door import Guessed, public
from judgesmith.programs.judging.adapter import on_own_scale
from judgesmith.programs.judging.answers import demonstration_of, shown_example
from judgesmith.programs.judging.dspy_executor import AskingModule
from judgesmith.programs.judging.executors import another_model, no_judge
from judgesmith.programs.judging.metric import AsMetric
from judgesmith.programs.judging.program import JudgeProgram, with_note
from judgesmith.programs.judging.registry import (
    JudgeFamily,
    Own,
    check_lines_given,
    family_of,
    family_part,
    validated,
)
from judgesmith.programs.judging.runner import CONCURRENCY
from judgesmith.programs.judging.scoring import check_terms, place_of, told_inputs
from judgesmith.results.base import one_line
from judgesmith.signatures.aggregation import Aggregation
from judgesmith.signatures.config import JudgeConfig
from judgesmith.signatures.items import RatedItem, item_to_judge
from judgesmith.signatures.judgement import CriterionScore, ErrorSpan, Judgement, Note, Reason
from judgesmith.signatures.questions import Questions
from judgesmith.signatures.questions.on_scale import Explain, made_once, question_on, without_fields
from judgesmith.signatures.rubric import Rubric
from judgesmith.signatures.scale import Scale
from judgesmith.signatures.space import Picked, Space, UnknownChoiceError

Kind = TypeVar("Kind", bound="Judge")


def own_settings(protocol: JudgeConfig) -> tuple[str, ...]:
    """Return which fields of a family's own hold one plain value: a number, a word, or none yet."""
    others = {*JudgeConfig.model_fields, *protocol.given_alone}
    own = (name for name in type(protocol).model_fields if name not in others)
    return tuple(
        name for name in own if isinstance(getattr(protocol, name), str | int | float | None)
    )


def decided_by_names(judge: Kind, picked: Picked) -> Kind:
    """Return a judge of the same kind that is decided as ``picked`` says, by choice or setting."""
    judge, picked = _told_of_criteria(judge, picked)
    own, space = judge.protocol, judge.space()
    options = {one.name: one.ids for one in space.choices}
    settings = [name for name in own_settings(own) if _can_be_set(own, name, options, picked)]
    values = {name: picked[name] for name in settings if name in picked}
    chosen = {name: option for name, option in picked.items() if name not in values}
    unknown = sorted(set(chosen) - set(options))
    free = [*settings, *(f"{name}.CRITERION" for name in own.by_criterion)]
    if unknown and free:
        raise UnknownChoiceError(
            f"there is no choice {', '.join(unknown)}; there are {', '.join(options)}, and "
            f"{', '.join(free)} can be set.",
            unknown=unknown,
            known=(*options, *free),
        )
    refuse_idle(space, chosen)
    if values:
        judge = judge.with_protocol(own.decided(values))
    return judge.with_choices(chosen)


def _told_of_criteria(judge: Kind, picked: Picked) -> tuple[Kind, Picked]:
    own = judge.protocol
    sets: dict[str, dict[str, Any]] = {}
    besides = dict(picked)
    for name, said in picked.items():
        field, _, criterion = name.partition(".")
        if criterion and field in own.by_criterion:
            sets.setdefault(field, dict(getattr(own, field)))[criterion] = said
            del besides[name]
    return (judge.with_protocol(own.decided(sets)) if sets else judge), besides


def refuse_idle(space: Space, chosen: Picked) -> None:
    """Refuse an option of a choice that another chosen option rules out."""
    if set(chosen) - set(space.names):
        return  # refused by name elsewhere
    whole = space.complete(chosen)
    for choice in space.choices:
        if choice.name not in chosen or choice.name in whole:
            continue
        for name, allowed in choice.only_if.items():
            if name in chosen and whole.get(name) not in allowed:
                others = " or ".join(filter(None, (", ".join(allowed[:-1]), allowed[-1])))
                raise InputError(
                    f"{choice.name}={chosen[choice.name]} has no effect with {name}="
                    f"{whole.get(name, 'none')}; it takes {name} {others}."
                )


def _can_be_set(
    protocol: JudgeConfig, name: str, options: Mapping[str, tuple[str, ...]], picked: Picked
) -> bool:
    if name not in options:
        return True
    value = getattr(protocol, name)
    if isinstance(value, bool) or picked.get(name, options[name][0]) in options[name]:
        return False
    if not isinstance(value, str):
        return True
    try:
        protocol.decided({name: picked[name]})
    except ValueError:
        return False  # told better by the options that there are
    return True


_TOLD = ("task", "criteria", "criterion")


def own_protocol(kind: type[Own], given: JudgeConfig | None, choices: Mapping[str, Any]) -> Own:
    """Return the configuration of one family that a judge is made with."""
    family = kind.model_fields["judge"].default
    start = kind(judge=family) if given is None else given
    named = choices.get("judge", start.judge)
    if named != family:
        raise InputError(f"expected {_with_article(family)} configuration; got one of {named}.")
    return chosen(start, choices, kind=kind)


def chosen(given: JudgeConfig, choices: Mapping[str, Any], *, kind: type[Own]) -> Own:
    """Return a protocol with some parts set otherwise, if a judge can follow it."""
    own = validated(kind, {**dict(given), **choices})
    check_lines_given(own, choices)
    check_terms(own.aggregation)
    if own.scores_criteria and not own.rubric.criteria:
        needs, otherwise = "needs criteria to ask about", ""
        if "asks" in type(own).model_fields:
            needs, otherwise = "that asks for criteria needs some", ", or let it ask for the whole"
        raise InputError(
            f"{_with_article(own.judge)} judge {needs}; the rubric has none.",
            hint=f"give it at least one under 'criteria', as name: definition{otherwise}.",
        )
    return own


def without_untold(
    signature: type[dspy.Signature], told: Mapping[str, str]
) -> type[dspy.Signature]:
    untold = [name for name in _TOLD if name in signature.input_fields and name not in told]
    return without_fields(signature, *untold)


_GUIDELINES = "rules of judging, one per line, as people who rated such responses put them"


def guided_question(
    signature: type[dspy.Signature], told: Mapping[str, str]
) -> type[dspy.Signature]:
    """Return a question with a field for guidelines, after what else is told; else as it is."""
    if "guidelines" not in told or "guidelines" in signature.input_fields:
        return signature
    places = [place for place, name in enumerate(signature.input_fields) if name in _TOLD]
    return _guided(signature, max(places, default=-1) + 1)


@made_once
def _guided(signature: type[dspy.Signature], place: int) -> type[dspy.Signature]:
    field = dspy.InputField(desc=_GUIDELINES)
    found: type[dspy.Signature] = signature.insert(place, "guidelines", field, str)
    return found


def _with_article(name: str) -> str:
    return f"{'an' if name[:1] in 'aeiou' else 'a'} {name}"


class JudgePrediction(Guessed, dspy.Prediction):
    """What a judge returns when it is called."""

    score: float | None
    explanation: str
    criteria: dict[str, CriterionScore]
    errors: tuple[ErrorSpan, ...]
    problem: str | None
    reason: Reason | None
    label: str | None
    notes: tuple[Note, ...]
    probability: dict[str, float]
    protocol: str


class JudgeModule(AsMetric, dspy.Module):
    """A judge as a module of DSPy, which saves and loads its state as any other does."""

    @property
    @abstractmethod
    def scale(self) -> Scale:
        """What scores are measured in."""

    def __repr__(self) -> str:
        names = ", ".join(name for name, _ in self.named_predictors())
        return one_line(f"{type(self).__name__}({names}; scores on {self.scale})")

    def save(
        self, path: str | Path, save_program: bool = False, modules_to_serialize: Any = None
    ) -> None:
        """Write DSPy's state of the judge to a file, as ``judge.save("state.json")``."""
        if not save_program and Path(path).suffix not in _STATES:
            raise InputError(
                f"judge.save writes DSPy's state to a file, {path}.json; the folder of a compiled "
                f"judge is written by compiled.save({str(path)!r})."
            )
        super().save(path, save_program, modules_to_serialize)

    def load(self, path: str | Path, **given: Any) -> None:
        """Take over the state that ``save`` wrote."""
        try:
            if Path(path).suffix in _STATES:
                super().load(path, **given)
                return
        except KeyError as fault:
            if fault.args != ("metadata",):  # which every state has, and other JSON lacks
                raise
        raise InputError(
            f"judge.load reads DSPy's state, which judge.save wrote, and {path} has none.",
            hint=f"a judge's folder is opened by judgesmith.load({str(path)!r}).",
        )


_STATES = (".json", ".pkl")


class Judge(JudgeModule, AskingModule):
    """A module that scores one response and says why.

    Subclasses name their predictors in ``__init__``; the order of the requests is their
    family's, and everything else is shared. Predictors keep DSPy's own demonstrations and
    instructions, so that any DSPy optimizer can change them; ``protocol`` reads them back.

    Parameters
    ----------
    protocol : JudgeConfig
        Everything that can be tuned, of the judge's own family. Judges of a family start from
        their defaults where none is given, and take parts of it by name, such as ``rubric``.

    Raises
    ------
    ValueError
        If the parts make no judge, such as one that scores criteria and has none.
    """

    seen_keys: frozenset[str] = frozenset()
    """Keys of the rated rows that it was compiled from, where it comes from a saved judge."""

    def __init_subclass__(cls, **more: Any) -> None:
        super().__init_subclass__(**more)
        if "forward" in vars(cls):
            raise TypeError(
                f"{cls.__name__}: a judge with a forward of its own is a dspy.Module, wrapped: "
                f"class {cls.__name__}(dspy.Module), judgesmith.wrap({cls.__name__}(), scale=…)."
            )

    def __init__(self, protocol: JudgeConfig) -> None:
        super().__init__(protocol.model_copy(update={"demonstrations": {}, "instructions": {}}))

    def steps(self, item: RatedItem) -> JudgeProgram:
        """Return the judgement of one response, as a generator of questions."""
        return family_of(self._settings.judge).program(self._settings, item)

    def fixed_inputs(self, predictor: str) -> Mapping[str, str]:
        """Return the inputs of a predictor that are the same for every item, by field."""
        return told_inputs(self._settings, predictor)

    @property
    def protocol(self) -> JudgeConfig:
        """The judge as one value, with what optimizers made of its predictors."""
        demonstrations = {}
        instructions = {}
        for name, predictor in self.named_predictors():
            asked = predictor.signature
            demos = (on_own_scale(demo, asked) for demo in predictor.demos)
            shown = tuple(demonstration_of(demo, asked) for demo in demos)
            if shown:
                demonstrations[name] = shown
            text = predictor.signature.instructions
            if text != self._own_instructions[name]:
                instructions[name] = text
        update = {"demonstrations": demonstrations, "instructions": instructions}
        return self._settings.model_copy(update=update)

    @property
    def scale(self) -> Scale:
        """What scores are measured in."""
        return self._settings.scores_on

    @property
    def fingerprint(self) -> str:
        """Twelve hex digits that change when anything in the judge does."""
        return self.protocol.fingerprint

    def with_protocol(self, protocol: JudgeConfig) -> Self:
        """Return a judge of the same kind that follows ``protocol``, with the same models."""
        other = type(self)(protocol)
        own = dict(self.named_predictors())
        models = {id(one.lm): one.lm for one in own.values()}
        shared = next(iter(models.values())) if len(models) == 1 else None
        for name, predictor in other.named_predictors():
            predictor.lm = own[name].lm if name in own else shared
            predictor.config = dict(own[name].config) if name in own else {}
        other.callbacks = list(self.callbacks)
        other.bound_like(self)
        return other

    def for_own_rubric(self) -> Self:
        """Return the judge without what was prepared for criteria of other rubrics."""
        own = self.protocol
        kept = own.for_own_rubric()
        return self if kept == own else self.with_protocol(kept)

    @abstractmethod
    def space(self, rubrics: Mapping[str, Rubric] | None = None) -> Space:
        """Return what may be chosen about the judge; as it is comes first everywhere.

        Parameters
        ----------
        rubrics : dict of str to Rubric, or None
            Rubrics that compete with the judge's own, by name.
        """

    def prepared(
        self,
        lm: dspy.LM | None = None,
        *,
        rubrics: Sequence[Rubric] = (),
        concurrency: int = CONCURRENCY,
    ) -> tuple[Self, tuple[str, ...]]:
        """Return the judge with what it needs from a model before it judges, as plain values.

        What is prepared is part of the protocol afterwards, so that a saved judge is complete;
        ``compile`` does this before it searches.

        Parameters
        ----------
        lm : dspy.LM or None
            The model; None takes DSPy's current one, or the offline model.
        rubrics : sequence of Rubric
            Others that the judge may be given later.
        concurrency : int
            Questions asked at the same time.

        Returns
        -------
        Judge and tuple of str
            The judge itself where nothing was to do; and what could not be prepared, in sentences.
        """
        return self, ()

    def as_if_prepared(self, rubrics: Sequence[Rubric] = ()) -> tuple[Self, int]:
        """Return the judge with stand-ins for what is prepared, and how many calls they save.

        What a model would write is not known; estimates go by how much of it there is at most.
        """
        return self, 0

    def with_choices(self, picked: Picked, *, space: Space | None = None) -> Self:
        """Return a judge of the same kind that is decided as ``picked`` says.

        Demonstrations and aggregation stay only where nothing else changes: they belong to the
        questions that they were made for.

        Parameters
        ----------
        picked : dict of str to str
            Options by choice; those left out are the space's defaults. ``ValueError`` for unknown
            ones.
        space : Space or None
            Where the choices come from; None takes the judge's own.

        Examples
        --------
        >>> from judgesmith.programs import ActiveCritic
        >>> judge = ActiveCritic().with_choices({"variant": "coarse", "explain": "none"})
        >>> judge.protocol.variant, judge.protocol.explain
        ('coarse', 'none')
        """
        own = self.protocol
        nothing_shown: dict[str, Any] = {"demonstrations": {}, "nearest": None, "instructions": {}}
        nothing_shown |= {"aggregation": Aggregation()}
        plain = own.model_copy(update=nothing_shown)
        decided = plain.decided((self.space() if space is None else space).sets(picked))
        if decided == plain:
            return self.with_protocol(own)
        asked = dict(type(self)(decided).named_predictors()) if own.instructions else {}
        kept = {name: text for name, text in own.instructions.items() if name in asked}
        return self.with_protocol(decided.model_copy(update={"instructions": kept}))

    if TYPE_CHECKING:

        def __call__(
            self,
            *,
            source: str,
            response: str,
            context: str | None = None,
            references: Sequence[str] = (),
        ) -> JudgePrediction: ...

        async def acall(
            self,
            *,
            source: str,
            response: str,
            context: str | None = None,
            references: Sequence[str] = (),
        ) -> JudgePrediction: ...

    @public("judge")
    def forward(
        self,
        *,
        source: str,
        response: str,
        context: str | None = None,
        references: Sequence[str] = (),
    ) -> JudgePrediction:
        """Judge one response.

        Parameters
        ----------
        source, response : str
            What was answered, and the answer under judgement, verbatim.
        context : str or None
            Further material the response may draw on.
        references : sequence of str
            Answers known to be good; families that do not read them pass them over.

        Returns
        -------
        JudgePrediction
            ``score`` (a float on the judge's scale, or None), ``explanation``, ``criteria``
            (name to CriterionScore), ``errors``, ``problem`` (None, or why there is no score),
            ``raw``, ``weighting``, ``notes``, ``calls`` and ``protocol`` (the fingerprint of what
            produced it).
        """
        item = item_to_judge(source, response, context, references)
        return self._prediction(self.run(self.steps(item)))

    async def aforward(self, **texts: Any) -> JudgePrediction:
        """Judge one response without blocking; see ``forward``."""
        item = item_to_judge(**texts)
        return self._prediction(await self.arun(self.steps(item)))

    def dump_state(self, json_mode: bool = True) -> dict[str, Any]:
        """Return DSPy's state of the predictors, and the protocol next to it."""
        state: dict[str, Any] = super().dump_state(json_mode=json_mode)
        return {**state, "protocol": self._settings.model_dump(mode="json")}

    def load_state(self, state: dict[str, Any], *, allow_unsafe_lm_state: bool = False) -> None:
        """Take over what ``dump_state`` returned; ``ValueError`` for another kind or variant."""
        if "protocol" not in state:
            raise InputError("the state has no protocol: it was not saved by a judge.")
        predictors = {k: one for k, one in state.items() if k not in ("protocol", "metadata")}
        kind = state["protocol"].get("judge")
        if kind != self._settings.judge:
            raise InputError(f"the state is of a judge of the kind {kind}.")
        settings = type(self._settings).model_validate(state["protocol"])
        own = dict(self.named_predictors())
        fresh = type(self)(settings)
        other = dict(fresh.named_predictors())
        for names in (set(predictors), set(other)):
            if names != set(own):
                raise InputError(
                    f"this judge asks {', '.join(sorted(own))}; the state is of one that asks "
                    f"{', '.join(sorted(names))}. Load it into a judge of the same variant."
                )
        # What cannot be read shows here, before anything is changed.
        super(Judge, fresh).load_state(predictors, allow_unsafe_lm_state=allow_unsafe_lm_state)
        for name, predictor in own.items():
            # Which fields a question has depends on the protocol, and DSPy's state lacks them.
            predictor.signature = other[name].signature
        super().load_state(predictors, allow_unsafe_lm_state=allow_unsafe_lm_state)
        self._settings = settings

    def _adopt(self, protocol: JudgeConfig) -> None:
        """Give the predictors what ``protocol`` says of them; call at the end of ``__init__``."""
        named = dict(self.named_predictors())
        self._own_instructions = {name: one.signature.instructions for name, one in named.items()}
        for part in ("demonstrations", "instructions"):
            unknown = sorted(set(getattr(protocol, part)) - set(named))
            if unknown:
                raise InputError(
                    f"{part} for {', '.join(unknown)}; this judge asks {', '.join(sorted(named))}."
                )
        for name, text in protocol.instructions.items():
            named[name].signature = named[name].signature.with_instructions(text)
        for name, shown in protocol.demonstrations.items():
            signature = named[name].signature
            named[name].demos = [shown_example(one, name, signature) for one in shown]

    def _prediction(self, judgement: Judgement) -> JudgePrediction:
        judgement = with_note(judgement, another_model(self, self.with_own_models()[1]))
        return JudgePrediction(
            score=judgement.score,
            explanation=judgement.explanation,
            criteria=dict(judgement.criteria),
            errors=judgement.errors,
            problem=judgement.problem,
            reason=judgement.reason,
            raw=judgement.raw,
            weighting=dict(judgement.weighting),
            notes=judgement.notes,
            calls=judgement.calls,
            label=judgement.label,
            probability=dict(judgement.probability),
            protocol=self.protocol.fingerprint,
        )


class FamilyJudge(Judge):
    """A judge that is what its family says: configuration, questions, inputs and choices."""

    _family: ClassVar[str]

    def __init__(self, protocol: JudgeConfig | None = None, **choices: Any) -> None:
        own = self._configured(protocol, choices)
        super().__init__(own)
        for name, signature in self._signatures().items():
            setattr(self, name, dspy.Predict(signature))
        self._adopt(own)

    @classmethod
    def _configured(cls, protocol: JudgeConfig | None, choices: Mapping[str, Any]) -> JudgeConfig:
        return own_protocol(family_of(cls._family).protocol, protocol, choices)

    @property
    def family(self) -> JudgeFamily:
        """The prompts, fields and choices of all judges of the kind."""
        return family_of(self._settings.judge)

    def fixed_inputs(self, predictor: str) -> Mapping[str, str]:
        """Return the inputs of a predictor that are the same for every item, by field."""
        return self.family.inputs(self._settings, predictor)

    def space(self, rubrics: Mapping[str, Rubric] | None = None) -> Space:
        """Return what may be chosen about this judge; as it is comes first everywhere."""
        return self.family.space(self._settings, rubrics)

    def _asked(self, question: str) -> str:
        """Return the name by which the family's signatures know a question."""
        return question

    def _signatures(self) -> dict[str, type[dspy.Signature]]:
        """Return what each question asks, on the judge's scale, without fields to leave empty."""
        own = self._settings
        if not self.family.questions:
            return {}
        asked: Questions = family_part(self.family, "questions")
        explain: Explain = getattr(own, "explain", "before")
        found = {}
        for name, form in self.family.forms(own).items():
            about = "whole" if place_of(name) is None else "each"
            signature = asked.signatures.get(self._asked(name)) or asked.signatures[about]
            if {"score", "assessments"} & set(signature.output_fields):
                signature = question_on(signature, own.answers, explain, ends=asked.ends)
            told = {**dict.fromkeys(form.told, ""), **self.fixed_inputs(name)}
            found[name] = without_untold(guided_question(signature, told), told)
        return found


def check_judge(student: object) -> None:
    if not isinstance(student, Judge):
        raise no_judge(student, "student")

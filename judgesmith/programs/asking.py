"""A judge bound to a model: what can be asked, of which model, and what asks it."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeVar, runtime_checkable
from typing import Protocol as Interface

from judgesmith.programs.families import family_of
from judgesmith.programs.judging import AnySteps, Steps
from judgesmith.programs.models import AnyModel, StackModel, model, stack_model, stack_of
from judgesmith.programs.templates import Template
from judgesmith.signatures.judge_protocol import JudgeProtocol
from judgesmith.signatures.judgement import Judgement, Note
from judgesmith.signatures.rated import RatedItem

if TYPE_CHECKING:
    import dspy

Found = TypeVar("Found")
JudgeOrHolder = TypeVar("JudgeOrHolder", bound=object)


class Askable(Interface):
    """What a judge and a saved judge have in common: questions, and the steps between them."""

    @property
    def protocol(self) -> JudgeProtocol:
        """The judge as one value."""

    def templates(self) -> Mapping[str, Template]:
        """Return every question, rendered up to the item, by predictor."""

    def steps(self, *, source: str, response: str, context: str | None = None) -> Steps:
        """Return the judgement of one response, as a generator of questions."""


@runtime_checkable
class Bindable(Interface):
    """What brings an asker of its own, as judges that hold judges do."""

    @property
    def calls_per_item(self) -> int:
        """Model calls that one text takes, if every answer can be read."""

    def bound_to(self, lm: AnyModel) -> Asker:
        """Return the judge bound to ``lm``."""


class Asker(ABC):
    """Judges items one by one, many at a time."""

    @abstractmethod
    async def judge(self, item: RatedItem) -> Judgement:
        """Return the judgement of one item."""

    async def taken(self, steps: AnySteps[Found]) -> Found:
        """Return what other steps than those of a judgement come to, asked in the same way.

        Raises
        ------
        TypeError
            If the judge asks no questions of its own, as judges that hold judges do not.
        """
        raise TypeError(f"{type(self).__name__} has no questions of its own.")

    async def aclose(self) -> None:  # noqa: B027 - most askers own nothing
        """Let go of what belongs to the running event loop; the asker can be used again."""

    @staticmethod
    def of(judge: Askable | Bindable, lm: AnyModel | str | None = None) -> Asker:
        """Return ``judge`` bound to ``lm``, by the fastest way that gives the same answers.

        Parameters
        ----------
        judge : Judge or SavedJudge
            As it is now: later changes to it do not reach the asker.
        lm : dspy.LM, StackModel, str or None
            None takes the model that the judge is bound to, else DSPy's current model, or the
            offline model where there is none. A model from ``judgesmith.model`` is asked through
            its stack, which DSPy's callbacks and histories do not see, and so are such models of
            single predictors. All others are asked as DSPy would, and so is every model where a
            predictor has settings of its own.
        """
        judge, lm = with_own_models(judge, lm)
        if isinstance(judge, Bindable):
            return judge.bound_to(lm)
        own = own_models(judge)
        asker = Asker._unnoted(judge, lm, own)
        note = another_model(judge, lm)
        return asker if note is None else NotingAsker(asker, note)

    @staticmethod
    def _unnoted(judge: Askable, lm: AnyModel, own: Mapping[str, AnyModel]) -> Asker:
        if _has_own_settings(judge) or None in map(stack_of, (lm, *own.values())):
            from judgesmith.programs.dspy_asker import DspyAsker

            return DspyAsker(judge, as_dspy(lm))
        # An asker itself, so not to be imported above, like the one that needs DSPy.
        from judgesmith.programs.stack_asker import StackAsker

        return StackAsker(judge, lm, own)


class NotingAsker(Asker):
    """Asks as another asker does, and notes in every judgement that it asks another model."""

    def __init__(self, asker: Asker, note: Note) -> None:
        self._asker = asker
        self._note = note

    async def judge(self, item: RatedItem) -> Judgement:
        """Return the judgement of one item."""
        return noted(await self._asker.judge(item), self._note)

    async def taken(self, steps: AnySteps[Found]) -> Found:
        """Return what steps come to; judgements among it are noted."""
        found: Any = await self._asker.taken(steps)
        if isinstance(found, Judgement):
            found = noted(found, self._note)
        elif isinstance(found, list):
            found = [noted(it, self._note) if isinstance(it, Judgement) else it for it in found]
        given: Found = found
        return given

    async def aclose(self) -> None:
        """Let go of what belongs to the running event loop."""
        await self._asker.aclose()


def noted(judgement: Judgement, note: Note) -> Judgement:
    """Return a judgement with a note, once."""
    if note in judgement.notes:
        return judgement
    return judgement.model_copy(update={"notes": (*judgement.notes, note)})


@dataclass(frozen=True, slots=True, kw_only=True)
class Binding:
    """What a judge was compiled with: the models that its questions were asked.

    Attributes
    ----------
    model : str
        Of every question that is not among the others.
    others : dict of str to str
        By predictor.
    """

    model: str
    others: Mapping[str, str]

    def another(self, asked: Mapping[str, str]) -> Note | None:
        """Return a note where questions are asked of other models, given by predictor."""
        made = {name: self.others.get(name, self.model) for name in asked}
        others = dict.fromkeys(
            f"{asked[name]} instead of {made[name]}" for name in asked if asked[name] != made[name]
        )
        if not others:
            return None
        text = f"asked {', '.join(others)}, which the judge was compiled with."
        return Note(kind="another model", about="overall", text=text)


def another_model(judge: object, lm: AnyModel) -> Note | None:
    """Return a note that a judge asks another model than it was compiled with, if that is so."""
    binding: Binding | None = getattr(judge, "binding", None)
    if binding is None:
        return None
    asking: Any = judge
    own = own_models(asking)
    return binding.another({name: str(own.get(name, lm).model) for name in asking.templates()})


def with_own_models(
    judge: JudgeOrHolder, lm: AnyModel | str | None
) -> tuple[JudgeOrHolder, AnyModel]:
    """Return a judge bound to its models, and the model that is asked where nothing else is said.

    Parameters
    ----------
    judge : judge or saved judge
        Of any kind.
    lm : model, str or None
        A model that stands for the judge's own. None takes the one that the judge is bound to: a
        saved or loaded judge's is the one that it was compiled with. Others ask DSPy's current
        model, or the offline model where there is none.
    """
    if lm is not None:
        return judge, model(lm) if isinstance(lm, str) else lm
    own: Any = getattr(judge, "with_own_models", None)
    if own is None:
        return judge, current_lm()
    found: tuple[JudgeOrHolder, AnyModel] = own()
    return found


def as_dspy(lm: AnyModel) -> dspy.LM:
    """Return a model as DSPy takes it."""
    return lm.dspy_lm() if isinstance(lm, StackModel) else lm


def unnamed_model(name: str) -> StackModel:
    """Return a model that a saved judge names, as long as the user does not name it, too.

    It can be bound, and refuses the first request. The offline model can be asked.
    """
    return stack_model(name, ledger=None, named=False)


def calls_per_item(judge: Askable | Bindable) -> int:
    """Return how many model calls one text takes, if every answer can be read."""
    if isinstance(judge, Bindable):
        return judge.calls_per_item
    protocol = judge.protocol
    family = family_of(protocol.judge)
    if family.calls:
        return family.calls_of(protocol)
    return len(judge.templates()) * protocol.samples


def endpoint_of(lm: AnyModel) -> str:
    """Return where a model's answers come from, without secrets; empty for models of others."""
    stack = stack_of(lm)
    return "" if stack is None else stack.endpoint


def current_lm() -> dspy.LM:
    """Return DSPy's current model, or the offline model where there is none."""
    import dspy

    return dspy.settings.lm or model("offline", ledger=None)


def own_models(judge: Askable) -> Mapping[str, AnyModel]:
    """Return the models of single questions, which are asked whatever all others are asked."""
    own = getattr(judge, "own_models", None)
    return {} if own is None else own()


def _has_own_settings(judge: Askable) -> bool:
    named = getattr(judge, "named_predictors", None)
    return named is not None and any(one.config for _, one in named())

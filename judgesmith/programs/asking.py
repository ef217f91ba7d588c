"""A judge bound to a model: what can be asked, of which model, and what asks it."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from typing import TYPE_CHECKING, TypeVar, runtime_checkable
from typing import Protocol as Interface

from judgesmith.programs.families import family_of
from judgesmith.programs.judging import AnySteps, Steps
from judgesmith.programs.models import AnyModel, StackModel, model, stack_of
from judgesmith.programs.templates import Template
from judgesmith.signatures.judge_protocol import JudgeProtocol
from judgesmith.signatures.judgement import Judgement
from judgesmith.signatures.rated import RatedItem

if TYPE_CHECKING:
    import dspy

Found = TypeVar("Found")


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
    def of(judge: Askable | Bindable, lm: AnyModel | None = None) -> Asker:
        """Return ``judge`` bound to ``lm``, by the fastest way that gives the same answers.

        Parameters
        ----------
        judge : Judge or SavedJudge
            As it is now: later changes to it do not reach the asker.
        lm : dspy.LM, StackModel or None
            None takes DSPy's current model, or the offline model where there is none. A model
            from ``judgesmith.model`` is asked through its stack, which DSPy's callbacks and
            histories do not see, and so are such models of single predictors. All others are
            asked as DSPy would, and so is every model where a predictor has settings of its own.
        """
        # Askers themselves, so not to be imported above; one of them needs DSPy.
        from judgesmith.programs.stack_asker import StackAsker

        lm = lm or current_lm()
        if isinstance(judge, Bindable):
            return judge.bound_to(lm)
        own = own_models(judge)
        if _has_own_settings(judge) or None in map(stack_of, (lm, *own.values())):
            from judgesmith.programs.dspy_asker import DspyAsker

            return DspyAsker(judge, lm.dspy_lm() if isinstance(lm, StackModel) else lm)
        return StackAsker(judge, lm, own)


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

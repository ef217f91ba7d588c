"""Judges that hold judges: they ask them at once and make one judgement of what comes back."""

from __future__ import annotations

import hashlib
import json
from abc import abstractmethod
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Self, TypeVar

import dspy

from judgesmith.errors import InputError
from judgesmith.programs.asking import Asker, calls_per_item, current_lm
from judgesmith.programs.asking_module import AskingModule
from judgesmith.programs.dspy_asker import our_errors
from judgesmith.programs.judge import Judge
from judgesmith.programs.judging import AnySteps
from judgesmith.programs.members import Gathered, MembersAsker, at_once, in_turn, refuse_ranks
from judgesmith.programs.own_loop import finished
from judgesmith.signatures.judgement import Judgement
from judgesmith.signatures.rated import RatedItem
from judgesmith.signatures.scale import Scale

Found = TypeVar("Found")


class JudgeOfJudges(dspy.Module):
    """A judge that holds judges; it is asked, copied and saved like any other module.

    ``judge_items`` asks all members of an item at once, so that up to ``concurrency`` times as
    many questions are under way as there are members. Each member is asked the model that its
    predictors hold (``member.set_lm``), else the one that all are asked.

    Parameters
    ----------
    members : dict of str to judge
        By name, at least one; a member may hold judges itself.

    Raises
    ------
    TypeError
        If a member is no judge, or members have no names.
    """

    def __init__(self, members: Mapping[str, AnyJudge]) -> None:
        super().__init__()
        if not isinstance(members, Mapping):
            raise TypeError(
                'members are judges by name, such as {"fine": judge}; got '
                f"{type(members).__name__}. Give every judge a name."
            )
        if not members:
            raise InputError("a judge that holds judges needs one at least; got none.")
        for name, member in members.items():
            if not isinstance(member, Judge | JudgeOfJudges):
                raise TypeError(f"{name} is no judge; got {type(member).__name__}.")
            refuse_ranks(name, member)
        self.members = dict(members)

    @property
    @abstractmethod
    def scale(self) -> Scale:
        """What scores are measured in."""

    @property
    @abstractmethod
    def asked(self) -> tuple[str, ...]:
        """Names of the members that are asked."""

    @abstractmethod
    def combined(self, judgements: Mapping[str, Judgement]) -> Judgement:
        """Return the judgement that the asked members' judgements make."""

    @abstractmethod
    def settings(self) -> dict[str, Any]:
        """Return what was learned, as plain data."""

    @abstractmethod
    def adopt(self, settings: Mapping[str, Any]) -> None:
        """Take over what ``settings`` returned."""

    @property
    def fingerprint(self) -> str:
        """Twelve hex digits that change when a member or anything learned does."""
        members = {name: fingerprint_of(one) for name, one in self.members.items()}
        plain = json.dumps([type(self).__name__, members, self.settings()], sort_keys=True)
        return hashlib.sha256(plain.encode()).hexdigest()[:12]

    @property
    def calls_per_item(self) -> int:
        """Model calls that one text takes, if every answer can be read."""
        return sum(calls_per_item(self.members[name]) for name in self.asked)

    def use_context(self) -> None:
        """Have DSPy's current model, where there is one, stand above those that are bound."""
        for module in self._asking_modules():
            module.use_context()

    def with_own_models(self) -> tuple[Self, dspy.LM]:
        """Return the judge with the models that members are bound to, and the first of them."""
        if all(one.binding is None for one in self._asking_modules()):
            return self, current_lm()
        other = self.deepcopy()
        asked = [one.with_own_models() for one in other._asking_modules()]
        for module, lm in asked:
            for predictor in module.predictors():
                predictor.lm = predictor.lm or lm
        return other, asked[0][1]

    def _asking_modules(self) -> list[AskingModule]:
        """Return every module that asks questions itself."""
        return list(leaves_of(self))

    def bound_to(self, lm: dspy.LM) -> Asker:
        """Return an asker of all members, each bound to its own model or else to ``lm``."""
        lm = lm or current_lm()
        return self.asker(lambda one: Asker.of(one, lm))

    def asker(self, of: Callable[[Any], Asker], gathered: Gathered = at_once) -> Asker:
        """Return what asks all members: every way to ask this judge comes through here.

        Parameters
        ----------
        of : callable
            Returns the asker of a member.
        gathered : callable
            How members are asked: ``at_once`` or ``in_turn``.
        """
        askers = {name: of(self.members[name]) for name in self.asked}
        return MembersAsker(askers, self.combined, gathered)

    def forward(
        self,
        *,
        source: str,
        response: str,
        context: str | None = None,
        references: Sequence[str] = (),
    ) -> dspy.Prediction:
        """Judge one response; see ``Judge.forward``. Members are asked one after the other."""
        item = RatedItem(
            source=source, response=response, context=context, references=tuple(references)
        )
        asker = self.asker(lambda one: _Called(one, blocking=True), in_turn)
        return self._prediction(finished(asker.judge(item)))

    async def aforward(
        self,
        *,
        source: str,
        response: str,
        context: str | None = None,
        references: Sequence[str] = (),
    ) -> dspy.Prediction:
        """Judge one response without blocking, asking all members at once."""
        item = RatedItem(
            source=source, response=response, context=context, references=tuple(references)
        )
        asker = self.asker(lambda one: _Called(one, blocking=False))
        return self._prediction(await asker.judge(item))

    def dump_state(self, json_mode: bool = True) -> dict[str, Any]:
        """Return the members' states, and what was learned beside them."""
        states = {name: one.dump_state(json_mode=json_mode) for name, one in self.members.items()}
        return {"members": states, "settings": self.settings()}

    def load_state(self, state: dict[str, Any], *, allow_unsafe_lm_state: bool = False) -> None:
        """Take over a state that ``dump_state`` returned.

        Raises
        ------
        ValueError
            If the state is of other members.
        """
        given = state.get("members", {})
        if set(given) != set(self.members):
            raise InputError(
                f"the state is of {', '.join(sorted(given)) or 'no members'}; this judge holds "
                f"{', '.join(sorted(self.members))}."
            )
        for name, member in self.members.items():
            member.load_state(given[name], allow_unsafe_lm_state=allow_unsafe_lm_state)
        self.adopt(state["settings"])

    def _prediction(self, judgement: Judgement) -> dspy.Prediction:
        fields = {name: getattr(judgement, name) for name in type(judgement).model_fields}
        fields["criteria"] = dict(judgement.criteria)
        return dspy.Prediction(**fields, protocol=self.fingerprint)


AnyJudge = Judge | JudgeOfJudges
"""A judge, or one that holds judges."""


class _Called(Asker):
    """Calls a judge or a supervisor as a DSPy module, where its caller's context is seen."""

    def __init__(self, module: Any, *, blocking: bool) -> None:
        self._module = module
        self._blocking = blocking

    async def judge(self, item: RatedItem) -> Judgement:
        """Return the judgement of one item."""
        texts: dict[str, Any] = {"source": item.source, "response": item.response}
        texts |= {"context": item.context}
        texts |= {"references": item.references} if item.references else {}
        with our_errors():
            said = self._module(**texts) if self._blocking else await self._module.acall(**texts)
        return judgement_of(said)

    async def taken(self, steps: AnySteps[Found]) -> Found:
        """Return what steps come to whose questions the module asks."""
        found: Found
        with our_errors():
            if self._blocking:
                found = self._module.taken(steps)
            else:
                found = await self._module.ataken(steps)
        return found


def leaves_of(judge: AnyJudge) -> Iterable[Judge]:
    """Yield the judges that ask a model themselves, however deep they are held."""
    if isinstance(judge, Judge):
        yield judge
    else:
        for member in judge.members.values():
            yield from leaves_of(member)


def scale_of(judge: AnyJudge) -> Scale:
    """Return what a judge's scores are measured in."""
    return judge.protocol.aggregation.scale if isinstance(judge, Judge) else judge.scale


def fingerprint_of(judge: AnyJudge) -> str:
    """Return what identifies a judge's protocol, or that of all it holds."""
    return judge.protocol.fingerprint if isinstance(judge, Judge) else judge.fingerprint


def judgement_of(prediction: dspy.Prediction) -> Judgement:
    """Return the judgement that a prediction of a judge holds."""
    given = dict(prediction.items())
    return _kind_of(given)(**{name: one for name, one in given.items() if name != "protocol"})


def _kind_of(given: Mapping[str, Any]) -> type[Judgement]:
    """Return the kind of judgement that has exactly the fields of a prediction."""
    kinds = [Judgement]
    for kind in kinds:
        if set(kind.model_fields) == set(given) - {"protocol"}:
            return kind
        kinds.extend(kind.__subclasses__())
    raise TypeError(f"a judge returns a judgement's fields; got {', '.join(given)}.")

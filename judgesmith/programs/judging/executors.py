"""A judge bound to a model, and the fast way to ask it: prompts and client, without DSPy."""

from __future__ import annotations

import asyncio
import heapq
from abc import ABC, abstractmethod
from collections.abc import Awaitable, Callable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, TypeVar, runtime_checkable
from typing import Protocol as Interface

from judgesmith.front_door import at
from judgesmith.programs.judging.program import AnySteps, Ask, ProbabilitiesOf, Reply, Steps
from judgesmith.programs.judging.prompts import Template, nearest_prefixes
from judgesmith.programs.judging.registry import family_of
from judgesmith.programs.judging.replies import (
    answered_at_once,
    lacking,
    readable,
    refusal_of,
    text_reply,
    text_request,
    too_long,
    unreadable,
)
from judgesmith.programs.lm import (
    AnyModel,
    ContextWindowExceeded,
    ModelError,
    ModelRequest,
    PureEngine,
    Settings,
    Stack,
    StackModel,
    model,
    request_settings,
    stack_model,
    stack_of,
)
from judgesmith.signatures.config import JudgeConfig
from judgesmith.signatures.items import RatedItem
from judgesmith.signatures.judgement import Judgement, Note

if TYPE_CHECKING:
    import dspy


Value = TypeVar("Value")


class Turns:
    """Places for requests of one event loop; one that is free goes to the earliest row."""

    def __init__(self, n: int, ended: Callable[[], None] = lambda: None) -> None:
        self._n_free = n
        self._ended = ended
        self._waiting: list[tuple[int, int, asyncio.Future[None]]] = []
        self._n_waited = 0

    @contextmanager
    def of_row(self, number: int) -> Iterator[None]:
        """Have requests of the block, and of tasks that it starts, wait as those of a row."""
        token = _turn.set((self, number))
        try:
            yield
        finally:
            _turn.reset(token)

    async def take(self, row: int) -> None:
        """Wait for a place."""
        if self._n_free:
            self._n_free -= 1
            return
        place = asyncio.get_running_loop().create_future()
        self._n_waited += 1
        heapq.heappush(self._waiting, (row, self._n_waited, place))
        try:
            await place
        except asyncio.CancelledError:
            if place.done() and not place.cancelled():
                self.give()
            raise

    def give(self) -> None:
        """Hand a place on."""
        self._ended()
        while self._waiting:
            place = heapq.heappop(self._waiting)[2]
            if not place.done():
                place.set_result(None)
                return
        self._n_free += 1


_turn: ContextVar[tuple[Turns, int] | None] = ContextVar("judgesmith_turn", default=None)


async def in_turn(asked: Callable[[], Awaitable[Value]]) -> Value:
    """Return what a request comes to, sent when it is its row's turn; at once outside of rows."""
    turn = _turn.get()
    if turn is None:
        return await asked()
    turns, row = turn
    await turns.take(row)
    try:
        return await asked()
    finally:
        turns.give()


def call_config(
    protocol: JudgeConfig, lm: AnyModel, *, temperature: float | None = None
) -> dict[str, Any]:
    """Return the sampling settings of every call to ``lm``, as DSPy names them."""
    config: dict[str, Any] = {}
    reasons = "max_completion_tokens" in lm.kwargs
    left_out = stack_of(lm) is not None and lm.kwargs.get("temperature") is None
    if not (reasons or left_out):
        config["temperature"] = protocol.temperature if temperature is None else temperature
    if protocol.max_tokens is not None:
        config["max_completion_tokens" if reasons else "max_tokens"] = protocol.max_tokens
    return config


def probability_config(wanted: ProbabilitiesOf | None, lm: AnyModel) -> dict[str, Any]:
    """Return the settings of a call whose tokens' probabilities are wanted, as DSPy names them."""
    if wanted is None:
        return {}
    stack = stack_of(lm)
    top = wanted.top
    if stack is not None and isinstance(stack.engine, PureEngine):
        top = max(top, len(wanted.answers))
    return {"logprobs": True, "top_logprobs": lm.kwargs.get("top_logprobs") or top}


class CallSettings:
    """Settings of the calls to one model with a stack of ours, each kind of call's made once."""

    def __init__(self, protocol: JudgeConfig, lm: AnyModel) -> None:
        self._protocol = protocol
        self._lm = lm
        self._known: dict[tuple[float | None, tuple[int, int] | None], Settings] = {}
        self.of(None)

    def of(self, temperature: float | None, wanted: ProbabilitiesOf | None = None) -> Settings:
        """Return the settings of a call."""
        # All that the settings depend on, of which hashing the answers would cost more.
        kind = temperature, None if wanted is None else (wanted.top, len(wanted.answers))
        settings = self._known.get(kind)
        if settings is None:
            config = call_config(self._protocol, self._lm, temperature=temperature)
            settings = request_settings(self._lm, **config)
            if wanted is not None:
                top = probability_config(wanted, self._lm)["top_logprobs"]
                settings = replace(settings, logprobs=top)
            self._known[kind] = settings
        return settings


Found = TypeVar("Found")
JudgeOrHolder = TypeVar("JudgeOrHolder", bound=object)


class Askable(Interface):
    """What a judge and a saved judge have in common: questions, and the steps between them."""

    @property
    def protocol(self) -> JudgeConfig:
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


_THROUGH_DSPY = "judgesmith.programs.judging.dspy_executor:DspyAsker"


class Asker(ABC):
    """Judges items one by one, many at a time."""

    @abstractmethod
    async def judge(self, item: RatedItem) -> Judgement:
        """Return the judgement of one item."""

    async def taken(self, steps: AnySteps[Found]) -> Found:
        """Return what other steps than those of a judgement come to, asked in the same way."""
        raise TypeError(f"{type(self).__name__} has no questions of its own.")

    async def aclose(self) -> None:  # noqa: B027 - most askers own nothing
        """Let go of what belongs to the running event loop; the asker can be used again."""

    @staticmethod
    def of(judge: Askable | Bindable, lm: AnyModel | str | None = None) -> Asker:
        """Return ``judge`` bound to ``lm``, by the fastest way that gives the same answers."""
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
            slow: Asker = at(_THROUGH_DSPY)(judge, as_dspy(lm))
            return slow
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
    """What a judge was compiled with: the models that its questions were asked."""

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
    """Return a judge bound to its models, and the model that is asked by default."""
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
    """Return a model that a saved judge names, as long as the user does not name it, too."""
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


@dataclass(frozen=True, slots=True, kw_only=True)
class _Way:
    """How one model is asked: by its name, through its stack, with the settings of its calls."""

    model: str
    stack: Stack
    settings: CallSettings

    @classmethod
    def to(cls, lm: AnyModel, protocol: JudgeConfig) -> _Way:
        """Return the way to a model that has a stack of ours."""
        stack = stack_of(lm)
        assert stack is not None
        return cls(model=str(lm.model), stack=stack, settings=CallSettings(protocol, lm))


class StackAsker(Asker):
    """Renders questions from templates, asks the stack, and reads the answers."""

    def __init__(self, judge: Askable, lm: AnyModel, own: Mapping[str, AnyModel]) -> None:
        protocol = judge.protocol
        templates = judge.templates()
        models = {name: own.get(name, lm) for name in templates}
        # One way for each model; its settings are those of now, whatever becomes of it.
        ways = {id(one): _Way.to(one, protocol) for one in models.values()}
        self._steps: Callable[..., Steps] = judge.steps
        self._family = family_of(protocol.judge)
        self._ways = {name: ways[id(one)] for name, one in models.items()}
        self._templates = {name: (one, one.prefix()) for name, one in templates.items()}
        self._nearest = nearest_prefixes(protocol, templates)

    async def aclose(self) -> None:
        """Close the connections of the running event loop."""
        for stack in {id(way.stack): way.stack for way in self._ways.values()}.values():
            await stack.aclose()

    async def judge(self, item: RatedItem) -> Judgement:
        """Return the judgement of one item."""
        texts = self._family.more_texts(item.references)
        steps = self._steps(
            source=item.source, response=item.response, context=item.context, **texts
        )
        return await self.taken(steps)

    async def taken(self, steps: AnySteps[Found]) -> Found:
        """Return what steps come to; questions that do not wait for each other go out at once."""
        return await answered_at_once(steps, self._reply)

    async def _reply(self, ask: Ask) -> Reply:
        template, prefix = self._templates[ask.predictor]
        way = self._ways[ask.predictor]
        stack = way.stack
        if ask.continuation is not None:
            likelihood = text_request(way.model, template, ask)
            return await in_turn(lambda: text_reply(stack, likelihood))
        if ask.probabilities is not None and stack.refused_logprobs:
            return await self._without(ask, stack.refused_logprobs)
        if ask.predictor in self._nearest:
            prefix = self._nearest[ask.predictor].of(ask.inputs)
        request = ModelRequest(
            model=way.model,
            prefix=prefix,
            user=template.render(ask.inputs),
            settings=way.settings.of(ask.temperature, ask.probabilities),
            sample=ask.sample,
            attempt=ask.attempt,
        )
        if ask.attempt and not stack.may_renew(request):
            return Reply(kept=True)
        identity = stack.identity(request)
        try:
            answer = await in_turn(lambda: stack.complete(request, identity=identity))
        except ContextWindowExceeded as fault:
            return too_long(fault)
        except ModelError as fault:
            refused = refusal_of(fault) if ask.probabilities is not None else None
            if refused is None:
                raise
            stack.refused_logprobs = refused
            return await self._without(ask, refused)
        call = identity.hex()
        try:
            fields = template.read(answer.text)
        except ValueError as fault:
            return unreadable(fault, call=call, answer=answer)
        return readable(fields, call=call, answer=answer, ask=ask)

    async def _without(self, ask: Ask, reason: str) -> Reply:
        """Ask without the probabilities that the endpoint refuses, and say so."""
        reply = await self._reply(replace(ask, probabilities=None))
        return lacking(reply, ask, reason)

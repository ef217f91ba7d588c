"""A judge bound to a model, and the fast way to ask it: prompts and client, without DSPy."""

from __future__ import annotations

import asyncio
import heapq
import os
from abc import ABC, abstractmethod
from collections.abc import Callable, Coroutine, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, TypeVar, runtime_checkable
from typing import Protocol as Interface

from judgesmith.front_door import at
from judgesmith.programs.judging.program import (
    JudgeProgram,
    ModelReply,
    ProbabilitiesOf,
    PromptRequest,
    RequestProgram,
    readable,
    refusal_of,
    run_program,
    text_reply,
    text_request,
    too_long,
    unreadable,
    with_no_probabilities,
)
from judgesmith.programs.judging.prompts import Template, nearest_prefixes
from judgesmith.programs.judging.registry import family_of
from judgesmith.programs.lm import (
    AnyModel,
    ClientModel,
    ContextWindowExceeded,
    ModelError,
    ModelRequest,
    PureEngine,
    SamplingSettings,
    client_model,
    lm_client_of,
    model,
    request_settings,
)
from judgesmith.programs.lm.waiting import SUSPENDING
from judgesmith.signatures.config import JudgeConfig, Sampling
from judgesmith.signatures.items import RatedItem
from judgesmith.signatures.judgement import Judgement, Note

if TYPE_CHECKING:
    import dspy


Value = TypeVar("Value")


class RequestSlots:
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
        self._ended()
        while self._waiting:
            place = heapq.heappop(self._waiting)[2]
            if not place.done():
                place.set_result(None)
                return
        self._n_free += 1


_turn: ContextVar[tuple[RequestSlots, int] | None] = ContextVar("judgesmith_turn", default=None)


class request_slot:  # noqa: N801 - used as a block
    """A block that begins when it is its row's turn; at once outside of rows."""

    async def __aenter__(self) -> None:
        self._turn = _turn.get()
        if self._turn is not None:
            turns, row = self._turn
            await turns.take(row)

    async def __aexit__(self, *exc_info: object) -> None:
        if self._turn is not None:
            self._turn[0].give()


def call_config(
    sampling: Sampling, lm: AnyModel, *, temperature: float | None = None
) -> dict[str, Any]:
    """Return the sampling settings of every call to ``lm``, as DSPy names them."""
    config: dict[str, Any] = {}
    reasons = "max_completion_tokens" in lm.kwargs
    left_out = lm_client_of(lm) is not None and lm.kwargs.get("temperature") is None
    if not (reasons or left_out):
        config["temperature"] = sampling.temperature if temperature is None else temperature
    if sampling.max_tokens is not None:
        config["max_completion_tokens" if reasons else "max_tokens"] = sampling.max_tokens
    return config


def probability_config(wanted: ProbabilitiesOf | None, lm: AnyModel) -> dict[str, Any]:
    """Return the settings of a call whose tokens' probabilities are wanted, as DSPy names them."""
    if wanted is None:
        return {}
    client = lm_client_of(lm)
    top = wanted.top
    if client is not None and isinstance(client.engine, PureEngine):
        top = max(top, len(wanted.answers))
    return {"logprobs": True, "top_logprobs": lm.kwargs.get("top_logprobs") or top}


class BoundModel:
    """How one model of ours is asked: by name, through its client, with settings made once."""

    def __init__(self, lm: AnyModel, sampling: Sampling) -> None:
        client = lm_client_of(lm)
        assert client is not None
        self.model = str(lm.model)
        self.client = client
        self._lm = lm
        self._sampling = sampling
        self._known: dict[tuple[float | None, tuple[int, int] | None], SamplingSettings] = {}
        self.settings(None)  # those of now, whatever becomes of the model

    def settings(
        self, temperature: float | None, wanted: ProbabilitiesOf | None = None
    ) -> SamplingSettings:
        # All that the settings depend on, of which hashing the answers would cost more.
        kind = temperature, None if wanted is None else (wanted.top, len(wanted.answers))
        settings = self._known.get(kind)
        if settings is None:
            config = call_config(self._sampling, self._lm, temperature=temperature)
            settings = request_settings(self._lm, **config)
            if wanted is not None:
                top = probability_config(wanted, self._lm)["top_logprobs"]
                settings = replace(settings, logprobs=top)
            self._known[kind] = settings
        return settings


Found = TypeVar("Found")
AnyJudge = TypeVar("AnyJudge", bound=object)


class JudgeLike(Interface):
    """What a judge and a saved judge have in common: questions, and the steps between them."""

    @property
    def protocol(self) -> JudgeConfig:
        """The judge as one value."""

    def templates(self) -> Mapping[str, Template]:
        """Return every question, rendered up to the item, by predictor."""

    def steps(self, item: RatedItem) -> JudgeProgram:
        """Return the judgement of one response, as a generator of questions."""


@runtime_checkable
class Bindable(Interface):
    """What brings an executor of its own, as judges that hold judges do."""

    @property
    def calls_per_item(self) -> int:
        """Model calls that one text takes, if every answer can be read."""

    def bound_to(self, lm: AnyModel) -> Executor:
        """Return the judge bound to ``lm``."""


_THROUGH_DSPY = "judgesmith.programs.judging.dspy_executor:DSPyExecutor"
_RUNNING_CODE = "judgesmith.programs.judging.dspy_executor:CodeExecutor"


class Executor(ABC):
    """Judges items one by one, many at a time."""

    @abstractmethod
    def judge(self, item: RatedItem) -> Coroutine[Any, Any, Judgement]:
        """Return the judgement of one item."""

    def run(self, steps: RequestProgram[Found]) -> Coroutine[Any, Any, Found]:
        raise TypeError(f"{type(self).__name__} has no questions of its own.")

    async def aclose(self) -> None:  # noqa: B027 - most executors own nothing
        """Let go of what belongs to the running event loop; the executor can be used again."""

    @staticmethod
    def of(judge: JudgeLike | Bindable, lm: AnyModel | str | None = None) -> Executor:
        """Return ``judge`` bound to ``lm``, by the fastest way that gives the same answers."""
        judge, lm = with_own_models(judge, lm)
        if isinstance(judge, Bindable):
            return judge.bound_to(lm)
        own = own_models(judge)
        note = another_model(judge, lm)
        named: Any = getattr(judge, "named_predictors", tuple)
        has_settings = any(one.config for _, one in named())
        if family_of(judge.protocol.judge).runs_code:
            running: Executor = at(_RUNNING_CODE)(judge, as_dspy(lm), note)
            return running
        if has_settings or None in map(lm_client_of, (lm, *own.values())):
            slow: Executor = at(_THROUGH_DSPY)(judge, as_dspy(lm), note)
            return slow
        return ClientExecutor(judge, lm, own, note)


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


def no_judge(given: object, caller: str, expected: str = "a judge") -> TypeError:
    """Return that a public function got something else in a judge's place, and what to call."""
    name = getattr(given, "__name__", type(given).__name__)
    can_be_wrapped = hasattr(given, "named_predictors") or hasattr(given, "output_fields")
    remedy = f". Wrap it: judgesmith.wrap({name}, scale='1..5')" if can_be_wrapped else ""
    return TypeError(f"{caller}: expected {expected}; got {name}{remedy}.")


def open_judge(given: Any) -> Any:
    """Return the judge of what compile returned, or of the folder that it was saved in."""
    given = getattr(given, "saved", given)
    if isinstance(given, str | os.PathLike):
        return at("judgesmith.programs.artifacts.saved_ensembles:load_saved")(given)
    return given


def with_own_models(judge: AnyJudge, lm: AnyModel | str | None) -> tuple[AnyJudge, AnyModel]:
    if lm is not None:
        return judge, as_model(lm)
    own: Any = getattr(judge, "with_own_models", None)
    if own is None:
        return judge, current_lm()
    found: tuple[AnyJudge, AnyModel] = own()
    return found


def lm_or_current(lm: AnyModel | str | None) -> dspy.LM:
    """Return a model, or the one of a name, or the current one."""
    return current_lm() if lm is None else as_dspy(as_model(lm))


def as_model(given: AnyModel | str) -> AnyModel:
    """Return a model, or the one of a name; ``TypeError`` for everything else."""
    if isinstance(given, str):
        return model(given)
    if not (isinstance(given, ClientModel) or callable(given)):  # DSPy need not be loaded to tell
        raise TypeError(
            "lm: expected a model or its name, such as 'offline' or 'openai/gpt-4o-mini'; got "
            f"{type(given).__name__}."
        )
    return given


def as_dspy(lm: AnyModel) -> dspy.LM:
    return lm.dspy_lm() if isinstance(lm, ClientModel) else lm


def unnamed_model(name: str) -> ClientModel:
    """Return a model that a saved judge names, as long as the user does not name it, too."""
    return client_model(name, ledger=None, named=False)


def calls_per_item(judge: JudgeLike | Bindable) -> int:
    """Return how many model calls one text takes, if every answer can be read."""
    if isinstance(judge, Bindable):
        return judge.calls_per_item
    return family_of(judge.protocol.judge).calls(judge.protocol)


def endpoint_of(lm: AnyModel) -> str:
    """Return where a model's answers come from, without secrets; empty for models of others."""
    client = lm_client_of(lm)
    return "" if client is None else client.endpoint


def current_lm() -> dspy.LM:
    import dspy

    return dspy.settings.lm or model("offline", ledger=None)


def own_models(judge: JudgeLike) -> Mapping[str, AnyModel]:
    own = getattr(judge, "own_models", None)
    return {} if own is None else own()


class ClientExecutor(Executor):
    """Renders questions from templates, asks the client, and reads the answers."""

    def __init__(
        self, judge: JudgeLike, lm: AnyModel, own: Mapping[str, AnyModel], note: Note | None = None
    ) -> None:
        protocol = judge.protocol
        templates = judge.templates()
        models = {name: own.get(name, lm) for name in templates}
        bound = {id(one): BoundModel(one, protocol.sampling) for one in models.values()}
        self._judge = judge
        self._bound = {name: bound[id(one)] for name, one in models.items()}
        self._templates = {name: (one, one.prefix()) for name, one in templates.items()}
        self._nearest = nearest_prefixes(protocol, templates)
        self._note = note

    async def aclose(self) -> None:
        for client in {id(bound.client): bound.client for bound in self._bound.values()}.values():
            await client.aclose()

    def judge(self, item: RatedItem) -> Coroutine[Any, Any, Judgement]:
        return run_program(self._judge.steps(item), self._reply, self._note)

    def run(self, steps: RequestProgram[Found]) -> Coroutine[Any, Any, Found]:
        """Return what steps come to; questions that do not wait for each other go out at once."""
        return run_program(steps, self._reply, self._note)

    async def _reply(self, ask: PromptRequest) -> ModelReply:
        template, prefix = self._templates[ask.predictor]
        bound = self._bound[ask.predictor]
        client = bound.client
        if ask.continuation is not None:
            likelihood = text_request(bound.model, template, ask)
            async with request_slot():
                return await text_reply(client, likelihood, SUSPENDING)
        if ask.probabilities is not None and client.refused_logprobs:
            return await self._without(ask, client.refused_logprobs)
        if ask.predictor in self._nearest:
            prefix = self._nearest[ask.predictor].of(ask.inputs)
        request = ModelRequest(
            model=bound.model,
            prefix=prefix,
            user=template.render(ask.inputs),
            settings=bound.settings(ask.temperature, ask.probabilities),
            sample=ask.sample,
            attempt=ask.attempt,
        )
        if ask.attempt and not client.may_renew(request):
            return ModelReply(kept=True)
        identity = client.identity(request)
        try:
            async with request_slot():
                answer = await client.complete(request, identity=identity)
        except ContextWindowExceeded as fault:
            return too_long(fault)
        except ModelError as fault:
            refused = refusal_of(fault) if ask.probabilities is not None else None
            if refused is None:
                raise
            client.refused_logprobs = refused
            return await self._without(ask, refused)
        call = identity.hex()
        try:
            fields = template.read(answer.text)
        except ValueError as fault:
            return unreadable(fault, call=call, answer=answer)
        return readable(fields, call=call, answer=answer, ask=ask)

    async def _without(self, ask: PromptRequest, reason: str) -> ModelReply:
        reply = await self._reply(replace(ask, probabilities=None))
        return with_no_probabilities(reply, ask, reason)

"""A judge bound to a model: the fast way through templates and the stack, or through DSPy."""

from __future__ import annotations

import asyncio
import contextvars
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, TypeVar, runtime_checkable
from typing import Protocol as Interface

from judgesmith.programs.answers import is_cut_off
from judgesmith.programs.families import family_of
from judgesmith.programs.judging import AnySteps, Ask, Reply, Steps
from judgesmith.programs.models import (
    ContextWindowExceeded,
    ModelAnswer,
    ModelError,
    ModelRequest,
    Settings,
    Stack,
    TransientModelError,
)
from judgesmith.programs.models.engines import PureEngine
from judgesmith.programs.models.errors import speaks_of_one_item
from judgesmith.programs.models.redaction import redacted
from judgesmith.programs.nearest import nearest_prefixes
from judgesmith.programs.reply_probabilities import (
    probabilities_in,
    refusal_of,
    without_probabilities,
)
from judgesmith.programs.templates import Template
from judgesmith.programs.text_likelihood import text_reply, text_request
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

    def bound_to(self, lm: dspy.LM) -> Asker:
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
    def of(judge: Askable | Bindable, lm: dspy.LM | None = None) -> Asker:
        """Return ``judge`` bound to ``lm``, by the fastest way that gives the same answers.

        Parameters
        ----------
        judge : Judge or SavedJudge
            As it is now: later changes to it do not reach the asker.
        lm : dspy.LM or None
            None takes DSPy's current model, or the offline model where there is none. A model
            from ``judgesmith.model`` is asked through its stack, which DSPy's callbacks and
            histories do not see, and so are such models of single predictors. All others are
            asked as DSPy would, and so is every model where a predictor has settings of its own.
        """
        from judgesmith.programs.models import stack_of

        lm = lm or current_lm()
        if isinstance(judge, Bindable):
            return judge.bound_to(lm)
        own = own_models(judge)
        if _has_own_settings(judge) or None in map(stack_of, (lm, *own.values())):
            return _DspyAsker(judge, lm)
        return _StackAsker(judge, lm, own)


def calls_per_item(judge: Askable | Bindable) -> int:
    """Return how many model calls one text takes, if every answer can be read."""
    if isinstance(judge, Bindable):
        return judge.calls_per_item
    family = family_of(judge.protocol.judge)
    if family.calls:
        return family.calls_of(judge.protocol)
    return len(judge.templates()) * judge.protocol.samples


def endpoint_of(lm: dspy.LM) -> str:
    """Return where a model's answers come from, without secrets; empty for models of others."""
    from judgesmith.programs.models import stack_of

    stack = stack_of(lm)
    return "" if stack is None else stack.endpoint


def current_lm() -> dspy.LM:
    """Return DSPy's current model, or the offline model where there is none."""
    import dspy

    from judgesmith.programs.models import model

    return dspy.settings.lm or model("offline", ledger=None)


def call_config(
    protocol: JudgeProtocol, lm: dspy.LM, *, temperature: float | None = None
) -> dict[str, Any]:
    """Return the sampling settings of every call to ``lm``, as DSPy names them.

    A ``temperature`` stands for the protocol's.
    A model of ours that was made without a temperature is sent none, nor are OpenAI's reasoning
    models, which refuse one; DSPy names their ceiling differently.
    """
    from judgesmith.programs.models import stack_of

    config: dict[str, Any] = {}
    reasons = "max_completion_tokens" in lm.kwargs
    left_out = stack_of(lm) is not None and lm.kwargs.get("temperature") is None
    if not (reasons or left_out):
        config["temperature"] = protocol.temperature if temperature is None else temperature
    if protocol.max_tokens is not None:
        config["max_completion_tokens" if reasons else "max_tokens"] = protocol.max_tokens
    return config


def probability_config(ask: Ask, lm: dspy.LM) -> dict[str, Any]:
    """Return the settings of a call whose tokens' probabilities are wanted, as DSPy names them.

    Servers list some 20 alternatives at most; a model that is a function is asked for all
    answers, and one that was made to give another number for that one.
    """
    from judgesmith.programs.models import stack_of

    if ask.probabilities is None:
        return {}
    stack = stack_of(lm)
    top = ask.probabilities.top
    if stack is not None and isinstance(stack.engine, PureEngine):
        top = max(top, len(ask.probabilities.answers))
    return {"logprobs": True, "top_logprobs": lm.kwargs.get("top_logprobs") or top}


def own_models(judge: Askable) -> Mapping[str, dspy.LM]:
    """Return the models of single questions, which are asked whatever all others are asked."""
    own = getattr(judge, "own_models", None)
    return {} if own is None else own()


def _has_own_settings(judge: Askable) -> bool:
    named = getattr(judge, "named_predictors", None)
    return named is not None and any(one.config for _, one in named())


@dataclass(frozen=True, slots=True, eq=False)
class _Way:
    """How one model is asked: its stack, and the settings of its calls by their temperature."""

    protocol: JudgeProtocol
    lm: dspy.LM
    stack: Stack
    known: dict[float | None, Settings] = field(default_factory=dict)

    @classmethod
    def to(cls, lm: dspy.LM, protocol: JudgeProtocol) -> _Way:
        """Return the way to a model that has a stack of ours."""
        from judgesmith.programs.models import stack_of

        stack = stack_of(lm)
        assert stack is not None
        way = cls(protocol, lm, stack)
        way.settings(None)
        return way

    def settings(self, temperature: float | None) -> Settings:
        """Return the settings of a call; None takes the protocol's temperature."""
        from judgesmith.programs.models import request_settings

        if temperature not in self.known:
            config = call_config(self.protocol, self.lm, temperature=temperature)
            self.known[temperature] = request_settings(self.lm, **config)
        return self.known[temperature]


class _StackAsker(Asker):
    def __init__(self, judge: Askable, lm: dspy.LM, own: Mapping[str, dspy.LM]) -> None:
        self._steps: Callable[..., Steps] = judge.steps
        self._family = family_of(judge.protocol.judge)
        protocol = judge.protocol
        templates = judge.templates()
        models = {name: own.get(name, lm) for name in templates}
        # One way for each model; its settings are those of now, whatever becomes of it.
        ways = {id(one): _Way.to(one, protocol) for one in models.values()}
        self._ways = {name: ways[id(one)] for name, one in models.items()}
        self._templates = {name: (one, one.prefix()) for name, one in templates.items()}
        self._nearest = nearest_prefixes(protocol, templates)

    async def aclose(self) -> None:
        for stack in {id(way.stack): way.stack for way in self._ways.values()}.values():
            await stack.aclose()

    async def judge(self, item: RatedItem) -> Judgement:
        texts = self._family.more_texts(item.references)
        steps = self._steps(
            source=item.source, response=item.response, context=item.context, **texts
        )
        return await self.taken(steps)

    async def taken(self, steps: AnySteps[Found]) -> Found:
        try:
            asked = next(steps)
            while True:
                replies = self._reply(asked) if isinstance(asked, Ask) else self._replies(asked)
                asked = steps.send(await replies)
        except StopIteration as end:
            found: Found = end.value
            return found

    async def _replies(self, asks: Sequence[Ask]) -> tuple[Reply, ...]:
        return all_or_fault(await asyncio.gather(*map(self._reply, asks), return_exceptions=True))

    async def _reply(self, ask: Ask) -> Reply:
        template, prefix = self._templates[ask.predictor]
        if ask.predictor in self._nearest:
            prefix = self._nearest[ask.predictor].of(ask.inputs)
        way = self._ways[ask.predictor]
        stack = way.stack
        if ask.continuation is not None:
            return await text_reply(stack, text_request(str(way.lm.model), template, ask))
        settings = way.settings(ask.temperature)
        if ask.probabilities is not None:
            if stack.refused_logprobs:
                return await self._without(ask, stack.refused_logprobs)
            wanted = probability_config(ask, way.lm)
            settings = replace(settings, logprobs=wanted["top_logprobs"])
        request = ModelRequest(
            model=str(way.lm.model),
            prefix=prefix,
            user=template.render(ask.inputs),
            settings=settings,
            sample=ask.sample,
        )
        try:
            answer = await stack.complete(request)
        except ContextWindowExceeded as fault:
            return too_long(fault)
        except ModelError as fault:
            refused = refusal_of(fault) if ask.probabilities is not None else None
            if refused is None:
                raise
            stack.refused_logprobs = refused
            return await self._without(ask, refused)
        call = stack.identity(request).hex()
        try:
            fields = template.read(answer.text)
        except ValueError as fault:
            return unreadable(fault, call=call, answer=answer)
        return readable(fields, call=call, answer=answer, ask=ask)

    async def _without(self, ask: Ask, reason: str) -> Reply:
        """Ask without the probabilities that the endpoint refuses, and say so."""
        reply = await self._reply(replace(ask, probabilities=None))
        return lacking(reply, ask, reason)


def all_or_fault(said: Sequence[Reply | BaseException]) -> tuple[Reply, ...]:
    """Return the replies to questions asked at once, or raise the fault of one.

    One that does not speak of this item alone, such as a wrong key, comes before all others.
    """
    faults = [one for one in said if isinstance(one, BaseException)]
    for fault in faults:
        if not speaks_of_one_item(fault):
            raise fault
    if faults:
        raise faults[0]
    return tuple(one for one in said if isinstance(one, Reply))


class _DspyAsker(Asker):
    """Asks through DSPy in threads: for models that bring no stack of ours."""

    def __init__(self, judge: Any, lm: dspy.LM) -> None:
        self._judge = judge.program() if hasattr(judge, "program") else judge.deepcopy()
        self._lm = lm
        self._family = family_of(judge.protocol.judge)
        self._threads: ThreadPoolExecutor | None = None
        self._context = contextvars.copy_context()

    async def judge(self, item: RatedItem) -> Judgement:
        return await self._in_thread(lambda: self._judged(item))

    async def taken(self, steps: AnySteps[Found]) -> Found:
        return await self._in_thread(lambda: self._taken(steps))

    async def _in_thread(self, asked: Callable[[], Found]) -> Found:
        loop = asyncio.get_running_loop()
        context = self._context.copy()
        if self._threads is None:
            self._threads = ThreadPoolExecutor(256, thread_name_prefix="judgesmith")
        return await loop.run_in_executor(self._threads, context.run, asked)

    async def aclose(self) -> None:
        threads, self._threads = self._threads, None
        if threads is not None:
            threads.shutdown(wait=False, cancel_futures=True)

    def _judged(self, item: RatedItem) -> Judgement:
        import dspy

        with dspy.context(lm=self._lm), _our_errors():
            texts = self._family.more_texts(item.references)
            found = self._judge(
                source=item.source, response=item.response, context=item.context, **texts
            )
        return Judgement(**{name: found[name] for name in Judgement.model_fields})

    def _taken(self, steps: AnySteps[Found]) -> Found:
        import dspy

        with dspy.context(lm=self._lm), _our_errors():
            found: Found = self._judge.taken(steps)
        return found


@contextmanager
def _our_errors() -> Iterator[None]:
    """Raise the errors of a model that is not ours as what they mean here."""
    from dspy.utils import exceptions as theirs

    passing = (
        theirs.LMRateLimitError,
        theirs.LMServerError,
        theirs.LMTimeoutError,
        theirs.LMTransportError,
    )
    try:
        yield
    except passing as fault:
        raise TransientModelError(redacted(str(fault)), status=fault.status) from fault
    except theirs.LMUnsupportedModelError:
        raise
    except theirs.LMInvalidRequestError as fault:
        raise ModelError(redacted(str(fault)), status=fault.status or 400) from fault


def too_long(fault: Exception) -> Reply:
    """Return the reply for texts that the model's window does not hold; asking again is no use."""
    return Reply(problem=f"the texts are longer than the model reads: {fault}", final=True)


def readable(
    fields: Mapping[str, Any],
    *,
    call: str = "",
    answer: ModelAnswer | None = None,
    ask: Ask | None = None,
) -> Reply:
    """Return the reply for an answer that was read, unless it breaks off inside a number."""
    if answer is not None and answer.finish_reason == "length" and is_cut_off(answer.text):
        return unreadable("", call=call, answer=answer)
    if ask is None or ask.probabilities is None:
        return Reply(fields=fields, call=call)
    found = probabilities_in(answer, ask.probabilities, fields)
    return Reply(fields=fields, call=call, probabilities=found)


def lacking(reply: Reply, ask: Ask, reason: str) -> Reply:
    """Return a reply with the reason why it has none of the probabilities that were asked for."""
    if ask.probabilities is None or reply.fields is None:
        return reply
    return replace(reply, probabilities=without_probabilities(ask.probabilities, reason))


def unreadable(fault: object, *, call: str = "", answer: ModelAnswer | None = None) -> Reply:
    """Return the reply for an answer that could not be read."""
    if answer is not None and answer.finish_reason == "length":
        fault = "it was cut off at the model's limit of tokens."
    elif answer is not None and answer.finish_reason == "content_filter":
        fault = "the server's content filter stopped it."
    return Reply(problem=f"the model's answer could not be read: {fault}", call=call)

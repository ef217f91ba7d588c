"""How a judge's questions are asked through DSPy, one by one or without blocking."""

from __future__ import annotations

import asyncio
import contextvars
from collections.abc import Awaitable, Callable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import replace
from typing import Any, Self, TypeVar

import dspy
from dspy.utils import exceptions as theirs
from dspy.utils.exceptions import AdapterParseError, ContextWindowExceededError, LMError

from judgesmith.programs.judging.adapter import FencedAdapter, template_of
from judgesmith.programs.judging.executors import (
    Binding,
    Executor,
    call_config,
    current_lm,
    probability_config,
    request_slot,
)
from judgesmith.programs.judging.program import (
    JudgeProgram,
    ModelReply,
    PromptRequest,
    RequestProgram,
    answer_by_dspy,
    answered,
    cause_of,
    readable,
    refusal_of,
    run_program,
    text_reply,
    text_request,
    too_long,
    unreadable,
    with_no_probabilities,
    with_note,
)
from judgesmith.programs.judging.prompts import Indexes, Template, is_shown
from judgesmith.programs.lm import (
    LMClient,
    ModelError,
    ModelRequest,
    TransientModelError,
    lm_client_of,
    sampling,
)
from judgesmith.programs.lm.dspy_lm import collected_answers
from judgesmith.programs.lm.errors import redacted, speaks_of_one_item, unscoring
from judgesmith.programs.lm.limits import STOPPING
from judgesmith.programs.lm.waiting import BLOCKING, SUSPENDING, driven
from judgesmith.results.base import one_line
from judgesmith.signatures.config import ActiveCriticConfig, JudgeConfig, Sampling
from judgesmith.signatures.items import RatedItem
from judgesmith.signatures.judgement import Judgement, Note

Found = TypeVar("Found")


class AskingModule(dspy.Module):
    """A module whose predictors answer the questions of steps."""

    def __repr__(self) -> str:
        return one_line(
            f"{type(self).__name__}({', '.join(name for name, _ in self.named_predictors())})"
        )

    def __init__(self, settings: JudgeConfig) -> None:
        super().__init__()
        self._settings = settings
        self._indexes = Indexes()
        self._bound_lm: dspy.LM | None = None
        self._takes_context = False
        self.binding: Binding | None = None

    @property
    def protocol(self) -> JudgeConfig:
        """What the calls are sampled with, and all that can be tuned."""
        return self._settings

    def fixed_inputs(self, predictor: str) -> Mapping[str, str]:
        """Return the inputs of a predictor that are the same for every item, by field."""
        return {}

    def own_models(self) -> dict[str, dspy.LM]:
        """Return the models that single predictors have, by predictor."""
        return {name: one.lm for name, one in self.named_predictors() if one.lm is not None}

    def steps(self, item: RatedItem) -> JudgeProgram:
        """Return the judgement of one response; a module that judges nothing refuses."""
        raise TypeError(f"{type(self).__name__} asks a model, and judges nothing by itself.")

    def adapter(self) -> dspy.Adapter:
        """Return what lays out the questions for DSPy and reads the answers."""
        return FencedAdapter()

    def templates(self) -> dict[str, Template]:
        """Return every question of the judge, by predictor, rendered up to the item."""
        return {
            name: template_of(name, predictor, self.fixed_inputs(name))
            for name, predictor in self.named_predictors()
        }

    def bind(self, lm: dspy.LM, compiled_with: Binding | None = None) -> None:
        """Have questions asked of a model, whatever DSPy's current one is."""
        self._bound_lm = lm
        self._takes_context = False
        self.binding = compiled_with or self.binding

    def use_context(self) -> None:
        """Have DSPy's current model, where there is one, stand above the one that is bound."""
        self._takes_context = True

    def bound_like(self, other: AskingModule) -> None:
        """Take over what another module is bound to."""
        self._bound_lm, self.binding = other._bound_lm, other.binding
        self._takes_context = other._takes_context

    def with_own_models(self) -> tuple[Self, dspy.LM]:
        """Return the module, and the model that it asks where nothing else is said."""
        if self._bound_lm is None or (self._takes_context and dspy.settings.lm is not None):
            return self, current_lm()
        return self, self._bound_lm

    def run(self, steps: RequestProgram[Found]) -> Found:
        """Return what steps come to whose questions this judge asks, one after the other."""
        with dspy.context(adapter=self.adapter(), lm=self.with_own_models()[1]):
            return answered(steps, lambda ask: driven(self._reply(ask, blocking=True)))

    async def arun(self, steps: RequestProgram[Found]) -> Found:
        """Return what steps come to without blocking; see ``run``."""
        with dspy.context(adapter=self.adapter(), lm=self.with_own_models()[1]):
            return await run_program(steps, lambda ask: self._reply(ask, blocking=False))

    async def _reply(self, ask: PromptRequest, *, blocking: bool) -> ModelReply:
        if ask.attempt:
            return ModelReply(kept=True)
        if ask.continuation is not None:
            waiting = BLOCKING if blocking else SUSPENDING
            return await text_reply(*self._likelihood(ask), waiting)
        predictor = getattr(self, ask.predictor)
        refused = self._refused(ask, predictor)
        if refused is None:
            try:
                inputs, config = self._inputs(ask, predictor), self._config(ask, predictor)
                return await ask_once(predictor, ask, inputs, config=config, blocking=blocking)
            except LMError as fault:
                refused = self._refused(ask, predictor, fault)
                if refused is None:
                    raise
        without = replace(ask, probabilities=None)
        return with_no_probabilities(await self._reply(without, blocking=blocking), ask, refused)

    def _likelihood(self, ask: PromptRequest) -> tuple[LMClient, ModelRequest]:
        """Return what asks how likely a text is, and how: DSPy has no such call."""
        lm = dspy.settings.lm
        client = lm_client_of(lm)
        if client is None:
            raise unscoring(str(getattr(lm, "model", lm)), "it was not made by judgesmith.model")
        return client, text_request(str(lm.model), self.templates()[ask.predictor], ask)

    def _refused(
        self, ask: PromptRequest, predictor: dspy.Predict, fault: LMError | None = None
    ) -> str | None:
        """Return why log-probabilities are not to be had, now or since an earlier question."""
        if ask.probabilities is None:
            return None
        client = lm_client_of(predictor.lm or dspy.settings.lm)
        if fault is None:
            return (client.refused_logprobs or None) if client is not None else None
        refused = refusal_of(fault)
        if client is not None and refused is not None:
            client.refused_logprobs = refused
        return refused

    def _inputs(self, ask: PromptRequest, predictor: dspy.Predict) -> dict[str, Any]:
        """Return what a question says of an item, with its own demonstrations if it has some."""
        given: dict[str, Any] = {**self.fixed_inputs(ask.predictor), **ask.inputs}
        said = {name: v for name, v in given.items() if name in predictor.signature.input_fields}
        if self._settings.nearest is not None and predictor.demos:
            said["demos"] = self._nearest_demos(ask, predictor)
        return said

    def _nearest_demos(self, ask: PromptRequest, predictor: dspy.Predict) -> list[Any]:
        """Return the demonstrations of a predictor that are most like an item."""
        names = predictor.signature.output_fields
        demos = [one for one in predictor.demos if is_shown({k: one.get(k) for k in names})]
        places = self._indexes.of(demos, self._settings.nearest or len(demos)).places(ask.inputs)
        return [demos[place] for place in places]

    def _config(self, ask: PromptRequest, predictor: dspy.Predict) -> dict[str, Any]:
        lm = predictor.lm or dspy.settings.lm
        config = call_config(self._settings.sampling, lm, temperature=ask.temperature)
        return {**config, **probability_config(ask.probabilities, lm)}


class Asker(AskingModule):
    """Asks by some signatures what steps want to know, and judges nothing by itself."""

    def __init__(
        self,
        settings: JudgeConfig | None = None,
        told: Mapping[str, str] | None = None,
        /,
        **questions: type[dspy.Signature],
    ) -> None:
        super().__init__(settings or ActiveCriticConfig())
        self._told = dict(told or {})
        for name, signature in questions.items():
            setattr(self, name, dspy.Predict(signature))

    def fixed_inputs(self, predictor: str) -> Mapping[str, str]:
        return self._told


async def ask_once(
    predictor: dspy.Predict,
    ask: PromptRequest,
    inputs: Mapping[str, Any],
    *,
    config: Mapping[str, Any],
    blocking: bool,
) -> ModelReply:
    """Ask one question of DSPy's current model, and return what came back."""

    async def fields() -> dict[str, Any]:
        if blocking:
            return dict(predictor(**inputs, config=dict(config)).items())
        return dict((await predictor.acall(**inputs, config=dict(config))).items())

    return await reply_to(ask, fields())


async def reply_to(ask: PromptRequest, answer: Awaitable[dict[str, Any]]) -> ModelReply:
    """Return the fields of an answer that is given through DSPy, or why there are none."""
    behind: dict[str, Any] = {}  # call and answer; models that are not ours leave none
    try:
        with sampling(sample=ask.sample), collected_answers() as heard:
            try:
                fields = await answer
            finally:
                if heard:
                    behind = dict(zip(("call", "answer"), heard[-1], strict=True))
    except ContextWindowExceededError as fault:
        return too_long(fault)
    except AdapterParseError as fault:
        return unreadable(str(fault).split("\n")[0], **behind)
    logprobs = fields.pop("logprobs", None)
    if ask.probabilities is not None and not behind:
        behind = {"answer": answer_by_dspy(logprobs)}
    return readable(fields, **behind, ask=ask)


def ask_of(
    lm: dspy.LM, predictor: dspy.Predict, ask: PromptRequest, sampling: Sampling
) -> ModelReply:
    """Ask a model one question that belongs to no judge; a request that it refuses has a reply."""
    STOPPING.check()
    config = call_config(sampling, predictor.lm or lm)
    try:
        with dspy.context(adapter=FencedAdapter(), lm=lm):
            return driven(ask_once(predictor, ask, ask.inputs, config=config, blocking=True))
    except ModelError as fault:
        if isinstance(fault, TransientModelError) or not speaks_of_one_item(fault):
            raise
        return ModelReply(cause=cause_of(fault), final=True)


_PASSING = (
    theirs.LMRateLimitError,
    theirs.LMServerError,
    theirs.LMTimeoutError,
    theirs.LMTransportError,
)
_THREADS = 256  # more than are asked at a time, so that no item waits for a thread


class DSPyExecutor(Executor):
    """Runs the judge as a DSPy program, one item to a thread."""

    def __init__(self, judge: Any, lm: dspy.LM, note: Note | None = None) -> None:
        self._judge = judge.program() if hasattr(judge, "program") else judge.deepcopy()
        if isinstance(self._judge, AskingModule):  # other programs ask DSPy's current model
            self._judge.bind(lm)
        self._lm = lm
        self._threads: ThreadPoolExecutor | None = None
        self._context = contextvars.copy_context()
        self._note = note

    async def judge(self, item: RatedItem) -> Judgement:
        return await self._in_thread(lambda: self._judged(item))

    async def run(self, steps: RequestProgram[Found]) -> Found:
        return await self._in_thread(lambda: self._taken(steps))

    async def aclose(self) -> None:
        """Let go of the threads; those that are asking end when they have an answer."""
        threads, self._threads = self._threads, None
        if threads is not None:
            threads.shutdown(wait=False, cancel_futures=True)

    async def _in_thread(self, asked: Callable[[], Found]) -> Found:
        async with request_slot():
            return with_note(await self._begun(asked), self._note)

    def _begun(self, asked: Callable[[], Found]) -> asyncio.Future[Found]:
        loop = asyncio.get_running_loop()
        context = self._context.copy()
        if self._threads is None:
            self._threads = ThreadPoolExecutor(_THREADS, thread_name_prefix="judgesmith")
        return loop.run_in_executor(self._threads, context.run, asked)

    def _judged(self, item: RatedItem) -> Judgement:
        with dspy.context(lm=self._lm), our_errors():
            found = self._judge(**item.texts, references=item.references)
        return Judgement(**{name: found[name] for name in Judgement.model_fields})

    def _taken(self, steps: RequestProgram[Found]) -> Found:
        with dspy.context(lm=self._lm), our_errors():
            found: Found = self._judge.run(steps)
        return found


class CodeExecutor(DSPyExecutor):
    """Takes the steps of a judge whose questions its own module answers, one item to a thread."""

    def __init__(self, judge: Any, lm: dspy.LM, note: Note | None = None) -> None:
        super().__init__(judge, lm, note)
        self._steps = judge.steps

    async def judge(self, item: RatedItem) -> Judgement:
        return await self.run(self._steps(item))


@contextmanager
def our_errors() -> Iterator[None]:
    """Raise the errors of a model that is not ours as what they mean here."""
    try:
        yield
    except _PASSING as fault:
        raise TransientModelError(redacted(str(fault)), status=fault.status) from fault
    except theirs.LMUnsupportedModelError:
        raise
    except theirs.LMInvalidRequestError as fault:
        raise ModelError(redacted(str(fault)), status=fault.status or 400) from fault

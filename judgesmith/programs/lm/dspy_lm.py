"""A ``dspy.LM`` over our client: DSPy's calls become requests of ours."""

import itertools
import json
import weakref
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any, Self

import dspy
from dspy import lm15
from dspy._vendor.lm15.serde import request_from_dict, response_from_dict
from dspy.utils.exceptions import ContextWindowExceededError, LMError

from judgesmith.errors import InputError
from judgesmith.front_door import Guessed
from judgesmith.programs.lm.client import LMClient
from judgesmith.programs.lm.errors import (
    BudgetSpent,
    CacheError,
    ContextWindowExceeded,
    ModelError,
    TransientModelError,
)
from judgesmith.programs.lm.limits import Stopped
from judgesmith.programs.lm.lm15_bridge import as_dict, request_to_lm15, settings_from_config
from judgesmith.programs.lm.records import (
    Message,
    ModelAnswer,
    ModelRequest,
    Prefix,
    Role,
    sample_number,
)


def request_from_dspy(request: lm15.Request, *, sample: int) -> ModelRequest:
    settings = settings_from_config(request.config)
    plain = _plain_messages(request)
    if plain is None:
        described = as_dict(request)
        described.pop("config", None)
        described.pop("model", None)
        return ModelRequest(
            model=request.model,
            prefix=Prefix(),
            user=json.dumps(described, sort_keys=True, ensure_ascii=False),
            settings=settings,
            sample=sample,
            original=request,
        )
    return ModelRequest(
        model=request.model,
        prefix=Prefix(plain[:-1]),
        user=plain[-1].text,
        settings=settings,
        sample=sample,
    )


def _plain_messages(request: lm15.Request) -> list[Message] | None:
    """Return the messages of a request that is text only and ends with the user's turn."""
    if request.tools or not (request.system is None or isinstance(request.system, str)):
        return None
    messages = [Message("system", request.system)] if request.system is not None else []
    for message in request.messages:
        role: Role
        match message.role:
            case "user":
                role = "user"
            case "assistant":
                role = "assistant"
            case _:
                return None
        if message.continuation or len(message.parts) != 1:
            return None
        part = message.parts[0]
        if not isinstance(part, lm15.TextPart) or part.continuation:
            return None
        messages.append(Message(role, part.text))
    return messages if messages and messages[-1].role == "user" else None


def request_to_dspy(request: ModelRequest, model: str) -> tuple[lm15.Request, tuple[str, ...]]:
    """Return DSPy's request for ``model``, and what had to be changed for it."""
    sent, changed = request_to_lm15(request, model)
    return request_from_dict(as_dict(sent)), changed


def answer_to_dspy(answer: ModelAnswer, model: str) -> lm15.Response:
    usage = lm15.Usage()
    if not answer.from_cache:
        usage = lm15.Usage(input_tokens=answer.input_tokens, output_tokens=answer.output_tokens)
    if answer.original is not None:
        stored = json.loads(answer.original)
        stored.update(usage={}, model=model)
        whole = response_from_dict(stored)
        return lm15.Response(
            id=whole.id,
            model=model,
            message=whole.message,
            finish_reason=whole.finish_reason,
            usage=usage,
            logprobs=whole.logprobs,
            adaptations=whole.adaptations,
            logprobs_complete=whole.logprobs_complete,
        )
    logprobs = None
    if answer.logprobs is not None:
        logprobs = tuple(
            lm15.TokenLogprob(
                one.token,
                one.logprob,
                top=tuple(lm15.TopLogprob(token, value) for token, value in one.top),
            )
            for one in answer.logprobs
        )
    return lm15.Response(
        id=None,
        model=model,
        message=lm15.Message.assistant(answer.text),
        finish_reason=answer.finish_reason,
        usage=usage,
        logprobs=logprobs,
        adaptations=tuple(_adaptation(sentence) for sentence in answer.adaptations),
    )


def _adaptation(sentence: str) -> lm15.Adaptation:
    head, _, reason = sentence.partition(": ")
    field, _, action = head.partition(" ")
    return lm15.Adaptation(field=field, action=action, reason=reason)


# Rollouts are set this far apart, so that the candidates of one do not run into the next.
_ROLLOUT = 10_000

_numbers: ContextVar[Iterator[int] | None] = ContextVar("judgesmith_sample_numbers", default=None)

_Heard = list[tuple[str, ModelAnswer]]
_heard: ContextVar[_Heard | None] = ContextVar("judgesmith_heard", default=None)


@contextmanager
def collected_answers() -> Iterator[_Heard]:
    """Collect what models of ours answer inside a ``with`` block, by the identity of the call."""
    answers: _Heard = []
    token = _heard.set(answers)
    try:
        yield answers
    finally:
        _heard.reset(token)


class ClientLM(Guessed, dspy.LM):
    """A model whose calls go through a client."""

    @classmethod
    def over(
        cls, client: LMClient, name: str, *, recipe: Mapping[str, Any], **settings: Any
    ) -> Self:
        """Return a model called ``name`` over ``client``, which ``recipe`` can make again."""
        shared = {"cache": False, "num_retries": 0, **settings}
        engines = {
            "engine": ClientEngine(client, recipe),
            "async_engine": AsyncClientEngine(client, recipe),
        }
        try:
            return cls(name, **engines, **shared)
        except dspy.LMConfigurationError:
            # DSPy lets OpenAI's reasoning models have neither a temperature, which they do not
            # take, nor a small ceiling, which they do.
            made = cls(name, **engines, **{**shared, "temperature": None, "max_tokens": None})
            made.kwargs["max_completion_tokens"] = settings.get("max_tokens")
            return made

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        with self._numbered(kwargs):
            return super().__call__(*args, **kwargs)

    async def acall(self, *args: Any, **kwargs: Any) -> Any:
        """Call the model without blocking; see ``dspy.LM``."""
        with self._numbered(kwargs):
            return await super().acall(*args, **kwargs)

    @contextmanager
    def _numbered(self, kwargs: Mapping[str, Any]) -> Iterator[None]:
        rollout = kwargs.get("rollout_id", self.kwargs.get("rollout_id"))
        first = sample_number.get() + (0 if rollout is None else _ROLLOUT * (1 + int(rollout)))
        token = _numbers.set(itertools.count(first))
        try:
            yield
        finally:
            _numbers.reset(token)


class _Face:
    """What both engines of a model share."""

    def __init__(self, client: LMClient, recipe: Mapping[str, Any]) -> None:
        self.client = client
        self.recipe = dict(recipe)

    def dump_state(self) -> dict[str, Any]:
        """Return how to make this again: no keys, no budget, the address without secrets."""
        return dict(self.recipe)

    @classmethod
    def load_state(cls, state: Mapping[str, Any]) -> Self:
        """Return a face of the client that ``state`` describes, with no budget."""
        return cls(_client_like(state), state)

    def _handed_on(self, asked: ModelRequest, answer: ModelAnswer, model: str) -> lm15.Response:
        answers = _heard.get()
        if answers is not None:
            answers.append((self.client.identity(asked).hex(), answer))
        return answer_to_dspy(answer, model)

    def __deepcopy__(self, memo: object) -> Self:
        return self

    def __reduce__(self) -> tuple[Any, tuple[dict[str, Any]]]:
        return type(self).load_state, (self.dump_state(),)


class ClientEngine(_Face):
    """The synchronous engine of a model."""

    def complete(self, request: lm15.Request) -> lm15.Response:
        asked = request_from_dspy(request, sample=_sample())
        try:
            answer = self.client.complete_sync(asked)
        except (ModelError, BudgetSpent, CacheError, Stopped, InputError) as fault:
            raise seen_by_dspy(fault) from None
        return self._handed_on(asked, answer, request.model)


class AsyncClientEngine(_Face):
    """The asynchronous engine of a model."""

    async def complete(self, request: lm15.Request) -> lm15.Response:
        asked = request_from_dspy(request, sample=_sample())
        try:
            answer = await self.client.complete(asked)
        except (ModelError, BudgetSpent, CacheError, Stopped, InputError) as fault:
            raise seen_by_dspy(fault) from None
        return self._handed_on(asked, answer, request.model)


def _sample() -> int:
    numbers = _numbers.get()
    return sample_number.get() if numbers is None else next(numbers)


_made_again: "weakref.WeakValueDictionary[str, LMClient]" = weakref.WeakValueDictionary()


def _client_like(recipe: Mapping[str, Any]) -> LMClient:
    """Return the client for ``recipe``; the two engines of a loaded model find the same one."""
    from judgesmith.programs.lm.factory import client_model

    key = json.dumps(recipe, sort_keys=True)
    client = _made_again.get(key)
    if client is None:
        price = recipe.get("price")
        client = client_model(**{**recipe, "price": tuple(price) if price else None}).client
        _made_again[key] = client
    return client


# -- errors --------------------------------------------------------------------------------
#
# DSPy turns every exception that is not one of its own into "unexpected". These are both its
# own and ours, so that either side catches what it knows.


class _OfBothError(LMError):
    def __init__(self, fault: Exception) -> None:
        # Not through the constructors of either side: each wants what only the other has.
        Exception.__init__(self, str(fault))
        self.message = str(fault)
        self.code = self.default_code
        self.model = self.provider = self.provider_code = self.request_id = None
        self.status: int | None = None
        self.retry_after: float | None = None
        self.__dict__.update(fault.__dict__)

    def __reduce__(self) -> tuple[Any, ...]:
        ours = next(ours for ours, kind in _SEEN_AS if type(self) is kind)
        return _ours_again, (ours, str(self), self.__dict__)


def _ours_again(kind: type[Exception], said: str, kept: dict[str, Any]) -> Exception:
    fault = kind.__new__(kind)
    Exception.__init__(fault, said)
    fault.__dict__.update(kept)
    return fault


def _of_both(ours: type[Exception], of_dspy: type[LMError] = LMError) -> type[_OfBothError]:
    bases = (_OfBothError, ours) if of_dspy is LMError else (_OfBothError, of_dspy, ours)
    named = {
        "__module__": ours.__module__,
        "__qualname__": ours.__qualname__,
        "__doc__": ours.__doc__,
    }
    return type(ours.__name__, bases, named)


_SEEN_AS = (
    (ContextWindowExceeded, _of_both(ContextWindowExceeded, ContextWindowExceededError)),
    *(
        (ours, _of_both(ours))
        for ours in (TransientModelError, ModelError, BudgetSpent, CacheError, Stopped, InputError)
    ),
)


def seen_by_dspy(fault: Exception) -> Exception:
    """Return ``fault`` as an exception that is ours and DSPy's at once."""
    return next(kind(fault) for ours, kind in _SEEN_AS if isinstance(fault, ours))

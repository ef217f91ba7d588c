"""Calls of a model: requests, responses, identity, engines."""

import hashlib
import json
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, fields
from functools import lru_cache
from typing import Any, Literal, Protocol, runtime_checkable

from judgesmith.errors import InputError

Role = Literal["system", "user", "assistant"]


@dataclass(frozen=True, slots=True)
class Message:
    """One turn of a conversation, text only."""

    role: Role
    text: str


class Prefix:
    """The part of a request that many requests share: system message and demonstrations.

    Build one per template and hand the same object to every request: what depends on it alone (its
    share of the identity, its client-side form) is computed once.

    Parameters
    ----------
    messages : sequence of Message
        In the order in which they are sent; a system message comes first, or ``ValueError`` says
        so.

    Examples
    --------
    >>> shared = Prefix([Message("system", "Rate it."), Message("user", "Is A good?")])
    >>> shared == Prefix(shared.messages), shared.n_characters
    (True, 18)
    """

    __slots__ = (
        "__weakref__",
        "_digest",
        "_state",
        "messages",
        "n_bytes",
        "n_characters",
        "native",
    )

    messages: tuple[Message, ...]
    n_characters: int
    n_bytes: int
    # What an engine made of the messages, kept by that engine for the next request.
    native: Any

    def __init__(self, messages: "tuple[Message, ...] | list[Message]" = ()) -> None:
        self.messages = tuple(messages)
        for place, message in enumerate(self.messages):
            if message.role == "system" and place > 0:
                raise InputError(
                    f"a system message must come first; message {place} of "
                    f"{len(self.messages)} is one."
                )
        self._state = hashlib.blake2b(digest_size=16, person=b"judgesmith-ask-1")
        for message in self.messages:
            self._state.update(framed(message.role, message.text))
        self._digest = self._state.digest()
        self.n_characters = sum(len(message.text) for message in self.messages)
        self.n_bytes = sum(_n_bytes(message.text) for message in self.messages)
        self.native = None

    def hasher(self) -> "hashlib.blake2b":
        """Return a copy of the hash over these messages, ready for more."""
        return self._state.copy()

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Prefix) and self.messages == other.messages

    def __hash__(self) -> int:
        return hash(self._digest)

    def __repr__(self) -> str:
        return f"Prefix({len(self.messages)} messages, {self.n_characters} characters)"

    def __reduce__(self) -> "tuple[type[Prefix], tuple[tuple[Message, ...]]]":
        return Prefix, (self.messages,)


def _n_bytes(text: str) -> int:
    return len(text) if text.isascii() else len(text.encode("utf-8", "surrogatepass"))


def framed(role: str, text: str) -> bytes:
    """Return one message as bytes that no other sequence of messages can spell."""
    body = text.encode("utf-8", "surrogatepass")
    return b"%s %d\n%s" % (role.encode(), len(body), body)


@dataclass(frozen=True, slots=True, kw_only=True)
class SamplingSettings:
    """How an answer is to be sampled; part of a request's identity.

    Attributes
    ----------
    temperature, top_p, seed : number or None
        None leaves the choice to the server.
    max_tokens : int or None
        Ceiling on the answer, in tokens of the model.
    stop : tuple of str
        Texts that end the answer.
    logprobs : int or None
        Number of alternatives to report per token; 0 reports the chosen token only.
    extra : tuple of (str, str)
        Any other setting by name, with its value as canonical JSON, sorted by name.
    """

    temperature: float | None = 0.0
    max_tokens: int | None = None
    top_p: float | None = None
    stop: tuple[str, ...] = ()
    seed: int | None = None
    logprobs: int | None = None
    extra: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelRequest:
    """One question to a model.

    Attributes
    ----------
    model : str
        ``provider/model``, or ``offline``.
    prefix, user : Prefix, str
        System message and demonstrations; the last user message.
    settings : SamplingSettings
        How to sample.
    sample : int
        0 asks for the first answer; 1, 2, … ask for further answers to the same question.
    attempt : int
        How often the same was asked before, in finished runs that could not read the answer.
    original : object or None
        The request in the client's own type, only for what the fields above cannot hold (tools,
        images); ``user`` is then its canonical JSON.
    continuation : str or None
        A text after the prompt: nothing is written, and the answer is the log-probability of each
        of its tokens.
    """

    model: str
    prefix: Prefix
    user: str
    settings: SamplingSettings = SamplingSettings()
    sample: int = 0
    attempt: int = 0
    original: Any = None
    continuation: str | None = None

    @property
    def n_characters(self) -> int:
        """How long the whole prompt is, in characters."""
        return self.prefix.n_characters + len(self.user) + len(self.continuation or "")

    @property
    def n_bytes(self) -> int:
        """How long the whole prompt is in UTF-8, which no tokenizer cuts finer than into bytes."""
        return self.prefix.n_bytes + _n_bytes(self.user) + _n_bytes(self.continuation or "")

    @property
    def as_prompt(self) -> str:
        """All messages as one text, for models that continue a text; without a continuation."""
        return "\n\n".join([*(message.text for message in self.prefix.messages), self.user])


@dataclass(frozen=True, slots=True)
class TokenLogprob:
    """One token of an answer with its natural log-probability and the likeliest alternatives.

    ``top`` holds (token, log-probability) pairs, likeliest first, as the server reported them;
    whether the chosen token is among them depends on the server.
    """

    token: str
    logprob: float
    top: tuple[tuple[str, float], ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelAnswer:
    """What a model answered.

    Attributes
    ----------
    text : str
        The answer, as written.
    finish_reason : str
        ``stop``, ``length`` (cut off), ``tool_call``, ``content_filter`` or ``error``.
    input_tokens, output_tokens : int or None
        As the server counted them.
    logprobs : tuple of TokenLogprob or None
        None where they were not asked for or not given.
    adaptations : tuple of str
        Settings that the engine dropped, changed or sent another way, one sentence each.
    seconds : float
        How long the model took, measured where the request was sent.
    from_cache : bool
        True if nothing was sent for this answer.
    original : str or None
        The client's own response as JSON, only where ``text`` cannot hold it (tool calls, …).
    """

    text: str
    finish_reason: str = "stop"
    input_tokens: int | None = None
    output_tokens: int | None = None
    logprobs: tuple[TokenLogprob, ...] | None = None
    adaptations: tuple[str, ...] = ()
    seconds: float = 0.0
    from_cache: bool = False
    original: str | None = None


# DSPy has no place for the sample number in a request, so it travels beside the call.
sample_number: ContextVar[int] = ContextVar("judgesmith_sample_number", default=0)


@contextmanager
def sampling(sample: int) -> Iterator[None]:
    """Ask for answer number ``sample`` in the DSPy calls inside the ``with`` block.

    0 is the first answer to a question; every other number is kept apart in the cache. A negative
    one raises ``ValueError``.

    Examples
    --------
    >>> with sampling(sample=2):
    ...     sample_number.get()
    2
    >>> sample_number.get()
    0
    """
    if sample < 0:
        raise InputError(f"sample must be zero or more; got {sample}.")
    token = sample_number.set(sample)
    try:
        yield
    finally:
        sample_number.reset(token)


def request_identity(request: ModelRequest, endpoint: str) -> bytes:
    """Return the 16 bytes under which the answer to ``request`` from ``endpoint`` is kept.

    The hash (BLAKE2b) runs over every message with role and length, model, endpoint, settings and
    sample number. Where the messages are cut into prefix and user message makes no difference; the
    part over the prefix is not computed again.

    Examples
    --------
    >>> first = ModelRequest(model="offline", prefix=Prefix(), user="2 + 2?")
    >>> again = ModelRequest(model="offline", prefix=Prefix(), user="2 + 2?", sample=1)
    >>> request_identity(first, "offline") == request_identity(again, "offline")
    False
    """
    state = request.prefix.hasher()
    # Content that only the client can read must not meet plain text that looks like its JSON.
    state.update(framed("user" if request.original is None else "original", request.user))
    if request.continuation is not None:
        state.update(framed("continuation", request.continuation))
    state.update(_circumstances(request.model, endpoint, request.settings))
    state.update(b"sample %d" % request.sample)
    if request.attempt:
        state.update(b" attempt %d" % request.attempt)
    return state.digest()


@lru_cache(maxsize=1024)
def _circumstances(model: str, endpoint: str, settings: SamplingSettings) -> bytes:
    named = {field.name: getattr(settings, field.name) for field in fields(settings)}
    # 0 and 0.0 are equal, and so share a place in this cache: they must be written alike.
    for name in ("temperature", "top_p"):
        named[name] = None if named[name] is None else float(named[name])
    described = json.dumps([model, endpoint, named], sort_keys=True)
    return framed("settings", described)


class Engine(Protocol):
    """Sends one request to a model; the client around it remembers, counts, waits and retries.

    Attributes
    ----------
    endpoint : str
        Where the answers come from, without any secret; part of every request's identity.

    An engine that answers requests with a ``continuation`` has ``scores_texts = True``, too; one
    whose answers change with judgesmith's version has an ``edition``, a part of the identity.
    """

    endpoint: str

    async def complete(self, request: ModelRequest) -> ModelAnswer:
        """Return the model's answer, or raise one of the errors in ``errors``."""
        ...

    def complete_sync(self, request: ModelRequest) -> ModelAnswer:
        """Return the model's answer to a caller without an event loop."""
        ...

    async def aclose(self) -> None:
        """Close the connections of the running event loop."""
        ...

    def close(self) -> None:
        """Close the connections of synchronous calls."""
        ...


@runtime_checkable
class PureEngine(Protocol):
    """A model that is a function: no network, no waiting, the same answer every time.

    Such an engine is called directly, without threads, rate limits or retries.
    """

    endpoint: str

    def answer(self, request: ModelRequest) -> ModelAnswer:
        """Return the answer, a function of the request alone."""
        ...


def answering(engine: Engine | PureEngine) -> str:
    """Return what tells an engine's answers from others': its endpoint, and its edition if any."""
    edition = getattr(engine, "edition", None)
    return engine.endpoint if edition is None else f"{engine.endpoint} {edition}"

"""Sends requests through lm15: one pool of connections per event loop, and one for threads."""

import asyncio
import os
import re
import threading
import weakref
from dataclasses import replace
from typing import Any
from urllib.parse import urlsplit
from urllib.request import getproxies

import lm15
from lm15.compat import OpenAIChatCompat
from lm15.features import AccessPolicy
from lm15.registry import ProviderDefinition, lookup
from lm15.router import LITELLM_PROVIDER_PREFIXES
from lm15.transports import StdlibAsyncTransport, StdlibTransport

from judgesmith.errors import InputError
from judgesmith.programs.models.conversion import (
    GARBLED,
    answer_from_lm15,
    error_from_lm15,
    error_from_reply,
    request_to_lm15,
)
from judgesmith.programs.models.errors import ModelError
from judgesmith.programs.models.redaction import public_address
from judgesmith.programs.models.request import ModelAnswer, ModelRequest
from judgesmith.programs.models.text_scoring import TextScoring
from judgesmith.programs.models.wire import Timed, Wire

# Enough for the largest number in flight that pays off; the client's own default is 100.
_CONNECTIONS = 512
# Reached through LiteLLM, under whose name their answers are on record.
_ELSEWHERE = frozenset({"azure", "deepinfra", "together_ai", "fireworks_ai"})
_PROVIDERS = {name: it for name, it in LITELLM_PROVIDER_PREFIXES.items() if name not in _ELSEWHERE}
# What a server at an address of the user's own is called towards the client.
_DECLARED = "judgesmith-server"
# Providers whose servers may have OpenAI's older protocol, which goes on with a given text.
_WITH_COMPLETIONS = ("openai", "hosted_vllm")
# OpenAI's reasoning models refuse any temperature but their own.
_FIXED_TEMPERATURE = re.compile(r"(?:o\d|gpt-5(?!.*-chat))")
_UNTEMPERED = (
    "config.temperature dropped: OpenAI's reasoning models answer at their own temperature only"
)


def native_route(model: str) -> bool:
    """Say whether requests to ``provider/model`` go through this client.

    Examples
    --------
    >>> [native_route(name) for name in ("openai/gpt-4o", "azure/gpt-4o", "openai")]
    [True, False, False]
    """
    head, separator, rest = model.partition("/")
    return bool(separator and rest and head in _PROVIDERS)


class NativeEngine:
    """Asks one model through lm15, without retries of its own.

    Parameters
    ----------
    model : str
        ``provider/model`` with a provider that the client knows; ``openai`` and ``hosted_vllm``
        go with any server that speaks OpenAI's protocol.
    api_base : str or None
        Address of such a server. None takes ``OPENAI_API_BASE`` or ``OPENAI_BASE_URL`` (or
        those of another provider) from the environment, else the provider's own address.
    timeout : float
        Seconds without a byte after which an attempt counts as failed.

    Attributes
    ----------
    endpoint : str
        Address without user, password or query.
    route : str
        How requests travel, for display.
    scores_texts : bool
        Whether it can be asked how likely a given text is; not every server knows an answer.
    """

    def __init__(self, model: str, *, api_base: str | None = None, timeout: float = 600.0) -> None:
        head, _, name = model.partition("/")
        if not native_route(model):
            known = ", ".join(sorted(_PROVIDERS))
            raise InputError(
                f"the native client knows provider/model with one of {known}; got {model!r}."
            )
        self.model = model
        self._name = name
        self._timeout = timeout
        variables = [f"{head.upper()}_API_BASE", f"{head.upper()}_BASE_URL"]
        address = api_base or next((os.environ[v] for v in variables if os.environ.get(v)), None)
        provider = _PROVIDERS[head]
        self._declared = address if head == "openai" else None
        self._fixed = head == "openai" and _FIXED_TEMPERATURE.match(name) is not None
        self._base_urls = {provider: address} if address and not self._declared else None
        self._provider = _DECLARED if self._declared else provider
        self._key_variable = f"{head.upper()}_API_KEY"
        self.endpoint = public_address(address) if address else _own_address(provider)
        self.route = f"native client, {self.endpoint}"
        self._has_secrets = address is not None and _holds_secrets(address)
        self.scores_texts = head in _WITH_COMPLETIONS
        self._texts = TextScoring(model, self.endpoint, os.environ.get(self._key_variable))
        self._lock = threading.Lock()
        self._threads: tuple[Any, Any] | None = None
        self._loops: dict[asyncio.AbstractEventLoop, tuple[Any, Any, Wire]] = {}

    async def complete(self, request: ModelRequest) -> ModelAnswer:
        """Send ``request`` once; see ``Engine``."""
        loop = asyncio.get_running_loop()
        opened = self._loops.get(loop)
        try:
            if opened is None:
                # No await in between, so coroutines that start together share one pool.
                opened = self._opened_for_loop()
                with self._lock:
                    alive = {old: one for old, one in self._loops.items() if not old.is_closed()}
                    self._loops = {**alive, loop: opened}
            if request.continuation is not None:
                return await self._texts.scored(opened[0], request)
            layout = opened[2].layout(request)
            if layout is None:
                sent, changed = self._request(request)
        except (lm15.LM15Error, ValueError, TypeError) as fault:
            # Not chained: the client's message may quote the key.
            raise error_from_lm15(fault, self.model, self.endpoint) from None
        try:
            if layout is not None:
                return await opened[2].complete(request, layout)
            return answer_from_lm15(await opened[1].complete(sent), changed)
        except (lm15.LM15Error, *GARBLED) as fault:
            if layout is not None:
                sent, _ = self._request(request)
            raise self._explained(fault, opened[1], sent) from None

    def complete_sync(self, request: ModelRequest) -> ModelAnswer:
        """Send ``request`` once; see ``Engine``."""
        try:
            with self._lock:
                if self._threads is None:
                    self._threads = self._open(lm15.LMRouter, StdlibTransport)
                    weakref.finalize(self, self._threads[0].close)
            connections, client = self._threads
            if request.continuation is not None:
                return self._texts.scored_sync(connections, request)
            sent, changed = self._request(request)
        except (lm15.LM15Error, ValueError, TypeError) as fault:
            raise error_from_lm15(fault, self.model, self.endpoint) from None
        try:
            return answer_from_lm15(client.complete(sent), changed)
        except (lm15.LM15Error, *GARBLED) as fault:
            raise self._explained(fault, client, sent) from None

    def _explained(self, fault: Exception, client: Any, sent: lm15.Request) -> ModelError:
        """Return our error for one that came while a request was made, sent or answered."""
        said_by_server = isinstance(fault, lm15.LM15Error) and not (
            isinstance(fault, lm15.UnsupportedFeatureError)
            or (type(fault) is lm15.ProviderError and fault.status is None)
        )
        if not said_by_server:
            # The client raises the same kinds for a request that it cannot spell and for a reply
            # that it cannot read; only the former it also raises without a network.
            try:
                client.plan(sent)
            except Exception:
                return error_from_lm15(fault, self.model, self.endpoint)
            return error_from_reply(fault, self.model, self.endpoint)
        return error_from_lm15(fault, self.model, self.endpoint)

    def check_key(self) -> None:
        """Refuse a provider that needs a key where none is in the environment.

        Raises
        ------
        ModelError
            If so; nothing is sent to find out.
        """
        try:
            self._open(lm15.LMRouter, StdlibTransport)[0].close()
        except (lm15.LM15Error, ValueError, TypeError) as fault:
            raise error_from_lm15(fault, self.model, self.endpoint) from None

    async def aclose(self) -> None:
        """Close the connections of the running event loop; the next request opens new ones."""
        with self._lock:
            opened = self._loops.pop(asyncio.get_running_loop(), None)
        if opened is not None:
            await opened[0].aclose()

    def close(self) -> None:
        """Close the connections of synchronous calls."""
        with self._lock:
            opened, self._threads = self._threads, None
        if opened is not None:
            opened[0].close()

    def _request(self, request: ModelRequest) -> tuple[lm15.Request, tuple[str, ...]]:
        """Return what to send, and what had to be changed for it."""
        if self._fixed and request.settings.temperature not in (None, 1.0):
            untempered = replace(request, settings=replace(request.settings, temperature=None))
            sent, changed = request_to_lm15(untempered, self._name)
            return sent, (*changed, _UNTEMPERED)
        return request_to_lm15(request, self._name)

    def _opened_for_loop(self) -> tuple[Any, Any, Wire]:
        untimed: Any = None

        def timed(**settings: Any) -> Timed:
            nonlocal untimed
            settings |= {"read_timeout": None, "write_timeout": None, "pool_timeout": None}
            untimed = StdlibAsyncTransport(**settings)
            return Timed(untimed, self._timeout)

        transport, client = self._open(lm15.AsyncLMRouter, timed)
        wire = Wire(
            untimed,
            lambda still: self._open(lm15.LMRouter, lambda **_: still)[1],
            self._request,
            seconds=self._timeout,
        )
        return transport, client, wire

    def _open(self, kind: Any, connections: Any) -> tuple[Any, Any]:
        """Return connections of one's own, and a provider that sends over them.

        The client would look for proxies in the environment before each request, which takes
        longer than the rest of it; they are looked for once, here.
        """
        if self._has_secrets:
            # It would take them for a part of the host or of the path.
            raise InputError(
                "this address comes with a user, a password or a query, which the client cannot "
                f"send; leave them out, and set {self._key_variable} in the environment."
            )
        key = os.environ.get(self._key_variable)
        if key and not (key.isascii() and key.isprintable()):
            raise InputError(
                f"the key in {self._key_variable} holds characters that no key has, such as line "
                "ends; set it again."
            )
        providers: tuple[Any, ...] = ()
        api_keys = {self._provider: key} if key else None
        if self._declared is not None:
            # The newer name of the ceiling is known to fewer servers.
            compat = OpenAIChatCompat(
                max_tokens_field="max_completion_tokens" if self._fixed else "max_tokens"
            )
            access = AccessPolicy(_DECLARED, base_url=self._declared)
            providers = (ProviderDefinition.chat(access, compat=compat),)
            # A server without keys still gets the header that the protocol asks for.
            api_keys = {_DECLARED: key or "none"}
        transport = connections(
            read_timeout=self._timeout,
            max_connections=_CONNECTIONS,
            trust_env=bool(getproxies()),
        )
        config = lm15.RouterConfig(
            providers=providers,
            api_keys=api_keys,
            base_urls=self._base_urls,
            transport=transport,
        )
        return transport, kind(config).lm(f"{self._provider}:{self._name}")


def _holds_secrets(address: str) -> bool:
    parts = urlsplit(address)
    return "@" in parts.netloc or bool(parts.query or parts.fragment)


def _own_address(provider: str) -> str:
    """Return where a provider lives when nobody said otherwise."""
    definition = lookup(provider)
    assert definition is not None
    adapter: Any = definition.adapter
    address = definition.access.base_url or adapter.__dataclass_fields__["base_url"].default
    return public_address(address)

"""From a model's name to something that answers: who is named, where, and by which engine."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from importlib.util import find_spec
from inspect import signature
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn, ParamSpec, TypeAlias
from urllib.parse import urlsplit

from judgesmith.errors import InputError, did_you_mean
from judgesmith.front_door import at
from judgesmith.programs.lm.budget import Budget, Price, price_of, priced_models
from judgesmith.programs.lm.cache.recordings import Recording
from judgesmith.programs.lm.cache.store import ResponseCache
from judgesmith.programs.lm.client import LMClient
from judgesmith.programs.lm.errors import BudgetSpent, redacted
from judgesmith.programs.lm.limits import Limits, Retry
from judgesmith.programs.lm.records import (
    Engine,
    ModelAnswer,
    ModelRequest,
    PureEngine,
    SamplingSettings,
)
from judgesmith.programs.lm.waiting import Waiting

if TYPE_CHECKING:
    import dspy


# The names by which DSPy knows OpenAI's reasoning models, and the ceiling they do not go below.
_REASONS = re.compile(
    r"(?:o[1345](?:-(?:mini|nano|pro))?(?:-\d{4}-\d{2}-\d{2})?|gpt-5(?:\.\d+)*(?!-chat)(?:-.*)?)"
)
_LEAST_CEILING = 16000


@dataclass(frozen=True, kw_only=True, eq=False)
class ClientModel:
    """A model called by a name, over a client. ``dspy_lm`` makes a ``dspy.LM`` of it.

    Attributes
    ----------
    model : str
        ``provider/model``, or ``offline``.
    client : LMClient
        What every call goes through.
    temperature, max_tokens : number or None
        None leaves the temperature to the server, and each answer without a ceiling.
    recipe : dict of str to object
        How to make it again, without keys and budget.
    options : dict of str to object
        Further settings of a ``dspy.LM``.

    Examples
    --------
    >>> from judgesmith.programs.lm import client_model
    >>> client_model("openai/gpt-4o", ledger=None).kwargs
    {'temperature': 0.0, 'max_tokens': None}
    >>> client_model("openai/gpt-5", ledger=None).kwargs
    {'temperature': 0.0, 'max_completion_tokens': None}
    """

    model: str
    client: LMClient
    temperature: float | None
    max_tokens: int | None
    recipe: Mapping[str, Any]
    options: Mapping[str, Any] = field(default_factory=dict)

    @cached_property
    def kwargs(self) -> Mapping[str, Any]:
        """Settings of every call, as a ``dspy.LM`` names and keeps them."""
        if _REASONS.fullmatch(self.model.rpartition("/")[2].lower()) is None:
            own = {"temperature": self.temperature, "max_tokens": self.max_tokens}
            return {**own, **self.options}
        # They take no temperature; one that is not DSPy's, or a ceiling below its least, ends it.
        tempered = bool(self.temperature) and self.temperature != 1.0
        small = bool(self.max_tokens) and (self.max_tokens or 0) < _LEAST_CEILING
        temperature = None if tempered or small else self.temperature
        own = {"temperature": temperature, "max_completion_tokens": self.max_tokens}
        return {**own, **self.options}

    def dspy_lm(self, **options: Any) -> dspy.LM:
        """Return the same model for any DSPy program; ``options`` are those of ``dspy.LM``."""
        return at("judgesmith.programs.lm.dspy_lm:ClientLM").over(
            self.client,
            self.model,
            recipe=self.recipe,
            temperature=self.temperature,
            max_tokens=self.max_tokens,
            **{**self.options, **options},
        )


AnyModel: TypeAlias = "dspy.LM | ClientModel"
"""What judges are asked of: with a client of ours under it, or any ``dspy.LM``."""


OFFLINE = "offline"
_SHOWN = 200


class UnnamedModelError(InputError):
    """A saved judge would ask a model that the user did not name."""


def check_name(name: str) -> str:
    """Return the name of a model, unless it contains an address or a character that no name has."""
    # Some clients mend "http:/host" and "http:\\host", which are addresses to them.
    mended = name.replace("\\", "/").casefold()
    is_address = "://" in mended or any(f"{it}:/" in mended for it in ("http", "https", "ws"))
    if is_address or not name.isprintable():
        what = "no address" if is_address else "printable characters only"
        raise InputError(
            f"the name of a model contains {what}; got {redacted(name)[:_SHOWN]!r}.",
            hint="give provider/model, and the address with --api-base (api_base=).",
        )
    return name


def is_named(name: str, named: Collection[str]) -> bool:
    """Return whether a saved judge's model may be asked: the user named it, or it asks no host."""
    return name == OFFLINE or name in named


def unnamed(names: Iterable[str], named: Collection[str]) -> list[str]:
    """Return those of a saved judge's models that the user did not name, each once."""
    return [name for name in dict.fromkeys(names) if not is_named(name, named)]


def refusal(endpoints: Mapping[str, str], remedy: str) -> UnnamedModelError:
    listed = ", ".join(f"{name[:_SHOWN]} at {place}" for name, place in endpoints.items())
    models = "a model" if len(endpoints) == 1 else "models"
    said = f"the saved judge asks {models} that you did not name: {listed}."
    return UnnamedModelError(said, hint=remedy)


class UnnamedEngine:
    """Stands where the engine of a model does that the user did not name, and sends nothing."""

    def __init__(self, engine: Engine | PureEngine | None, name: str) -> None:
        self.name = name
        self.endpoint = "" if engine is None else engine.endpoint
        self.route = str(getattr(engine, "route", self.endpoint))
        self.scores_texts = bool(getattr(engine, "scores_texts", False))

    def answer(self, request: ModelRequest) -> ModelAnswer:
        self.refuse()

    def refuse(self) -> NoReturn:
        """Raise the error that lists the model with its address."""
        raise refusal(
            {self.name: self.endpoint},
            f"name it with allow_models=[{self.name[:_SHOWN]!r}] (--allow-model), or give another "
            "model with lm= (--model).",
        )


def refuse_unnamed(lms: Iterable[object]) -> None:
    """Refuse models that the user did not name, before anything is asked of them."""
    for client in map(lm_client_of, lms):
        if client is not None and isinstance(client.engine, UnnamedEngine):
            client.engine.refuse()


def host_of(endpoint: str) -> str:
    return (urlsplit(endpoint).hostname or "") if "://" in endpoint else ""


# Where LiteLLM lists the providers that it knows; importing it takes seconds.
_LISTED_IN = "types/utils.py"


def check_provider(model: str) -> None:
    """Refuse ``provider/model`` with an unknown provider; leave all else alone."""
    head, separator, rest = model.partition("/")
    if not (head and separator and rest):
        return
    from judgesmith.programs.lm.engines import native_route  # loads the client

    if native_route(model):
        return
    found = find_spec("litellm")
    if found is None or found.origin is None:
        return
    listing = Path(found.origin).parent / _LISTED_IN
    if not listing.is_file():
        return
    if f'"{head}"' not in listing.read_text(encoding="utf-8"):
        raise InputError(
            f"no provider is called {head}.",
            hint="name one that LiteLLM knows, or openai and an address.",
        )


def check_address(address: str | None, model: str) -> None:
    """Refuse an address that is not an HTTP URL, or any address for the offline model."""
    if address is None:
        return
    try:
        parts = urlsplit(address)
        port_is_a_number = parts.port is None or parts.port > 0
        right = parts.scheme in ("http", "https") and bool(parts.hostname) and port_is_a_number
    except ValueError:
        right = False
    if not right:
        got = redacted(address)
        raise InputError(f"an address is a URL such as http://localhost:8000/v1; got {got!r}.")
    if model == "offline":
        raise InputError(
            "the offline model answers without any server.",
            hint="drop the address, or name the model that is served there (--model openai/NAME).",
        )


def check_host(model: str, address: str | None, hosts: Collection[str]) -> None:
    """Refuse a model at another host than those given; without any, every host will do."""
    from judgesmith.programs.lm.engines import native_route

    if not hosts or model == OFFLINE:
        return
    allowed = {host.strip("[]").rstrip(".").casefold() for host in hosts}
    listed = ", ".join(sorted(allowed))
    if not native_route(model):
        raise InputError(
            f"{model} is asked through LiteLLM, which looks up hosts of its own, and only {listed} "
            "may be asked.",
            hint="choose a model of a provider with a client of its own, such as "
            "openai/NAME with an address, or leave --only-host out.",
        )
    host = host_of(engine_for(model, api_base=address).endpoint)
    if host.rstrip(".").casefold() not in allowed:
        raise InputError(
            f"{model} is at {host or 'no known host'}, and only {listed} may be asked.",
            hint="name that host with --only-host, too, or give another model or address.",
        )


# Keyword arguments of a call that steer DSPy and say nothing about sampling.
_NOT_SETTINGS = frozenset(
    {"n", "num_generations", "rollout_id", "prompt_cache", "cache", "callbacks"}
)

DEFAULT_LEDGER = ".judgesmith/ledger.sqlite"


def client_model(
    name: str = "offline",
    *,
    ledger: str | os.PathLike[str] | ResponseCache | None = DEFAULT_LEDGER,
    api_base: str | None = None,
    max_calls: int | None = None,
    max_tokens: int | None = None,
    max_usd: float | None = None,
    max_minutes: float | None = None,
    price: Price | tuple[float, float] | str | None = None,
    rpm: float | None = None,
    tpm: float | None = None,
    run_id: str | None = None,
    retry: Retry | None = None,
    replay: bool = False,
    recording: Recording | None = None,
    timeout: float = 600.0,
    temperature: float | None = 0.0,
    max_output_tokens: int | None = None,
    named: bool = True,
    **options: Any,
) -> ClientModel:
    """Return a model with cache, budget, limits and retries, without importing DSPy.

    Parameters
    ----------
    name : str
        ``provider/model``, or ``offline`` for the model that ships with the code. Keys come from
        the environment only.
    ledger : path, address, ResponseCache or None
        Where answers are kept: a file, or ``postgresql://user@host/database``, which several
        machines can share; None keeps none.
    api_base : str or None
        Address of a server that speaks OpenAI's protocol, or a provider's other address.
    max_calls, max_tokens, max_usd, max_minutes : number or None
        Ceilings for the run; see ``Budget``. One in dollars needs a price, or raises
        ``ValueError``.
    price : Price, (input, output), "IN,OUT" or None
        Dollars per million tokens; None looks the model up in the table that ships.
    rpm, tpm : float or None
        Requests and tokens per minute, of all processes of the run that share the cache.
    run_id : str or None
        What the budget is kept under; None starts a run of its own.
    retry : Retry or None
        When to send again after a passing fault.
    replay : bool
        Whether nothing is sent: what is not cached is an error that names the request.
    recording : Recording or None
        Notes what became of every request, and plays those that failed when it was recorded.
    timeout : float
        Seconds without a byte after which an attempt counts as failed.
    temperature : float or None
        0 to 2; None leaves it to the server. Models that refuse a temperature are sent none.
    max_output_tokens : int or None
        Ceiling on each answer (``max_tokens`` is the ceiling on the run).
    named : bool
        False for a model that a saved judge names and the user does not: its first request is
        refused.
    **options
        Passed to ``dspy.LM``: further sampling settings, ``callbacks``. ``InputError`` for one that
        looks like a misspelt argument of this function.

    Examples
    --------
    >>> client_model("ollama/llama3", ledger=None).model
    'ollama/llama3'
    """
    _check_spelling(options)
    engine: Engine | PureEngine
    if not named and name != "offline":
        engine = _unnamed(name, api_base, timeout)
    else:
        engine = engine_for(name, api_base=api_base, timeout=timeout)
    if replay and not isinstance(engine, UnnamedEngine):
        from judgesmith.programs.lm.cache.recordings import replaying

        engine = replaying(engine)
    if isinstance(price, str):
        price = Price.parse(price)
    elif isinstance(price, tuple):
        price = Price(*price)
    if not (ledger is None or isinstance(ledger, ResponseCache)):
        ledger = ResponseCache(ledger)
    client = LMClient(
        engine,
        ledger=ledger,
        budget=Budget(
            max_calls=max_calls, max_tokens=max_tokens, max_usd=max_usd, max_minutes=max_minutes
        ),
        limits=Limits(rpm=rpm, tpm=tpm) if rpm is not None or tpm is not None else None,
        retry=retry,
        price=price or _listed_price(name, engine.endpoint),
        run_id=run_id,
        recording=recording,
    )
    recipe = {
        "name": name,
        "ledger": ledger.name if ledger is not None else None,
        "api_base": engine.endpoint if api_base else None,
        "price": [price.input, price.output] if price is not None else None,
        "rpm": rpm,
        "tpm": tpm,
        "timeout": timeout,
        **({} if named else {"named": False}),
    }
    return ClientModel(
        model=name,
        client=client,
        temperature=temperature,
        max_tokens=max_output_tokens,
        recipe=recipe,
        options=options,
    )


_Options = ParamSpec("_Options")


def _for_dspy(make: Callable[_Options, ClientModel]) -> Callable[_Options, dspy.LM]:
    def model(*args: _Options.args, **options: _Options.kwargs) -> dspy.LM:
        """Return a language model with cache, budget, limits and retries, for any DSPy program.

        DSPy's own cache and retries are off; ``lm_client_of`` gives the client under it.

        Parameters
        ----------
        *args, **options
            As for ``client_model``.

        Examples
        --------
        >>> model("ollama/llama3", ledger=None).model
        'ollama/llama3'
        """
        return make(*args, **options).dspy_lm()

    made: Any = model
    made.__qualname__ = "model"
    made.__signature__ = signature(make).replace(return_annotation="dspy.LM")
    return model


model = _for_dspy(client_model)


# Settings of providers are less like an argument: min_tokens 0.8, max_new_tokens 0.83.
_MISSPELT = 0.88


def _check_spelling(options: Iterable[str]) -> None:
    """Refuse a setting that is nearly an argument: no provider would say that it is unknown."""
    arguments = [*signature(client_model).parameters][:-1]
    for name in options:
        if meant := did_you_mean(name, arguments, cutoff=_MISSPELT):
            raise InputError(f"a model has no setting {name}.", hint=meant)


def _unnamed(name: str, api_base: str | None, timeout: float) -> UnnamedEngine:
    try:
        return UnnamedEngine(engine_for(name, api_base=api_base, timeout=timeout), name)
    except InputError:
        return UnnamedEngine(None, name)


_OFFLINE = "judgesmith.programs.offline:OfflineEngine"


def engine_for(
    name: str, *, api_base: str | None = None, timeout: float = 600.0
) -> Engine | PureEngine:
    """Return what sends requests for ``provider/model``: a choice made here and nowhere else.

    ``offline`` is the model that ships with the code; providers that lm15 knows go through it;
    everything else goes through LiteLLM. The engine's ``route`` says which it was. Any other name
    raises ``InputError``.
    """
    check_name(name)
    if name == "offline":
        offline: PureEngine = at(_OFFLINE)()
        return offline
    head, separator, rest = name.partition("/")
    if not (head and separator and rest):
        known = () if separator else ("offline", *priced_models())
        raise InputError(
            f"a model is 'offline' or 'provider/model', such as openai/gpt-4o-mini; got {name!r}.",
            hint=did_you_mean(name, known),
        )
    from judgesmith.programs.lm import engines  # loads the client

    kind = engines.NativeEngine if engines.native_route(name) else engines.LiteLLMEngine
    return kind(name, api_base=api_base, timeout=timeout)


def lm_client_of(lm: object) -> LMClient | None:
    """Return the client under a model made by ``model`` or ``client_model``, None for any other.

    Examples
    --------
    >>> lm_client_of(model("ollama/llama3", ledger=None)).engine.route
    'native client, http://localhost:11434/v1'
    >>> lm_client_of(object()) is None
    True
    """
    holder = lm if isinstance(lm, ClientModel) else getattr(lm, "_engine_spec", None)
    client = getattr(holder, "client", None)
    return client if isinstance(client, LMClient) else None


def request_settings(lm: dspy.LM | ClientModel, **config: Any) -> SamplingSettings:
    """Return the settings with which DSPy would call ``lm``, for requests made without it.

    ``config`` has settings of the call, as in ``dspy.Predict(…, config=…)``; None leaves the
    default.

    Examples
    --------
    >>> request_settings(model("ollama/llama3", ledger=None), max_tokens=64).max_tokens
    64
    """
    from judgesmith.programs.lm.lm15_bridge import settings_from_openai

    merged = {**lm.kwargs, **{name: value for name, value in config.items() if value is not None}}
    given = {k: v for k, v in merged.items() if k not in _NOT_SETTINGS and v is not None}
    return settings_from_openai(lm.model, given)


def _listed_price(name: str, endpoint: str) -> Price | None:
    price = price_of(name)
    if price is None and urlsplit(endpoint).hostname in ("localhost", "127.0.0.1", "::1"):
        return Price(0.0, 0.0)
    return price


class _CacheOnly:
    """Stands where a sender does for requests that are only looked up."""

    async def answer(self, identity: bytes, request: ModelRequest, waiting: Waiting) -> ModelAnswer:
        raise BudgetSpent("it is not cached.")


def cache_only_model(lm: ClientModel) -> ClientModel:
    """Return a model that is looked up where another would be asked, without budget or limits."""
    own = lm.client
    client = LMClient(own.engine, ledger=own.ledger, price=own.price, sender=_CacheOnly())
    return replace(lm, client=client)

"""Models over a stack: with DSPy as a ``dspy.LM``, and without it as a handle."""

import os
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from judgesmith.errors import InputError
from judgesmith.programs.models.budget import Budget
from judgesmith.programs.models.engines import Engine, PureEngine
from judgesmith.programs.models.handle import StackModel
from judgesmith.programs.models.ledger import Ledger
from judgesmith.programs.models.limits import Limits
from judgesmith.programs.models.naming import UnnamedEngine, check_name
from judgesmith.programs.models.prices import Price, price_of
from judgesmith.programs.models.request import Settings
from judgesmith.programs.models.retry import Retry
from judgesmith.programs.models.stack import Stack
from judgesmith.programs.models.taping import Tape

if TYPE_CHECKING:
    import dspy

# Keyword arguments of a call that steer DSPy and say nothing about sampling.
_NOT_SETTINGS = frozenset({"n", "num_generations", "rollout_id", "prompt_cache", "cache"})

DEFAULT_LEDGER = ".judgesmith/ledger.sqlite"


def model(
    name: str = "offline",
    *,
    ledger: str | os.PathLike[str] | Ledger | None = DEFAULT_LEDGER,
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
    tape: Tape | None = None,
    timeout: float = 600.0,
    temperature: float | None = 0.0,
    max_output_tokens: int | None = None,
    **options: Any,
) -> "dspy.LM":
    """Return a language model with ledger, budget, limits and retries, for any DSPy program.

    Parameters
    ----------
    name : str
        ``provider/model``, or ``offline`` for the model that ships with the code. Keys come from
        the environment only.
    ledger : path, address, Ledger or None
        Where answers are kept: a file, or ``postgresql://user@host/database``, which several
        machines can share; None keeps none.
    api_base : str or None
        Address of a server that speaks OpenAI's protocol, or a provider's other address.
    max_calls, max_tokens, max_usd, max_minutes : number or None
        Ceilings for the run; see ``Budget``.
    price : Price, (input, output), "IN,OUT" or None
        Dollars per million tokens; None looks the model up in the table that ships.
    rpm, tpm : float or None
        Requests and tokens per minute, of all processes of the run that share the ledger.
    run_id : str or None
        What the budget is kept under; None starts a run of its own.
    retry : Retry or None
        When to send again after a passing fault.
    replay : bool
        Whether nothing is sent: what is not on record is an error that names the request.
    tape : Tape or None
        Notes what became of every request, and plays those that failed when it was recorded.
    timeout : float
        Seconds without a byte after which an attempt counts as failed.
    temperature : float or None
        0 to 2; None leaves it to the server. Models that refuse a temperature are sent none.
    max_output_tokens : int or None
        Ceiling on each answer (``max_tokens`` is the ceiling on the run).
    **options
        Passed to ``dspy.LM``: further sampling settings, ``callbacks``.

    Returns
    -------
    dspy.LM
        Without DSPy's own cache and retries. ``stack_of`` gives the stack under it.

    Raises
    ------
    ValueError
        If there is a ceiling in dollars and no price is known.

    Examples
    --------
    >>> model("ollama/llama3", ledger=None).model
    'ollama/llama3'
    """
    return stack_model(
        name,
        ledger=ledger,
        api_base=api_base,
        max_calls=max_calls,
        max_tokens=max_tokens,
        max_usd=max_usd,
        max_minutes=max_minutes,
        price=price,
        rpm=rpm,
        tpm=tpm,
        run_id=run_id,
        retry=retry,
        replay=replay,
        tape=tape,
        timeout=timeout,
        temperature=temperature,
        max_output_tokens=max_output_tokens,
    ).dspy_lm(**options)


def stack_model(
    name: str = "offline",
    *,
    ledger: str | os.PathLike[str] | Ledger | None = DEFAULT_LEDGER,
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
    tape: Tape | None = None,
    timeout: float = 600.0,
    temperature: float | None = 0.0,
    max_output_tokens: int | None = None,
    named: bool = True,
) -> StackModel:
    """Return a model without DSPy, for judges that are asked through their templates.

    Parameters
    ----------
    name, ledger, api_base, max_calls, max_tokens, max_usd, max_minutes, price, rpm, tpm, run_id
        As for ``model``.
    retry, replay, tape, timeout, temperature, max_output_tokens
        As for ``model``.
    named : bool
        False for a model that a saved judge names and the user does not: nothing is sent to it,
        and the first request is refused.

    Returns
    -------
    StackModel
        With the same name, stack and settings as the ``dspy.LM`` that ``model`` returns.

    Raises
    ------
    ValueError
        If there is a ceiling in dollars and no price is known.

    Examples
    --------
    >>> stack_model("ollama/llama3", ledger=None).model
    'ollama/llama3'
    """
    engine: Engine | PureEngine
    if not named and name != "offline":
        engine = _unnamed(name, api_base, timeout)
    else:
        engine = engine_for(name, api_base=api_base, timeout=timeout)
    if replay and not isinstance(engine, UnnamedEngine):
        from judgesmith.programs.models.replaying import replaying

        engine = replaying(engine)
    if isinstance(price, str):
        price = Price.parse(price)
    elif isinstance(price, tuple):
        price = Price(*price)
    if not (ledger is None or isinstance(ledger, Ledger)):
        ledger = Ledger(ledger)
    stack = Stack(
        engine,
        ledger=ledger,
        budget=Budget(
            max_calls=max_calls, max_tokens=max_tokens, max_usd=max_usd, max_minutes=max_minutes
        ),
        limits=Limits(rpm=rpm, tpm=tpm) if rpm is not None or tpm is not None else None,
        retry=retry,
        price=price or _listed_price(name, engine.endpoint),
        run_id=run_id,
        tape=tape,
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
    return StackModel(
        model=name,
        stack=stack,
        temperature=temperature,
        max_tokens=max_output_tokens,
        recipe=recipe,
    )


def _unnamed(name: str, api_base: str | None, timeout: float) -> UnnamedEngine:
    """Return what refuses the first request, also for a name that no engine is known by."""
    try:
        return UnnamedEngine(engine_for(name, api_base=api_base, timeout=timeout), name)
    except InputError:
        return UnnamedEngine(None, name)


def engine_for(
    name: str, *, api_base: str | None = None, timeout: float = 600.0
) -> Engine | PureEngine:
    """Return what sends requests for ``provider/model``: a choice made here and nowhere else.

    ``offline`` is the model that ships with the code; providers that lm15 knows go
    through it; everything else goes through LiteLLM. The engine's ``route`` says which it was.

    Raises
    ------
    InputError
        If ``name`` is neither ``offline`` nor ``provider/model``, or contains an address.
    """
    check_name(name)
    if name == "offline":
        from judgesmith.programs.offline import OfflineEngine

        offline: PureEngine = OfflineEngine()
        return offline
    head, separator, rest = name.partition("/")
    if not (head and separator and rest):
        raise InputError(
            f"a model is 'offline' or 'provider/model', such as openai/gpt-4o-mini; got {name!r}."
        )
    from judgesmith.programs.models.native import NativeEngine, native_route

    if native_route(name):
        return NativeEngine(name, api_base=api_base, timeout=timeout)
    from judgesmith.programs.models.litellm_engine import LiteLLMEngine

    return LiteLLMEngine(name, api_base=api_base, timeout=timeout)


def stack_of(lm: object) -> Stack | None:
    """Return the stack under a model made by ``model`` or ``stack_model``, None for any other.

    Examples
    --------
    >>> stack_of(model("ollama/llama3", ledger=None)).engine.route
    'native client, http://localhost:11434/v1'
    >>> stack_of(object()) is None
    True
    """
    holder = lm if isinstance(lm, StackModel) else getattr(lm, "_engine_spec", None)
    stack = getattr(holder, "stack", None)
    return stack if isinstance(stack, Stack) else None


def request_settings(lm: "dspy.LM | StackModel", **config: Any) -> Settings:
    """Return the settings with which DSPy would call ``lm``, for requests made without it.

    Parameters
    ----------
    lm : dspy.LM or StackModel
        Its own settings are the defaults.
    **config
        Settings of the call, as in ``dspy.Predict(…, config=…)``; None leaves the default.

    Examples
    --------
    >>> request_settings(model("ollama/llama3", ledger=None), max_tokens=64).max_tokens
    64
    """
    from judgesmith.programs.models.conversion import settings_from_openai

    merged = {**lm.kwargs, **{name: value for name, value in config.items() if value is not None}}
    given = {k: v for k, v in merged.items() if k not in _NOT_SETTINGS and v is not None}
    return settings_from_openai(lm.model, given)


def _listed_price(name: str, endpoint: str) -> Price | None:
    price = price_of(name)
    if price is None and urlsplit(endpoint).hostname in ("localhost", "127.0.0.1", "::1"):
        return Price(0.0, 0.0)
    return price

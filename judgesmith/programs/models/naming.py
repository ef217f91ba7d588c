"""Whether the user named a model: texts go only to models, and so to hosts, that the user named.

A saved judge names models, too, and whoever made it may be a stranger. Its models are asked only
where the user named them as well. The offline model asks no host and needs no naming.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from typing import NoReturn
from urllib.parse import urlsplit

from judgesmith.errors import InputError
from judgesmith.programs.models.engines import Engine, PureEngine
from judgesmith.programs.models.redaction import redacted
from judgesmith.programs.models.request import ModelAnswer, ModelRequest

OFFLINE = "offline"
_SHOWN = 200


class UnnamedModelError(InputError):
    """A saved judge would ask a model that the user did not name."""


def check_name(name: str) -> str:
    """Return the name of a model, unless it contains an address or a character that no name has.

    Raises
    ------
    InputError
        If it does.

    Examples
    --------
    >>> check_name("openai/gpt-4o-mini")
    'openai/gpt-4o-mini'
    >>> check_name("oobabooga/http://host:5000")
    Traceback (most recent call last):
    judgesmith.InputError: the name of a model contains no address; got \
'oobabooga/http://host:5000'. Give provider/model, and the address with --api-base (api_base=).
    """
    # Some clients mend "http:/host" and "http:\\host", which are addresses to them.
    mended = name.replace("\\", "/").casefold()
    is_address = "://" in mended or any(f"{it}:/" in mended for it in ("http", "https", "ws"))
    if is_address or not name.isprintable():
        what = "no address" if is_address else "printable characters only"
        raise InputError(
            f"the name of a model contains {what}; got {redacted(name)[:_SHOWN]!r}. Give "
            "provider/model, and the address with --api-base (api_base=)."
        )
    return name


def is_named(name: str, named: Collection[str]) -> bool:
    """Return whether a saved judge's model may be asked: the user named it, or it asks no host.

    Examples
    --------
    >>> is_named("offline", ()), is_named("openai/m", ()), is_named("openai/m", ["openai/m"])
    (True, False, True)
    """
    return name == OFFLINE or name in named


def unnamed(names: Iterable[str], named: Collection[str]) -> list[str]:
    """Return those of a saved judge's models that the user did not name, each once."""
    return [name for name in dict.fromkeys(names) if not is_named(name, named)]


def refusal(endpoints: Mapping[str, str], remedy: str) -> UnnamedModelError:
    """Return the error for models that the user did not name.

    Parameters
    ----------
    endpoints : dict of str to str
        Where each of them answers, by name.
    remedy : str
        How they are named.
    """
    listed = ", ".join(f"{name[:_SHOWN]} at {place}" for name, place in endpoints.items())
    return UnnamedModelError(
        f"the saved judge asks a model that you did not name: {listed}. {remedy}"
        if len(endpoints) == 1
        else f"the saved judge asks models that you did not name: {listed}. {remedy}"
    )


class UnnamedEngine:
    """Stands where the engine of a model does that the user did not name, and sends nothing."""

    def __init__(self, engine: Engine | PureEngine | None, name: str) -> None:
        self.name = name
        self.endpoint = "" if engine is None else engine.endpoint
        self.route = str(getattr(engine, "route", self.endpoint))
        self.scores_texts = bool(getattr(engine, "scores_texts", False))

    def answer(self, request: ModelRequest) -> ModelAnswer:
        """Refuse; nothing is sent."""
        self.refuse()

    def refuse(self) -> NoReturn:
        """Raise the error that lists the model with its address.

        Raises
        ------
        UnnamedModelError
            Always.
        """
        raise refusal(
            {self.name: self.endpoint},
            f"Name it with allow_models=[{self.name[:_SHOWN]!r}] (--allow-model), or give another "
            "model with lm= (--model).",
        )


def refuse_unnamed(lms: Iterable[object]) -> None:
    """Refuse models that the user did not name, before anything is asked of them.

    Raises
    ------
    UnnamedModelError
        If there is one.
    """
    from judgesmith.programs.models.faces import stack_of

    for stack in map(stack_of, lms):
        if stack is not None and isinstance(stack.engine, UnnamedEngine):
            stack.engine.refuse()


def host_of(endpoint: str) -> str:
    """Return the host of an address, or what stands for it where a library finds the host.

    Examples
    --------
    >>> host_of("https://api.openai.com/v1"), host_of("litellm:bedrock"), host_of("offline")
    ('api.openai.com', '', '')
    """
    return (urlsplit(endpoint).hostname or "") if "://" in endpoint else ""

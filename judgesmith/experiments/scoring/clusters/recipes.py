"""A judge, its models and its ledger as plain data, from which a worker makes them again."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from importlib.metadata import version
from typing import TYPE_CHECKING, Any
from urllib.parse import parse_qsl, urlencode, urlsplit, urlunsplit

from judgesmith.errors import InputError
from judgesmith.programs.artifacts.record import kind_of
from judgesmith.programs.artifacts.saved import SavedJudge
from judgesmith.programs.artifacts.saved_ensembles import AnySaved, SavedComposite
from judgesmith.programs.lm import (
    AnyModel,
    Budget,
    ClientModel,
    Price,
    ResponseCache,
    client_model,
    lm_client_of,
)
from judgesmith.programs.lm.cache.store import is_postgres, shown_place
from judgesmith.programs.lm.factory import refuse_unnamed
from judgesmith.programs.lm.limits import Retry

if TYPE_CHECKING:
    from judgesmith.programs.lm.client import LMClient

VARIABLE = "JUDGESMITH_LEDGER"
"""Where workers look for the whole address of the ledger that they are told of."""

_VARIABLES = (VARIABLE, "JUDGESMITH_STORAGE")


def is_of_one_machine(told: str | None) -> bool:
    """Say whether a ledger is a file, which other machines cannot reach."""
    return told is not None and not is_postgres(told)


def ledger_place(ledger: ResponseCache | None) -> str | None:
    """Return where a ledger is, as it may travel: a path, or an address without password."""
    if ledger is None:
        return None
    address = getattr(ledger, "address", None)
    return ledger.name if address is None else without_password(address)


def without_password(address: str) -> str:
    parts = urlsplit(address)
    user, at, host = parts.netloc.rpartition("@")
    query = urlencode([one for one in parse_qsl(parts.query) if "password" not in one[0]])
    whole = (parts.scheme, f"{user.partition(':')[0]}{at}{host}", parts.path, query, "")
    # A path without a host keeps its three slashes.
    return urlunsplit(whole) if parts.netloc else f"{parts.scheme}://{parts.path}?{query}"


def ledger_here(told: str | None) -> str | None:
    """Return where a worker finds the ledger that it was told of.

    That is what it was told, or the whole address of the same database, where that stands in the
    environment. A password may also come from where PostgreSQL's own programs have it
    (``PGPASSWORD``, ``.pgpass``).
    """
    if told is None or not is_postgres(told):
        return told
    given = [one for name in _VARIABLES if is_postgres(one := os.environ.get(name, ""))]
    return next((one for one in given if shown_place(one) == shown_place(told)), told)


@contextmanager
def in_environment(ledger: ResponseCache | None) -> Iterator[None]:
    """Put the whole address of a database where processes find it that are started in a block."""
    address = getattr(ledger, "address", None)
    if address is None:
        yield
        return
    before = os.environ.get(VARIABLE)
    os.environ[VARIABLE] = address
    try:
        yield
    finally:
        if before is None:
            del os.environ[VARIABLE]
        else:
            os.environ[VARIABLE] = before


_CEILINGS = ("max_tokens", "max_completion_tokens")


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelRecipe:
    """How to make one model again, with its ledger and its part in one budget."""

    settings: Mapping[str, Any]
    budget: Budget
    run_id: str
    price: Price | None
    retry: Retry
    endpoint: str

    @classmethod
    def of(cls, lm: AnyModel) -> ModelRecipe:
        """Return the recipe of a model that ``model`` or ``client_model`` made."""
        client = lm_client_of(lm)
        if client is None:
            raise InputError(
                "workers make their models again, which takes one from judgesmith.model(…); got "
                f"{type(lm).__name__}."
            )
        refuse_unnamed([lm])
        _check_movable(client)
        recipe = _recipe_of(lm)
        return cls(
            settings={
                "name": recipe["name"],
                "api_base": recipe["api_base"],
                "ledger": ledger_place(client.ledger),
                "rpm": recipe["rpm"],
                "tpm": recipe["tpm"],
                "timeout": recipe["timeout"],
                **_sampling_of(lm),
            },
            budget=client.budget,
            run_id=client.run_id,
            price=client.price,
            retry=client.retry,
            endpoint=client.endpoint,
        )

    def made(self) -> ClientModel:
        """Return the model, made in this process."""
        budget = self.budget
        made = client_model(
            **{**self.settings, "ledger": ledger_here(self.settings["ledger"])},
            max_calls=budget.max_calls,
            max_tokens=budget.max_tokens,
            max_usd=budget.max_usd,
            max_minutes=budget.max_minutes,
            price=self.price,
            retry=self.retry,
            run_id=self.run_id,
        )
        if made.client.endpoint != self.endpoint:
            raise InputError(
                f"{made.model} is at {made.client.endpoint} here and at {self.endpoint} where "
                "scoring was started.",
                hint="give --api-base, or set the same address in the environment of every node.",
            )
        return made


def _others(judge: AnySaved) -> Mapping[str, AnyModel]:
    """Return the models by name that a judge asks beside the one that is named for the rest."""
    if isinstance(judge, SavedComposite):
        return judge._lms
    roles = judge._asked_roles or judge.roles
    return {name: judge._bound(name) for name in roles.values()}


def _recipe_of(lm: AnyModel) -> Mapping[str, Any]:
    holder: Any = lm if isinstance(lm, ClientModel) else lm._engine_spec
    found: Mapping[str, Any] = holder.recipe
    return found


def _sampling_of(lm: AnyModel) -> dict[str, Any]:
    if isinstance(lm, ClientModel):
        return {"temperature": lm.temperature, "max_output_tokens": lm.max_tokens}
    given = {name: value for name, value in lm.kwargs.items() if value is not None}
    temperature = given.pop("temperature", None)
    ceilings = [given.pop(name) for name in _CEILINGS if name in given]
    if given:
        raise InputError(
            "workers make models with a temperature and a ceiling on answers; got the setting "
            f"{min(given)}, too.",
            hint="leave it out.",
        )
    return {"temperature": temperature, "max_output_tokens": next(iter(ceilings), None)}


def _check_movable(client: LMClient) -> None:
    """Refuse a model that other processes cannot ask as this one does."""
    if client.recording is not None:
        raise InputError(
            "what workers ask is neither recorded nor replayed.", hint="leave this out."
        )
    if client.ledger is None and (client.budget != Budget() or client.limits is not None):
        raise InputError(
            "workers share a budget and a rate through the cache, and it is missing.",
            hint="name one.",
        )
    if getattr(client.engine, "_has_secrets", False):
        raise InputError(
            "an address with a password or key in it is not sent to workers.",
            hint="set it in the "
            "environment of every node (OPENAI_API_BASE), and leave --api-base out.",
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class JudgeRecipe:
    """A saved judge and all its models."""

    judge: bytes
    fingerprint: str
    main: ModelRecipe
    others: Mapping[str, ModelRecipe] = field(default_factory=dict)
    roles: Mapping[str, str] = field(default_factory=dict)
    parts: Mapping[str, ModelRecipe] = field(default_factory=dict)
    made_by: str = field(default_factory=lambda: version("judgesmith"))

    @property
    def is_of_one_machine(self) -> bool:
        """Whether the ledger is a file, which other machines cannot reach."""
        return is_of_one_machine(self.main.settings["ledger"])

    @classmethod
    def of(cls, judge: AnySaved, lm: AnyModel) -> JudgeRecipe:
        """Return the recipe of a saved judge as it is bound to its models, and ``lm``."""
        parts = judge.parts if isinstance(judge, SavedComposite) else {}
        return cls(
            judge=json.dumps(judge.model_dump(mode="json"), allow_nan=False).encode(),
            fingerprint=judge.fingerprint,
            main=ModelRecipe.of(lm),
            others={name: ModelRecipe.of(one) for name, one in _others(judge).items()},
            roles=dict(judge._asked_roles) if isinstance(judge, SavedJudge) else {},
            parts={name: ModelRecipe.of(one) for name, one in parts.items()},
        )

    def made(self) -> tuple[AnySaved, ClientModel, tuple[ClientModel, ...]]:
        """Return the judge bound to its models, the model for the rest, and all models."""
        own = version("judgesmith")
        if own != self.made_by:
            raise InputError(
                f"judgesmith is {own} here and {self.made_by} where scoring was started; "
                "install the same version on every node."
            )
        content = json.loads(self.judge)
        judge: Any = kind_of(content).model_validate(content)
        if judge.fingerprint != self.fingerprint:
            raise InputError(
                f"the judge is {judge.fingerprint} here and {self.fingerprint} where scoring was "
                "started; install the same version of judgesmith on every node."
            )
        made: list[tuple[ModelRecipe, ClientModel]] = []

        def model_of(recipe: ModelRecipe) -> ClientModel:
            for known, one in made:
                if known == recipe:
                    return one
            made.append((recipe, recipe.made()))
            return made[-1][1]

        main = model_of(self.main)
        lms: dict[str, Any] = {name: model_of(one) for name, one in self.others.items()}
        if isinstance(judge, SavedJudge):
            judge = judge.asking(self.roles, lms) if self.roles else judge.with_models(lms)
        elif isinstance(judge, SavedComposite) and lms:
            judge = judge.with_models(lms)
        if self.parts:
            judge = judge.with_parts({name: model_of(one) for name, one in self.parts.items()})
        return judge, main, tuple(one for _, one in made)

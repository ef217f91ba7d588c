"""Options of models: which is asked, how much of it, and where its answers are kept."""

from __future__ import annotations

import shlex
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import wraps
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar, cast
from urllib.parse import urlsplit

import click

from judgesmith.cli.shared.cassettes import RecordedRun, record_or_replay
from judgesmith.cli.shared.faults import OptionError, blaming
from judgesmith.cli.shared.options import Command, Number, WholeNumber, shown_option, together
from judgesmith.cli.shared.printing import say, say_notes
from judgesmith.cli.shared.project import project_prices
from judgesmith.cli.shared.stopping import opened
from judgesmith.errors import InputError

if TYPE_CHECKING:
    import dspy

    from judgesmith.programs.lm import AnyModel, ClientModel, Price
    from judgesmith.programs.lm.cache.store import ResponseCache

_TOLD = "judgesmith.cli.announced"  # where a command keeps the models that it has announced
LEDGER = ".judgesmith/ledger.sqlite"


def model_options(command: Command) -> Command:
    """Add the options that say which model is asked, and how much of it."""

    @wraps(command)
    def run(**given: Any) -> Any:
        names = [name for name in ModelChoice.__dataclass_fields__ if name in given]
        own = {name: given.pop(name) for name in names}
        choice = ModelChoice(**own, needs_keys=not given.get("dry_run", False))
        return command(choice=choice, **given)

    return together(
        record_or_replay(cast("Command", run)),
        click.option(
            "--model",
            "model_name",
            metavar="NAME",
            help="provider/model, or offline (no network) [default: offline; for a saved judge its "
            "own model, allowed by --allow-model].",
        ),
        click.option("--api-base", metavar="URL", help="URL of an OpenAI-compatible server."),
        only_host_option,
        click.option("--max-calls", type=WholeNumber(0), help="Maximum number of requests."),
        click.option("--max-tokens", type=WholeNumber(0), help="Maximum number of tokens."),
        click.option("--max-usd", type=Number(0), help="Maximum cost in dollars; a hard limit."),
        click.option("--max-minutes", type=Number(0), help="Maximum running time in minutes."),
        click.option(
            "--price",
            multiple=True,
            metavar="[NAME=]IN,OUT",
            help="Dollars per million input and output tokens. Repeatable by model.",
        ),
        click.option("--rpm", type=Number(0, above=True), help="Maximum requests per minute."),
        click.option("--tpm", type=Number(0, above=True), help="Maximum tokens per minute."),
        shown_option("--concurrency", WholeNumber(1), 32, "Maximum number of concurrent requests."),
        ledger_option,
    )


def allow_model_option(command: Command) -> Command:
    """Add ``--allow-model`` to a command that asks a saved judge."""
    return click.option(
        "--allow-model",
        "allow_models",
        multiple=True,
        metavar="NAME",
        help="Allow a model that the saved judge names. Repeatable.",
    )(command)


def only_host_option(command: Command) -> Command:
    return click.option(
        "--only-host",
        "only_hosts",
        multiple=True,
        metavar="HOST",
        help="Refuse models at other hosts. Repeatable.",
    )(command)


@dataclass(frozen=True, slots=True)
class ModelAt:
    """A model as the command line names it, which may say where it is."""

    name: str
    address: str | None = None

    @classmethod
    def parse(cls, text: str) -> ModelAt:
        """Return what ``MODEL`` or ``MODEL@URL`` means; names may contain an ``@`` of their own."""
        from judgesmith.programs.lm.factory import check_address

        scheme = text.find("://")
        at = text.rfind("@", 0, scheme) if scheme >= 0 else -1
        if at >= 0:
            return cls(text[:at], text[at + 1 :])
        name, _, tail = text.rpartition("@")
        try:
            has_port = bool(name) and urlsplit(f"//{tail}").port is not None
        except ValueError:
            has_port = False
        if has_port:
            check_address(tail, name)
        return cls(text)

    def __str__(self) -> str:
        """Return it as it may be shown: the address without user, password and query."""
        from judgesmith.programs.lm.errors import public_address

        return self.name if self.address is None else f"{self.name}@{public_address(self.address)}"


@dataclass(frozen=True, kw_only=True)
class ModelChoice:
    """Which model is asked, and how much of it, as the command line says."""

    model_name: str | None
    api_base: str | None
    max_calls: int | None
    max_tokens: int | None
    max_usd: float | None
    max_minutes: float | None
    price: tuple[str, ...]
    rpm: float | None
    tpm: float | None
    ledger: str
    recorded_run: RecordedRun | None = None
    allow_models: tuple[str, ...] = ()
    only_hosts: tuple[str, ...] = ()
    roles: tuple[str, ...] = ()
    concurrency: int = 32
    needs_keys: bool = True
    """Whether models are asked, and not in a dry run."""

    def of(self, kind: type[Choice], **more: Any) -> Choice:
        """Return the same for models that are made in another way."""
        return kind(**{**vars(self), **more})

    @property
    def searches(self) -> Path:
        """The folder of saved searches, so that they can resume; next to the ledger."""
        beside = self.folder if self.recorded_run is None else self.recorded_run.folder
        return beside / "searches"

    @property
    def folder(self) -> Path:
        """The folder of the ledger; of the usual one, where it is in a database."""
        from judgesmith.programs.lm.cache.store import is_postgres

        return Path(LEDGER if is_postgres(self.ledger) else self.ledger).expanduser().parent

    def lm(self, *, run_id: str | None = None) -> dspy.LM:
        """Return the model, with its ledger, budget and limits."""
        return self.lms(run_id=run_id)[0]

    def lms(
        self, *others: str, default: str = "offline", run_id: str | None = None
    ) -> list[dspy.LM]:
        """Return the model and the ``others`` that compete with it: one ledger, one budget."""
        names = [self.model_name or default, *others]
        return self.lms_at([ModelAt(name) for name in names], run_id=run_id)

    def lms_at(self, wanted: Sequence[ModelAt], *, run_id: str | None = None) -> list[dspy.LM]:
        """Return models, each at its own address or else at ``--api-base``: one budget for all."""
        from judgesmith.programs.lm import ResponseCache, engine_for, lm_client_of
        from judgesmith.programs.lm.factory import check_address, check_host, check_provider

        names = [one.name for one in wanted]
        placed = [self._placed(one, alone=len(wanted) == 1) for one in wanted]
        with blaming("--api-base", given=self.api_base is not None):
            for name, address in placed:
                if address is not None and address == self.api_base:
                    check_address(address, name)
        for place, name in enumerate(names):
            option = "--models" if place else "--model"
            with blaming(option, given=place > 0 or self.model_name is not None):
                check_provider(name)
                engine_for(name)
        for name, address in placed:
            with blaming("--only-host", given=bool(self.only_hosts)):
                check_host(name, address, self.only_hosts)
        with blaming("--price", given=bool(self.price)):
            prices = project_prices(names) | prices_of(self.price, names)
        ResponseCache(self.ledger).check()
        made: list[dspy.LM] = []
        for name, address in placed:
            client = lm_client_of(made[0]) if made else None
            with blaming("--max-usd", given=self.max_usd is not None):
                made.append(
                    self._model(
                        name,
                        prices.get(name),
                        run_id,
                        api_base=address,
                        ledger=self.ledger if client is None else client.ledger,
                    )
                )
        return made

    def _placed(self, one: ModelAt, *, alone: bool) -> tuple[str, str | None]:
        """Return a model with its address; the offline model has none among others."""
        at_base = self.api_base if alone or one.name != "offline" else None
        return one.name, one.address or at_base

    def about(self, names: Collection[str], *, among: Collection[str]) -> ModelChoice:
        """Return what this says of some models, where a command asks others apart from them."""
        if self.model_name is not None:
            return self
        others = set(among) - set(names)
        served_apart = set(names) == {"offline"} and bool(others)
        return replace(
            self,
            price=tuple(one for one in self.price if one.rpartition("=")[0] not in others),
            api_base=None if served_apart else self.api_base,
        )

    def asked_again(
        self, names: Collection[str], parts: Mapping[str, ModelAt] | None = None
    ) -> str:
        """Return the options that ask the same model at the same server, without secrets."""
        from judgesmith.programs.lm.errors import public_address

        told: list[str] = []
        others = [name for name in dict.fromkeys(names) if name != "offline"]
        if self.model_name in names and (self.model_name != "offline" or not others):
            told += ["--model", str(self.model_name)]
            others = [name for name in others if name != self.model_name]
        for name in others:
            told += ["--allow-model", name]
        if self.api_base is not None and set(names) != {"offline"}:
            told += ["--api-base", public_address(self.api_base)]
        for part, one in (parts or {}).items():
            told += ["--role", f"{part}={one}"]
        return "".join(f" {shlex.quote(one)}" for one in told)

    def check_key(self, lm: dspy.LM, *, option: str = "--model") -> None:
        """Refuse a model without its key, unless answers are cached; print one to be asked."""
        if not self.needs_keys:
            return
        from judgesmith.programs.lm import ModelError, lm_client_of
        from judgesmith.programs.lm.cache.store import is_postgres

        client = lm_client_of(lm)
        check = getattr(client.engine if client else None, "check_key", None)
        on_record = is_postgres(self.ledger) or Path(self.ledger).expanduser().exists()
        if check is not None and not on_record:
            try:
                check()
            except ModelError as fault:
                raise OptionError(fault, option=option) from None
        announced(lm)

    def _model(
        self,
        name: str,
        price: Price | None,
        run_id: str | None,
        *,
        api_base: str | None,
        ledger: str | ResponseCache | None,
    ) -> dspy.LM:
        from judgesmith.programs.lm import lm_client_of

        made = self._made(
            name,
            api_base=api_base,
            ledger=ledger,
            max_calls=self.max_calls,
            max_tokens=self.max_tokens,
            max_usd=self.max_usd,
            max_minutes=self.max_minutes,
            price=price,
            rpm=self.rpm,
            tpm=self.tpm,
            run_id=run_id,
            replay=self.recorded_run is not None and self.recorded_run.replay,
            recording=None if self.recorded_run is None else self.recorded_run.recording,
        )
        client = lm_client_of(made)
        assert client is not None
        opened(client)
        return made

    def _made(self, name: str, **settings: Any) -> dspy.LM:
        from judgesmith.programs.lm import model

        return model(name, **settings)


Choice = TypeVar("Choice", bound=ModelChoice)


class AskedChoice(ModelChoice):
    """The same for saved judges that are asked and nothing else, which takes no DSPy."""

    def _made(self, name: str, **settings: Any) -> ClientModel:
        from judgesmith.programs.lm import client_model

        return client_model(name, **settings)


def announced(lm: AnyModel) -> None:
    """Print a model with its address, once a command; the offline model has none."""
    from judgesmith.programs.lm import lm_client_of
    from judgesmith.programs.lm.factory import OFFLINE

    context = click.get_current_context(silent=True)
    told: set[str] = set() if context is None else context.meta.setdefault(_TOLD, set())
    client = lm_client_of(lm)
    line = f"{lm.model} at {'an unknown address' if client is None else client.endpoint}"
    if str(lm.model) != OFFLINE and line not in told:
        told.add(line)
        say(f"asking {line}", err=True)


def prices_of(given: tuple[str, ...], names: Sequence[str]) -> dict[str, Price]:
    """Return the prices that ``--price`` says, by model."""
    from judgesmith.programs.lm import Price

    found: dict[str, Price] = {}
    for one in given:
        name, separator, price = one.rpartition("=")
        if separator and name not in names:
            raise InputError(f"the price {one} is of none of the models {', '.join(names)}.")
        twice = [model for model in ([name] if separator else names) if model in found]
        if twice:
            raise InputError(
                f"the price of {twice[0]} is given twice.", hint="keep one of the two."
            )
        found |= dict.fromkeys([name] if separator else names, Price.parse(price))
    return found


def ledger_option(command: Command) -> Command:
    return shown_option(
        "--ledger",
        str,
        LEDGER,
        (
            "Response cache: a file, or the postgresql:// URL of a shared database. "
            "JUDGESMITH_LEDGER keeps its password off the command line."
        ),
        metavar="PATH",
        envvar="JUDGESMITH_LEDGER",
        callback=_ledger_place,
    )(command)


def _ledger_place(context: click.Context, option: click.Parameter, place: str) -> str:
    """Return where answers are kept; workers that share a search in a database share them there."""
    said = context.get_parameter_source("ledger")
    if said is not click.core.ParameterSource.DEFAULT:
        if "://" in place:
            from judgesmith.programs.lm.cache.store import check_place

            check_place(place)
        return place
    storage = _storage_of(context)
    if not storage:
        return place
    from judgesmith.optimizers.storage import check_storage
    from judgesmith.programs.lm.cache.store import is_postgres, shown_place

    if not is_postgres(storage):
        return place

    with blaming("--storage"):
        check_storage(storage)
    say_notes(
        [
            f"answers are kept with the search, in {shown_place(storage)}: all its workers share "
            "them, and one budget. --ledger names another place."
        ],
        as_json=True,
    )
    return storage


def _storage_of(context: click.Context) -> str:
    """Return the database that a search is kept in, empty where there is no such search."""
    given = context.params
    if given.get("optimizer") != "protocol" or given.get("record") or given.get("replay"):
        return ""
    for option in context.command.params:
        if option.name == "storage":
            # Options that were said are read before those that were not.
            return str(given.get("storage") or option.value_from_envvar(context) or "")
    return ""

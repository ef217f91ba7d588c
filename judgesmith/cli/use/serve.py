"""``judgesmith serve``: answer requests over HTTP with compiled judges."""

from __future__ import annotations

import ipaddress
import json
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from errno import EADDRNOTAVAIL
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import click

from judgesmith.cli.shared.command import tool
from judgesmith.cli.shared.faults import OptionError, blaming
from judgesmith.cli.shared.judge_models import asked_models
from judgesmith.cli.shared.model_options import AskedChoice, ModelChoice
from judgesmith.cli.shared.options import Number, WholeNumber, json_option, shown_option
from judgesmith.cli.shared.printing import counted, say
from judgesmith.cli.shared.role_options import ROLE, asking_options

if TYPE_CHECKING:
    from socket import socket

    from judgesmith.programs.artifacts.saved_ensembles import AnySaved
    from judgesmith.programs.lm import AnyModel, Price
    from judgesmith.programs.lm.cache.store import ResponseCache
    from judgesmith.programs.serving import ServedJudge

_MEBIBYTE = 2**20


@tool("serve")
@click.argument("judges", nargs=-1, required=True, metavar="JUDGE…")
@shown_option("--host", str, "127.0.0.1", "Address to listen on.")
@shown_option("--port", click.IntRange(0, 65535), 8000, "Port to listen on; 0 takes a free one.")
@click.option(
    "--token-env",
    metavar="NAME",
    help="Environment variable with the token that clients must send.",
)
@click.option(
    "--allow-host",
    "hosts",
    multiple=True,
    metavar="NAME",
    help="Host name that clients without a token may use. Repeatable.",
)
@shown_option("--queue", WholeNumber(0), 256, "Maximum number of queued items.")
@shown_option(
    "--max-body", Number(0, above=True), 4, "Maximum size of a request or stream line in MiB."
)
@click.option(
    "--max-items", type=WholeNumber(1), help="Maximum items per batch request [default: 100]."
)
@shown_option("--max-chars", WholeNumber(1), 200_000, "Maximum characters of each text.")
@click.option(
    "--no-example",
    is_flag=True,
    help="Show clients no row that a judge was made from; else the page has one to fill in.",
)
@shown_option("--grace", Number(0), 30, "Seconds to wait for accepted requests at shutdown.")
@asking_options
@json_option
def command(
    judges: tuple[str, ...],
    host: str,
    port: int,
    token_env: str | None,
    hosts: tuple[str, ...],
    queue: int,
    max_body: float,
    max_items: int | None,
    max_chars: int,
    no_example: bool,
    grace: float,
    as_json: bool,
    choice: ModelChoice,
) -> int:
    """Serve judges over HTTP until Ctrl-C or SIGTERM, which let accepted requests finish.

    A judge is called as its folder is, or NAME where NAME=JUDGE says so. The address answers with
    a page to try them; /openapi.json describes the rest. Keys, and the token, come from the
    environment only.
    """
    from judgesmith.programs.serving import ServingLimits, address_of, app, run

    with blaming("--queue" if max_items is None else "--max-items"):
        limits = ServingLimits(
            queue=queue,
            concurrency=choice.concurrency,
            max_body=max(int(max_body * _MEBIBYTE), 1),
            max_items=min(100, queue + choice.concurrency) if max_items is None else max_items,
            max_chars=max_chars,
        )
    token = _token(token_env)
    if not token and not is_loopback(host):
        raise OptionError(
            f"{host} may be reached from other machines, at your expense; require a token with "
            "--token-env NAME, or listen on 127.0.0.1.",
            option="--host",
        )
    loaded = _loaded(judges)
    served = _bound(loaded, choice.of(_SharedChoice), example=not no_example)
    names = tuple(name.lower() for name in (host, *hosts))
    application = app(served, limits=limits, token=token, hosts=names)
    bound = listening(host, port)
    address = address_of(bound)

    def ready() -> None:
        if as_json:
            click.echo(json.dumps({"address": address, "judges": list(loaded)}))
        else:
            say(f"{address} serves {', '.join(loaded)}; Ctrl-C stops.")

    unfinished = run(application, bound, grace=grace, ready=ready, say=lambda t: say(t, err=True))
    if unfinished:
        say(
            f"{counted(unfinished, 'accepted request')} not finished within {grace:g} seconds.",
            err=True,
        )
        return 1
    return 0


@dataclass(frozen=True, kw_only=True)
class _SharedChoice(AskedChoice):
    """Models of several judges: each is made once, so that its limits hold for all of them."""

    made: dict[tuple[str, str | None], AnyModel] = field(default_factory=dict)

    def _model(
        self,
        name: str,
        price: Price | None,
        run_id: str | None,
        *,
        api_base: str | None,
        ledger: str | ResponseCache | None,
    ) -> AnyModel:
        at = name, api_base
        if at not in self.made:
            self.made[at] = super()._model(name, price, run_id, api_base=api_base, ledger=ledger)
        return self.made[at]


def listening(host: str, port: int) -> socket:
    """Return a socket at an address; refuse one that is not here, or is taken."""
    from judgesmith.programs.serving import bound_socket

    try:
        return bound_socket(host, port)
    except OSError as fault:
        # An unknown name has no errno of the system, but one of the resolver.
        option = "--host" if fault.errno in (None, EADDRNOTAVAIL) or fault.errno < 0 else "--port"
        said = f"cannot listen on {host}:{port}: {fault.strerror}."
        raise OptionError(said, option=option, hint=f"choose another with {option}.") from None


def is_loopback(host: str) -> bool:
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host.lower() == "localhost"


def _token(variable: str | None) -> str:
    """Return the token in an environment variable; empty where none is named."""
    if variable is None:
        return ""
    token = os.environ.get(variable, "")
    if not token or not token.isascii() or not token.isprintable() or " " in token:
        came = "nothing" if not token else "other characters"
        raise OptionError(
            f"expected a token of ASCII letters, digits and signs in {variable}; got {came}.",
            option="--token-env",
        )
    return token


def _loaded(judges: Sequence[str]) -> dict[str, tuple[AnySaved, Path]]:
    from judgesmith.programs.artifacts.saved_ensembles import load_saved

    found: dict[str, tuple[AnySaved, Path]] = {}
    for one in judges:
        name, equals, folder = one.partition("=")
        if not equals or Path(one).exists():
            name, folder = Path(one).resolve().name, one
        elif not folder:
            said = f"expected a folder after {name}=; got nothing. Name one that compile made."
            raise OptionError(said, option="JUDGE")
        saved = load_saved(folder)
        if name in found:
            raise OptionError(
                f"two judges are called {name}.",
                option="JUDGE",
                hint=f"give each its own name: NAME={folder}.",
            )
        found[name] = saved, Path(folder)
    return found


def _card(saved: AnySaved, folder: Path) -> str:
    from judgesmith.experiments.evaluate.card import served_card
    from judgesmith.programs.artifacts.test_rows import read_rows

    return served_card(saved, read_rows(folder))


def _bound(
    judges: Mapping[str, tuple[AnySaved, Path]], choice: ModelChoice, *, example: bool
) -> list[ServedJudge]:
    """Return judges with their models, under one ledger and one budget."""
    from judgesmith.programs.serving import ServedJudge

    if choice.roles and len(judges) > 1:
        said = "roles are of one judge; leave --role out, or serve that judge by itself."
        raise OptionError(said, option=ROLE)
    run_id = f"serve {' '.join(sorted(one.fingerprint for one, _ in judges.values()))}"
    among = {name for one, _ in judges.values() for name in one.models}
    served = []
    for name, (saved, folder) in judges.items():
        own = choice if choice.roles else choice.about(saved.models, among=among)
        bound, lms = asked_models(saved, own, run_id=run_id)
        with blaming("JUDGE"):
            card = partial(_card, saved, folder)
            served.append(ServedJudge(name, bound, *lms, card=card, example=example))
    # Not before: where there is a ledger, no key is asked for.
    _check_ledgers([lm for one in served for lm in one.lms])
    return served


def _check_ledgers(lms: Sequence[AnyModel]) -> None:
    """Open the ledgers of models; an invalid one ends the command before any request."""
    from judgesmith.programs.lm import lm_client_of

    for client in filter(None, map(lm_client_of, lms)):
        if client.ledger is not None:
            client.ledger.lookup(b"")

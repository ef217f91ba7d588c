"""Models by role of the work on a benchmark, under one budget and one ledger."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import click

from judgesmith.cli.faults import blaming
from judgesmith.cli.model_options import ModelChoice
from judgesmith.cli.options import Command
from judgesmith.cli.role_options import ROLE, roles_of

if TYPE_CHECKING:
    from judgesmith.experiments.benchmark.models import BenchmarkModels


def benchmark_role_option(command: Command) -> Command:
    """Add ``--role`` for the roles that there are in building a benchmark."""
    return click.option(
        ROLE,
        "roles",
        multiple=True,
        metavar="ROLE=MODEL",
        help="Another model than --model as writer (of references), injector (of errors), rater "
        "or comparator; repeatable, under one budget.",
    )(command)


def benchmark_roles(given: Sequence[str]) -> dict[str, str]:
    """Return what ``--role`` says: names of models by role."""
    from judgesmith.experiments.benchmark.models import check_benchmark_roles

    roles = roles_of(given)
    with blaming(ROLE):
        check_benchmark_roles(roles)
    return roles


def benchmark_models(
    choice: ModelChoice,
    roles: Mapping[str, str],
    *,
    run_id: str | None = None,
    concurrency: int = 32,
) -> BenchmarkModels:
    """Return a model for every role, each made once however many roles it has."""
    from judgesmith.experiments.benchmark.models import BenchmarkModels
    from judgesmith.experiments.benchmark.settings import ROLES

    first = choice.model_name or "offline"
    names = list(dict.fromkeys((first, *roles.values())))
    made = dict(zip(names, choice.lms(*names[1:], run_id=run_id), strict=True))
    by_role = {role: made[roles.get(role, first)] for role in ROLES}
    return BenchmarkModels(by_role=by_role, concurrency=concurrency)


def check_benchmark_keys(choice: ModelChoice, models: BenchmarkModels) -> None:
    """Refuse models that need a key and have none."""
    first = choice.model_name or "offline"
    for lm in {id(one): one for one in models.by_role.values()}.values():
        choice.check_key(lm, option="--model" if str(lm.model) == first else ROLE)

"""The application that serves judges, for any ASGI server."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from importlib.metadata import version
from typing import TYPE_CHECKING, Any

from judgesmith.errors import InputError
from judgesmith.programs.artifacts.saved import SavedJudge
from judgesmith.programs.artifacts.saved_ensembles import AnySaved, SavedHolder
from judgesmith.programs.extras import library
from judgesmith.programs.serving.door import Door
from judgesmith.programs.serving.refusals import ServingLimits
from judgesmith.programs.serving.served import ServedJudge

if TYPE_CHECKING:
    from fastapi import FastAPI

    from judgesmith.programs.families.ensemble.judges import AnyJudge
    from judgesmith.programs.lm import AnyModel

_NONE = dict.fromkeys(("tracing", "metrics", "logs", "operation_spans", "auto_configure"), False)
"""What FastAPI would record of requests and faults for whoever configured OpenTelemetry."""


def app(
    judges: Mapping[str, AnySaved | AnyJudge] | Sequence[ServedJudge],
    *,
    lm: AnyModel | None = None,
    limits: ServingLimits | None = None,
    token: str = "",
    hosts: Sequence[str] = (),
) -> FastAPI:
    """Return an application that judges what is sent to it.

    Parameters
    ----------
    judges : dict of str to judge, or sequence of ServedJudge
        Saved judges of any kind, or judges, by the name that clients call them; or bound to
        models already.
    lm : dspy.LM, StackModel or None
        The model that all ask. With None saved judges ask the models that they were compiled with,
        others DSPy's current one, or the offline model.
    limits : ServingLimits or None
        What bounds work and memory; None takes the defaults.
    token : str
        What clients must send as ``Authorization: Bearer …``; empty asks for none.
    hosts : sequence of str
        Names by which clients without a token may call the server, beside ``localhost`` and
        addresses.

    Raises
    ------
    ImportError
        If the libraries of the extra ``serve`` are not installed.
    ValueError
        If no judge is given, two have one name, or a name cannot stand in an address.

    Examples
    --------
    >>> from judgesmith.programs import DirectJudge
    >>> sorted(app({"plain": DirectJudge()}).openapi()["paths"])[-1]
    '/v1/judges/{name}/stream'
    """
    library("prometheus_client", extra="serve")
    fastapi: Any = library("fastapi", extra="serve")
    from judgesmith.programs.serving.routes import Guard, described, plain_fault, routes
    from judgesmith.programs.serving.service import Service

    if isinstance(judges, Mapping):
        judges = _bound(judges, lm)
    if not judges:
        raise InputError("at least one judge is served; got none.")
    by_name = {one.name: one for one in judges}
    if len(by_name) < len(judges):
        raise InputError(
            f"two judges have one name among {', '.join(one.name for one in judges)}; give each "
            "its own: NAME=FOLDER."
        )
    service = Service(by_name, limits or ServingLimits())

    @asynccontextmanager
    async def lifespan(app: FastAPI) -> AsyncIterator[None]:
        try:
            yield
        finally:
            await asyncio.to_thread(service.close)

    made: FastAPI = fastapi.FastAPI(
        title="Judgesmith",
        description="Judges that score texts as people do.",
        version=version("judgesmith"),
        docs_url=None,  # those pages load scripts from elsewhere
        redoc_url=None,
        redirect_slashes=False,
        telemetry=_NONE,
        lifespan=lifespan,
    )
    made.include_router(routes(service))
    made.add_middleware(Guard, service=service, door=Door(token=token, hosts=tuple(hosts)))
    made.state.service = service
    plain_fault(made)
    described(made, with_token=bool(token))
    return made


def _bound(judges: Mapping[str, AnySaved | AnyJudge], lm: AnyModel | None) -> list[ServedJudge]:
    """Return judges with their models, of which there is one for each name."""
    made: dict[str, AnyModel] = {}
    found = []
    for name, judge in judges.items():
        if lm is not None:
            found.append(ServedJudge(name, judge, lm))
        elif isinstance(judge, SavedJudge | SavedHolder):
            made |= {one: judge._bound(one) for one in judge.models if one not in made}
            own = {one: made[one] for one in judge.models}
            found.append(ServedJudge(name, judge.with_models(own), *own.values()))
        else:
            found.append(ServedJudge(name, judge))
    return found

"""Models that nobody asks: what is on record is answered, everything else is an error."""

from typing import NoReturn

from judgesmith.programs.models.engines import Engine, PureEngine
from judgesmith.programs.models.errors import ModelError
from judgesmith.programs.models.identity import request_identity
from judgesmith.programs.models.request import ModelAnswer, ModelRequest

_SHOWN = 100


class NotOnRecord(ModelError):  # noqa: N818 - the name says what happened, like BudgetSpent
    """Nobody is asked, and what was asked for is not on record."""


def replaying(engine: Engine | PureEngine) -> Engine | PureEngine:
    """Return an engine that stands where another does and sends nothing.

    It has the other's address, so that answers are found on record, and is of its kind, so that
    the same is asked of it.

    Examples
    --------
    >>> from judgesmith.programs.models.request import Prefix
    >>> from judgesmith.programs.offline import OfflineEngine
    >>> silent = replaying(OfflineEngine())
    >>> silent.answer(ModelRequest(model="offline", prefix=Prefix(), user="2 + 2?"))
    Traceback (most recent call last):
    ...
    judgesmith.programs.models.replaying.NotOnRecord: no answer is on record to the request \
6ba3c8a65b3d33fafb67610b0ab94eb6 to offline (sample 0), which ends '2 + 2?'; record it, or ask \
the model.
    """
    if isinstance(engine, PureEngine):
        from judgesmith.programs.offline import OfflineEngine

        class SilentOffline(OfflineEngine):
            """The model that ships with the code, which says nothing."""

            silent = True

            def answer(self, request: ModelRequest) -> ModelAnswer:
                """Refuse, naming the request."""
                _refuse(request, self.endpoint)

        silent: PureEngine = SilentOffline()
        return silent
    return _Silent(engine)


class _Silent:
    """Stands where an engine does that sends requests."""

    silent = True

    def __init__(self, engine: Engine) -> None:
        self.endpoint = engine.endpoint
        self.route = str(getattr(engine, "route", engine.endpoint))
        self.scores_texts = bool(getattr(engine, "scores_texts", False))

    async def complete(self, request: ModelRequest) -> ModelAnswer:
        """Refuse, naming the request."""
        _refuse(request, self.endpoint)

    def complete_sync(self, request: ModelRequest) -> ModelAnswer:
        """Refuse, naming the request."""
        _refuse(request, self.endpoint)

    async def aclose(self) -> None:
        """Do nothing: nothing is open."""

    def close(self) -> None:
        """Do nothing: nothing is open."""


def _refuse(request: ModelRequest, endpoint: str) -> NoReturn:
    identity = request_identity(request, endpoint).hex()
    end = " ".join(request.user.split())[-_SHOWN:]
    raise NotOnRecord(
        f"no answer is on record to the request {identity} to {request.model} (sample "
        f"{request.sample}), which ends {end!r}; record it, or ask the model."
    )

"""What sends a request: one attempt, one answer or one error, and nothing remembered."""

from typing import Protocol, runtime_checkable

from judgesmith.programs.models.request import ModelAnswer, ModelRequest


class Engine(Protocol):
    """Sends one request to a model; the stack around it remembers, counts, waits and retries.

    Attributes
    ----------
    endpoint : str
        Where the answers come from, without any secret; part of every request's identity.

    An engine that answers requests with a ``continuation`` has ``scores_texts = True``, too.
    """

    endpoint: str

    async def complete(self, request: ModelRequest) -> ModelAnswer:
        """Return the model's answer, or raise one of the errors in ``errors``."""
        ...

    def complete_sync(self, request: ModelRequest) -> ModelAnswer:
        """Return the model's answer to a caller without an event loop."""
        ...

    async def aclose(self) -> None:
        """Close the connections of the running event loop."""
        ...

    def close(self) -> None:
        """Close the connections of synchronous calls."""
        ...


@runtime_checkable
class PureEngine(Protocol):
    """A model that is a function: no network, no waiting, the same answer every time.

    Such an engine is called directly, without threads, rate limits or retries.
    """

    endpoint: str

    def answer(self, request: ModelRequest) -> ModelAnswer:
        """Return the answer, a function of the request alone."""
        ...

"""What can go wrong with a model call, by what the caller should do about it."""

from __future__ import annotations

from judgesmith.errors import JudgesmithError


class ModelError(JudgesmithError):
    """The model could not be asked, or refused: wrong key, unknown model, bad request.

    Attributes
    ----------
    status : int or None
        HTTP status of the reply, where there was one.
    """

    def __init__(self, message: str, *, status: int | None = None) -> None:
        super().__init__(message)
        self.status = status


class TransientModelError(ModelError):
    """A fault that a later attempt may not meet: rate limit, server error, lost connection.

    Attributes
    ----------
    retry_after : float or None
        Seconds that the server asked to wait.
    """

    def __init__(
        self, message: str, *, status: int | None = None, retry_after: float | None = None
    ) -> None:
        super().__init__(message, status=status)
        self.retry_after = retry_after

    def tried(self, times: int) -> TransientModelError:
        """Return the same fault, and how often it came.

        Examples
        --------
        >>> print(TransientModelError("m: overloaded (HTTP 503)", status=503).tried(6))
        m: overloaded (HTTP 503), tried 6 times
        """
        often = "once" if times == 1 else f"{times} times"
        return TransientModelError(
            f"{str(self).rstrip('.')}, tried {often}",
            status=self.status,
            retry_after=self.retry_after,
        )


_SET_UP = (401, 402, 403, 404, 405, 407)  # any other 4xx speaks of one request alone


def speaks_of_one_item(fault: BaseException) -> bool:
    """Say whether a fault leaves other requests their chance, rather than end the run."""
    if isinstance(fault, TransientModelError):
        return True
    status = fault.status or 0 if isinstance(fault, ModelError) else 0
    return 400 <= status < 500 and status not in _SET_UP


class ContextWindowExceeded(ModelError):  # noqa: N818 - the name says what happened, like BudgetSpent
    """The request is longer than the model can read; the item stays unscored for that reason."""


def unscoring(model: str, why: str) -> ModelError:
    """Return the fault of a model that cannot say how likely a given text is: of the set-up."""
    return ModelError(
        f"{model} gives no log-probabilities of a text that it is shown: {why}. A judge that rests "
        "on them needs an endpoint with completions that echo the prompt, such as vLLM's, or the "
        "offline model; any other judge (--judge) does without."
    )


class LedgerError(JudgesmithError):
    """The ledger file cannot be used; the message names the file and the way out."""


class BudgetSpent(JudgesmithError):  # noqa: N818 - an expected end of a run, not a fault
    """A ceiling of the budget is reached; nothing further is sent.

    Attributes
    ----------
    ceiling : str
        Which one: ``max_calls``, ``max_tokens``, ``max_usd`` or ``max_minutes``.
    calls : int
        Requests sent in this run, including earlier processes.
    tokens : int
        Tokens charged to this run.
    usd : float
        United States dollars charged to this run.
    minutes : float
        How long the run has been at work.
    """

    def __init__(
        self, message: str, *, ceiling: str, calls: int, tokens: int, usd: float, minutes: float
    ) -> None:
        super().__init__(message)
        self.ceiling = ceiling
        self.calls = calls
        self.tokens = tokens
        self.usd = usd
        self.minutes = minutes

"""When and how often a request that met a passing fault is sent again."""

import random
from dataclasses import dataclass

from judgesmith.errors import InputError


@dataclass(frozen=True, slots=True, kw_only=True)
class Retry:
    """Exponential backoff with full jitter.

    Attributes
    ----------
    attempts : int
        How often a request is sent at most; 1 switches retries off.
    first, longest : float
        Seconds: the ceiling of the first wait, doubled with each further attempt, and the
        ceiling of any wait that the server did not ask for.
    patience : float
        Seconds; a server that asks to wait longer than this is not waited for.

    Raises
    ------
    ValueError
        If ``attempts`` is less than 1 or a time is negative.
    """

    attempts: int = 6
    first: float = 0.5
    longest: float = 4.0  # in a storm the gate keeps requests back already
    patience: float = 600.0

    def __post_init__(self) -> None:
        """Reject settings that no request could follow."""
        if self.attempts < 1:
            raise InputError(f"attempts must be one or more; got {self.attempts}.")
        if min(self.first, self.longest, self.patience) < 0:
            raise InputError("waiting times must be zero or more seconds.")

    def wait(self, attempt: int, retry_after: float | None, *, rng: random.Random) -> float | None:
        """Return the seconds to wait after failed attempt number ``attempt``, or None to give up.

        Parameters
        ----------
        attempt : int
            1 for the first attempt.
        retry_after : float or None
            Seconds that the server asked for. They are kept to, with up to a tenth (at most the
            ordinary wait) added, so that those who were turned away together do not come back
            together.
        rng : random.Random
            Source of the jitter.

        Examples
        --------
        >>> Retry(attempts=3).wait(3, None, rng=random.Random(0)) is None
        True
        >>> 10.0 <= Retry().wait(1, 10.0, rng=random.Random(0)) <= 10.5
        True
        """
        if attempt >= self.attempts:
            return None
        ceiling = min(self.longest, self.first * 2.0 ** (attempt - 1))
        if retry_after is None:
            return rng.uniform(0.0, ceiling)
        if retry_after > self.patience:
            return None
        return retry_after + rng.uniform(0.0, min(ceiling, 0.1 * retry_after))

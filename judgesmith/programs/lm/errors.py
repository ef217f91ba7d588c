"""What can go wrong with a model call, and how keys are kept out of what is said of it."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from typing import ClassVar, TypeGuard
from urllib.parse import quote, urlsplit, urlunsplit

from judgesmith.errors import JudgesmithError
from judgesmith.signatures.judgement import Reason

# Servers like to quote the key they refuse, whole or with stars in the middle, and proxies
# the headers and the address of the request.
_LOOKS_LIKE_A_KEY = re.compile(
    r"""(?ix)
    \b(?:sk|pk|rk|gsk|xai|hf|ghp|glpat|AIza)[-_][\w*.\-]{6,}
    | \bAIza[\w\-]{10,}
    | \b(?:AKIA|ASIA)[0-9A-Z]{12,}
    | \bbearer\s+[\w*.\-+/=]{6,}
    | \bbasic\s+(?=[\w+/]*[\d=])[\w+/]{6,}={0,2}
    | (?<=://)[^\s/@"'<>]+(?=@)
    | (?<![^\s/"'(<\[])[^\s/:@"'(<\[]+:[^\s/@"'>]+(?=@[\w\[])
    | (?<=[?&])[\w\-]*(?:key|token|secret|password|passwd|signature|credential)=[^&\s"'<>]+
    | (?<=api-key:\s)[^\s"',;]{6,}
    | (?<=api-key":\s")[^\s"]{6,}
    """
)
_NAME_OF_A_SECRET = re.compile(r"(?i)key|token|secret|passw|credential")
_SHORTEST = 8  # characters of a secret; fewer would take out ordinary words
_TELLING = 12  # characters at either end of a longer secret that tell it


def redacted(text: str) -> str:
    """Return ``text`` without anything that is, or looks like, a key."""
    for secret in _secrets_of_the_environment():
        # The environment need not be UTF-8: what is not, Python keeps as lone surrogates.
        quoted = quote(secret, errors="surrogateescape")
        for spelled in (secret, quoted, quoted.replace("/", "%2F")):
            text = text.replace(spelled, "[key]")
        if len(secret) >= 2 * _TELLING:  # it may have been cut, or have stars in the middle
            text = re.sub(rf"{re.escape(secret[:_TELLING])}\S*", "[key]", text)
            text = text.replace(secret[-_TELLING:], "[key]")
    return _LOOKS_LIKE_A_KEY.sub(_removed, text)


def _secrets_of_the_environment() -> Iterator[str]:
    for name, value in os.environ.items():
        if len(value) >= _SHORTEST and _NAME_OF_A_SECRET.search(name):
            yield value


def _removed(found: re.Match[str]) -> str:
    # The full stop after a quoted key belongs to the sentence.
    return "[key]." if found.group().endswith(".") else "[key]"


def public_address(url: str) -> str:
    """Return an address without user, password and query, as it may be stored and shown."""
    if "://" not in url:  # no address that anybody can ask, but it may hold secrets all the same
        return re.split(r"[?#]", url.rpartition("@")[2])[0].rstrip("/")
    parts = urlsplit(url)
    host = parts.hostname or ""
    if ":" in host:
        host = f"[{host}]"
    if parts.port is not None:
        host = f"{host}:{parts.port}"
    return urlunsplit((parts.scheme, host, parts.path.rstrip("/"), "", ""))


class ModelError(JudgesmithError):
    """The model could not be asked, or refused: wrong key, unknown model, bad request.

    ``status`` is the HTTP status of the reply, None without one.
    """

    reason: ClassVar[Reason] = Reason.REFUSED

    def __init__(self, message: str, *, status: int | None = None, hint: str | None = None) -> None:
        super().__init__(message, hint=hint)
        self.status = status


class TransientModelError(ModelError):
    """A fault that a later attempt may not meet: rate limit, server error, lost connection.

    ``retry_after`` is how many seconds the server asked to wait, or None.
    """

    reason = Reason.UNREACHABLE

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


_PASSING = (408, 409, 425, 429)
_OVERLOADED = (408, 429, 502, 503, 504, 529)


def may_pass(status: int | None) -> bool:
    """Return whether a request that got this HTTP status is worth sending again."""
    return status is not None and (status in _PASSING or status >= 500)


def is_overload(status: int | None) -> bool:
    """Return whether a server with this HTTP status is better sent fewer requests at once."""
    return status in _OVERLOADED


def retry_seconds(header: str | None) -> float | None:
    """Return the seconds that a Retry-After header asks to wait, None for a date or nothing."""
    return float(header) if header and header.replace(".", "", 1).isdecimal() else None


_SET_UP = (401, 402, 403, 404, 405, 407)  # any other 4xx speaks of one request alone


def speaks_of_one_item(fault: BaseException) -> TypeGuard[ModelError]:
    """Return whether a fault leaves other requests their chance, rather than end the run."""
    if isinstance(fault, TransientModelError):
        return True
    status = fault.status or 0 if isinstance(fault, ModelError) else 0
    return 400 <= status < 500 and status not in _SET_UP


class ContextWindowExceeded(ModelError):  # noqa: N818 - the name says what happened, like BudgetSpent
    """The request is longer than the model can read; the item stays unscored for that reason."""

    reason = Reason.TOO_LONG


def unscoring(model: str, why: str) -> ModelError:
    """Return the fault of a model that cannot say how likely a given text is: of the set-up."""
    return ModelError(
        f"{model} gives no log-probabilities of a text that it is shown: {why}. A judge that rests "
        "on them needs an endpoint with completions that echo the prompt, such as vLLM's, or the "
        "offline model; any other judge (--judge) does without."
    )


class CacheError(JudgesmithError):
    """The cache file cannot be used; the message names the file and the way out."""


class BudgetSpent(JudgesmithError):  # noqa: N818 - an expected end of a run, not a fault
    """A ceiling of the budget is reached; nothing further is sent.

    ``ceiling`` names it as ``Budget`` does. ``calls``, ``tokens``, ``usd`` and ``minutes`` are what
    was charged to the run, earlier processes included.
    """

    reason: ClassVar[Reason] = Reason.OVER_BUDGET

    def __init__(
        self,
        message: str,
        *,
        ceiling: str = "max_calls",
        calls: int = 0,
        tokens: int = 0,
        usd: float = 0.0,
        minutes: float = 0.0,
    ) -> None:
        super().__init__(message)
        self.ceiling = ceiling
        self.calls = calls
        self.tokens = tokens
        self.usd = usd
        self.minutes = minutes

"""The errors that Judgesmith raises on purpose; every other exception is a bug."""

from __future__ import annotations

__all__ = ["InputError", "JudgesmithError"]


class JudgesmithError(Exception):
    """The base of every error that a caller can act on: the command line prints it, status 2.

    Examples
    --------
    >>> import judgesmith
    >>> try:
    ...     judgesmith.read("no-such-file.csv")
    ... except judgesmith.JudgesmithError as error:
    ...     print(type(error).__name__)
    DataError
    """

    __module__ = "judgesmith"


class InputError(JudgesmithError, ValueError):
    """An argument, option, file or setting that cannot be used; the message says what to change.

    Examples
    --------
    >>> import judgesmith
    >>> judgesmith.model("gpt-4o")
    Traceback (most recent call last):
    judgesmith.InputError: a model is 'offline' or 'provider/model', such as \
openai/gpt-4o-mini; got 'gpt-4o'.
    """

    __module__ = "judgesmith"  # tracebacks name it as users import it

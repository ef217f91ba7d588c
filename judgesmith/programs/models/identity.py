"""What makes two requests the same: content, model, endpoint, sampling settings, sample number."""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import fields
from functools import lru_cache

from judgesmith.errors import InputError
from judgesmith.programs.models.request import ModelRequest, Settings, framed

# DSPy has no place for the sample number in a request, so it travels beside the call.
sample_number: ContextVar[int] = ContextVar("judgesmith_sample_number", default=0)


@contextmanager
def sampling(sample: int) -> Iterator[None]:
    """Ask for answer number ``sample`` in the DSPy calls inside the ``with`` block.

    Parameters
    ----------
    sample : int
        0 is the first answer to a question; every other number is another one, kept apart in
        the ledger.

    Raises
    ------
    ValueError
        If ``sample`` is negative.

    Examples
    --------
    >>> with sampling(sample=2):
    ...     sample_number.get()
    2
    >>> sample_number.get()
    0
    """
    if sample < 0:
        raise InputError(f"sample must be zero or more; got {sample}.")
    token = sample_number.set(sample)
    try:
        yield
    finally:
        sample_number.reset(token)


def request_identity(request: ModelRequest, endpoint: str) -> bytes:
    """Return the 16 bytes under which the answer to ``request`` is kept.

    The hash runs over every message with its role and length, then over model, endpoint and
    settings, then over the sample number. The part over the prefix is copied, not computed again,
    so the cost depends on the length of ``request.user`` alone.

    Parameters
    ----------
    request : ModelRequest
        Where its messages are cut into prefix and user message makes no difference.
    endpoint : str
        Where the answer comes from; two servers never share an answer.

    Returns
    -------
    bytes
        BLAKE2b with a 16-byte digest.

    Examples
    --------
    >>> from judgesmith.programs.models.request import Prefix
    >>> first = ModelRequest(model="offline", prefix=Prefix(), user="2 + 2?")
    >>> again = ModelRequest(model="offline", prefix=Prefix(), user="2 + 2?", sample=1)
    >>> request_identity(first, "offline") == request_identity(again, "offline")
    False
    """
    state = request.prefix.hasher()
    # Content that only the client can read must not meet plain text that looks like its JSON.
    state.update(framed("user" if request.original is None else "original", request.user))
    if request.continuation is not None:
        state.update(framed("continuation", request.continuation))
    state.update(_circumstances(request.model, endpoint, request.settings))
    state.update(b"sample %d" % request.sample)
    if request.attempt:
        state.update(b" attempt %d" % request.attempt)
    return state.digest()


@lru_cache(maxsize=1024)
def _circumstances(model: str, endpoint: str, settings: Settings) -> bytes:
    named = {field.name: getattr(settings, field.name) for field in fields(settings)}
    # 0 and 0.0 are equal, and so share a place in this cache: they must be written alike.
    for name in ("temperature", "top_p"):
        named[name] = None if named[name] is None else float(named[name])
    described = json.dumps([model, endpoint, named], sort_keys=True)
    return framed("settings", described)

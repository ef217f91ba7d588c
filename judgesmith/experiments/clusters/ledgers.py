"""A ledger as workers are told of it: a file, or a database without the password."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from urllib.parse import parse_qsl, urlencode, urlsplit, urlunsplit

from judgesmith.programs.lm import ResponseCache
from judgesmith.programs.lm.cache.store import is_postgres, shown_place

VARIABLE = "JUDGESMITH_LEDGER"
"""Where workers look for the whole address of the ledger that they are told of."""

_VARIABLES = (VARIABLE, "JUDGESMITH_STORAGE")


def is_of_one_machine(told: str | None) -> bool:
    """Say whether a ledger is a file, which other machines cannot reach.

    Examples
    --------
    >>> is_of_one_machine("ledger.sqlite"), is_of_one_machine("postgresql://db.example/answers")
    (True, False)
    """
    return told is not None and not is_postgres(told)


def told_of(ledger: ResponseCache | None) -> str | None:
    """Return where a ledger is, as it may travel: a path, or an address without password."""
    if ledger is None:
        return None
    address = getattr(ledger, "address", None)
    return ledger.name if address is None else without_password(address)


def without_password(address: str) -> str:
    """Return the address of a database without its password.

    Examples
    --------
    >>> without_password("postgresql://me:secret@db.example:5432/answers?sslmode=require")
    'postgresql://me@db.example:5432/answers?sslmode=require'
    >>> without_password("postgresql:///answers?host=db&password=secret")
    'postgresql:///answers?host=db'
    """
    parts = urlsplit(address)
    user, at, host = parts.netloc.rpartition("@")
    query = urlencode([one for one in parse_qsl(parts.query) if "password" not in one[0]])
    whole = (parts.scheme, f"{user.partition(':')[0]}{at}{host}", parts.path, query, "")
    # A path without a host keeps its three slashes.
    return urlunsplit(whole) if parts.netloc else f"{parts.scheme}://{parts.path}?{query}"


def ledger_here(told: str | None) -> str | None:
    """Return where a worker finds the ledger that it was told of.

    That is what it was told, or the whole address of the same database, where that stands in the
    environment. A password may also come from where PostgreSQL's own programs have it
    (``PGPASSWORD``, ``.pgpass``).
    """
    if told is None or not is_postgres(told):
        return told
    given = [one for name in _VARIABLES if is_postgres(one := os.environ.get(name, ""))]
    return next((one for one in given if shown_place(one) == shown_place(told)), told)


@contextmanager
def in_environment(ledger: ResponseCache | None) -> Iterator[None]:
    """Put the whole address of a database where processes find it that are started in a block."""
    address = getattr(ledger, "address", None)
    if address is None:
        yield
        return
    before = os.environ.get(VARIABLE)
    os.environ[VARIABLE] = address
    try:
        yield
    finally:
        if before is None:
            del os.environ[VARIABLE]
        else:
            os.environ[VARIABLE] = before

"""Where a ledger is: a file, or a database whose address may hold a password."""

import os
import re

from judgesmith.programs.models.redaction import public_address

_POSTGRES = re.compile(r"postgres(?:ql)?(?:\+\w+)?://", re.IGNORECASE)


def is_postgres(place: object) -> bool:
    """Say whether this is the address of a PostgreSQL database, in any of its spellings.

    Examples
    --------
    >>> is_postgres("postgresql+psycopg://me:secret@db.example/answers")
    True
    >>> is_postgres(".judgesmith/ledger.sqlite")
    False
    """
    return isinstance(place, str) and _POSTGRES.match(place) is not None


def postgres_address(place: str) -> str:
    """Return the address in the spelling that PostgreSQL's own programs take.

    Examples
    --------
    >>> postgres_address("postgres://me@db.example/answers")
    'postgresql://me@db.example/answers'
    """
    return _POSTGRES.sub("postgresql://", place, count=1)


def shown_place(place: str | os.PathLike[str]) -> str:
    """Return where a ledger is, as it may be shown: without user, password and query.

    Examples
    --------
    >>> shown_place("postgresql://me:secret@db.example/answers?sslmode=require")
    'postgresql://db.example/answers'
    """
    if not isinstance(place, str) or not is_postgres(place):
        return os.fspath(place)
    try:
        return public_address(postgres_address(place))
    except ValueError:  # no address at all, or several hosts in one
        return "postgresql://…"

"""Where a ledger is: a file, or a database whose address may hold a password."""

import os
import re

from judgesmith.programs.models.errors import LedgerError
from judgesmith.programs.models.redaction import public_address

_ADDRESS = re.compile(r"[a-z][a-z0-9+.-]*://", re.IGNORECASE)
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


def check_place(place: object) -> None:
    """Refuse the address of what is neither a file nor a PostgreSQL database.

    As the name of a file it would be made into folders, with the password in their names.

    Raises
    ------
    LedgerError
        Without the address, whose password may stand anywhere in it.

    Examples
    --------
    >>> check_place("mysql://me:secret@db.example/answers")
    Traceback (most recent call last):
    judgesmith.programs.models.errors.LedgerError: a ledger is a file or a PostgreSQL database, ...
    """
    if isinstance(place, str) and _ADDRESS.match(place) and not is_postgres(place):
        raise LedgerError(
            "a ledger is a file or a PostgreSQL database, and this is another address; give a "
            "path, or postgresql://user@host/database (--ledger)."
        )


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

"""A PostgreSQL database of a test's own, on the server that .ci/services/postgres starts."""

import os
import uuid
from contextlib import contextmanager

import pytest


@contextmanager
def new_database():
    """Yield the address of an empty database, with a password, and drop it at the end."""
    server = os.environ.get("JUDGESMITH_POSTGRES")
    if not server:
        pytest.skip("set JUDGESMITH_POSTGRES to the address of a PostgreSQL server")
    import psycopg

    name = f"test_{uuid.uuid4().hex}"
    with psycopg.connect(server, autocommit=True) as connection:
        connection.execute(f"CREATE DATABASE {name}")
    address = f"{server.rpartition('/')[0]}/{name}"
    try:
        yield address
    finally:
        drop(address)


def drop(address):
    """Take a database away from whoever is connected to it."""
    import psycopg

    server, _, name = address.rpartition("/")
    with psycopg.connect(f"{server}/postgres", autocommit=True) as connection:
        connection.execute(f"DROP DATABASE IF EXISTS {name} WITH (FORCE)")


def cut_off(address):
    """End every connection to a database, as a restart of the server does."""
    import psycopg

    server, _, name = address.rpartition("/")
    with psycopg.connect(f"{server}/postgres", autocommit=True) as connection:
        connection.execute(
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = %s", (name,)
        )


def secret_of(address):
    """Return the password in an address."""
    return address.partition("@")[0].rpartition(":")[2]

"""What is said of a database that cannot be reached, as far as that takes none."""

import psycopg
import pytest

from judgesmith.programs.lm import CacheError, ResponseCache
from judgesmith.programs.lm.cache.postgres_database import advice, is_lost

PLACE = "postgresql://me:secret@db.example/answers"


@pytest.mark.parametrize("port", ["abc", "99999"])
def test_a_port_that_is_none_is_no_address_rather_than_a_database_that_is_away(port):
    with pytest.raises(CacheError, match="not a PostgreSQL URL; give one such as") as caught:
        ResponseCache(f"postgresql://me:secret@127.0.0.1:{port}/answers").exists()
    assert "secret" not in str(caught.value)


@pytest.mark.parametrize(
    "said",
    [
        'connection to server at "db.example" failed: server does not support SSL, but SSL was '
        "required",
        'connection to server at "db.example" failed: SSL error: certificate verify failed',
    ],
)
def test_a_database_that_does_not_encrypt_as_demanded_is_not_away(said):
    fault = psycopg.OperationalError(said)
    assert not is_lost(fault)
    assert advice(PLACE, fault) == (
        "the cache postgresql://db.example/answers does not encrypt as its address demands; "
        "check sslmode and sslrootcert in it, and the server's certificate."
    )


def test_an_encrypted_connection_that_ends_is_one_that_may_come_back():
    assert is_lost(psycopg.OperationalError("SSL connection has been closed unexpectedly"))

"""A database that is a ledger."""

import databases
import pytest

from judgesmith.programs.lm import ResponseCache


@pytest.fixture
def address():
    """The address of an empty database, with a password."""
    with databases.new_database() as made:
        yield made


@pytest.fixture
def path(address):
    """Where a ledger may be made: what the tests of a file call it."""
    return address


@pytest.fixture
def ledger(address):
    """A ledger in it, closed at the end."""
    made = ResponseCache(address)
    yield made
    made.close()

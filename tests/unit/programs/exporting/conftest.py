"""Saved judges to export."""

import pytest
from exporting import saved_of


@pytest.fixture(scope="session")
def vanilla():
    """The smallest judge there is: one question, one score."""
    return saved_of(variant="vanilla")


@pytest.fixture(scope="session")
def fine():
    """All criteria in one question, then the whole."""
    return saved_of(variant="fine")

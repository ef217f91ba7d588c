"""Distillation data to train on."""

import pytest
from students import write_data


@pytest.fixture
def data(tmp_path):
    """A folder of four examples, one of which is for validation."""
    return write_data(tmp_path / "data", ["Is it?", "Was it?", "Will it?"], ["Can it?"])

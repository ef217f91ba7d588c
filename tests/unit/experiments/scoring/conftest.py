"""A judge that asks one question per text, and files of texts for it."""

import pytest
from sharding import texts, write

from judgesmith.data import read_items
from judgesmith.experiments import CompileSettings, compile_judge
from judgesmith.programs.lm import model
from judgesmith.signatures import ActiveCriticConfig


@pytest.fixture(scope="package")
def vanilla():
    data = read_items("sample").subset(range(40))
    settings = CompileSettings(
        optimizer="none", holdout=0, protocol=ActiveCriticConfig(variant="vanilla")
    )
    return compile_judge(data, settings, lm=model(ledger=None)).saved


@pytest.fixture
def lm():
    return model(ledger=None)


@pytest.fixture
def shards(tmp_path, monkeypatch):
    """A folder with three files of 5, 1 and 4 texts, in the working folder."""
    monkeypatch.chdir(tmp_path)
    write(tmp_path / "in" / "a.jsonl", texts(5))
    write(tmp_path / "in" / "b.jsonl", texts(1, 5))
    write(tmp_path / "in" / "c.jsonl", texts(4, 6))
    return tmp_path / "in"

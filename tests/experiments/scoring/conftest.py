"""A judge that asks one question per text, and files of texts for it."""

import json

import pytest

from judgesmith.experiments import CompileSettings, compile_judge, read_items
from judgesmith.programs.models import model


@pytest.fixture(scope="package")
def vanilla():
    data = read_items("sample").subset(range(40))
    settings = CompileSettings(optimizer="none", holdout=0, variant="vanilla")
    return compile_judge(data, settings, lm=model(ledger=None)).saved


@pytest.fixture
def lm():
    return model(ledger=None)


def rows_of(path):
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def texts(n, start=0):
    return [
        {"source": f"Number {k}.", "response": f"It is {k}.", "source_id": str(k)}
        for k in range(start, start + n)
    ]


def write(path, rows):
    path.parent.mkdir(exist_ok=True)
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return path


@pytest.fixture
def shards(tmp_path, monkeypatch):
    """A folder with three files of 5, 1 and 4 texts, in the working folder."""
    monkeypatch.chdir(tmp_path)
    write(tmp_path / "in" / "a.jsonl", texts(5))
    write(tmp_path / "in" / "b.jsonl", texts(1, 5))
    write(tmp_path / "in" / "c.jsonl", texts(4, 6))
    return tmp_path / "in"

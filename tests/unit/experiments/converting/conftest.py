"""Published files, written by a test, and the rows that they become."""

import csv
import gzip
import io
import json
from dataclasses import dataclass
from pathlib import Path

import pytest

from judgesmith.data import read_items
from judgesmith.data.convert import conversion_named, convert
from judgesmith.data.problems import DataError


@dataclass(frozen=True)
class Done:
    """What came of a conversion."""

    made: object
    rows: list
    path: Path


@pytest.fixture
def published(tmp_path):
    """Write a file: a list of rows as its ending says, anything else as it is."""

    def write(name, content):
        plain = name.removesuffix(".gz")
        if isinstance(content, str):
            text = content
        elif plain.endswith(".jsonl"):
            text = "".join(json.dumps(row) + "\n" for row in content)
        elif plain.endswith(".json"):
            text = json.dumps(content)
        else:
            table = io.StringIO()
            writer = csv.DictWriter(table, list(content[0]))
            writer.writeheader()
            writer.writerows(content)
            text = table.getvalue()
        path = tmp_path / name
        data = text.encode("utf-8")
        path.write_bytes(gzip.compress(data) if name.endswith(".gz") else data)
        return path

    return write


@pytest.fixture
def converted(tmp_path, published):
    """Convert files, by name or as they are; the rows are sound as rated texts, too."""

    def run(dataset, *paths, **files):
        given = [*paths, *(published(name, content) for name, content in files.items())]
        out = tmp_path / "out.jsonl"
        made = convert(conversion_named(dataset), given, out)
        rows = [json.loads(line) for line in out.read_text("utf-8").splitlines()]
        assert len(read_items(out)) == len(rows) == made.n_rows
        return Done(made, rows, out)

    return run


@pytest.fixture
def faults(tmp_path):
    """Return what is wrong with files; nothing is written then."""

    def run(dataset, *paths):
        out = tmp_path / "out.jsonl"
        with pytest.raises(DataError) as caught:
            convert(conversion_named(dataset), paths, out)
        assert not out.exists()
        assert not list(tmp_path.glob(".*part"))
        return [str(problem) for problem in caught.value.problems]

    return run


@pytest.fixture
def rows_on_hand(data_folder):
    """Return the rows of a rated set in the data folder."""

    def read(name):
        with gzip.open(data_folder / f"{name}.jsonl.gz", "rt", encoding="utf-8") as file:
            return [json.loads(line) for line in file]

    return read


@pytest.fixture
def ten_digits():
    """Return rows with numbers as the data folder keeps them."""

    def rounded(value):
        if isinstance(value, float):
            return float(f"{value:.10g}")
        if isinstance(value, list):
            return [rounded(one) for one in value]
        return (
            {name: rounded(one) for name, one in value.items()}
            if isinstance(value, dict)
            else value
        )

    return rounded

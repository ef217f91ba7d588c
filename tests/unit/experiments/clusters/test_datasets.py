"""Scores beside the columns of a dataset, on a real Ray and without one."""

import asyncio
import json
from dataclasses import replace

import pyarrow as pa
import pytest

from judgesmith.data import DataError
from judgesmith.data.columns import ColumnMap
from judgesmith.experiments.scoring.clusters import ClusterError, datasets, score_dataset, worker
from judgesmith.experiments.scoring.clusters.datasets import TableWorker, items_of
from judgesmith.experiments.scoring.clusters.recipes import JudgeRecipe
from judgesmith.programs import judge_items
from judgesmith.programs.judging.rows import score_row
from judgesmith.programs.lm import ModelError, client_model

COLUMNS = ColumnMap(fields={"source": ("source",), "response": ("answer",)})


def rows_of(items):
    return [{"source": one.source, "answer": one.response, "n": n} for n, one in enumerate(items)]


def expected(items, saved):
    """Return rows of scores as tables hold them, by column."""
    found = judge_items(saved, items, lm=client_model("offline", ledger=None))
    rows = [score_row(*pair) for pair in zip(items, found, strict=True)]
    return [(row["score"], row["key"], json.dumps(row["criteria"])) for row in rows]


@pytest.fixture
def table_worker(saved, monkeypatch):
    """Return a function that makes a worker here."""
    monkeypatch.setattr(worker, "own_address", lambda: "127.0.0.1")

    def made(lm=None, **changed):
        recipe = JudgeRecipe.of(saved, lm or client_model("offline", ledger=None))
        given = {
            "recipe": replace(recipe, **changed),
            "marks": {"judge": "j", "target": "t", "run": "r"},
            "columns": COLUMNS,
            "kept": ["n"],
            "lines": False,
            "concurrency": 4,
            "n_workers": 1,
            "home": None,
        }
        return TableWorker(**given)

    return made


def judged(made, rows):
    async def first():
        return [one async for one in made(pa.Table.from_pylist(rows))]

    (table,) = asyncio.run(first())
    return table


def test_a_table_gets_the_columns_of_scores(table_worker, saved, items_of):
    items = items_of(6)
    table = judged(table_worker(), rows_of(items))
    assert table.column_names[:3] == ["n", "source_id", "system_id"]
    assert table["n"].to_pylist() == list(range(6))
    found = table.select(["score", "key", "criteria"]).to_pylist()
    assert [tuple(one.values()) for one in found] == expected(items, saved)
    assert set(table["run"].to_pylist()) == {"r"}


def test_rows_that_cannot_be_read_are_all_named(table_worker):
    rows = [{"source": "a", "answer": ["b"]}, {"source": None, "answer": "c"}]
    with pytest.raises(DataError, match="a batch of the dataset, row 1: answer: expected a text"):
        items_of(rows, COLUMNS)
    assert [one.source for one in items_of(rows[1:], COLUMNS)] == [""]


def test_what_ends_a_run_ends_it_here(table_worker, items_of, monkeypatch):
    with pytest.raises(ClusterError, match=r"the worker at 127\.0\.0\.1: judgesmith is"):
        judged(table_worker(made_by="0.0"), rows_of(items_of(1)))
    monkeypatch.delenv("ANTHROPIC_API_KEY", raising=False)
    with pytest.raises(ModelError, match="ANTHROPIC_API_KEY"):
        judged(table_worker(client_model("anthropic/m", ledger=None)), rows_of(items_of(1)))


@pytest.mark.parametrize(
    ("keep", "said"),
    [(["n", "m"], "got 'm'"), (["n", "score"], "has a column 'score', and so has a row of")],
)
def test_columns_that_cannot_be_kept_are_refused(keep, said):
    with pytest.raises(ValueError, match=said):
        datasets._refuse_clashes(["n", "score", "source_id"], keep)
    datasets._refuse_clashes(["n", "score", "source_id"], ["source_id", "n"])


@pytest.mark.ray
@pytest.mark.no_cover
@pytest.mark.filterwarnings("ignore")
class TestOnRay:
    def test_a_dataset_gets_the_columns_of_scores(self, ray, saved, items_of, lm_at, server):
        items = items_of(150)
        given = ray.data.from_items(rows_of(items), override_num_blocks=4)
        lm = client_model("offline", ledger=None)
        options = {"columns": "response=answer", "keep": ["n"], "workers": 1}
        scored = score_dataset(given, saved, lm=lm, concurrency=8, **options)
        found = sorted(scored.take_all(), key=lambda row: row["n"])
        assert [(row["score"], row["key"], row["criteria"]) for row in found] == expected(
            items, saved
        )
        assert [row["n"] for row in found] == list(range(150))

    def test_a_dataset_without_texts_is_refused(self, ray, saved):
        with pytest.raises(DataError, match="the dataset: response: expected a column"):
            score_dataset(ray.data.from_items([{"n": 1}]), saved)

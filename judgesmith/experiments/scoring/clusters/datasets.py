"""Scores as columns of a Ray dataset, whatever it is read from and written to."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Mapping, Sequence
from types import ModuleType
from typing import TYPE_CHECKING, Any

from judgesmith.data.columns import ColumnMap, column_map, recognised
from judgesmith.data.formats.raw import RawRows
from judgesmith.data.problems import DataError, shown_value
from judgesmith.data.reading import ColumnsGiven
from judgesmith.data.rows import RATED_FIELDS, TextReader
from judgesmith.data.scores import field_of, score_columns
from judgesmith.errors import InputError
from judgesmith.experiments.scoring.clusters.connecting import (
    ClusterError,
    nodes_elsewhere,
    own_address,
    ray_module,
)
from judgesmith.experiments.scoring.clusters.judging import fault_of, refuse_unfit
from judgesmith.experiments.scoring.clusters.recipes import JudgeRecipe
from judgesmith.experiments.scoring.clusters.worker import RowText, Worker, elsewhere
from judgesmith.experiments.scoring.formats import schema_of
from judgesmith.experiments.scoring.resume_check import asked_by
from judgesmith.programs.artifacts.saved_ensembles import AnySaved
from judgesmith.programs.judging.executors import with_own_models
from judgesmith.programs.judging.rows import score_row
from judgesmith.programs.judging.runner import CONCURRENCY
from judgesmith.programs.lm import AnyModel
from judgesmith.signatures import RatedItem
from judgesmith.signatures.plain_data import fingerprint_of

if TYPE_CHECKING:
    import pyarrow as pa

_PIECE = 64  # rows judged side by side before they are handed on
_IDS = ("source_id", "system_id")  # of a row, the same in the dataset and beside its score


def score_dataset(
    dataset: Any,
    judge: AnySaved,
    *,
    lm: AnyModel | None = None,
    columns: ColumnsGiven = None,
    keep: Sequence[str] | None = None,
    concurrency: int = CONCURRENCY,
    workers: int | None = None,
) -> Any:
    """Return a Ray dataset with the columns of a row of scores beside those that it has.

    Nothing is judged before the result is used. What is nested in a row of scores is JSON, as in
    tables that ``score`` writes; rows that could not be judged have a null ``score`` and say why
    in ``problem``.

    Parameters
    ----------
    dataset : ray.data.Dataset
        With a column of texts to judge.
    judge : SavedJudge, SavedPanel or SavedCalibrated
        Bound to its models, where it has several.
    lm : dspy.LM, ClientModel or None
        The model, as for ``ray_judging``.
    columns : ColumnMap, mapping, str or None
        Which columns hold what, as for ``stream_items``.
    keep : sequence of str or None
        Columns of the dataset that the result has, too; None keeps all.
    concurrency : int
        Rows that each worker judges at the same time.
    workers : int or None
        Processes that judge; None takes one for each processor but one, which reads and writes.

    Returns
    -------
    ray.data.Dataset
        One row for each row, in the order that Ray is told to keep.

    Raises
    ------
    DataError
        If no column is recognised as the text to judge. Rows that cannot be read end the
        execution with it.
    ValueError
        If a kept column has the name of a column of scores, or as for ``ray_judging``.
    ClusterError
        If the cluster has nodes that cannot reach the ledger.
    """
    ray = ray_module()
    refuse_unfit(judge, workers=workers, concurrency=concurrency)
    names = list(dataset.columns())
    kept = names if keep is None else list(keep)
    _refuse_clashes(names, kept, score_columns(labels=judge.scale.is_verdict))
    judge, lm = with_own_models(judge, lm)
    return with_scores(
        ray,
        dataset,
        judge,
        lm,
        columns=known_columns(names, columns),
        kept=[name for name in kept if name not in _IDS],
        concurrency=concurrency,
        workers=workers,
    )


def known_columns(names: Sequence[str], columns: ColumnsGiven) -> ColumnMap:
    found, _ = recognised(
        names,
        ColumnMap(fields=column_map(columns).fields),
        where="the dataset",
        canonical="human" in names,
        with_ratings=False,
    )
    return found


def with_scores(
    ray: ModuleType,
    dataset: Any,
    judge: AnySaved,
    lm: AnyModel,
    *,
    columns: ColumnMap,
    kept: Sequence[str],
    concurrency: int,
    workers: int | None,
    lines: bool = False,
) -> Any:
    """Return a dataset with the columns of scores; see ``score_dataset``."""
    recipe = JudgeRecipe.of(judge, lm)
    home = own_address() if recipe.is_of_one_machine else None
    if home is not None and (others := nodes_elsewhere(ray, home)):
        raise ClusterError(elsewhere(others[0], home))
    n_processors = ray.cluster_resources().get("CPU", 1)
    n_workers = workers or max(1, int(n_processors) - 1)
    return dataset.map_batches(
        TableWorker,
        fn_constructor_kwargs={
            "recipe": recipe,
            "marks": _marks(judge, lm),
            "labels": judge.scale.is_verdict,
            "columns": columns,
            "kept": list(kept),
            "lines": lines,
            "concurrency": concurrency,
            "n_workers": n_workers,
            "home": home,
        },
        batch_size=max(1, min(_PIECE, concurrency)),
        batch_format="pyarrow",
        compute=ray.data.ActorPoolStrategy(size=n_workers),
        # Some of a processor is left for those who read and write.
        num_cpus=min(1.0, n_processors / (n_workers + 1)),
        udf_modifying_row_count=False,
    )


def _refuse_clashes(names: Sequence[str], kept: Sequence[str], told: Mapping[str, str]) -> None:
    if unknown := [name for name in kept if name not in names]:
        raise InputError(
            f"keep names columns of the dataset, {', '.join(names)}; got {unknown[0]!r}."
        )
    if clashing := [name for name in kept if name in told and name not in _IDS]:
        raise InputError(
            f"the dataset has a column {clashing[0]!r}, and so has a row of scores.",
            hint="name the columns to keep without it (keep=[…]), or rename it.",
        )


def _marks(judge: AnySaved, lm: AnyModel) -> dict[str, str]:
    run = fingerprint_of(asked_by(judge, lm))
    return {"judge": judge.fingerprint, "target": judge.target, "run": run}


class TableWorker:
    """Judges tables of rows, several at a time; Ray runs one in each process of a pool."""

    def __init__(
        self,
        *,
        recipe: JudgeRecipe,
        marks: Mapping[str, str],
        labels: bool,
        columns: ColumnMap,
        kept: Sequence[str],
        lines: bool,
        concurrency: int,
        n_workers: int,
        home: str | None,
    ) -> None:
        self._recipe = recipe
        self._marks = marks
        self._told = score_columns(labels=labels)
        self._columns = columns
        self._kept = list(kept)
        self._lines = lines
        self._worker = Worker(concurrency=concurrency, n_workers=n_workers, home=home)

    async def __call__(self, table: pa.Table) -> AsyncIterator[pa.Table]:
        """Yield the kept columns of a table with those of scores."""
        import pyarrow as pa

        rows = table.to_pylist()
        items = (
            items_of_lines(rows, self._columns) if self._lines else block_items(rows, self._columns)
        )
        presence = await self._worker.ready(self._recipe)
        if presence.fault is not None:
            raise fault_of(presence.fault, node=presence.node)
        done = await self._worker.judged([RowText.of(item) for item in items])
        if done.fault is not None:
            raise fault_of(done.fault)
        cells = []
        for item, judgement in zip(items, done.judgements, strict=True):
            row = {**score_row(item, judgement), **self._marks}
            cells.append({name: field_of(kind, row.get(name)) for name, kind in self._told.items()})
        scores = pa.Table.from_pylist(cells, schema=schema_of(self._told))
        kept = table.select(self._kept)
        for name in scores.column_names:
            kept = kept.append_column(name, scores[name])
        yield kept


def block_items(rows: Sequence[Mapping[str, Any]], columns: ColumnMap) -> list[RatedItem]:
    """Return the items of rows, which stand somewhere in a dataset."""
    raw = RawRows(name="a batch of the dataset", unit="row")
    texts = TextReader(columns, raw, ignored=RATED_FIELDS)
    fields = [texts.fields(number, row) for number, row in enumerate(rows, start=1)]
    if raw.problems:
        raise DataError(raw.problems)
    return [RatedItem(**one) for one in fields]


def items_of_lines(rows: Sequence[Mapping[str, Any]], columns: ColumnMap) -> list[RatedItem]:
    """Return the items of lines of JSON, each with the file and the number of its line."""
    items = []
    files: dict[str, tuple[RawRows, TextReader]] = {}
    for row in rows:
        if row["path"] not in files:
            raw = RawRows(name=row["path"], unit="line")
            files[row["path"]] = raw, TextReader(columns, raw, ignored=RATED_FIELDS)
        raw, texts = files[row["path"]]
        try:
            found = json.loads(row["line"])
        except (ValueError, RecursionError):
            found = None
        if not isinstance(found, dict):
            came = shown_value(row["line"])
            raw.problem(row["number"], at="line", expected="one JSON object", came=came)
            continue
        fields = texts.fields(row["number"], found)
        if not raw.problems:
            items.append(RatedItem(**fields))
    for raw, _ in files.values():
        if raw.problems:
            raise DataError(raw.problems)
    return items

"""Scoring new texts into files: one row out for every row in, whatever is killed in between."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import chain, islice
from pathlib import Path
from typing import TypedDict, Unpack

from judgesmith.data.reading import ColumnsGiven
from judgesmith.errors import file_faults
from judgesmith.experiments.scoring.feed import Given
from judgesmith.experiments.scoring.formats import SCORE_ENDINGS
from judgesmith.experiments.scoring.lines import Scored
from judgesmith.experiments.scoring.manifest import Manifest
from judgesmith.experiments.scoring.resume_check import asked_by
from judgesmith.experiments.scoring.run import Judging, RowWatch, ScoringRun
from judgesmith.experiments.scoring.shards import Inputs, Shard, is_folder, output_places, shards_of
from judgesmith.programs.artifacts.saved_ensembles import AnySaved
from judgesmith.programs.judging.executors import with_own_models
from judgesmith.programs.judging.runner import CONCURRENCY, judges_sources
from judgesmith.programs.lm import AnyModel
from judgesmith.results.progress import OnProgress, shows_progress
from judgesmith.signatures import RatedItem


@shows_progress
def score_shards(
    judge: AnySaved,
    inputs: Inputs | tuple[Shard, ...],
    output: str | Path,
    *,
    columns: ColumnsGiven = None,
    ending: str | None = None,
    ordered: bool = True,
    lm: AnyModel | None = None,
    concurrency: int = CONCURRENCY,
    overwrite: bool = False,
    judging: Judging | None = None,
    on_progress: OnProgress | None = None,
    progress: bool = True,
    watch: RowWatch | None = None,
) -> Scored:
    """Judge every row of some files and write one row each, in flat memory.

    Rows that came out are kept beside the output, in ``OUTPUT.parts``, until it is whole. A run
    that was stopped, killed or lost its machine resumes with them: the same call again judges
    the rows that are not among them, and asks the model for none that it answered.

    Parameters
    ----------
    judge : SavedJudge, SavedPanel or SavedCalibrated
        What judges.
    inputs : str, Path, sequence of them, or tuple of Shard
        Files, folders and patterns, as for ``shards_of``.
    output : str or Path
        A file that ends in ``.jsonl``, ``.jsonl.gz``, ``.csv`` or ``.parquet``, for all rows. Or
        a folder, by a slash at its end or because it is there, for one file for each input and
        ``scores.json`` about them all; what is finished there stays, unless it has changed.
    columns : ColumnMap, mapping, str or None
        Which columns hold what, as for ``stream_items``.
    ending : str or None
        The format of the files in a folder; None is ``.jsonl``.
    ordered : bool
        False writes rows as they are finished, each with the number of its ``row``, and its
        ``file`` where those of several go into one.
    lm : dspy.LM, ClientModel or None
        The model; None takes DSPy's current one, or the offline model.
    concurrency : int
        Requests under way at once.
    overwrite : bool
        As for ``score_file``. What a stopped run left is then not gone on with.
    judging : callable or None
        What judges a stream of items; None is ``iter_scores`` with ``judge``, ``lm`` and
        ``concurrency``. ``judge`` and ``lm`` must be those that it asks: rows are marked by them.
    on_progress : callable or None
        Told of every ``ProgressEvent``.
    progress : bool
        Whether a terminal or a notebook shows a bar, where ``on_progress`` is None.
    watch : RowWatch or None
        Told of every row that is written.

    Raises
    ------
    FileExistsError
        As for ``score_file``; if a stopped run of another kind left rows beside the output; if a
        finished file in a folder, or its input, has changed.
    DataError, ModelError, CacheError, ValueError
        As for ``score_file``, ``shards_of`` and ``targets_of``.

    Examples
    --------
    >>> import tempfile
    >>> from judgesmith.data import read_items
    >>> from judgesmith.experiments import CompileSettings, compile_judge
    >>> settings = CompileSettings(optimizer="none", holdout=0)
    >>> judge = compile_judge(read_items("sample"), settings).saved
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     done = score_shards(judge, ["sample"], f"{folder}/", ending=".csv")
    ...     print(sorted(one.name for one in Path(folder).iterdir()), done.n_rows)
    ['sample.csv', 'scores.json'] 160
    """
    shards = inputs if _are_shards(inputs) else shards_of(inputs)  # type: ignore[arg-type]
    targets = output_places(output, shards, ending=ending)  # type: ignore[arg-type]
    judge, lm = with_own_models(judge, lm)
    run = _scoring_run(
        judge,
        lm,
        output,
        columns=columns,
        ending=ending,
        ordered=ordered,
        overwrite=overwrite,
    )
    run.concurrency, run.on_progress, run.watch = concurrency, on_progress, watch
    return run.score([(target, target.shards) for target in targets], judging)


class Options(TypedDict, total=False):
    """How rows are read and written, as for ``score_shards``."""

    columns: ColumnsGiven
    ending: str | None
    ordered: bool
    overwrite: bool


@file_faults()
def _scoring_run(
    judge: AnySaved,
    lm: AnyModel,
    output: str | Path,
    *,
    columns: ColumnsGiven = None,
    ending: str | None = None,
    ordered: bool = True,
    overwrite: bool = False,
    begun: bool = True,
) -> ScoringRun:
    """Return a run; a folder for its output is made where it is ``begun``."""
    manifest = None
    if is_folder(output) and (begun or Path(output).exists()):
        folder = Path(output)
        folder.mkdir(exist_ok=True)
        manifest = Manifest.of(
            folder,
            asked_by(judge, lm),
            judge=judge.fingerprint,
            target=judge.target,
            reading={
                "columns": None if columns is None else str(columns),
                "ordered": ordered,
                "ending": ending or SCORE_ENDINGS[0],
            },
            overwrite=overwrite,
        )
    return ScoringRun(
        judge=judge,
        lm=lm,
        manifest=manifest,
        columns=columns,
        ordered=ordered or judges_sources(judge),
        overwrite=overwrite,
    )


def _are_shards(inputs: object) -> bool:
    return isinstance(inputs, tuple) and all(isinstance(one, Shard) for one in inputs)


@shows_progress
def score_file(
    judge: AnySaved,
    items: Iterator[RatedItem],
    output: str | Path,
    *,
    lm: AnyModel | None = None,
    concurrency: int = CONCURRENCY,
    overwrite: bool = False,
    on_progress: OnProgress | None = None,
    progress: bool = True,
) -> Scored:
    """Judge every item of an iterator and write one row each, in order and in flat memory.

    Rows are kept beside ``output`` until all are there: there is a whole file or none. See
    ``score_shards``, which reads files.

    Parameters
    ----------
    judge : SavedJudge, SavedPanel or SavedCalibrated
        What judges.
    items : iterator of RatedItem
        From ``stream_items``; ratings are not read.
    output : str or Path
        A file that ends in ``.jsonl``, ``.jsonl.gz``, ``.csv`` or ``.parquet``, in a folder that
        is there.
    lm : dspy.LM, ClientModel or None
        The model; None takes DSPy's current one, or the offline model.
    concurrency : int
        Requests under way at once.
    overwrite : bool
        Whether rows of another run may be replaced. Another run is one with another judge,
        another model or endpoint, or an input with another text at the same place. Nor are
        rows of the same run replaced by fewer, or by fewer scores.
    on_progress : callable or None
        Told of every ``ProgressEvent``.
    progress : bool
        Whether a terminal or a notebook shows a bar, where ``on_progress`` is None.

    Raises
    ------
    FileExistsError
        If ``output`` holds something else than rows of this run. Nothing is asked for a text
        that stands where the file has another one, nor for any text after it.
    DataError
        If there are no items, or a row of the input cannot be read: all such rows are named,
        and nothing is written.
    ModelError, CacheError
        If the model cannot be asked at all, or the ledger not used.
    ValueError
        If ``output`` is named as another format.

    Examples
    --------
    >>> import tempfile
    >>> from judgesmith.data import read_items
    >>> from judgesmith.experiments import CompileSettings, compile_judge
    >>> data = read_items("sample")
    >>> judge = compile_judge(data, CompileSettings(optimizer="none", holdout=0)).saved
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     done = score_file(judge, iter(data.items[:3]), Path(folder) / "scores.jsonl")
    >>> done.n_rows, done.n_unscored
    (3, 0)
    """
    (target,) = output_places(output, (), ending=None)
    judge, lm = with_own_models(judge, lm)
    run = ScoringRun(
        judge=judge, lm=lm, overwrite=overwrite, concurrency=concurrency, on_progress=on_progress
    )
    given = Given(str(getattr(items, "name", "input")), items)
    return run.score([(target, (given,))])


def rows_to_score(
    judge: AnySaved,
    shards: tuple[Shard, ...],
    output: str | Path,
    *,
    lm: AnyModel,
    **options: Unpack[Options],
) -> Iterator[RatedItem]:
    """Return all rows that ``score_shards`` would read, if nothing stands in their way.

    Raises
    ------
    FileExistsError
        If ``output`` holds something else than rows of this run, and is not to be overwritten.
    DataError
        If there are no rows.
    """
    columns = options.get("columns")
    read = {one: one.items(columns) for one in shards if one.once}
    begun = {one: [*islice(rows, 1)] for one, rows in read.items()}
    looked = {one: Given(rows.name, iter(begun[one])) for one, rows in read.items()}
    run = _scoring_run(judge, lm, output, begun=False, **options)
    targets = output_places(output, shards, ending=options.get("ending"))
    run.check([(one, tuple(looked.get(own, own) for own in one.shards)) for one in targets])
    return chain.from_iterable(
        chain(begun[one], read[one]) if one in read else one.items(columns) for one in shards
    )


def unscored_items(
    judge: AnySaved,
    shards: tuple[Shard, ...],
    output: str | Path,
    *,
    lm: AnyModel,
    **options: Unpack[Options],
) -> Iterator[RatedItem]:
    """Yield the items that ``score_shards`` would have judged, for who asks before it does.

    Raises
    ------
    FileExistsError
        If ``output`` holds something else than rows of this run, or a row for another text, and
        is not to be overwritten.
    """
    run = _scoring_run(judge, lm, output, **options)
    targets = output_places(output, shards, ending=options.get("ending"))
    yield from run.left([(target, target.shards) for target in targets])

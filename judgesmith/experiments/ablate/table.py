"""The ablation row by row, every row a compiled judge that is made once, and what it would ask."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from judgesmith.data.items import DataSet
from judgesmith.data.sheets import cell_of
from judgesmith.experiments.ablate.report import CALLS, AblationTable, table_of
from judgesmith.experiments.ablate.rows import (
    BLOCKS,
    AblationFolder,
    Block,
    FinishedRow,
    PlannedRow,
    RowCalls,
    chosen_rows,
    impossible_rows,
    planned_rows,
)
from judgesmith.experiments.compile.chosen_targets import chosen_targets
from judgesmith.experiments.compile.compiling import compile_judge
from judgesmith.experiments.compile.estimate import estimate_run
from judgesmith.experiments.compile.notes import NothingScoredError
from judgesmith.experiments.compile.settings import CompileSettings
from judgesmith.experiments.compile.split import parts_of
from judgesmith.experiments.compile.tuning import Progress
from judgesmith.experiments.scoring.estimates import NO_CALLS, RunEstimate
from judgesmith.experiments.tables import Table
from judgesmith.optimizers import PredictionTable
from judgesmith.optimizers.rows import Rows
from judgesmith.programs.artifacts.saved import SavedJudge
from judgesmith.programs.judging.runner import was_not_asked
from judgesmith.signatures import Judgement

if TYPE_CHECKING:
    import dspy

    from judgesmith.programs.lm import LMClient, Usage

__all__ = ["HOLDOUT", "AblationTable", "ablation"]

HOLDOUT = 0.75
"""Share of sources held out, as in the paper."""


def ablation(
    dataset: DataSet,
    settings: CompileSettings | None = None,
    *,
    lm: dspy.LM | None = None,
    rows: Iterable[str] | None = None,
    folder: str | Path | None = None,
    overwrite: bool = False,
    progress: Progress | None = None,
    concurrency: int = 32,
) -> AblationTable:
    """Return what each part of the method is worth on the ratings in ``dataset``.

    Every row is a judge from ``compile_judge``, with the same seed and the same rows held out.
    Rows share many questions: give a model with a ledger, or all are asked anew for every row.

    Parameters
    ----------
    dataset : DataSet
        Rated items.
    settings : CompileSettings or None
        The whole method, with one target; None takes the defaults and holds out three quarters.
    lm : dspy.LM or None
        The model; None takes DSPy's current one, or the offline model without a ledger.
    rows : iterable of str or None
        Names from ``ROWS``; None takes all.
    folder : str, Path or None
        Where rows are kept as they are finished, and the table in the end. The same run again
        makes those rows that are not there. None keeps nothing.
    overwrite : bool
        Whether ``folder`` may hold another run, which is then taken out.
    progress : callable or None
        See ``Progress``; the stages are ``rows`` and ``texts``.
    concurrency : int
        Requests under way at once.

    Returns
    -------
    AblationTable
        Of the rows that the budget reached.

    Raises
    ------
    ValueError
        If the settings or rows cannot be, or the data hold too little to learn from.
    NothingScoredError
        If no row at all could be scored, for another reason than the budget.
    FileExistsError
        If ``folder`` holds something else, or another run.
    ModelError, CacheError
        If the model cannot be asked at all, or the ledger not used. Finished rows stay.

    Examples
    --------
    >>> from judgesmith.data import read_items
    >>> quick = CompileSettings(holdout=0.5, n_rounds=1)
    >>> table = ablation(read_items("sample"), quick, rows=["coarse", "without-mcs"])
    >>> [(row.block, row.name) for row in table.rows[:2]], table.equal[0]
    ([('paper', 'coarse'), ('paper', 'without-mcs')], ('paper', ('coarse', 'without-mcs')))
    """
    from judgesmith.programs.judging.executors import current_lm, endpoint_of
    from judgesmith.programs.lm import lm_client_of

    settings = settings or CompileSettings(holdout=HOLDOUT)
    names = chosen_rows(rows)
    left_out = impossible_rows(dataset, names)
    plan = planned_rows(settings, [name for name in names if name not in left_out])
    lm = lm or current_lm()
    model, endpoint = str(lm.model), endpoint_of(lm)
    targets = chosen_targets(dataset, settings)
    heldout = parts_of(dataset, targets, settings).heldout
    assert heldout is not None  # planned rows have some held out
    run = settings.fingerprint(dataset, model, endpoint)
    client = lm_client_of(lm)
    before = 0 if client is None else client.spent.calls
    place = None
    if folder is not None:
        place = AblationFolder.opened(folder, run, spent=before, overwrite=overwrite)
    maker = _Maker(dataset, heldout, lm, client, place, concurrency, progress)
    runs = [row.settings.fingerprint(dataset, model, endpoint) for row in plan]
    finished = maker.rows(plan, runs, left_out)
    table = table_of(
        finished,
        plan,
        data=dataset.name,
        target=targets.whole.name,
        model=model,
        run=run,
        seed=settings.seed,
        left_out=left_out,
    )
    if place is not None:
        place.write(
            table=table.to_dict(),
            csv=_csv_text(table),
            markdown=table.to_markdown(),
            calls=Table(header=CALLS, rows=[list(one.values()) for one in table.calls()]),
        )
    return table


def _csv_text(table: AblationTable) -> str:
    frame = table.to_frame()
    cells = frame.map(lambda one: cell_of(one) if isinstance(one, str) else one)
    return str(cells.to_csv(index=False, lineterminator="\n"))


class _Maker:
    """Makes rows, or finds them finished."""

    def __init__(
        self,
        dataset: DataSet,
        heldout: Rows,
        lm: dspy.LM,
        client: LMClient | None,
        place: AblationFolder | None,
        concurrency: int,
        progress: Progress | None,
    ) -> None:
        self.dataset = dataset
        self.heldout = heldout
        self.lm = lm
        self.client = client
        self.place = place
        self.concurrency = concurrency
        self.progress = progress

    def rows(
        self, plan: Sequence[PlannedRow], runs: Sequence[str], left_out: dict[str, str]
    ) -> dict[tuple[Block, str], tuple[FinishedRow, PredictionTable]]:
        """Return the rows that the budget reaches; ``left_out`` is told which get no score."""
        finished: dict[tuple[Block, str], tuple[FinishedRow, PredictionTable]] = {}
        faults = []
        for row, run in zip(plan, runs, strict=True):
            try:
                made = self.row(row, run)
            except NothingScoredError as fault:
                if fault.spent:
                    break
                faults.append(fault)
                left_out[f"{row.block}/{row.name}"] = " ".join(str(fault).split())
                continue
            if made is None:
                break
            finished[row.block, row.name] = made, _judged(self.heldout, made)
            if self.progress is not None:
                self.progress("rows", 1, len(plan))
        if faults and not finished:
            raise faults[0]
        return finished

    def row(self, row: PlannedRow, run: str) -> FinishedRow | None:
        """Return a row, or None where the budget ended before it was whole."""
        keys = tuple(item.key for item in self.heldout.items)
        known = None if self.place is None else self.place.load(row, run)
        if known is not None and tuple(key for key, _ in known.heldout) == keys:
            return known
        before = None if self.client is None else self.client.usage
        found = compile_judge(
            self.dataset,
            row.settings,
            lm=self.lm,
            concurrency=self.concurrency,
            progress=self._texts,
        )
        calls = self._calls_since(before)
        judged = found.heldout_judgements
        if not found.complete or any(map(was_not_asked, judged)):
            return None
        assert isinstance(found.saved, SavedJudge)  # as no row averages prompts
        made = FinishedRow(
            saved=found.saved,
            heldout=tuple(zip(keys, (one.score for one in judged), strict=True)),
            calls=calls,
            spent=0 if self.client is None else self.client.spent.calls,
        )
        if self.place is not None:
            self.place.keep(row, made)
        return made

    def _calls_since(self, before: Usage | None) -> RowCalls | None:
        """Return the requests since then, and the questions that needed none."""
        if self.client is None or before is None:
            return None
        now = self.client.usage
        new = now.calls - before.calls
        questions = new + now.hits - before.hits
        if self.place is not None:
            # What the run has spent since its last row, in killed processes too, went into this.
            new = max(new, self.client.spent.calls - self.place.spent)
        return RowCalls(new=new, recorded=max(questions - new, 0))

    def _texts(self, stage: str, n: int, total: int | None) -> None:
        """Tell all stages of a compilation as one."""
        if self.progress is not None:
            self.progress("texts", n, None)


def _judged(heldout: Rows, row: FinishedRow) -> PredictionTable:
    """Return the rows held out as a finished row's judge scored them."""
    problem = "the judge gave no score"
    return heldout.judged(
        [
            Judgement.unscored(problem) if score is None else Judgement(score=score)
            for _, score in row.heldout
        ],
        judge_scale=row.saved.scale,
    )


def estimate_ablation(
    dataset: DataSet,
    settings: CompileSettings,
    lm: dspy.LM,
    *,
    rows: Iterable[str] | None = None,
) -> RunEstimate:
    """Return what ``ablation`` asks and costs with a ledger, which keeps the answers.

    Rows that differ in weights alone, or not at all, ask the same and are counted once. Whatever
    else rows share is counted for each of them, so that fewer calls are made.
    """
    names = chosen_rows(rows)
    left_out = impossible_rows(dataset, names)
    plan = planned_rows(settings, [name for name in names if name not in left_out])
    distinct: list[CompileSettings] = []
    for row in plan:
        if row.block == BLOCKS[0] and row.settings not in distinct:
            distinct.append(row.settings)
    return sum((estimate_run(dataset, one, lm) for one in distinct), NO_CALLS)

"""The ablation row by row, every row a compiled judge that is made once, and what it would ask."""

from __future__ import annotations

import time
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from judgesmith.data.items import DataSet
from judgesmith.data.sheets.cells import cell_of
from judgesmith.experiments.ablate.report import CALLS, AblationTable, table_of
from judgesmith.experiments.ablate.rows import (
    BLOCKS,
    Block,
    PlannedRow,
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
from judgesmith.experiments.run_folders import json_text
from judgesmith.experiments.runs.cell_result import changed
from judgesmith.experiments.runs.cell_runner import held_against, judged_by_compiled, model_usage
from judgesmith.experiments.runs.folder import JUDGE, RESULT, USAGE, Made, RunFolder, RunKind
from judgesmith.experiments.runs.heldout import HeldOutRows
from judgesmith.experiments.scoring.estimates import NO_CALLS, RunEstimate
from judgesmith.experiments.tables import Table
from judgesmith.programs.artifacts.saved import SavedJudge
from judgesmith.programs.judging.rows import usage_of
from judgesmith.results.progress import OnProgress, shows_progress, staged, tell

if TYPE_CHECKING:
    import dspy

    from judgesmith.programs.lm import LMClient

__all__ = ["HOLDOUT", "AblationTable", "ablation"]

ABLATION = RunKind(
    name="ablation",
    record="ablation.json",
    other="the ablation of another run",
    files=("table.json", "table.csv", "table.md", "calls.csv"),
)

HOLDOUT = 0.75
"""Share of sources held out, as in the paper."""


@shows_progress
def ablation(
    dataset: DataSet,
    settings: CompileSettings | None = None,
    *,
    lm: dspy.LM | None = None,
    rows: Iterable[str] | None = None,
    folder: str | Path | None = None,
    overwrite: bool = False,
    on_progress: OnProgress | None = None,
    progress: bool = True,
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
    on_progress : callable or None
        Told of every ``ProgressEvent``; the stages are ``rows`` and ``texts``.
    progress : bool
        Whether a terminal or a notebook shows a bar, where ``on_progress`` is None.
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
    >>> few = read_items("sample").subset(range(60))
    >>> table = ablation(few, quick, rows=["coarse", "without-mcs"])
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
    parts_of(dataset, targets, settings)  # refuses what no row could be made of
    run = settings.fingerprint(dataset, model, endpoint)
    client = lm_client_of(lm)
    before = 0 if client is None else client.spent.calls
    place = None
    if folder is not None:
        place = RunFolder.opened(
            folder,
            run,
            name=dataset.name,
            cells=plan,
            kind=ABLATION,
            extra={"spent": before},
            overwrite=overwrite,
            restart=overwrite,
        )
    maker = _Maker(dataset, run, lm, client, place, concurrency, on_progress)
    finished = maker.rows(plan, left_out)
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
        calls = Table(header=CALLS, rows=[list(one.values()) for one in table.calls()])
        forms = (json_text(table.to_dict()), _csv_text(table), table.to_markdown(), calls.csv())
        for name, text in zip(ABLATION.files, forms, strict=True):
            place.write(name, text)
    return table


def _csv_text(table: AblationTable) -> str:
    frame = table.to_pandas()
    cells = frame.map(lambda one: cell_of(one) if isinstance(one, str) else one)
    return str(cells.to_csv(index=False, lineterminator="\n"))


class _Maker:
    """Makes rows, or finds them finished."""

    def __init__(
        self,
        dataset: DataSet,
        run: str,
        lm: dspy.LM,
        client: LMClient | None,
        folder: RunFolder | None,
        concurrency: int,
        on_progress: OnProgress | None,
    ) -> None:
        self.dataset = dataset
        self.run = run
        self.lm = lm
        self.client = client
        self.folder = folder
        self.concurrency = concurrency
        self.on_progress = staged(on_progress)
        self.spent = 0 if folder is None else int(folder.stated["spent"])

    def rows(
        self, plan: Sequence[PlannedRow], left_out: dict[str, str]
    ) -> dict[tuple[Block, str], tuple[SavedJudge, Made]]:
        """Return the rows that the budget reaches; ``left_out`` is told which get no score."""
        finished: dict[tuple[Block, str], tuple[SavedJudge, Made]] = {}
        faults = []
        for row in plan:
            try:
                made = self._known(row) or self._made(row)
            except NothingScoredError as fault:
                if fault.spent:
                    break
                faults.append(fault)
                left_out[f"{row.block}/{row.name}"] = " ".join(str(fault).split())
                continue
            if made is None:
                break
            assert isinstance(made.saved, SavedJudge)  # as no row averages prompts
            finished[row.block, row.name] = made.saved, made
            self.spent = max(self.spent, made.usage["spent"])
            tell(staged(self.on_progress, "rows", len(plan)))
        if faults and not finished:
            raise faults[0]
        return finished

    def _known(self, row: PlannedRow) -> Made | None:
        """Return a row that was finished before, or None."""
        folder = self.folder
        result = None if folder is None else folder.result(row)
        if folder is None or result is None:
            return None
        place, usage = folder.place_of(row), result["usage"]
        saved = SavedJudge.load(place / JUDGE)
        if saved.fingerprint != result["judge"]:
            raise changed(place / RESULT, "it is not the result of the judge next to it")
        spent = usage.get("spent") if isinstance(usage, dict) else None
        if not isinstance(spent, int) or not {"calls", "recorded"} <= usage.keys():
            raise changed(place / USAGE, "it does not say what the row took")
        return Made(result=result, scores=folder.scores(row), saved=saved, usage=usage)

    def _made(self, row: PlannedRow) -> Made | None:
        """Make a row and keep it; None where the budget ended before it was whole."""
        before, begun = usage_of(self.lm), time.monotonic()
        found = compile_judge(
            self.dataset,
            row.settings,
            lm=self.lm,
            concurrency=self.concurrency,
            on_progress=staged(self.on_progress, "texts"),
        )
        usage = model_usage(before, usage_of(self.lm), time.monotonic() - begun)
        judged = judged_by_compiled(found, self.lm, self._counted(usage))
        if judged is None:
            return None
        made = held_against(
            row,
            HeldOutRows(dataset=self.dataset, targets=found.targets, places=found.heldout_places),
            found.heldout_judgements,
            judged,
            run=self.run,
            seed=row.settings.seed,
        )
        if self.folder is not None:
            self.folder.keep(row, made)
        return made

    def _counted(self, usage: dict[str, Any]) -> dict[str, Any]:
        """Return what a row took, with what the run had spent when it was made."""
        if self.client is None:
            return usage | {"calls": None, "recorded": None, "spent": 0}
        new, spent = usage["calls"], self.client.spent.calls
        if self.folder is not None:
            # What the run has spent since its last row, in killed processes too, went into this.
            new = max(new, spent - self.spent)
        questions = usage["calls"] + usage["recorded"]
        return usage | {"calls": new, "recorded": max(questions - new, 0), "spent": spent}


def estimate_ablation(
    dataset: DataSet,
    settings: CompileSettings,
    lm: dspy.LM,
    *,
    rows: Iterable[str] | None = None,
) -> RunEstimate:
    """Return what ``ablation`` asks and costs with a ledger, which keeps the answers."""
    names = chosen_rows(rows)
    left_out = impossible_rows(dataset, names)
    plan = planned_rows(settings, [name for name in names if name not in left_out])
    distinct: list[CompileSettings] = []
    for row in plan:
        if row.block == BLOCKS[0] and row.settings not in distinct:
            distinct.append(row.settings)
    return sum((estimate_run(dataset, one, lm) for one in distinct), NO_CALLS)

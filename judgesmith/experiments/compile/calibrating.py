"""A calibration on top of a compiled judge, learned on rows that nothing else was learned from."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from judgesmith.data.items import DataSet, check_dataset
from judgesmith.data.targets import Targets, targets_of
from judgesmith.errors import InputError
from judgesmith.experiments.compile.split import rows_to_fit, unseen_places
from judgesmith.optimizers import Calibrator
from judgesmith.optimizers.fitting.cross_validation import FEWEST_ROWS
from judgesmith.optimizers.rows import Rows
from judgesmith.programs import score_batch
from judgesmith.programs.artifacts.record import SavedAgreement
from judgesmith.programs.artifacts.saved_ensembles import AnySaved, SavedCalibrated
from judgesmith.programs.families.ensemble.members import CalibratedJudgement, calibrated
from judgesmith.programs.judging.runner import was_not_asked
from judgesmith.results.progress import OnProgress, shows_progress, staged
from judgesmith.signatures.aggregation import Calibration
from judgesmith.signatures.items import Aggregate
from judgesmith.signatures.judgement import Judgement

if TYPE_CHECKING:
    import dspy

CALIBRATION_SHARE = 0.3
"""Of all sources, how many ``compile --calibrate`` keeps for the calibration."""


class CalibrationError(InputError):
    """There is too little to learn a calibration from."""

    def __init__(self, message: object, *, complete: bool = True, hint: str | None = None) -> None:
        super().__init__(message, hint=hint)
        self.complete = complete


@dataclass(frozen=True, kw_only=True)
class LearnedCalibration:
    """A calibrated judge, and what a reader should know of it."""

    saved: SavedCalibrated
    notes: tuple[str, ...]
    complete: bool

    def marked(self, run: str) -> SavedCalibrated:
        """Return the saved judge with the fingerprint of the run that made it."""
        whole = bool(self.saved.settings.get("complete", True)) and self.complete
        settings = {**self.saved.settings, "run": run, "complete": whole}
        return self.saved.model_copy(update={"settings": settings})


@shows_progress
def calibrate_judge(
    judge: AnySaved,
    dataset: DataSet,
    *,
    check: DataSet | None = None,
    aggregate: Aggregate = "mean",
    confidence: float = 0.9,
    within: float | None = None,
    seed: int = 0,
    lm: dspy.LM | None = None,
    concurrency: int = 32,
    on_progress: OnProgress | None = None,
    progress: bool = True,
) -> LearnedCalibration:
    """Return a saved judge on the scale of people, with intervals, as one that can be saved.

    Parameters
    ----------
    judge : saved judge
        Of any kind.
    dataset : DataSet
        Rated items to learn from. Rows of sources that the judge was made from are left out.
    check : DataSet or None
        Rated items on which the promises are held against people; what was learned from and what
        the judge was made from is left out.
    aggregate : {"mean", "median", "mode", "unanimous"}
        How several raters become one value.
    confidence, within, seed
        As for ``Calibrator``.
    lm : dspy.LM or None
        The model; None takes DSPy's current one, or the offline model.
    concurrency : int
        Requests under way at once.
    on_progress : callable or None
        Told of every ``ProgressEvent``.
    progress : bool
        Whether a terminal or a notebook shows a bar, where ``on_progress`` is None.

    Raises
    ------
    CalibrationError
        If there is too little to learn from; of too few rows it is said before anything is asked.

    Examples
    --------
    >>> import judgesmith
    >>> data = judgesmith.read("sample")
    >>> settings = judgesmith.CompileSettings(criteria="given", optimizer="none", holdout=0.6)
    >>> found = judgesmith.compile(data, settings)
    >>> learned = calibrate_judge(found.saved, data, confidence=0.8).saved.calibration
    >>> str(learned.scale), learned.n_map + learned.n_margin
    ('1..5', 96)
    """
    check_dataset(dataset)
    targets = targets_of(dataset, judge.target, aggregate)
    _check_scale(targets, within)
    places = unseen_places(dataset, targets, judge.seen_keys)
    n_sources = len(np.unique(dataset.groups[places]))
    if n_sources < 2 or len(places) < 2 * FEWEST_ROWS:
        raise CalibrationError(
            f"a calibration needs {2 * FEWEST_ROWS} rated rows of several sources that the judge "
            f"was not made from; there are {len(places)} of {n_sources}.",
            hint="give more rated rows.",
        )
    learner = Calibrator(confidence=confidence, within=within, seed=seed)
    rows = rows_to_fit(dataset, targets, places)
    parts = learner.parts(rows)
    asking = _Asking(judge, lm, concurrency, on_progress)
    said = [asking.judged(part, "calibration") for part in parts]
    try:
        learned = learner.learned(parts[0], said[0], parts[1], said[1])
    except ValueError as fault:
        raise CalibrationError(fault, complete=asking.complete) from None
    report = None
    if check is not None:
        held = targets_of(check, judge.target, aggregate)
        known = judge.seen_keys | {item.key for item in rows.items}
        if len(kept := unseen_places(check, held, known)):
            tested = rows_to_fit(check, held, kept)
            report = _held_to(learned, tested, asking.judged(tested, "held-out rows, calibrated"))
    golden = tuple(
        one.model_copy(update={"judgement": calibrated(one.judgement, learned)})
        for one in judge.golden
    )
    saved = SavedCalibrated(
        members={"judge": judge},
        calibration=learned,
        target=judge.target,
        human_scale=targets.scale,
        agreement=SavedAgreement(**judge.agreement.plain, calibration=report),
        rows={**judge.rows, "calibrate": len(rows)},
        seen={"calibrate": tuple(sorted({item.key for item in rows.items}))},
        golden=golden,
        settings={**judge.settings, "confidence": confidence, "within": within},
    )
    return LearnedCalibration(
        saved=saved, notes=tuple(_notes(saved, report)), complete=asking.complete
    )


def _check_scale(targets: Targets, within: float | None) -> None:
    if not targets.scale.higher_is_better:
        raise CalibrationError(
            f"a calibration leads to a scale on which more is better; {targets.name} counts faults."
        )
    points = targets.scale.high - targets.scale.low
    if within is not None and within >= points:
        raise CalibrationError(
            f"scores on {targets.scale} are always within {points:g} points of the ratings; "
            "within must "
            f"be fewer than these, or None; got {within:g}."
        )


@dataclass
class _Asking:
    judge: AnySaved
    lm: dspy.LM | None
    concurrency: int
    on_progress: OnProgress | None
    complete: bool = True

    def judged(self, rows: Rows, stage: str) -> list[Judgement]:
        """Return the judgement of every row, and take note of what the budget left out."""
        tell = staged(self.on_progress, stage, len(rows))
        found = score_batch(
            self.judge, rows.items, lm=self.lm, concurrency=self.concurrency, on_progress=tell
        )
        if any(map(was_not_asked, found)):
            self.complete = False
        return found


def _held_to(learned: Calibration, rows: Rows, said: list[Judgement]) -> dict[str, Any]:
    """Return how the promises hold on rows that nothing was learned from."""
    found = [calibrated(one, learned) for one in said]
    scored = [place for place, one in enumerate(found) if one.low is not None]
    human = rows.human[scored]
    kept = np.asarray([found[place].score is not None for place in scored], dtype=bool)
    distance = [
        abs(float(score) - float(rows.human[place]))
        for place in scored
        if (score := found[place].score) is not None
    ]
    inside = [_holds(found[place], value) for place, value in zip(scored, human, strict=True)]
    return {
        "n": len(scored),
        "n_sources": len(np.unique(rows.groups[scored])),
        "covered": float(np.mean(inside)) if inside else None,
        "kept": float(np.mean(kept)) if inside else None,
        "distance": float(np.mean(distance)) if distance else None,
    }


def _holds(judgement: CalibratedJudgement, value: float) -> bool:
    low, high = judgement.low, judgement.high
    return low is not None and high is not None and low - 1e-9 <= value <= high + 1e-9


def _notes(saved: SavedCalibrated, report: dict[str, Any] | None) -> list[str]:
    """Return what a calibration promises and rests on, in sentences."""
    from judgesmith.programs.artifacts.card import calibration_lines, report_lines

    promised = calibration_lines(saved.calibration, saved.members["judge"].scale)
    return [
        f"calibration: {line.removeprefix('- ')}." for line in (*promised, *report_lines(report))
    ]

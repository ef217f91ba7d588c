"""What a reader of a compiled judge's report should know beside its numbers."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from judgesmith.data.scores import stated_notes
from judgesmith.errors import InputError
from judgesmith.experiments.compile.settings import CompileSettings
from judgesmith.experiments.compile.split import Parts
from judgesmith.experiments.compile.tuning import Tuning
from judgesmith.experiments.compile.versions import ChosenVersions
from judgesmith.experiments.evaluate.agreement import (
    CriterionReports,
    Gain,
    Report,
    unscored,
    unscored_text,
)
from judgesmith.experiments.evaluate.within_source import RANKS_NOTE
from judgesmith.metrics import Estimate, PairedEstimate, spearman
from judgesmith.metrics.perturbations.wilcoxon import FEWEST_NONZERO
from judgesmith.metrics.records import FEWEST_GROUPS
from judgesmith.metrics.resampling.shares import share_interval
from judgesmith.optimizers import PredictionTable
from judgesmith.optimizers.fitting.deciding import threshold_of
from judgesmith.optimizers.objectives.agreement import Agreement
from judgesmith.optimizers.objectives.base import Objective
from judgesmith.optimizers.objectives.verdicts import (
    ThresholdRule,
    VerdictRate,
    is_good,
    table_verdicts,
)
from judgesmith.optimizers.predictions import SCORE
from judgesmith.optimizers.rows import Rows
from judgesmith.programs import Judge
from judgesmith.programs.artifacts.card import useless_text, verdicts_text
from judgesmith.programs.artifacts.record import SavedVerdicts
from judgesmith.programs.families.ensemble.judges import Panel
from judgesmith.programs.judging.registry import family_of
from judgesmith.programs.judging.runner import read_rate_of
from judgesmith.signatures import Judgement, Scale


@dataclass(frozen=True, kw_only=True)
class ObjectiveReport:
    """An objective over one target, or its mean over several."""

    name: str
    targets: tuple[str, ...]
    # test rows that both score; None without any
    uncompiled: Estimate | Any  # None where there are no test rows
    selection: Estimate
    heldout: Estimate | Any
    gain: PairedEstimate | Any
    constraints: Mapping[str, tuple[bool, Estimate]] = field(default_factory=dict)
    grows: bool = False

    @property
    def optimism(self) -> float:
        """How much larger it is on the validation rows; nan where undefined."""
        if self.grows:
            return math.nan
        return math.nan if self.heldout is None else self.selection.value - self.heldout.value

    def to_dict(self) -> dict[str, Any]:
        parts = ("uncompiled", "selection", "heldout", "gain")
        found = {name: getattr(self, name) for name in parts}
        conditions = {
            text: {"met": met, **one.to_dict()} for text, (met, one) in self.constraints.items()
        }
        return {
            "name": self.name,
            "targets": list(self.targets),
            **{name: None if one is None else one.to_dict() for name, one in found.items()},
            "optimism": None if math.isnan(self.optimism) else self.optimism,
            **({"constraints": conditions} if conditions else {}),
        }


def objective_report(
    objective: Objective,
    targets: Sequence[str],
    *,
    selection: PredictionTable,
    heldout: tuple[PredictionTable, PredictionTable] | None,
    seed: Sequence[int],
) -> ObjectiveReport:
    """Return how large the objective became, and on rows that nothing was learned from."""

    def rng() -> np.random.Generator:
        return np.random.default_rng(seed)

    aim, table = objective.unconditional(), selection if heldout is None else heldout[1]
    constraints = {
        str(one): (one.met(table), one.estimate(table, seed=rng())) for one in objective.constraints
    }
    before: Estimate | None = None
    after: Estimate | None = None
    gain: PairedEstimate | None = None
    if heldout is not None:
        first, second = heldout
        gain = aim.gain(second, first, seed=rng()).reported()
        after, before = aim.estimate_pair(second, first, seeds=(rng(), rng()))
    return ObjectiveReport(
        name=str(objective),
        targets=tuple(targets),
        uncompiled=before,
        selection=aim.estimate(selection, seed=rng()),
        heldout=after,
        gain=gain,
        constraints=constraints,
        grows="versions" in aim.needs,
    )


def reported_objective(
    objective: Agreement,
    *,
    selection: Report,
    uncompiled: Report | None,
    heldout: Report | None,
    gain: Gain | None,
) -> ObjectiveReport:
    """Return the same for the judge's own score, from reports that hold it already."""
    level, statistic = objective.level, objective.statistic
    return ObjectiveReport(
        name=str(objective),
        targets=(SCORE,),
        uncompiled=None if uncompiled is None else uncompiled[level][statistic],
        selection=selection[level][statistic],
        heldout=None if heldout is None else heldout[level][statistic],
        gain=None if gain is None else gain[level][statistic],
    )


@dataclass(frozen=True, kw_only=True)
class VerdictReport:
    """What share of good and bad test rows a judge passes and stops, before and after compiling."""

    uncompiled: dict[str, Estimate]  # tpr, tnr, balanced_accuracy; by its own threshold
    heldout: dict[str, Estimate]
    gain: PairedEstimate  # in balanced accuracy
    n: dict[str, int]  # test rows by label
    scale: Scale
    threshold: float | None
    baseline_threshold: float | None
    why: str
    # thresholds, and their TNR and TPR where they were learned
    trade_off: tuple[tuple[float, float, float], ...] = ()

    @classmethod
    def of(
        cls,
        before: PredictionTable,
        after: PredictionTable,
        judge: Judge,
        *,
        trade_off: tuple[tuple[float, float, float], ...],
        seed: list[int],
    ) -> VerdictReport:
        """Return the report on tables of test rows with thresholds."""
        decision = judge.protocol.aggregation.decision
        assert decision is not None
        good = is_good(after)
        bad = " or ".join(one for one in decision.scale.labels if one != decision.scale.positive)
        return cls(
            uncompiled=_rates(before, seed),
            heldout=_rates(after, seed),
            gain=VerdictRate().gain(after, before, seed=np.random.default_rng(seed)).reported(),
            n={str(decision.scale.positive): int(good.sum()), bad: int((~good).sum())},
            scale=decision.scale,
            threshold=threshold_of(judge),
            baseline_threshold=before.threshold,
            why=decision.why,
            trade_off=trade_off,
        )

    def to_dict(self) -> dict[str, Any]:
        parts = {"uncompiled": self.uncompiled, "heldout": self.heldout}
        return {
            **{name: {k: v.to_dict() for k, v in one.items()} for name, one in parts.items()},
            "gain": {"balanced_accuracy": self.gain.to_dict()},
            "n": self.n,
            "threshold": self.threshold,
            "baseline_threshold": self.baseline_threshold,
            "why": self.why,
            "trade_off": [
                {"threshold": least, "tnr": tnr, "tpr": tpr} for least, tnr, tpr in self.trade_off
            ],
        }

    @property
    def headline(self) -> str:
        """What the judge does with good and bad answers, and the baseline, in two sentences."""
        saved = SavedVerdicts.model_validate(self.to_dict())
        before = saved.uncompiled
        found = (
            f"The judge {verdicts_text(saved, self.scale)}. The baseline, with a threshold learned "
            f"on the same rows, stops {before['tnr'].percent} (TNR), passes "
            f"{before['tpr'].percent} (TPR)"
        )
        gain = self.gain
        if not math.isnan(gain.low):
            found += (
                f"; balanced accuracy changes by {gain.value:+.2f} [{gain.low:+.2f}, "
                f"{gain.high:+.2f}]"
            )
        return f"{found}.{useless_text(saved.heldout)}"

    @property
    def is_useless(self) -> bool:
        """Whether the judge decides nothing."""
        return 0 in (self.heldout["tnr"].value, self.heldout["tpr"].value)


def _rates(table: PredictionTable, seed: list[int]) -> dict[str, Estimate]:
    good, passed = is_good(table), table_verdicts(table, ThresholdRule(()))
    given = ~np.isnan(passed)
    found = {
        name: share_interval(passed[rows] == wanted, sources=table.sources[rows].tolist())
        for name, rows, wanted in (("tpr", given & good, 1), ("tnr", given & ~good, 0))
    }
    both = VerdictRate().estimate(table, seed=np.random.default_rng(seed))
    return {**found, "balanced_accuracy": both}


_MORE = "More rows, more versions of each (--versions) or fewer kinds (--kinds) help."

FEW_SOURCES = 10
"""Below so many sources held out, intervals over them are not to be relied on."""


class NothingScoredError(InputError):
    """No validation row got a score, so no judge can be reported."""

    def __init__(self, message: str, *, spent: bool, rows: Mapping[str, int], target: str) -> None:
        super().__init__(message)
        self.spent = spent
        self.rows = rows
        self.target = target


def notes_on(
    settings: CompileSettings,
    judge: Judge | Panel,
    bare: Judge,
    tables: Sequence[PredictionTable],
    objective: ObjectiveReport,
    *,
    complete: bool,
) -> Iterator[str]:
    """Yield what a reader of the report should know, beside its numbers."""
    if family_of(bare.protocol.judge).ranks:
        yield RANKS_NOTE
    if complete and len(tables) > 1 and tables[1].n_unscored == tables[1].n:
        yield (f"none of the {tables[1].n} test rows has a score: do not rely on this judge.")
    n_without = sum(table.n_unscored for table in tables)
    for table, where in zip(tables, ("validation rows", "test rows"), strict=False):
        if table.n_unscored:
            yield f"of the {where}, {unscored_text(unscored(table))}."
    if n_without and complete:
        yield "unscored rows are excluded from agreement."
    if not complete:
        yield (
            "the budget ended early: the judge is incomplete, and its numbers cover only the rows "
            "scored so far. Rerun the command with a larger budget to resume."
        )
    n_held = 0 if objective.heldout is None else objective.heldout.n_groups
    if 0 < n_held < FEW_SOURCES:
        plural = "source is" if n_held == 1 else "sources are"
        few = "intervals may look narrow by chance"
        if n_held < FEWEST_GROUPS:
            few = f"intervals need at least {FEWEST_GROUPS}"
        yield f"only {n_held} {plural} held out: {few}. Rate more sources before you rely on it."
    for condition, (met, found) in objective.constraints.items():
        if not met:
            where = "validation" if len(tables) == 1 else "test"
            yield f"{condition} is not met on the {where} rows: the value is {found.value:.3f}."
    if len(tables) == 1:
        yield "no rows were held out, so agreement on new responses is unknown."
    if settings.optimizer == "none":
        yield "no optimization (--optimizer none): this is the baseline."
    elif isinstance(judge, Judge) and judge.protocol == bare.protocol:
        tried = "" if complete else " before the budget ended"
        better = "agreed better" if tables[0].is_rated else f"had a higher {objective.name}"
        surely = "" if settings.confirm is None else " by more than chance"
        yield f"this is the baseline: no candidate{tried} {better}{surely}."
    elif (gain := objective.gain) is not None and not (gain.is_clear and gain.low > 0):
        yield f"the gain in {objective.name} is not significant: its interval {unclear_text(gain)}."


def unclear_text(gain: PairedEstimate) -> str:
    """Return the note about the interval of a gain that may be zero."""
    if gain.has_few_groups:
        return f"needs at least {FEWEST_GROUPS} sources, and there are {gain.n_groups}"
    if gain.low != gain.low:
        return "is undefined"
    few = f", but p is {gain.p_value:.3f} with only {gain.n_groups} sources"
    # A low end just below 0 is none of -0.000.
    return f"begins at {round(gain.low, 3) + 0.0:.3f}{few if gain.low > 0 else ''}"


def criteria_notes(
    judgements: Sequence[Judgement], agreement: CriterionReports | None
) -> Iterator[str]:
    """Yield what speaks against the judge's scores."""
    columns: dict[tuple[float | None, ...], list[str]] = {}
    for name in judgements[0].criteria if judgements else ():
        column = tuple(
            one.criteria[name].score if name in one.criteria else None for one in judgements
        )
        columns.setdefault(column, []).append(name)
    for column, names in columns.items():
        if len(names) > 1 and len(set(column)) > 1:
            yield (
                f"{' and '.join(names)} have the same score on all {len(column)} rows. Make their "
                "definitions more distinct, or drop one."
            )
    for name, report in (agreement.reports if agreement else {}).items():
        found = report["dataset"]["pearson"]
        if found.high < 0:
            yield (
                f"on {name} the judge's scores fall where human ratings rise (Pearson "
                f"{found.value:.2f} [{found.low:.2f}, {found.high:.2f}]): check its definition."
            )
    yield from stated_notes(judgements)


def nothing_scored(
    work: Tuning, selection: PredictionTable, *, rows: Mapping[str, int], target: str
) -> NothingScoredError:
    """Return why there is no judge: the first rows that were asked about come first."""
    whys = [f"of the validation rows, {unscored_text(unscored(selection))}"]
    if work.pool is not None and work.pool.n_unscored:
        whys.insert(0, f"of the few-shot pool, {unscored_text(unscored(work.pool))}")
    answers = read_rate_of(work.lm)
    if answers.nothing:
        whys.insert(0, f"no answer of the model could be parsed, for example: {answers.example}")
    told = "; ".join(why.rstrip(".") for why in whys)
    return NothingScoredError(
        f"no validation row has a score, so there is no judge to report: {told}",
        spent=not (work.complete or answers.nothing),
        rows=rows,
        target=target,
    )


def taught_note(taught: frozenset[str], heldout: Rows | None) -> list[str]:
    """Return that rows held out have taught the rubric, where some have."""
    n = 0 if heldout is None else sum(item.key in taught for item in heldout.items)
    if heldout is None or not n:
        return []
    return [
        f"the rubric was inferred from {n} of the {len(heldout)} test rows, so their agreement is "
        "optimistic; infer it with the same target, seed and share of test rows."
    ]


def versions_notes(parts: Parts, *, rated: bool) -> list[str]:
    """Return what is to be known of changed versions of texts, where they were judged."""
    if parts.versions is None:
        return []
    told = []
    if not rated:
        told.append(
            "the data has no ratings, so agreement is unknown: the judge has no demonstrations, "
            "inferred criteria or learned weights, and was selected by its sensitivity to changes. "
            "Rate some responses before you trust its scores."
        )
    return told + notes_on_versions(parts.versions, parts.selection, parts.heldout)


def notes_on_versions(chosen: ChosenVersions, selection: Rows, heldout: Rows | None) -> list[str]:
    """Return how many versions there are of the rows, and which kinds there are too few of."""
    told = []
    n_versions = len(selection.texts) - len(selection)
    origin = "made by rules" if chosen.made else "taken from the data"
    told.append(
        f"{n_versions} changed versions of the {len(selection)} validation rows were "
        f"{origin}: {len(selection.kinds)} kinds of change, "
        + ("all of each row." if chosen.per_row == 0 else f"{chosen.per_row} of each row in turn.")
    )
    few = [kind.name for kind in chosen.seen if kind not in selection.kinds]
    if few:
        told.append(
            f"fewer than {FEWEST_NONZERO} validation rows have a version of "
            f"{', '.join(few)}: too few to test, so left out. {_MORE}"
        )
    for rows, where in ((selection, "validation"), (heldout, "test")):
        if rows is None:
            continue
        n_fewest = min(rows.versioned.sum(axis=0).tolist(), default=0)
        if n_fewest < FEWEST_NONZERO:
            told.append(
                f"of the {where} rows, {n_fewest} have a version of the rarest kind, and D cannot "
                f"reach 1 below {FEWEST_NONZERO}. {_MORE}"
            )
    return told


def known_note(parts: Parts) -> list[str]:
    """Return that rows which an earlier judge has seen, or that were chosen, are not held out."""
    n_left = 0 if parts.heldout is None else len(parts.heldout)
    left = f"{n_left or 'none'} {'is' if n_left == 1 else 'are'} left"
    found = []
    for n, whose in (
        (parts.n_known, "the earlier judge was made from"),
        (parts.n_chosen, "suggest chose, which are no random sample"),
    ):
        if n:
            rows, share, were = ("row", "shares", "was") if n == 1 else ("rows", "share", "were")
            found.append(
                f"{n} {rows} that would have been held out {share} a source with rows that "
                f"{whose}, and {were} learned from instead; {left}."
            )
    return found


FOLLOWS_LENGTH = 0.9
"""Spearman correlation of scores with lengths from which a note warns."""

FEWEST_LENGTHS = 10
"""Rows that it takes: of fewer, chance makes such a correlation too often."""


def length_note(heldout: Rows | None, judgements: Sequence[Judgement]) -> Iterator[str]:
    """Yield a warning if scores on test rows say little more than how long a response is."""
    if heldout is None:
        return
    scored = [
        (len(item.response), one.score)
        for item, one in zip(heldout.items, judgements, strict=True)
        if one.score is not None
    ]
    if len(scored) < FEWEST_LENGTHS:
        return
    found = spearman(*zip(*scored, strict=True))
    if abs(found) >= FOLLOWS_LENGTH:
        longer = "longer" if found > 0 else "shorter"
        yield (
            f"the scores follow length: {longer} test responses score higher (Spearman "
            f"{found:.2f}). Do not trust the judge with responses of other lengths before "
            "'judgesmith discern' has tested it."
        )

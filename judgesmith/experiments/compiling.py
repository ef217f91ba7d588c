"""Compiling a judge: split, search, fit, then report on rows that nothing was learned from."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from judgesmith.experiments.agreeing import Gain, Report, agreement_report, gain_report, plain
from judgesmith.experiments.dataset import DataSet
from judgesmith.experiments.parts import Parts, examples_of, parts_of
from judgesmith.experiments.settings import CompileSettings
from judgesmith.experiments.targets import targets_of
from judgesmith.optimizers import (
    FitAggregation,
    JudgedTable,
    RandomDemonstrationSearch,
    parse_objective,
)
from judgesmith.optimizers.rows import Rows
from judgesmith.programs import ActiveCritic, Judge, judge_items
from judgesmith.programs.saved import GoldenItem, SavedJudge
from judgesmith.signatures import Judgement, RatedItem

if TYPE_CHECKING:
    import dspy

Progress = Callable[[str, int, int], None]
"""Told a stage's name, items finished since the last call, and items of the stage in all."""


@dataclass(frozen=True, kw_only=True, eq=False)
class Compiled:
    """A compiled judge and how well it agrees with people.

    Attributes
    ----------
    saved : SavedJudge
        The judge as plain data; ``saved.program()`` is the module.
    uncompiled, heldout : Report or None
        Agreement on the rows held out, before and after; None without such rows.
    gain : Gain or None
        Their paired difference.
    selection : Report
        Agreement of the judge on the rows it was chosen by.
    examples : tuple of (RatedItem, float, Judgement)
        A good and a bad response with what people said and what the judge says.
    notes : tuple of str
        What a reader should know, in sentences.
    """

    saved: SavedJudge
    uncompiled: Report | None
    heldout: Report | None
    gain: Gain | None
    selection: Report
    examples: tuple[tuple[RatedItem, float, Judgement], ...]
    notes: tuple[str, ...]


def compile_judge(
    dataset: DataSet,
    settings: CompileSettings | None = None,
    *,
    lm: dspy.LM | None = None,
    concurrency: int = 32,
    progress: Progress | None = None,
) -> Compiled:
    """Return a judge that agrees with the ratings in ``dataset`` as well as the search can make it.

    Parameters
    ----------
    dataset : DataSet
        Rated items.
    settings : CompileSettings or None
        None takes the defaults.
    lm : dspy.LM or None
        The model; None takes DSPy's current one, or the offline model.
    concurrency : int
        Items judged at the same time.
    progress : callable or None
        See ``Progress``.

    Raises
    ------
    ValueError
        If the data holds too little to learn from; the message says what is missing.

    Examples
    --------
    >>> from judgesmith.experiments import read_items
    >>> from judgesmith.experiments.samples import sample_path
    >>> data = read_items(sample_path())
    >>> found = compile_judge(data, CompileSettings(n_rounds=2))
    >>> found.saved.target, found.heldout["dataset"]["q"].n > 0
    ('overall', True)
    """
    from judgesmith.programs.asking import current_lm

    settings = settings or CompileSettings()
    lm = lm or current_lm()
    targets = targets_of(dataset, settings.target, settings.aggregate)
    parts = parts_of(dataset, targets, settings)
    work = _Work(settings=settings, lm=lm, concurrency=concurrency, progress=progress)
    plain_judge = ActiveCritic(settings.protocol)
    judge, history, notes = work.optimized(plain_judge, parts)
    selection = work.table(judge, parts.selection, "selection rows")
    rng = np.random.default_rng([settings.seed, 12])
    selection_report = agreement_report(selection, rng=rng)
    uncompiled = heldout = gain = None
    shown: list[tuple[RatedItem, float, Judgement]] = []
    unscored = selection.n_unscored
    if parts.heldout is not None:
        before = work.table(plain_judge, parts.heldout, "held-out rows, uncompiled")
        judgements = work.judged(judge, parts.heldout, "held-out rows")
        after = parts.heldout.judged(judgements)
        uncompiled, heldout = agreement_report(before, rng=rng), agreement_report(after, rng=rng)
        gain = gain_report(after, before, rng=rng)
        unscored += after.n_unscored
        shown = _good_and_bad(parts.heldout, judgements)
    else:
        notes.append("no rows were held out, so nothing is known about unseen texts.")
    if judge.protocol == plain_judge.protocol:
        notes.append(
            "nothing that was tried agreed better with people: this is the judge as it was."
        )
    saved = SavedJudge(
        protocol=judge.protocol,
        questions=judge.templates(),
        model=str(lm.model),
        target=targets.name,
        human_scale=targets.scale,
        agreement={
            "uncompiled": plain(uncompiled),
            "selection": plain(selection_report),
            "heldout": plain(heldout),
            "gain": plain(gain),
            "optimism": _optimism(selection_report, heldout),
        },
        rows={
            "train": 0 if parts.pool is None else len(parts.pool),
            "select": len(parts.selection),
            "heldout": 0 if parts.heldout is None else len(parts.heldout),
            "unrated": targets.n_unrated,
            "unscored": unscored,
        },
        seen={
            "train": () if parts.pool is None else _keys(parts.pool),
            "select": _keys(parts.selection),
        },
        golden=tuple(
            GoldenItem(
                source=item.source, context=item.context, response=item.response, judgement=found
            )
            for item, _, found in (shown if settings.texts else [])
        ),
        history=tuple(history),
        settings={
            **settings.model_dump(mode="json", exclude={"protocol"}),
            "run": settings.fingerprint(dataset, str(lm.model)),
        },
    )
    return Compiled(
        saved=saved,
        uncompiled=uncompiled,
        heldout=heldout,
        gain=gain,
        selection=selection_report,
        examples=tuple(shown[:2]),
        notes=tuple(notes),
    )


@dataclass(frozen=True, kw_only=True)
class _Work:
    """Asks the model on behalf of one compilation and says how far it is."""

    settings: CompileSettings
    lm: Any
    concurrency: int
    progress: Progress | None

    def judged(self, judge: Judge, rows: Rows, stage: str) -> list[Judgement]:
        tell = self._tell(stage, len(rows))
        return judge_items(
            judge, rows.items, lm=self.lm, concurrency=self.concurrency, progress=tell
        )

    def table(self, judge: Judge, rows: Rows, stage: str) -> JudgedTable:
        return rows.judged(self.judged(judge, rows, stage))

    def optimized(
        self, judge: Judge, parts: Parts
    ) -> tuple[Judge, list[Mapping[str, Any]], list[str]]:
        """Return the best judge found, what was tried, and what to say about it."""
        settings = self.settings
        if settings.optimizer == "none":
            return judge, [], []
        objective = parse_objective(settings.objective)
        history: list[Mapping[str, Any]] = []
        common = {"objective": objective, "lm": self.lm, "concurrency": self.concurrency}
        if parts.pool is not None:
            n_items = settings.n_rounds * len(parts.selection) + len(parts.pool)
            search = RandomDemonstrationSearch(
                **common,
                n_demonstrations=settings.n_demonstrations,
                n_rounds=settings.n_rounds,
                seed=settings.seed,
                progress=self._tell("demonstrations", n_items),
            )
            judge = search.compile(
                judge, trainset=examples_of(parts.pool), valset=examples_of(parts.selection)
            )
            history += [_trial("demonstrations", trial) for trial in search.trials_]
        n_items = sum(len(rows) for rows in parts.tuning)
        fit = FitAggregation(
            **common,
            lexical=self._lexical,
            seed=settings.seed,
            progress=self._tell("aggregation", n_items),
        )
        judge = fit.compile(
            judge, trainset=[one for rows in parts.tuning for one in examples_of(rows)]
        )
        history += [_trial("aggregation", trial) for trial in fit.trials_]
        return judge, history, _lexical_note(fit)

    @property
    def _lexical(self) -> bool:
        chosen = self.settings.lexical
        return str(self.lm.model) == "offline" if chosen is None else chosen

    def _tell(self, stage: str, total: int) -> Callable[[int], None] | None:
        progress = self.progress
        if progress is None:
            return None
        return lambda n: progress(stage, n, total)


def _keys(rows: Rows) -> tuple[str, ...]:
    return tuple(sorted({item.key for item in rows.items}))


def _trial(stage: str, trial: Any) -> dict[str, Any]:
    from dataclasses import asdict

    found = {name: None if value != value else value for name, value in asdict(trial).items()}
    return {"stage": stage, **found}


def _lexical_note(fit: FitAggregation) -> list[str]:
    by_name = {trial.name: trial for trial in fit.trials_}
    lexical = by_name.get("lexical")
    if lexical is None or lexical.allowed:
        return []
    add = lexical.value - by_name[fit.chosen_].value
    return [
        f"lexical features would change the cross-validated {fit.objective} by {add:+.3f}; "
        "allow them with --lexical."
    ]


def _optimism(selection: Report, heldout: Report | None) -> dict[str, dict[str, Any]] | None:
    """Return how much better the judge looks on the rows it was chosen by."""
    if heldout is None:
        return None
    return {
        level: {
            statistic: None
            if (gap := chosen.value - heldout[level][statistic].value) != gap
            else gap
            for statistic, chosen in row.items()
        }
        for level, row in selection.items()
    }


def _good_and_bad(
    rows: Rows, judgements: Sequence[Judgement]
) -> list[tuple[RatedItem, float, Judgement]]:
    """Return scored rows: best and worst first, then ones in between, five at most."""
    scored = [place for place, one in enumerate(judgements) if one.score is not None]
    ordered = sorted(scored, key=lambda place: (-(judgements[place].score or 0.0), place))
    if not ordered:
        return []
    places = [0, len(ordered) - 1, len(ordered) // 2, len(ordered) // 4, 3 * len(ordered) // 4]
    chosen = list(dict.fromkeys(ordered[place] for place in places))
    return [(rows.items[i], float(rows.human[i]), judgements[i]) for i in chosen]

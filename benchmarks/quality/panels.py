"""What a panel of annotators adds to its members, offline: Q on held-out ratings.

On SummEval, Topical-Chat, QAGS (CNN/DM) and Wiki-DA five annotators judge every response once; none
has learned from ratings. They ask one offline model, classical statistics of texts, and differ in
what they are shown and asked, as five models would differ in what they know. Seeds divide the
sources in halves: one to learn weights from and to tell the best member by, one to report on.

One row per set has means over the seeds of Q (Pearson + Spearman + Kendall's tau-b, over all
held-out rows): of the members on average; of the one that is best on the other half; of the panel,
by mean, by median and with learned weights; in how many seeds the mean is better than the mean
member; and which place it has among all 31 subsets of the five, plainly averaged. A second table
has every member's own Q. A member that gives all responses the same has none, and is left out.

Run it as ``nice python benchmarks/panels.py [--seeds 5] [--sources N]``; it takes a few minutes.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean
from typing import Annotated

import numpy as np

from benchmarks.harness import Row, benchmark, rated
from judgesmith.data import targets_of
from judgesmith.experiments.compile.human_criteria import human_rubric
from judgesmith.experiments.panel.notes import subset_analysis
from judgesmith.metrics import q
from judgesmith.optimizers.fitting.panels import PanelSelection
from judgesmith.optimizers.rows import Rows, split_by_source
from judgesmith.programs import score_batch
from judgesmith.programs.families.modules import AnnotatorJudge
from judgesmith.signatures import Rubric, Scale
from judgesmith.signatures.aggregation import PanelWeights
from judgesmith.signatures.rubric import DEFAULT_RUBRIC

TASKS = {
    "summeval": Rubric(task="A news article is summarised.", task_type="summarization"),
    "topical_chat": Rubric(
        task="A conversation is continued by one turn, with a fact at hand.", task_type="dialogue"
    ),
    "qags_cnndm": Rubric(task="A news article is summarised.", task_type="summarization"),
    "wiki_da": Rubric(task="A sentence is said in simpler words.", task_type="simplification"),
}
MEMBERS: Mapping[str, Callable[[Rubric], AnnotatorJudge]] = {
    "all shown": lambda rubric: AnnotatorJudge(rubric=rubric),
    "source shown": lambda rubric: AnnotatorJudge(rubric=rubric, shown="source"),
    "response alone": lambda rubric: AnnotatorJudge(rubric=rubric, shown="response"),
    "the whole": lambda rubric: AnnotatorJudge(rubric=rubric, asks="overall"),
    "general criteria": lambda rubric: AnnotatorJudge(
        rubric=DEFAULT_RUBRIC.model_copy(update={"task": rubric.task})
    ),
}
PERCENT = Scale(low=0, high=100)
Scores = Mapping[str, Sequence[float | None]]


@dataclass(frozen=True, kw_only=True)
class Found:
    """What one division of the sources gives: held-out Q, and the panel's place among subsets."""

    members: Mapping[str, float]
    best: float
    mean: float
    median: float
    learned: float
    place: float
    n_heldout: int

    @property
    def member(self) -> float:
        """Mean Q of the members, without those that give all responses the same."""
        return mean_of_defined(self.members.values())


def mean_of_defined(values: Iterable[float]) -> float:
    """Return the mean of what is defined, nan where nothing is."""
    defined = [value for value in values if not math.isnan(value)]
    return fmean(defined) if defined else math.nan


def judged(name: str, n_sources: int | None) -> tuple[Rows, Scores, int]:
    """Return the rated rows of a set, every member's score of each, and scores that are missing."""
    data = rated(name, n_sources)
    targets = targets_of(data)
    places = targets.rated
    items = tuple(data.items[place] for place in places)
    rows = Rows(
        items=items,
        human=targets.values[places],
        groups=data.groups[places],
        systems=np.asarray([item.system_id for item in items]),
        scale=targets.scale,
    )
    rubric = human_rubric(data, rubric=TASKS[name]).rubric
    scores = {
        member: [one.score for one in score_batch(made(rubric), items)]
        for member, made in MEMBERS.items()
    }
    return rows, scores, sum(one is None for given in scores.values() for one in given)


def agreement(scores: Iterable[float | None], human: np.ndarray) -> float:
    """Return Q over the rows that have a score."""
    pairs = [(one, rated) for one, rated in zip(scores, human, strict=True) if one is not None]
    return float(q([rated for _, rated in pairs], [one for one, _ in pairs]))


def run(rows: Rows, scores: Scores, seed: int) -> Found:
    """Return what one division of the sources gives."""
    rng = np.random.default_rng(seed)
    split = split_by_source(rows.groups, rows.human, holdout=0.5, rng=rng)
    tuning, held = rows.take(split.tuning), rows.take(split.heldout)
    known = {name: [given[i] for i in split.tuning] for name, given in scores.items()}
    told = {name: [given[i] for i in split.heldout] for name, given in scores.items()}
    scales = dict.fromkeys(scores, PERCENT)
    by_tuning = {name: agreement(given, tuning.human) for name, given in known.items()}
    best = max(by_tuning, key=lambda name: (not math.isnan(by_tuning[name]), by_tuning[name]))

    def together(weights: PanelWeights) -> float:
        at = range(len(held))
        row = [weights.apply({name: given[i] for name, given in told.items()}) for i in at]
        return agreement(row, held.human)

    subsets = subset_analysis(held, told, scales, statistics=("q",))
    return Found(
        members={name: agreement(given, held.human) for name, given in told.items()},
        best=agreement(told[best], held.human),
        mean=together(PanelWeights.equal(scales)),
        median=together(PanelWeights.equal(scales, "median")),
        learned=together(PanelSelection(seed=seed).choose(tuning, known)),
        place=subsets.place_of(subsets.whole),
        n_heldout=len(held),
    )


COLUMNS = {"mean member": "member", "best by the other half": "best"} | {
    name: name for name in ("mean", "median", "learned")
}


@benchmark(
    quick={"seeds": 1, "sources": 4, "sets": ("topical_chat",)},
    formats={"held out": ".0f", "place of 31": ".1f"},
)
def panels(
    *,
    seeds: int = 5,
    sources: Annotated[int | None, "take only so many sources of each set"] = None,
    sets: tuple[str, ...] = tuple(TASKS),
) -> Iterator[Row]:
    """What a panel of annotators adds to its members, offline: Q on held-out ratings."""
    members: list[Row] = []
    for name in sets:
        rows, scores, n_missing = judged(name, sources)
        found = [run(rows, scores, seed) for seed in range(seeds)]
        row: Row = {"set": name, "held out": fmean(one.n_heldout for one in found)}
        yield row | {
            column: mean_of_defined(getattr(one, part) for one in found)
            for column, part in COLUMNS.items()
        }
        own: Row = {one: mean_of_defined(run.members[one] for run in found) for one in MEMBERS}
        wins = sum(one.mean > one.member for one in found)
        row = {"set": name, "panel better than mean member": f"{wins} of {seeds}"}
        row |= {"place of 31": fmean(one.place for one in found), "scores missing": n_missing}
        members.append(row | own)
    yield from members

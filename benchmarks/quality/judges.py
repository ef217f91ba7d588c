"""All judges beside each other, offline: agreement within sources by criterion, and calls.

Sources of SummEval and Topical-Chat are drawn by a seed. A judge is asked about each criterion by
itself, by a rubric that has this criterion alone, or where its row says so once about all of them;
no judge has learned from ratings. Each set has one row per judge: Spearman's correlation with the
mean of the ratings within sources, averaged over sources, with a 95 % interval over them; requests
sent per response and criterion, from an empty ledger and as the stack under the model counted them,
also those for what is written before judging; on how many sources and criteria there is no
correlation because people, or the judge, gave all responses the same; and what share of the scores
is missing, with the reason that most of them have. The model is the offline one: classical
statistics of texts. BERTScore has a row where ``$JUDGESMITH_WEIGHTS`` names a folder of weights.
"""

from __future__ import annotations

import os
import tempfile
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Any

import numpy as np

import judgesmith
from benchmarks.harness import Row as TableRow
from benchmarks.harness import benchmark, rated
from judgesmith.data import DataSet, targets_of
from judgesmith.experiments.compile.human_criteria import human_rubric
from judgesmith.metrics.correlation import agreement, agreement_interval
from judgesmith.programs import family_of
from judgesmith.programs.families.reference import PLACES
from judgesmith.programs.lm import lm_client_of
from judgesmith.signatures import Judgement, Rubric

TASKS = {
    "summeval": Rubric(task="A news article is summarised.", task_type="summarization"),
    "topical_chat": Rubric(
        task="A conversation is continued by one turn, with a fact at hand.", task_type="dialogue"
    ),
}


@dataclass(frozen=True, kw_only=True)
class Row:
    """A judge of the table: its family, what is chosen about it, and what to call that.

    ``gather``: it judges each response once, by a rubric of all criteria; what it gives no score
    of its own has its score of the whole.
    """

    family: str
    about: str = ""
    choices: Mapping[str, Any] = field(default_factory=dict)
    together: bool = False

    @property
    def name(self) -> str:
        """What the table calls it."""
        return f"`{self.family}`{self.about and ', '}{self.about}"


_NUMBERS = {"answers": "1..5", "severity": "words"}
_BY_WEIGHTS = ("bertscore",) if os.environ.get(PLACES) else ()

ROWS = (
    Row(family="active-critic"),
    Row(family="active-critic", about="all criteria in one answer", together=True),
    Row(
        family="active-critic",
        about="vanilla, shows no criteria",
        choices={"variant": "vanilla"},
        together=True,
    ),
    Row(family="direct", choices={"asks": "criteria"}),
    Row(family="explain-eval"),
    Row(family="g-eval"),
    Row(family="g-eval", about="stated scores", choices={"weighting": "none"}),
    Row(family="checklist"),
    Row(family="checklist", about="stated answers", choices={"weighting": "none"}),
    Row(family="prometheus"),
    Row(family="themis"),
    Row(family="auto-j"),
    Row(family="annotator"),
    Row(family="annotator", about="1 to 5, severity in words", choices=_NUMBERS),
    Row(family="annotator", about="without rules", choices={"rules": "off"}),
    Row(family="gptscore", choices={"asks": "criteria"}),
    Row(family="exemplar", about="5 levels", choices={}),
    Row(family="exemplar", about="9 levels", choices={"levels": 9}),
    Row(family="exemplar", about="yes-no", choices={"form": "yes-no"}),
    Row(family="exemplar", about="both orders", choices={"order": "both"}),
    Row(family="pairs", about="beam"),
    Row(family="pairs", about="all", choices={"ranking": "all"}),
    *(
        Row(family="reference", about=metric, choices={"metric": metric}, together=True)
        for metric in ("rouge1", "rouge2", "rougeL", "bleu", "chrf", "meteor", *_BY_WEIGHTS)
    ),
)
NOT_ASKED = {
    "`PreferenceJudge`": "gives two responses a probability, not each a score; see `pairs`",
    "`--optimizer balanced`": "chooses wordings of a judge, and the offline model reads none",
}
if not _BY_WEIGHTS:
    NOT_ASKED["`reference`, bertscore"] = f"needs weights of a language model: set ${PLACES}"


def drawn(data: DataSet, n: int, seed: int) -> DataSet:
    """Return all responses to ``n`` of the sources, in the order of the file."""
    sources = np.unique(data.groups)
    kept = np.random.default_rng(seed).permutation(sources)[:n]
    return data.subset(np.flatnonzero(np.isin(data.groups, kept)))


def judged(row: Row, data: DataSet, names: list[str] | None) -> tuple[list[Judgement], int]:
    """Return judgements by the criteria of these names, or by all, and the requests sent."""
    rubric = human_rubric(data, names=names, rubric=TASKS[data.name]).rubric
    with tempfile.TemporaryDirectory() as folder:
        lm = judgesmith.model("offline", ledger=Path(folder) / "ledger.sqlite")
        judge, _ = family_of(row.family).start(rubric, **row.choices).prepared(lm)
        found = judgesmith.score_batch(judge, data, lm=lm)
        stack = lm_client_of(lm)
        assert stack is not None
        return found, stack.spent.calls


def by_criterion(row: Row, data: DataSet) -> tuple[dict[str, list[Judgement]], int]:
    """Return the judgements behind each criterion's scores, and all requests sent."""
    if row.together:
        once, n_calls = judged(row, data, None)
        return dict.fromkeys(data.criteria, once), n_calls
    apart = {name: judged(row, data, [name]) for name in data.criteria}
    return {name: one for name, (one, _) in apart.items()}, sum(n for _, n in apart.values())


def line(row: Row, data: DataSet) -> TableRow:
    """Return a judge's row."""
    judgements, n_calls = by_criterion(row, data)
    cells: TableRow = {"judge": row.name}
    n_undefined, missing = 0, Counter[str]()
    for criterion, given in judgements.items():
        own = [one.criteria.get(criterion, one) for one in given]
        scores = np.array([np.nan if one.score is None else one.score for one in own])
        missing.update(
            (whole.problem or "no score of the criterion").split(",")[0]
            for whole, one in zip(given, own, strict=True)
            if one.score is None
        )
        people = targets_of(data, criterion).values
        n_undefined += agreement(
            people, scores, sources=data.groups, statistic="spearman", level="sample"
        ).n_undefined
        cells[criterion] = agreement_interval(
            people,
            scores,
            sources=data.groups,
            statistic="spearman",
            level="sample",
            seed=0,
        )
    n_asked = len(data) * len(data.criteria)
    said = missing.most_common(1)[0][0] if missing else ""
    lacks = f"{missing.total() / n_asked:.0%}: {said}" if missing else "0"
    cells |= {"calls": n_calls / n_asked, "no correlation": n_undefined}
    return cells | {"unscored": lacks}


CRITERIA = ("coherence", "consistency", "fluency", "relevance")
CRITERIA += ("naturalness", "engagingness", "groundedness", "understandability", "overall")


@benchmark(
    quick={"sets": ("topical_chat",), "sources": 2, "only": ("direct", "reference")},
    formats=dict.fromkeys((*CRITERIA, "calls"), ".2f"),
)
def judges(
    *,
    sets: tuple[str, ...] = tuple(TASKS),
    sources: Annotated[int, "of each set, drawn by the seed"] = 40,
    seed: int = 0,
    only: Annotated[tuple[str, ...], "families"] = (),
) -> Iterator[TableRow]:
    """All judges beside each other, offline: agreement within sources by criterion, and calls."""
    for name in sets:
        data = drawn(rated(name), sources, seed)
        for row in ROWS:
            if not only or row.family in only:
                yield {"set": name} | line(row, data)
        for other, why in NOT_ASKED.items():
            empty = dict.fromkeys((*data.criteria, "calls", "no correlation"))
            yield {"set": name, "judge": other} | empty | {"unscored": why}

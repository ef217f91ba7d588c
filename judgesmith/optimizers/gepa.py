"""Evolution of a judge's texts by a model that reads where it contradicts people."""

from __future__ import annotations

import contextlib
import io
import json
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any, NamedTuple, Unpack

import dspy
import numpy as np

from judgesmith.errors import InputError
from judgesmith.metrics.correlation import worst_pairs
from judgesmith.optimizers.base import (
    OFFLINE,
    SearchSettings,
    Texts,
    TextSearch,
    judge_texts,
    part_text,
    problem_with,
    with_texts,
)
from judgesmith.optimizers.objectives.base import Objective
from judgesmith.optimizers.objectives.grammar import AnyObjective
from judgesmith.optimizers.predictions import SCORE, FloatArray, PredictionTable, on_criterion
from judgesmith.optimizers.rows import ROWS_PER_DEMONSTRATION, Rows
from judgesmith.optimizers.search.racing import OutOfBudget
from judgesmith.optimizers.space.candidates import AskedHow
from judgesmith.optimizers.trials import TrialRecord, rank_of
from judgesmith.programs.judging.ask_once import Rewriter
from judgesmith.programs.judging.executors import with_own_models
from judgesmith.programs.judging.judge import Judge
from judgesmith.programs.lm import BudgetSpent
from judgesmith.programs.lm.limits import STOPPING
from judgesmith.signatures.fences import unix_lines
from judgesmith.signatures.items import RatedItem
from judgesmith.signatures.judgement import Judgement
from judgesmith.signatures.rubric import folded
from judgesmith.signatures.scale import PERCENT, Scale

if TYPE_CHECKING:
    from gepa.core.adapter import EvaluationBatch


N_PAIRS, N_ROWS = 3, 4  # pairs and rows that are shown at most: about as much as a long article

_WORDS = "rater's words"

LONGEST_SHOWN = 1000  # characters shown of each text; what is left out of its middle is said


@dataclass(frozen=True, kw_only=True, eq=False)
class Feedback:
    """Rows as a judge scored them, with what each adds to the objective."""

    rows: Rows
    judgements: Sequence[Judgement]
    parts: FloatArray
    target: str = SCORE
    judge_scale: Scale = PERCENT
    within_sources: bool = False

    @cached_property
    def verdicts(self) -> list[Judgement]:
        if self.target == SCORE:
            return list(self.judgements)
        return on_criterion(self.judgements, self.target)

    @cached_property
    def said(self) -> FloatArray:
        return self.rows.said(self.target)

    def pairs_json(self) -> str:
        rated = np.flatnonzero(~np.isnan(self.said))
        predicted = np.asarray([v.score for v in self.verdicts], float)  # None is nan
        if np.count_nonzero(~np.isnan(predicted[rated])) < 2:
            return "[]"
        groups = self.rows.groups[rated].tolist() if self.within_sources else None
        kinds = (
            worst_pairs(self.said[rated], predicted[rated], sources=groups, n=N_PAIRS, kind=kind)
            for kind in ("reversed", "tied")
        )
        found = next((pairs for pairs in kinds if pairs), ())
        return _json([self._pair(int(rated[p.better]), int(rated[p.worse])) for p in found])

    def rows_json(self) -> str:
        """Return the rows that add least to the objective, and those without a score, as JSON."""
        order = np.argsort(np.where(np.isnan(self.parts), np.inf, self.parts), kind="stable")
        lowest = [int(row) for row in order if not np.isnan(self.parts[row])][:N_ROWS]
        failed = [row for row, one in enumerate(self.verdicts) if one.score is None][:N_ROWS]
        return _json([self._row(row) for row in [*failed, *lowest][:N_ROWS]])

    def _pair(self, better: int, worse: int) -> dict[str, Any]:
        people, own = self._scales
        points = [f"{self.verdicts[row].score:g}" for row in (better, worse)]
        first, second = (self.rows.items[row] for row in (better, worse))
        told = (
            f"Response A was rated {self.said[better]:g} by people ({people}) and {points[0]} by "
            f"the judge ({own}); response B was rated {self.said[worse]:g} by people and "
            f"{points[1]} by the judge."
        )
        if (first.source, first.context) == (second.source, second.context):
            answers = {"response A": _cut(first.response), "response B": _cut(second.response)}
            said = {f"{_WORDS} of A": self._words(better), f"{_WORDS} of B": self._words(worse)}
            words = {name: text for name, text in said.items() if text}
            return {"rated": told, **_given(first), **answers, **words}
        whole = {"A": _whole(first), "B": _whole(second)}
        for one, row in zip("AB", (better, worse), strict=True):
            if words_of_row := self._words(row):
                whole[one][_WORDS] = words_of_row
        return {"rated": told, **whole}

    def _row(self, row: int) -> dict[str, Any]:
        people, own = self._scales
        said, verdict, part = self.said[row], self.verdicts[row], self.parts[row]
        rated = "by nobody" if np.isnan(said) else f"{said:g} by people ({people})"
        scored = (
            f"got no score, because {_cut(verdict.problem or 'of an unknown fault')}"
            if verdict.score is None
            else f"{verdict.score:g} by the judge ({own})"
        )
        added = "" if np.isnan(part) else f" It adds {part:+.4f} to the agreement of these rows."
        found = {"rated": f"Rated {rated}; {scored}.{added}", **_whole(self.rows.items[row])}
        if verdict.explanation:
            found["judge's explanation"] = _cut(verdict.explanation)
        if words := self._words(row):
            found[_WORDS] = words
        return found

    def _words(self, row: int) -> str:
        return _cut(self.rows.words(row, self.target))

    @property
    def _scales(self) -> tuple[Scale, Scale]:
        if self.target != SCORE:
            return PERCENT, PERCENT
        return self.rows.scale, self.judge_scale


def _given(item: RatedItem) -> Mapping[str, str]:
    texts = {"source": item.source, "context": item.context or ""}
    return {name: _cut(text) for name, text in texts.items() if text}


def _whole(item: RatedItem) -> dict[str, str]:
    return {**_given(item), "response": _cut(item.response)}


def _cut(text: str) -> str:
    text = unix_lines(text)
    if len(text) <= LONGEST_SHOWN:
        return text
    half = LONGEST_SHOWN // 2
    return f"{text[:half]} … ({len(text) - 2 * half} characters left out) … {text[-half:]}"


def _json(records: Sequence[Mapping[str, Any]]) -> str:
    text = "[" + ",\n".join(json.dumps(one, ensure_ascii=False) for one in records) + "]"
    # Half of a character (a lone surrogate) can be sent to no model.
    return text.encode("utf-8", "replace").decode()


TO_READ, TO_CHOOSE = "train", "select"

_NO_PART = -1e9  # what GEPA is told of a row without a part in the objective: it comes last


class Place(NamedTuple):
    part: str
    row: int


@dataclass(kw_only=True, eq=False)
class TextTrials:
    """The judges of all texts that were tried, and what they say; no row is judged twice."""

    student: Judge
    rows: Mapping[str, Rows]
    objective: Objective
    targets: tuple[str, ...]
    asking: AskedHow
    on_trial: Callable[[TrialRecord], None] | None = None
    records: list[TrialRecord] = field(default_factory=list)
    tables: dict[int, PredictionTable] = field(default_factory=dict)
    _said: dict[tuple[tuple[str, ...], Place], Judgement] = field(default_factory=dict)
    _known: dict[tuple[str, ...], tuple[int, Judge]] = field(default_factory=dict)

    def places(self, part: str) -> list[Place]:
        return [Place(part, row) for row in range(len(self.rows[part]))]

    def start(self) -> dict[str, str]:
        texts = judge_texts(self.student)
        self._known[_key(texts)] = 0, self.student
        self.records.append(TrialRecord(number=0))
        return texts

    def number(self, texts: Texts) -> int:
        return self._known[_key(texts)][0]

    def judge(self, number: int) -> Judge:
        return dict(self._known.values())[number]

    def add(self, trial: TrialRecord, texts: Texts, problem: str) -> bool:
        """Keep a rewrite as a trial, and return whether it can be judged."""
        key = _key(texts)
        if not problem and key in self._known:
            problem = f"it makes the judge that number {self._known[key][0]} is."
        if not problem:
            try:
                self._known[key] = trial.number, with_texts(self.student, texts)
            except ValueError as fault:
                problem = str(fault)
        text = "" if problem else texts[trial.changed]
        self.records.append(replace(trial, text=text, problem=problem))
        if problem:
            self.note(trial.number)
        return not problem

    def judged(
        self, batch: Sequence[Place], texts: Texts
    ) -> tuple[list[Judgement], PredictionTable, Rows]:
        key = _key(texts)
        rows = self.rows[batch[0].part].take([place.row for place in batch])
        missing = [place for place in batch if (key, place) not in self._said]
        if missing:
            asked = self.rows[batch[0].part].take([place.row for place in missing])
            found = self.asking.judged(self._known[key][1], asked)
            self._said |= {(key, place): one for place, one in zip(missing, found, strict=True)}
        said = [self._said[key, place] for place in batch]
        table = rows.judged(said, self.targets, judge_scale=self.student.scale)
        return said, table, rows

    def parts(self, table: PredictionTable, rows: Rows) -> FloatArray:
        """Return the part of each row, added up over the targets that it was rated on."""
        of_table = self.objective.row_parts(table)
        places = rows.of_table(self.targets)
        has_one = ~np.isnan(of_table)
        sums = np.bincount(places[has_one], weights=of_table[has_one], minlength=len(rows))
        counts = np.bincount(places[has_one], minlength=len(rows))
        return np.where(counts > 0, sums, np.nan)

    def choose_by(self, texts: Texts, table: PredictionTable) -> None:
        number = self.number(texts)
        if not self.records[number].n_rows:
            self.records[number] = replace(
                self.records[number],
                value=self.objective.value(table),
                n_rows=len(self.rows[TO_CHOOSE]),
                share_scored=table.least_scored,
            )
            self.tables[number] = table
            self.note(number)

    # GEPA's acceptance criterion: a rewrite is better than its parent where it was learned.

    def should_accept(self, proposal: Any, state: Any) -> bool:
        number = self.number(proposal.candidate)
        places = [Place(TO_READ, int(row)) for row in proposal.subsample_indices]
        parent = state.program_candidates[proposal.parent_program_ids[0]]
        tables = [self.judged(places, texts)[1] for texts in (parent, proposal.candidate)]
        before, after = values = [self.objective.value(table) for table in tables]
        self.records[number] = replace(self.records[number], before=before, after=after)
        old, new = (rank_of(v, t.least_scored) for v, t in zip(values, tables, strict=True))
        if not new > old:
            self.note(number)
        return new > old

    # GEPA's evaluation policy: candidates are compared by the objective on all rows.

    def get_eval_batch(self, loader: Any, state: Any, target_program_idx: Any = None) -> list[Any]:
        return list(loader.all_ids())

    def get_best_program(self, state: Any) -> int:
        return max(range(len(state.program_candidates)), key=lambda i: self._rank(i, state))

    def get_valset_score(self, program_idx: int, state: Any) -> float:
        return self._rank(program_idx, state)[1]

    def _rank(self, place: int, state: Any) -> tuple[bool, float, int]:
        return self.records[self.number(state.program_candidates[place])].rank

    def note(self, number: int) -> None:
        if self.on_trial is not None:
            self.on_trial(self.records[number])


@dataclass(kw_only=True, eq=False)
class TextAdapter:
    trials: TextTrials
    rewriter: Rewriter
    spent: bool = False
    fault: BaseException | None = None
    n_asked: int = 0

    @property
    def has_ended(self) -> bool:
        return self.spent or self.fault is not None

    def evaluate(
        self, batch: Sequence[Place], candidate: Texts, capture_traces: bool = False
    ) -> EvaluationBatch[Place, Judgement]:
        from gepa.core.adapter import EvaluationBatch

        said, table, rows = self.trials.judged(batch, candidate)
        parts = self.trials.parts(table, rows)
        if batch and batch[0].part == TO_CHOOSE:
            self.trials.choose_by(candidate, table)
        scores = [_NO_PART if math.isnan(one) else one for one in parts.tolist()]
        return EvaluationBatch(
            outputs=list(said), scores=scores, trajectories=list(batch) if capture_traces else None
        )

    def make_reflective_dataset(
        self,
        candidate: Texts,
        eval_batch: EvaluationBatch[Place, Judgement],
        components_to_update: Sequence[str],
    ) -> dict[str, list[dict[str, Any]]]:
        record = {"places": list(eval_batch.trajectories or ())}
        return {name: [record] for name in components_to_update}

    def propose_new_texts(
        self,
        candidate: Texts,
        reflective_dataset: Mapping[str, Sequence[Mapping[str, Any]]],
        components_to_update: Sequence[str],
    ) -> dict[str, str]:
        """Return another text for one part of a judge, or nothing if it has none."""
        try:
            name = components_to_update[0]
            return self._rewritten(candidate, name, reflective_dataset[name][0]["places"])
        except (BudgetSpent, OutOfBudget):
            self.spent = True
        except BaseException as fault:  # GEPA would only log it, and go on
            self.fault = fault
        return {}

    def _rewritten(self, candidate: Texts, name: str, batch: Sequence[Place]) -> dict[str, str]:
        self.n_asked += 1
        trials = self.trials
        parent = trials.number(candidate)
        trial = TrialRecord(number=len(trials.records), parent=parent, changed=name)
        feedback = self._feedback(candidate, name, batch)
        found = self.rewriter(
            part=part_text(trials.student, name),
            judge=_others(candidate, name),
            text=candidate[name],
            pairs=feedback.pairs_json(),
            rows=feedback.rows_json(),
            sample=self.n_asked,
        )
        texts = {**candidate, name: found.text}
        fits = trials.add(trial, texts, found.problem or problem_with(found.text))
        return {name: found.text} if fits else {}

    def _feedback(self, candidate: Texts, name: str, batch: Sequence[Place]) -> Feedback:
        trials = self.trials
        said, table, rows = trials.judged(batch, candidate)
        wanted = {folded(one): one for one in trials.targets}
        first = SCORE if SCORE in trials.targets else trials.targets[0]
        return Feedback(
            rows=rows,
            judgements=said,
            parts=trials.parts(table, rows),
            target=wanted.get(folded(name.partition(":")[2]), first),
            judge_scale=trials.student.scale,
            within_sources=trials.objective.level == "sample",
        )


def _others(texts: Texts, name: str) -> str:
    return "\n\n".join(f"{one}\n{text}" for one, text in texts.items() if one != name) or "nothing"


def _key(texts: Texts) -> tuple[str, ...]:
    return tuple(part for one in sorted(texts.items()) for part in one)


BATCH = 35
"""Rows that a rewrite is learned from: on 3, as GEPA takes, Q of one judge varies by 1.3 from draw
to draw, on 35 by .2."""


class ReflectiveSearch(TextSearch):
    """Rewrite instructions, task and criteria from what the judge got wrong; keep the best judge.

    In each round one text of a good judge is rewritten by a model that is shown pairs of responses
    that the judge orders otherwise than people do, and the rows that lower the objective most.
    Where the objective grows on these rows, the rewrite is judged on the validation rows. The
    library ``gepa`` decides which judge and which of its texts is next. The scale, demonstrations
    and aggregation stay as they are.

    Parameters
    ----------
    n_trials : int
        Rewrites that are asked for.
    batch : int
        Rows that a rewrite is learned from; of fewer rows, all.
    reflection_lm : dspy.LM or None
        The model that rewrites; None takes the one that judges. The offline model cannot.
    objective, **shared
        As for ``JudgeSearch``.

    Attributes
    ----------
    ended_ : str
        Why nothing was tried, in a sentence; empty where the search ran.

    References
    ----------
    Agrawal et al. (2025), "GEPA: Reflective Prompt Evolution Can Outperform Reinforcement
    Learning". arXiv:2507.19457.
    """

    refuses_teacher = "learns from rated rows only"

    def __init__(
        self,
        objective: AnyObjective = "q",
        *,
        n_trials: int = 30,
        batch: int = BATCH,
        reflection_lm: dspy.LM | None = None,
        **shared: Unpack[SearchSettings],
    ) -> None:
        super().__init__(objective, **shared)
        if n_trials < 1 or batch < 3:
            raise InputError(
                f"n_trials must be 1 or more and batch 3 or more; got {n_trials} and {batch}."
            )
        self.n_trials = n_trials
        self.batch = batch
        self.reflection_lm = reflection_lm

    def _n_shown(self, student: Judge) -> int:
        return -(-self.batch // ROWS_PER_DEMONSTRATION)  # as many rows as a rewrite reads

    def _found(self, student: Judge, pool: Rows, selection: Rows, teacher: Judge | None) -> Judge:
        self.trials_ = ()
        self.complete_, self.ended_ = True, ""
        self.taken_, self.confirmation_ = 0, None
        lm = with_own_models(student, self.lm)[1]
        writer = self.reflection_lm or lm
        if str(writer.model) == OFFLINE:
            self.ended_ = (
                "the offline model reads no instructions and writes none, so that no text was "
                "rewritten; name a language model to rewrite with."
            )
        elif len(pool) < 3:
            self.ended_ = f"{len(pool)} rows are too few to learn from, so no text was rewritten."
        if self.ended_:
            return student.with_protocol(student.protocol)
        trials = TextTrials(
            student=student,
            rows={TO_READ: pool, TO_CHOOSE: selection},
            objective=self.objective,
            targets=self.targets,
            asking=AskedHow(lm=lm, concurrency=self.concurrency, on_progress=self.on_progress),
            on_trial=self.on_trial,
        )
        adapter = TextAdapter(trials=trials, rewriter=Rewriter(writer))
        evolve(adapter, n_rewrites=self.n_trials, batch=self.batch, seed=self.seed)
        self.trials_ = tuple(trials.records)
        self.complete_ = not adapter.spent
        ranks = {number: self.trials_[number].rank for number in trials.tables}
        best = trials.judge(self.select_trial(self.objective, trials.tables, ranks, learned=True))
        return best.with_protocol(best.protocol)


def evolve(adapter: TextAdapter, *, n_rewrites: int, batch: int, seed: int) -> None:
    from gepa.api import optimize

    trials = adapter.trials
    of_gepa: dict[str, Any] = {  # whose types say less than what it takes
        "adapter": adapter,
        "acceptance_criterion": trials,
        "val_evaluation_policy": trials,
        "stop_callbacks": [lambda state: adapter.has_ended or adapter.n_asked >= n_rewrites],
        "logger": SimpleNamespace(log=lambda message: None),
    }
    with STOPPING.attended(), contextlib.redirect_stdout(io.StringIO()):
        try:
            optimize(
                seed_candidate=trials.start(),
                trainset=trials.places(TO_READ),
                valset=trials.places(TO_CHOOSE),
                reflection_minibatch_size=min(batch, len(trials.rows[TO_READ])),
                skip_perfect_score=False,
                track_best_outputs=False,
                seed=seed,
                **of_gepa,
            )
        except OutOfBudget:
            adapter.spent = True
    if adapter.fault is not None:
        raise adapter.fault

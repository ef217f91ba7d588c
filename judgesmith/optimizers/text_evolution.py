"""What the ``gepa`` library is told of judges whose texts it evolves.

GEPA adds up scores of single rows and averages them. Here every decision is about whole lists:
whether a rewrite is better is the objective on the rows both were judged on, and so is which one
is best. Scores of single rows, which GEPA keeps to find parents that are good at different rows,
are each row's part in the objective.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from judgesmith.optimizers.demonstrations import rank_of
from judgesmith.optimizers.judge_texts import (
    Texts,
    judge_texts,
    part_text,
    problem_with,
    with_texts,
)
from judgesmith.optimizers.objectives import Objective
from judgesmith.optimizers.protocol_candidates import Asking
from judgesmith.optimizers.racing_search import OutOfBudget
from judgesmith.optimizers.reflection_feedback import Feedback
from judgesmith.optimizers.rewrite_trial import RewriteTrial
from judgesmith.optimizers.row_parts import row_parts
from judgesmith.optimizers.rows import Rows
from judgesmith.optimizers.table import SCORE, FloatArray, JudgedTable
from judgesmith.programs.families.ensemble.judges import scale_of
from judgesmith.programs.judging.ask_once import Rewriter
from judgesmith.programs.judging.judge import Judge
from judgesmith.programs.lm import BudgetSpent
from judgesmith.signatures.judgement import Judgement
from judgesmith.signatures.rubric import folded

if TYPE_CHECKING:
    from gepa.core.adapter import EvaluationBatch

TO_READ, TO_CHOOSE = "train", "select"

_NO_PART = -1e9
"""What GEPA is told of a row without a part in the objective: it comes after all that have one."""


class Place(NamedTuple):
    """A row, by the set it stands in: to learn from, or to choose by."""

    part: str
    row: int


@dataclass(kw_only=True, eq=False)
class TextEvolution:
    """Judges, compares and rewrites the texts of a judge; an adapter of GEPA.

    Attributes
    ----------
    student : Judge
        Whose texts are rewritten.
    rows : dict of str to Rows
        ``train`` to learn from, ``select`` to choose by.
    objective : Objective
        What is made as large as possible.
    targets : tuple of str
        What is compared with people.
    asking : Asking
        How rows are judged.
    rewriter : Rewriter
        Who rewrites.
    n_rewrites : int
        How many rewrites are asked for.
    noted : callable or None
        Told of every trial as soon as it is known how well it did.
    trials : list of RewriteTrial
        What was tried.
    tables : dict of int to JudgedTable
        What those say that were judged on the rows to choose by, by number.
    spent : bool
        Whether the budget ended the search.
    """

    student: Judge
    rows: Mapping[str, Rows]
    objective: Objective
    targets: tuple[str, ...]
    asking: Asking
    rewriter: Rewriter
    n_rewrites: int
    noted: Callable[[RewriteTrial], None] | None = None
    trials: list[RewriteTrial] = field(default_factory=list)
    tables: dict[int, JudgedTable] = field(default_factory=dict)
    spent: bool = False
    fault: BaseException | None = None
    n_asked: int = 0
    _said: dict[tuple[tuple[str, ...], Place], Judgement] = field(default_factory=dict)
    _judges: dict[tuple[str, ...], Judge] = field(default_factory=dict)
    _numbers: dict[tuple[str, ...], int] = field(default_factory=dict)

    # -- what GEPA asks for -------------------------------------------------------------

    def evaluate(
        self, batch: Sequence[Place], candidate: Texts, capture_traces: bool = False
    ) -> EvaluationBatch[Place, Judgement]:
        """Return the judgements of rows, and each row's part in the objective on them."""
        from gepa.core.adapter import EvaluationBatch

        said, table, rows = self._judged(batch, candidate)
        parts = self._parts(table, rows)
        if batch and batch[0].part == TO_CHOOSE:
            self._chosen_by(candidate, table)
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
        """Return one record per text: the rows that it is to be rewritten from."""
        record = {"places": list(eval_batch.trajectories or ())}
        return {name: [record] for name in components_to_update}

    def propose_new_texts(
        self,
        candidate: Texts,
        reflective_dataset: Mapping[str, Sequence[Mapping[str, Any]]],
        components_to_update: Sequence[str],
    ) -> dict[str, str]:
        """Return another text for one part of a judge, or nothing where there is none."""
        try:
            name = components_to_update[0]
            return self._rewritten(candidate, name, reflective_dataset[name][0]["places"])
        except (BudgetSpent, OutOfBudget):
            self.spent = True
        except BaseException as fault:  # GEPA would only log it, and go on
            self.fault = fault
        return {}

    def should_accept(self, proposal: Any, state: Any) -> bool:
        """Say whether a rewrite is better than its parent on the rows that it was learned from."""
        number = self._numbers[_key(proposal.candidate)]
        places = [Place(TO_READ, int(row)) for row in proposal.subsample_indices]
        parent = state.program_candidates[proposal.parent_program_ids[0]]
        (_, before, _), (_, after, _) = (
            self._judged(places, texts) for texts in (parent, proposal.candidate)
        )
        values = self.objective.value(before), self.objective.value(after)
        self.trials[number] = replace(self.trials[number], before=values[0], after=values[1])
        ranks = [
            rank_of(value, table.least_scored)
            for table, value in zip((before, after), values, strict=True)
        ]
        if ranks[1] > ranks[0]:
            return True
        self._note(number)
        return False

    def get_eval_batch(self, loader: Any, state: Any, target_program_idx: Any = None) -> list[Any]:
        """Return all rows to choose by."""
        return list(loader.all_ids())

    def get_best_program(self, state: Any) -> int:
        """Return the place of the best candidate, the first of equals."""
        return max(range(len(state.program_candidates)), key=lambda i: self._rank(i, state))

    def get_valset_score(self, program_idx: int, state: Any) -> float:
        """Return the objective on the rows to choose by."""
        return self._rank(program_idx, state)[1]

    def log(self, message: str) -> None:
        """Hear what GEPA says, and keep it to oneself."""

    # -- what a search asks for ----------------------------------------------------------

    def done(self, gepa_state: Any) -> bool:
        """Say whether the search has to end."""
        return self.spent or self.fault is not None or self.n_asked >= self.n_rewrites

    def batch_size(self, wanted: int) -> int:
        """Return how many rows a rewrite is learned from."""
        return min(wanted, len(self.rows[TO_READ]))

    def places(self, part: str) -> list[Place]:
        """Return all rows of a set."""
        return [Place(part, row) for row in range(len(self.rows[part]))]

    def start(self) -> dict[str, str]:
        """Return the texts of the student, and count it as the first trial."""
        texts = judge_texts(self.student)
        self._judges[_key(texts)] = self.student
        self._numbers[_key(texts)] = 0
        self.trials.append(RewriteTrial(number=0))
        return texts

    def judge(self, number: int) -> Judge:
        """Return the judge of a trial."""
        by_number = {number: key for key, number in self._numbers.items()}
        return self._judges[by_number[number]]

    # -- how it is done ------------------------------------------------------------------

    def _rewritten(self, candidate: Texts, name: str, batch: Sequence[Place]) -> dict[str, str]:
        self.n_asked += 1
        parent = self._numbers[_key(candidate)]
        trial = RewriteTrial(number=len(self.trials), parent=parent, changed=name)
        feedback = self._feedback(candidate, name, batch)
        found = self.rewriter(
            part=part_text(self.student, name),
            judge=_others(candidate, name),
            text=candidate[name],
            pairs=feedback.pairs_json(),
            rows=feedback.rows_json(),
            sample=self.n_asked,
        )
        texts = {**candidate, name: found.text}
        problem = found.problem or problem_with(found.text)
        key = _key(texts)
        if not problem and key in self._numbers:
            problem = f"it makes the judge that number {self._numbers[key]} is."
        if not problem:
            try:
                self._judges[key] = with_texts(self.student, texts)
            except ValueError as fault:
                problem = str(fault)
        self.trials.append(replace(trial, text="" if problem else found.text, problem=problem))
        if problem:
            self._note(trial.number)
            return {}
        self._numbers[key] = trial.number
        return {name: found.text}

    def _feedback(self, candidate: Texts, name: str, batch: Sequence[Place]) -> Feedback:
        said, table, rows = self._judged(batch, candidate)
        wanted = {folded(one): one for one in self.targets}
        own = wanted.get(folded(name.partition(":")[2]))
        first = SCORE if SCORE in self.targets else self.targets[0]
        return Feedback(
            rows=rows,
            judgements=said,
            parts=self._parts(table, rows),
            target=own or first,
            judge_scale=scale_of(self.student),
            within_sources=getattr(self.objective, "level", "") == "sample",
        )

    def _judged(
        self, batch: Sequence[Place], texts: Texts
    ) -> tuple[list[Judgement], JudgedTable, Rows]:
        key = _key(texts)
        rows = self.rows[batch[0].part].take([place.row for place in batch])
        missing = [place for place in batch if (key, place) not in self._said]
        if missing:
            asked = self.rows[batch[0].part].take([place.row for place in missing])
            found = self.asking.judged(self._judges[key], asked)
            self._said |= {(key, place): one for place, one in zip(missing, found, strict=True)}
        said = [self._said[key, place] for place in batch]
        table = rows.judged(said, self.targets, judge_scale=scale_of(self.student))
        return said, table, rows

    def _parts(self, table: JudgedTable, rows: Rows) -> FloatArray:
        """Return the part of each row, added up over the targets that it was rated on."""
        of_table = row_parts(self.objective, table)
        rated = [np.flatnonzero(~np.isnan(rows.said(one))) for one in self.targets]
        places = np.concatenate(rated)
        has_one = ~np.isnan(of_table)
        sums = np.bincount(places[has_one], weights=of_table[has_one], minlength=len(rows))
        counts = np.bincount(places[has_one], minlength=len(rows))
        return np.where(counts > 0, sums, np.nan)

    def _chosen_by(self, candidate: Texts, table: JudgedTable) -> None:
        number = self._numbers[_key(candidate)]
        if self.trials[number].n_rows:
            return
        self.trials[number] = replace(
            self.trials[number],
            value=self.objective.value(table),
            n_rows=len(self.rows[TO_CHOOSE]),
            share_scored=table.least_scored,
        )
        self.tables[number] = table
        self._note(number)

    def _rank(self, place: int, state: Any) -> tuple[bool, float]:
        return self.trials[self._numbers[_key(state.program_candidates[place])]].rank

    def _note(self, number: int) -> None:
        if self.noted is not None:
            self.noted(self.trials[number])


def _others(texts: Texts, name: str) -> str:
    return "\n\n".join(f"{one}\n{text}" for one, text in texts.items() if one != name) or "nothing"


def _key(texts: Texts) -> tuple[str, ...]:
    return tuple(part for one in sorted(texts.items()) for part in one)

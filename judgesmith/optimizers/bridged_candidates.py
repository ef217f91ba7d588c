"""Judges that an optimizer of DSPy found, compared with the one that it started from."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import dspy

from judgesmith.optimizers.demonstrations import rank_of
from judgesmith.optimizers.drawing import shown_keys
from judgesmith.optimizers.judge_texts import problem_with
from judgesmith.optimizers.objectives import Objective
from judgesmith.optimizers.protocol_candidates import Asking
from judgesmith.optimizers.rows import Rows
from judgesmith.optimizers.table import JudgedTable
from judgesmith.programs.families.ensemble.judges import scale_of
from judgesmith.programs.judging.judge import Judge
from judgesmith.signatures.fences import imitates_layout
from judgesmith.signatures.judgement import Judgement


@dataclass(frozen=True, slots=True, kw_only=True)
class BridgedTrial:
    """A judge that DSPy's optimizer found, and how well it did.

    Attributes
    ----------
    number : int
        From 0, what the search started from.
    n_demonstrations : int
        Shown per question at most.
    instructions : tuple of str
        Names of the questions whose instruction differs from the start's.
    keys : tuple of str
        ``RatedItem.key`` of the rows shown.
    problem : str
        Why it was not compared; empty where it was.
    value : float
        The objective on the rows to choose by, nan where undefined.
    n_rows : int
        How many these were: all, or none where it was not compared.
    share_scored : float
        Fraction of them that got a score, on the target with the smallest.
    """

    number: int
    n_demonstrations: int
    instructions: tuple[str, ...]
    keys: tuple[str, ...]
    problem: str = ""
    value: float = math.nan
    n_rows: int = 0
    share_scored: float = 0.0

    @property
    def rank(self) -> tuple[bool, float, int]:
        """Larger is better: scores enough rows, the objective, then fewer demonstrations."""
        return (*rank_of(self.value, self.share_scored), -self.n_demonstrations)


@dataclass(kw_only=True, eq=False)
class Compared:
    """The start and what DSPy found, on all rows to choose by; equal judges are one.

    Attributes
    ----------
    start : Judge
        What the others were made from.
    selection : Rows
        The rows to choose by.
    asking : Asking
        How rows are judged.
    objective : Objective
        What is made as large as possible.
    targets : tuple of str
        What is compared with people.
    noted : callable or None
        Told of every trial.
    trials : list of BridgedTrial
        What was compared, or refused.
    judges : dict of str to Judge
        Those that were compared, by fingerprint.
    tables : dict of int to JudgedTable
        What they say, by number.
    """

    start: Judge
    selection: Rows
    asking: Asking
    objective: Objective
    targets: tuple[str, ...]
    noted: Callable[[BridgedTrial], None] | None
    trials: list[BridgedTrial] = field(default_factory=list)
    judges: dict[str, Judge] = field(default_factory=dict)
    tables: dict[int, JudgedTable] = field(default_factory=dict)

    def add(
        self,
        judge: Judge,
        *,
        heard: Mapping[str, Mapping[int, Judgement]] | None = None,
        ask: bool = True,
    ) -> list[Judgement]:
        """Compare a judge, asking about the rows that it has not answered yet.

        Raises
        ------
        OutOfBudget
            If they could not be asked.
        """
        own = self.start.protocol
        protocol = judge.protocol.model_copy(update={"temperature": own.temperature})
        if protocol.fingerprint in self.judges:
            return []
        problem = "" if judge is self.start else problem_of(judge, self.start)
        shown = protocol.demonstrations
        found: list[Judgement] = []
        values: dict[str, Any] = {}
        if not problem:
            made = self.start.with_protocol(protocol)
            known = dict((heard or {}).get(protocol.fingerprint, {}))
            missing = [row for row in range(len(self.selection)) if row not in known]
            if missing and not ask:
                return []
            if missing:
                asked = self.asking.judged(made, self.selection.take(missing))
                known |= dict(zip(missing, asked, strict=True))
            found = [known[row] for row in range(len(self.selection))]
            table = self.selection.judged(found, self.targets, judge_scale=scale_of(made))
            values = {
                "value": self.objective.value(table),
                "n_rows": len(self.selection),
                "share_scored": table.least_scored,
            }
            self.judges[protocol.fingerprint] = made
            self.tables[len(self.trials)] = table
        texts = {**protocol.instructions}
        trial = BridgedTrial(
            number=len(self.trials),
            n_demonstrations=max((len(several) for several in shown.values()), default=0),
            instructions=tuple(
                sorted(k for k, text in texts.items() if own.instructions.get(k) != text)
            ),
            keys=shown_keys(shown),
            problem=problem,
            **values,
        )
        self.trials.append(trial)
        if self.noted is not None:
            self.noted(trial)
        return found

    def judge(self, number: int) -> Judge:
        """Return the judge of a trial, or the start where that was not compared."""
        # Judges are kept in the order of the trials that were compared.
        return dict(zip(self.tables, self.judges.values(), strict=True)).get(number, self.start)


def problem_of(judge: Judge, start: Judge) -> str:
    """Return why a judge that DSPy made cannot be taken over; empty where it can."""
    own = dict(start.named_predictors())
    for name, predictor in judge.named_predictors():
        if name not in own or _fields(predictor) != _fields(own[name]):
            return f"the fields of {name} are not those of the judge it was made from."
        text = predictor.signature.instructions
        if text != own[name].signature.instructions and (problem := problem_with(text)):
            return f"the instruction of {name}: {problem}"
        outputs = predictor.signature.output_fields
        for demo in predictor.demos:
            said = [str(demo.get(output, "")) for output in outputs]
            if any(map(imitates_layout, said)):
                return f"a demonstration of {name} imitates what marks the fields of a question."
    return ""


def _fields(predictor: dspy.Predict) -> list[tuple[str, str, str]]:
    return [
        (name, str(one.annotation), str(one.json_schema_extra.get("desc")))
        for name, one in predictor.signature.fields.items()
    ]

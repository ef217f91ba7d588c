"""A search that asks other programs for better texts of a judge, and compares what they return."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import ClassVar, Unpack

import dspy

from judgesmith.errors import InputError
from judgesmith.optimizers.judge_search import JudgeSearch, SearchSettings
from judgesmith.optimizers.objectives import AnyObjective, as_objective
from judgesmith.optimizers.rows import Rows
from judgesmith.optimizers.several_objectives import needs_versions
from judgesmith.programs.judging.judge import Judge, check_judge


class TextSearch(JudgeSearch, ABC):
    """Learn texts from some rows, and keep the judge that is best on others.

    A kind of it says in ``_found`` how, in ``n_demonstrations`` how large a part of the rows is
    split off to learn from (as many as these want to be drawn from), and in ``taught_by`` why it
    has no use for a teacher.

    Parameters
    ----------
    objective : Objective, callable or str
        What is made as large as possible over the whole list of predictions, such as ``q``.
    **shared
        As for ``JudgeSearch``.

    Raises
    ------
    ValueError
        If the objective looks at changed versions of the rows.
    """

    taught_by: ClassVar[str]

    def __init__(self, objective: AnyObjective, **shared: Unpack[SearchSettings]) -> None:
        super().__init__(**shared)
        self.objective = as_objective(objective, self.metric)
        if needs_versions(self.objective):
            raise InputError(
                f"texts are learned from single rows, and {self.objective} looks at changed "
                "versions of all; leave discernment out, or search demonstrations or the protocol."
            )

    @property
    @abstractmethod
    def n_demonstrations(self) -> int:
        """How many demonstrations would want as many rows to draw from as are learned from."""

    def compile(
        self,
        student: Judge,
        *,
        trainset: Sequence[dspy.Example],
        teacher: None = None,
        valset: Sequence[dspy.Example] | None = None,
    ) -> Judge:
        """Return the best judge found; ``student`` is left as it was.

        Parameters
        ----------
        student : Judge
            It competes, and wins where nothing is better. Rows that it shows are not chosen by.
        trainset : sequence of dspy.Example
            Rows to learn from, which may be shown. Without ``valset``, a part of them by source.
        teacher : None
            There is none.
        valset : sequence of dspy.Example or None
            Rows to choose by. They share no source with ``trainset``.

        Raises
        ------
        ValueError
            If there are too few rows, all scores are equal, rows to learn from and rows to choose
            by share a source, the student scores no such target, or a teacher was given.
        """
        check_judge(student)
        if teacher is not None:
            raise InputError(f"{type(self).__name__} {self.taught_by}; drop teacher=.")
        parts = self.parted(
            student,
            trainset,
            valset,
            n_demonstrations=self.n_demonstrations,
            objective=self.objective,
        )
        best = self._found(student, *parts)
        return best.with_protocol(best.protocol)

    @abstractmethod
    def _found(self, student: Judge, pool: Rows, selection: Rows) -> Judge:
        """Return the best judge, learned from ``pool`` and chosen by ``selection``."""

"""Lines that a model writes once per criterion, whatever is judged by them later."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import dspy

from judgesmith.errors import InputError, file_faults
from judgesmith.programs.answer_json import values_in
from judgesmith.programs.asking import current_lm
from judgesmith.programs.line_orders import LineOrder, answered_side_by_side
from judgesmith.programs.running import CONCURRENCY
from judgesmith.programs.weighing import OVERALL
from judgesmith.signatures.checklist import ChecklistProtocol, check_questions_of
from judgesmith.signatures.checklist_questions import WriteQuestions
from judgesmith.signatures.g_eval import GEvalProtocol, check_steps, steps_key
from judgesmith.signatures.g_eval_questions import WriteSteps
from judgesmith.signatures.plain_yaml import read_yaml

if TYPE_CHECKING:
    from judgesmith.signatures.judge_protocol import JudgeProtocol
    from judgesmith.signatures.rubric import Criterion, Rubric

Lines = tuple[str, ...]

_NUMBER = re.compile(r"^(?:step\s*)?[(\[]?\d{1,2}[.):\]]+\s*|^[-*•]\s+", re.IGNORECASE)
_HEADING = re.compile(r"(?i)^(?:evaluation )?(?:steps|questions):?$")


@dataclass(frozen=True, slots=True, kw_only=True)
class CriterionLines:
    """One kind of such lines: how they are asked for, and what stands in where there are none.

    Attributes
    ----------
    question : type of dspy.Signature
        Takes ``task`` and ``criterion``.
    field : str
        The output, which is also what the protocol calls the lines.
    check : callable
        Takes lines and, as ``of``, what they are for; raises ValueError where they are of no use.
    protocol : JudgeProtocol
        Whose settings the call has.
    stood_in_for : str
        What becomes of a criterion without any, after its name.
    """

    question: type[dspy.Signature]
    field: str
    check: Callable[..., None]
    protocol: JudgeProtocol
    stood_in_for: str

    def written(self, lm: dspy.LM | None, *, task: str, criterion: str) -> Lines | str:
        """Return lines for a criterion, or the sentence that says why there are none.

        The request depends on the model, the task and the criterion alone: a model with a ledger
        is asked once, however often this is called.

        Parameters
        ----------
        lm : dspy.LM or None
            The model; None takes DSPy's current one, or the offline model.
        task : str
            What responses are written for; may be empty.
        criterion : str
            As ``NAME: DEFINITION``.

        Raises
        ------
        ModelError, BudgetSpent, LedgerError
            If the model cannot be asked, or not further.

        Examples
        --------
        >>> len(STEPS.written(None, task="", criterion="fluency: Is it well written?"))
        4
        >>> len(QUESTIONS.written(None, task="", criterion="fluency: Is it well written?"))
        2
        """
        (found,) = answered_side_by_side(
            [self._order(task, criterion)], lm or current_lm(), self.protocol
        )
        return found

    def _order(self, task: str, criterion: str) -> LineOrder:
        """Return what is asked for one criterion, and how the answer is read."""
        return LineOrder(
            question=self.question if task else self.question.delete("task"),
            told={"task": task, "criterion": criterion} if task else {"criterion": criterion},
            field=self.field,
            read=self.read,
        )

    def read(self, text: str, *, of: str = "the criterion") -> Lines:
        r"""Return what stands on the lines of a text, or in a JSON list, without their numbers.

        Raises
        ------
        ValueError
            If there is none, there are too many, or one could not stand in a question.

        Examples
        --------
        >>> STEPS.read("Steps:\n1. Read the source.\n\n2) Read the response.\n- Compare **both**.")
        ('Read the source.', 'Read the response.', 'Compare **both**.')
        >>> STEPS.read('["Read the source.", "2. Read the response."]')
        ('Read the source.', 'Read the response.')
        """
        lines = [" ".join(line.split()) for line in _listed(text) or text.splitlines()]
        lines = [line for line in lines if line and not _HEADING.match(line)]
        found = tuple(plain for line in lines if (plain := _NUMBER.sub("", line).strip()))
        self.check(found, of=of)
        return found

    @file_faults()
    def load(self, path: str | Path) -> dict[str, Lines]:
        """Return the lines in a YAML file, by criterion: each a list, or a text of several lines.

        Raises
        ------
        ValueError
            If the file cannot be read, is of another form, or has lines of no use; the message
            begins with its name.
        """
        try:
            given = read_yaml(Path(path).read_text(encoding="utf-8"))
            if not isinstance(given, Mapping) or not given:
                raise InputError(
                    f"expected {self.field} by criterion, as name: and a list; got "
                    f"{str(given)[:80]!r}."
                )
            return {str(name): self._given(str(name), lines) for name, lines in given.items()}
        except UnicodeDecodeError:
            raise InputError(f"{path}: expected a text file in UTF-8.") from None
        except OSError as fault:
            raise InputError(f"{path}: cannot read the {self.field}: {fault.strerror}.") from None
        except ValueError as fault:
            raise InputError(f"{path}: {fault}") from None

    def _given(self, name: str, lines: object) -> Lines:
        if isinstance(lines, str):
            return self.read(lines, of=name)
        if not isinstance(lines, list) or not all(isinstance(one, str) for one in lines):
            raise InputError(
                f"expected a list of {self.field} for {name[:60]}; got {str(lines)[:80]!r}."
            )
        found = tuple(" ".join(one.split()) for one in lines)
        self.check(found, of=name)
        return found

    def lacking(
        self, given: Mapping[str, Lines], rubrics: Sequence[Rubric]
    ) -> Iterator[tuple[str, Criterion, str]]:
        """Yield each criterion that has none, with its task before and its key after it.

        Parameters
        ----------
        given : dict of str to tuple of str
            The lines that there are, by criterion as the protocol has them.
        rubrics : sequence of Rubric
            The criteria.
        """
        seen = set()
        for rubric in rubrics:
            for criterion in rubric.criteria:
                key = steps_key(criterion)
                if not (given.get(key) or given.get(criterion.name) or key in seen):
                    seen.add(key)
                    yield rubric.task, criterion, key

    def completed(
        self,
        lm: dspy.LM | None,
        given: Mapping[str, Lines],
        rubrics: Sequence[Rubric],
        *,
        concurrency: int = CONCURRENCY,
    ) -> tuple[dict[str, Lines], tuple[str, ...]]:
        """Return the lines of all criteria, those that were lacking written now, and problems.

        What a criterion has already is not asked for again, so that it can be edited.

        Parameters
        ----------
        lm, given, rubrics
            As above.
        concurrency : int
            Criteria that the model is asked about at the same time.

        Raises
        ------
        ModelError, BudgetSpent, LedgerError, Stopped
            If the model cannot be asked, or not further; what it has answered is on record.

        Returns
        -------
        dict of str to tuple of str
            What was given and what was written, by criterion.
        tuple of str
            Which criteria have none, and why; and which lines are of no criterion.
        """
        found = dict(given)
        known = {one.name for rubric in rubrics for one in rubric.criteria} | {OVERALL}
        unused = sorted(name for name in given if ":" not in name and name not in known)
        problems = [
            f"{self.field} are given for {name}, which is no criterion: they are not used"
            for name in unused
        ]
        lacking = list(self.lacking(given, rubrics))
        orders = [self._order(task, key) for task, _, key in lacking]
        written = answered_side_by_side(
            orders, lm or current_lm(), self.protocol, concurrency=concurrency
        )
        for (_, criterion, key), lines in zip(lacking, written, strict=True):
            if isinstance(lines, str):
                problems.append(f"{criterion.name} {self.stood_in_for}: {lines}")
            else:
                found[key] = lines
        return found, tuple(problems)

    def stood_in(
        self, given: Mapping[str, Lines], rubrics: Sequence[Rubric], *, by: Lines
    ) -> tuple[dict[str, Lines], int]:
        """Return the lines of all criteria, ``by`` for each that has none, and for how many."""
        lacking = {key: by for _, _, key in self.lacking(given, rubrics)}
        return {**given, **lacking}, len(lacking)


def _listed(text: str) -> list[str]:
    r"""Return the texts of the JSON list in a text, perhaps the only field of a record.

    Texts before it are a remark of one line at most; of other texts there is no list.

    Examples
    --------
    >>> _listed('Here:\n{"steps": ["Read it.", "Note faults."]}'), _listed("1. Read it.")
    (['Read it.', 'Note faults.'], [])
    """
    try:
        ((start, _, found),) = values_in(text)
    except ValueError:
        return []
    before = text[:start].strip(" \t\n`").removesuffix("json").strip(" \t\n`")
    if "\n" in before or _NUMBER.match(before):
        return []
    if isinstance(found, dict) and len(found) == 1:
        (found,) = found.values()
    if not isinstance(found, list) or not all(isinstance(one, str) for one in found):
        return []
    return found


STEPS = CriterionLines(
    question=WriteSteps,
    field="steps",
    check=check_steps,
    protocol=GEvalProtocol(),
    stood_in_for="is judged by general steps",
)
"""Evaluation steps."""

QUESTIONS = CriterionLines(
    question=WriteQuestions,
    field="questions",
    check=check_questions_of,
    protocol=ChecklistProtocol(),
    stood_in_for="is checked by its definition",
)
"""Questions to be answered by yes or no."""

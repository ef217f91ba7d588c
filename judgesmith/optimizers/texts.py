"""The texts of a judge that may be rewritten, rewrites of them, and searches for better ones."""

from __future__ import annotations

import unicodedata
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from typing import ClassVar, Unpack

import dspy

from judgesmith.errors import InputError
from judgesmith.optimizers.base import JudgeSearch, SearchSettings
from judgesmith.optimizers.objectives.grammar import AnyObjective, as_objective
from judgesmith.optimizers.rows import Rows
from judgesmith.programs.judging.judge import Judge, check_judge
from judgesmith.signatures.config import Demonstration
from judgesmith.signatures.fences import imitates_layout
from judgesmith.signatures.rubric import Criterion, Rubric

INSTRUCTIONS, TASK, CRITERION = "instructions:", "task", "criterion:"

LONGEST = 4000
"""Characters of a text that was rewritten, at most; the longest of ours has about 400."""

_ENDS = ("worst", "best")

Texts = Mapping[str, str]


def judge_texts(judge: Judge) -> dict[str, str]:
    r"""Return the texts of a judge by name, in the order in which they may be rewritten."""
    texts = {
        f"{INSTRUCTIONS}{name}": str(one.signature.instructions)
        for name, one in judge.named_predictors()
    }
    rubric = judge.protocol.rubric
    fields = {name for _, one in judge.named_predictors() for name in one.signature.input_fields}
    if rubric.task and "task" in fields:
        texts[TASK] = rubric.task
    if fields & {"criteria", "criterion"}:
        texts |= {f"{CRITERION}{one.name}": _written(one) for one in rubric.criteria}
    return texts


def with_texts(judge: Judge, texts: Texts) -> Judge:
    """Return a judge that follows other texts, and is otherwise as it was."""
    known = judge_texts(judge)
    unknown = sorted(set(texts) - set(known))
    if unknown:
        raise InputError(f"no text {', '.join(unknown)}; this judge has {', '.join(known)}.")
    for name, text in texts.items():
        problem = problem_with(text)
        if problem and text != known[name]:
            raise InputError(f"{name}: {problem}")
    old = judge.protocol
    instructions = {
        name.removeprefix(INSTRUCTIONS): text
        for name, text in texts.items()
        if name.startswith(INSTRUCTIONS) and text != known[name]
    }
    criteria = [
        _read(one.name, texts.get(f"{CRITERION}{one.name}", _written(one)))
        for one in old.rubric.criteria
    ]
    rubric = Rubric.model_validate(
        {**dict(old.rubric), "task": texts.get(TASK, old.rubric.task), "criteria": criteria}
    )
    # Made from plain values: nothing that is no valid protocol comes of a rewrite.
    changed = type(old).model_validate(
        {**dict(old), "instructions": {**old.instructions, **instructions}, "rubric": rubric}
    )
    rewritten = judge.with_protocol(changed)
    shown = {
        name: tuple(_up_to_date(one, rewritten.fixed_inputs(name)) for one in several)
        for name, several in old.demonstrations.items()
    }
    return judge.with_protocol(changed.model_copy(update={"demonstrations": shown}))


def problem_with(text: str) -> str:
    """Return why a text cannot become one of a judge's, in a sentence; empty where it can."""
    if not text.strip():
        return "it is empty."
    if len(text) > LONGEST:
        return f"it has {len(text)} characters; at most {LONGEST} are taken."
    if imitates_layout(text):
        return "it imitates what marks the fields of a question."
    odd = next(
        (
            one
            for one in text
            if unicodedata.category(one) in ("Cc", "Cs", "Co") and one not in "\n\t"
        ),
        None,
    )
    if odd is not None:
        return f"it holds {odd!r}, which is no character of a text."
    return ""


def part_text(judge: Judge, name: str) -> str:
    """Return what a text of a judge is and what it is for, in a sentence."""
    rest = name.partition(":")[2]
    if name.startswith(INSTRUCTIONS):
        fields = dict(judge.named_predictors())[rest].signature.output_fields
        asked = "; ".join(
            f"{field}: {one.json_schema_extra['desc']}" for field, one in fields.items()
        )
        return f'the instruction of the question "{rest}", which asks for {asked}'
    if name == TASK:
        return "the description of what is being judged, in one or two sentences"
    return (
        f'the meaning of the criterion "{rest}": its definition in one or two sentences, and where '
        "they help, a line that begins with worst: and one that begins with best:, on what the "
        "ends of the scale mean"
    )


def _written(criterion: Criterion) -> str:
    ends = [f"{end}: {text}" for end in _ENDS if (text := getattr(criterion, end))]
    return "\n".join([criterion.definition, *ends])


def _read(name: str, text: str) -> Criterion:
    found: dict[str, list[str]] = {"definition": [], "worst": [], "best": []}
    for line in text.splitlines():
        head, colon, rest = line.strip().partition(":")
        if colon and head.casefold() in _ENDS:
            found[head.casefold()].append(rest.strip())
        else:
            found["definition"].append(line.strip())
    said = {key: " ".join(one for one in lines if one) for key, lines in found.items()}
    if not said["definition"]:
        raise InputError(f"criterion:{name}: it has no definition, only what its ends mean.")
    return Criterion.model_validate({"name": name, **said})


def _up_to_date(shown: Demonstration, fixed: Mapping[str, str]) -> Demonstration:
    inputs = {name: fixed.get(name, text) for name, text in shown.inputs.items()}
    return shown.model_copy(update={"inputs": inputs})


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
        if "versions" in self.objective.needs:
            raise InputError(
                f"texts are learned from single rows, and {self.objective} looks at changed "
                "versions of all.",
                hint="leave discernment out, or search demonstrations or the protocol.",
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
            raise InputError(f"{type(self).__name__} {self.taught_by}.", hint="drop teacher=.")
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

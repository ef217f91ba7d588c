"""Texts that a model writes before anything is judged, and instructions it rewrites."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import dspy

from judgesmith.errors import InputError, file_faults
from judgesmith.programs.judging.answers import values_in
from judgesmith.programs.judging.dspy_executor import Asker, ask_of
from judgesmith.programs.judging.executors import Executor, current_lm
from judgesmith.programs.judging.logprobs import OVERALL
from judgesmith.programs.judging.program import Calls, PromptRequest, RequestProgram, asked
from judgesmith.programs.judging.runner import CONCURRENCY, StepsWork, work_each
from judgesmith.signatures.config import (
    Sampling,
    check_questions_of,
    check_steps,
    steps_key,
)
from judgesmith.signatures.judgement import Cause
from judgesmith.signatures.plain_data import read_yaml
from judgesmith.signatures.questions.pointwise import WriteQuestions, WriteSteps
from judgesmith.signatures.questions.texts import ParaphraseInstruction, RewriteText

if TYPE_CHECKING:
    from judgesmith.signatures.rubric import Criterion, Rubric


Lines = tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class LineOrder:
    """One text that is asked for."""

    question: type[dspy.Signature]
    told: Mapping[str, str]
    field: str
    read: Callable[[str], Lines]


def written_side_by_side(
    orders: Sequence[LineOrder], lm: dspy.LM, *, concurrency: int = CONCURRENCY
) -> list[Lines | Cause]:
    """Return the lines of every order, or the sentence that says why there are none."""

    def steps(place: int) -> RequestProgram[Lines | Cause]:
        order = orders[place]

        def read(fields: Mapping[str, Any]) -> Lines:
            return order.read(str(fields[order.field] or ""))

        ask = PromptRequest(predictor=f"write_{place}", inputs=order.told)
        return asked(ask, read, again=1, calls=Calls())

    questions = {f"write_{place}": one.question for place, one in enumerate(orders)}
    work = StepsWork[int, "Lines | Cause"](
        Executor.of(Asker(**questions), lm), steps, lambda place, cause: cause
    )
    found = [lines for _, lines in work_each(work, range(len(orders)), concurrency=concurrency)]
    if work.fault is not None:
        raise work.fault
    return found


_NUMBER = re.compile(r"^(?:step\s*)?[(\[]?\d{1,2}[.):\]]+\s*|^[-*•]\s+", re.IGNORECASE)
_HEADING = re.compile(r"(?i)^(?:evaluation )?(?:steps|questions):?$")


@dataclass(frozen=True, slots=True, kw_only=True)
class CriterionLines:
    """One kind of such lines: how they are asked for, and what stands in where there are none."""

    question: type[dspy.Signature]
    field: str
    check: Callable[..., None]
    stood_in_for: str

    def written(self, lm: dspy.LM | None, *, task: str, criterion: str) -> Lines | Cause:
        (found,) = written_side_by_side([self._order(task, criterion)], lm or current_lm())
        return found

    def _order(self, task: str, criterion: str) -> LineOrder:
        return LineOrder(
            question=self.question if task else self.question.delete("task"),
            told={"task": task, "criterion": criterion} if task else {"criterion": criterion},
            field=self.field,
            read=self.read,
        )

    def read(self, text: str, *, of: str = "the criterion") -> Lines:
        lines = [" ".join(line.split()) for line in _listed(text) or text.splitlines()]
        lines = [line for line in lines if line and not _HEADING.match(line)]
        found = tuple(plain for line in lines if (plain := _NUMBER.sub("", line).strip()))
        self.check(found, of=of)
        return found

    @file_faults()
    def load(self, path: str | Path) -> dict[str, Lines]:
        """Return the lines in a YAML file, by criterion: each a list, or a text of some lines."""
        try:
            given = read_yaml(Path(path).read_text(encoding="utf-8"))
            if not isinstance(given, Mapping) or not given:
                raise InputError(
                    f"expected {self.field} by criterion, as name: and a list; got "
                    f"{str(given)[:80]!r}."
                )
            return {str(name): self._given(str(name), lines) for name, lines in given.items()}
        except UnicodeDecodeError:
            raise InputError("expected a text file in UTF-8.", at=path) from None
        except OSError as fault:
            raise InputError(f"cannot read the {self.field}: {fault.strerror}.", at=path) from None
        except ValueError as fault:
            raise InputError(fault, at=path) from None

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
        """Yield each criterion that has none, with its task before and its key after it."""
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
        """Return the lines of all criteria, those that were lacking written now, and problems."""
        found = dict(given)
        known = {one.name for rubric in rubrics for one in rubric.criteria} | {OVERALL}
        unused = sorted(name for name in given if ":" not in name and name not in known)
        problems = [
            f"{self.field} are given for {name}, which is no criterion: they are not used"
            for name in unused
        ]
        lacking = list(self.lacking(given, rubrics))
        orders = [self._order(task, key) for task, _, key in lacking]
        written = written_side_by_side(orders, lm or current_lm(), concurrency=concurrency)
        for (_, criterion, key), lines in zip(lacking, written, strict=True):
            if isinstance(lines, Cause):
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
    question=WriteSteps, field="steps", check=check_steps, stood_in_for="is judged by general steps"
)
"""Evaluation steps."""

QUESTIONS = CriterionLines(
    question=WriteQuestions,
    field="questions",
    check=check_questions_of,
    stood_in_for="is checked by its definition",
)
"""Questions to be answered by yes or no."""


TEMPERATURE = 1.0
"""Of a rewrite: the same faults may be answered in more than one way."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Written:
    """What came of asking for another text."""

    text: str = ""
    cause: Cause | None = None

    @property
    def problem(self) -> str:
        return "" if self.cause is None else str(self.cause)


class Rewriter:
    """Rewrites texts of judges."""

    def __init__(self, lm: dspy.LM) -> None:
        self._lm = lm

    def __call__(self, *, sample: int, **told: str) -> Written:
        return _written(self._lm, RewriteText, told, sample=sample)


def _written(
    lm: dspy.LM, question: type[dspy.Signature], told: Mapping[str, str], *, sample: int
) -> Written:
    ask = PromptRequest(predictor="", inputs=told, sample=sample)
    reply = ask_of(lm, dspy.Predict(question), ask, Sampling(temperature=TEMPERATURE))
    if reply.fields is None:
        return Written(cause=reply.cause)
    *_, text = reply.fields.values()  # a diagnosis may come first
    return Written(text=str(text or "").strip())


_OTHER_WORDS = (
    ("Score", "Rate"),
    ("score alone", "score and nothing else"),
    ("Judge", "Assess"),
    ("as a whole", "in its entirety"),
    ("without giving reasons", "with no reasons"),
    ("Grade", "Mark"),
    ("by the one criterion", "by the single criterion"),
    ("by the criterion", "with regard to the criterion"),
    ("is there to be", "is here to be"),
)
_OPENINGS = ("", "Read everything first. ", "Be even-handed. ", "Take every case by itself. ")


def paraphrased(lm: dspy.LM, text: str, *, sample: int) -> Written:
    return _written(lm, ParaphraseInstruction, {"instruction": text}, sample=sample)


def paraphrased_by_rule(text: str, *, sample: int) -> Written:
    """Return an instruction with some words exchanged, as the number says."""
    known = [pair for pair in _OTHER_WORDS if pair[0] in text]
    for old, new in known[: 1 + sample // len(_OPENINGS)]:
        text = re.sub(re.escape(old), new, text)
    return Written(text=_OPENINGS[sample % len(_OPENINGS)] + text)

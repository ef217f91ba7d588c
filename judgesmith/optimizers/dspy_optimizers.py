"""Optimizers of DSPy on our judges, by our objectives: MIPROv2, SIMBA and random search."""

from __future__ import annotations

import contextlib
import io
import logging
import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal, Unpack, get_args

import dspy
import numpy as np
from dspy.evaluate.evaluate import EvaluationResult
from dspy.teleprompt import SIMBA, BootstrapFewShotWithRandomSearch, MIPROv2
from dspy.teleprompt.simba_utils import append_a_demo
from dspy.utils.callback import BaseCallback

from judgesmith.errors import InputError
from judgesmith.optimizers.base import OFFLINE, SearchSettings, TextSearch, problem_with
from judgesmith.optimizers.objectives.base import Objective
from judgesmith.optimizers.objectives.grammar import AnyObjective
from judgesmith.optimizers.predictions import PredictionTable
from judgesmith.optimizers.rows import Rows
from judgesmith.optimizers.search.racing import OutOfBudget
from judgesmith.optimizers.space.candidates import AskedHow
from judgesmith.optimizers.space.demonstrations import label_in, shown_keys
from judgesmith.optimizers.trials import ENOUGH_SCORED, TrialRecord
from judgesmith.programs.families.ensemble.judges import judgement_of
from judgesmith.programs.families.verdict import VerdictConfig
from judgesmith.programs.judging.executors import with_own_models
from judgesmith.programs.judging.judge import Judge
from judgesmith.programs.lm import BudgetSpent
from judgesmith.programs.lm.limits import STOPPING, Stopped
from judgesmith.results.progress import OnProgress, tell
from judgesmith.signatures.config import JudgeConfig
from judgesmith.signatures.fences import imitates_layout
from judgesmith.signatures.judgement import Judgement
from judgesmith.signatures.scale import Scale, is_percent, level_of

Name = Literal["miprov2", "simba", "bootstrap"]

DEMONSTRATIONS: Mapping[Name, tuple[str, ...]] = {
    "miprov2": ("max_bootstrapped_demos", "max_labeled_demos"),
    "simba": ("max_demos",),
    "bootstrap": ("max_bootstrapped_demos", "max_labeled_demos"),
}
"""By optimizer, the settings that say how many demonstrations are shown at most."""

Value = Callable[[Sequence[tuple[dspy.Example, Any]]], float]
"""From examples and predictions to the objective on them, above 0 for everything defined."""

NAMES: tuple[str, ...] = get_args(Name)

LEARNING = ("miprov2",)  # whose proposals depend on what earlier ones came to on validation rows


@dataclass(frozen=True, kw_only=True)
class DSPyRun:
    metric: Callable[..., float]
    value: Value
    writer: dspy.LM | None
    n_threads: int
    seed: int
    labelled: bool
    settings: Mapping[str, Any]

    def __call__(
        self, name: Name, student: Judge, train: list[dspy.Example], select: list[dspy.Example]
    ) -> Any:
        shown = [self.settings.get(one) for one in DEMONSTRATIONS[name]]
        if self.writer is None and all(most == 0 for most in shown):
            return student  # nobody writes, and nothing may be shown
        return getattr(self, f"_{name}")(student, train, select)

    def _given(self, **defaults: Any) -> dict[str, Any]:
        """Return settings with these defaults; without labelled rows where none can be shown."""
        labels = {} if self.labelled else {"max_labeled_demos": 0}
        return {**defaults, "num_threads": self.n_threads, **labels, **self.settings}

    def _miprov2(
        self, student: Judge, train: list[dspy.Example], select: list[dspy.Example]
    ) -> Any:
        # DSPy takes a seed of 0 for none, wherever it is given.
        settings = self._given(auto="light", seed=self.seed + 1)
        of_compile = {"minibatch": len(select) > 50, "minibatch_size": min(35, len(select))}
        of_compile |= {k: settings.pop(k) for k in ("num_trials", "minibatch") if k in settings}
        made = _ObjectiveMIPRO(self, metric=self.metric, prompt_model=self.writer, **settings)
        return made.compile(student, trainset=train, valset=select, **of_compile)

    def _simba(self, student: Judge, train: list[dspy.Example], select: list[dspy.Example]) -> Any:
        settings = self._given(bsize=min(32, len(train)))
        settings.pop("max_labeled_demos", None)
        made = SIMBA(metric=self.metric, prompt_model=self.writer, **settings)
        if self.writer is None:
            made.strategies = [append_a_demo(made.demo_input_field_maxlen)]
        # It compares answers to one and the same question, which have to differ.
        exploring = student.protocol.model_copy(update={"temperature": 1.0})
        return made.compile(student.with_protocol(exploring), trainset=train, seed=self.seed)

    def _bootstrap(
        self, student: Judge, train: list[dspy.Example], select: list[dspy.Example]
    ) -> Any:
        settings = self._given(num_candidate_programs=11)
        made = BootstrapFewShotWithRandomSearch(self.metric, **settings)
        return made.compile(student, trainset=train, valset=select)


class _ObjectiveMIPRO(MIPROv2):
    def __init__(self, run: DSPyRun, **settings: Any) -> None:
        super().__init__(**settings)
        self._run = run

    def _propose_instructions(self, program: Any, *rest: Any, **named: Any) -> Any:
        if self._run.writer is not None:
            return super()._propose_instructions(program, *rest, **named)
        own = [one.signature.instructions for one in program.predictors()]
        return {place: [text] for place, text in enumerate(own)}

    def _optimize_prompt_parameters(
        self, program: Any, instructions: Any, demos: Any, evaluate: Any, *rest: Any, **named: Any
    ) -> Any:
        by_list = _ObjectiveEvaluate(
            self._run.value,
            devset=evaluate.devset,
            metric=self.metric,
            num_threads=evaluate.num_threads,
            max_errors=evaluate.max_errors,
            display_progress=False,
        )
        return super()._optimize_prompt_parameters(
            program, instructions, demos, by_list, *rest, **named
        )


class _ObjectiveEvaluate(dspy.Evaluate):
    """An evaluation whose score is an objective of the whole list; undefined is the least, 0."""

    def __init__(self, value: Value, **settings: Any) -> None:
        super().__init__(**settings)
        self._value = value

    def __call__(self, program: Any, **named: Any) -> Any:
        found = super().__call__(program, **named)
        value = self._value([(example, answer) for example, answer, _ in found.results])
        score = 0.0 if math.isnan(value) else value
        return EvaluationResult(score=score, results=found.results)


@contextlib.contextmanager
def silent() -> Iterator[None]:
    from judgesmith.optimizers.storage import quiet

    log, studies = logging.getLogger("dspy"), logging.getLogger("optuna")
    level, handlers = log.level, studies.handlers
    log.setLevel(logging.CRITICAL + 1)
    studies.handlers = [logging.NullHandler()]  # MIPROv2 sets the level by itself
    try:
        with (
            quiet(),
            contextlib.redirect_stdout(io.StringIO()),
            contextlib.redirect_stderr(io.StringIO()),
        ):
            yield
    finally:
        log.setLevel(level)
        studies.handlers = handlers


TRAIN, SELECT = "train", "select"  # names of the training rows and of the validation rows


@dataclass(kw_only=True, eq=False)
class ObjectiveRows:
    """Rows of one set, with what the judge that a search started from says of them."""

    name: str
    rows: Rows
    objective: Objective
    targets: tuple[str, ...]
    start: Sequence[Judgement]
    judge_scale: Scale
    unscored: float = field(init=False)
    _table: PredictionTable = field(init=False)
    _places: list[list[int]] = field(init=False)

    def __post_init__(self) -> None:
        self._table = self.rows.judged(self.start, self.targets, judge_scale=self.judge_scale)
        self._places = [[] for _ in range(len(self.rows))]
        for place, row in enumerate(self.rows.of_table(self.targets).tolist()):
            self._places[row].append(place)
        parts = self.objective.row_parts(self._table) * len(self.rows)
        known = parts[~np.isnan(parts)]
        # An answer without a score is worth less than the worst of the start's answers.
        self.unscored = float(known.min() - np.ptp(known)) - 1.0 if known.size else -1.0

    def examples(self, judge: Judge) -> list[dspy.Example]:
        predictors = [name for name, _ in judge.named_predictors()]
        fixed: Mapping[str, str] = judge.fixed_inputs(predictors[0]) if len(predictors) == 1 else {}
        answers, percents = judge.protocol.answers, self.rows.percent().tolist()
        return [
            dspy.Example(
                **fixed,
                source=item.source,
                context=item.context,
                response=item.response,
                score=round(percent) if is_percent(answers) else level_of(percent, answers),
                row=f"{self.name} {row}",
                **self._verdict(judge.protocol, row),
            ).with_inputs("source", "context", "response")
            for row, (item, percent) in enumerate(zip(self.rows.items, percents, strict=True))
        ]

    def _verdict(self, protocol: JudgeConfig, row: int) -> dict[str, str]:
        """Return what a judge of labels is to answer: the label of people, and their words."""
        if not isinstance(protocol, VerdictConfig) or protocol.scores_criteria:
            return {}
        percent = float(self.rows.percent()[row])
        label = label_in(self.rows.items[row], percent, protocol.answers)
        told = {"critique": self.rows.words(row), "verdict": label or ""}
        return {name: text for name, text in told.items() if text}

    def worth(self, row: int, judgement: Judgement) -> float:
        """Return what one answer adds to the objective, times the number of rows."""
        if judgement.score is None:
            return self.unscored
        answered = self.rows.take([row]).judged(
            [judgement], self.targets, judge_scale=self.judge_scale
        )
        places = self._places[row]
        predicted = self._table.predicted.copy()
        predicted[places] = answered.predicted
        said = list(self._table.judgements)
        for place in places:
            said[place] = judgement
        table = replace(self._table, predicted=predicted, problems=(), judgements=tuple(said))
        parts = [self.objective.row_part(table, place) for place in places]
        return len(self.rows) * math.fsum(one for one in parts if not math.isnan(one))


@dataclass(kw_only=True, eq=False)
class ObjectiveMetric:
    sets: Mapping[str, ObjectiveRows]
    heard: Callable[[str, int, str, Judgement], None]

    __name__ = "part_of_the_objective"

    def __call__(self, example: dspy.Example, answer: Any, trace: Any = None) -> float:
        name, _, row = str(example.row).rpartition(" ")
        rows = self.sets[name]
        if (judgement := _judgement_of(answer)) is None:
            return rows.unscored
        self.heard(name, int(row), str(answer.protocol), judgement)
        worth = rows.worth(int(row), judgement)
        return float(judgement.score is not None and worth > 0) if trace is not None else worth


def _judgement_of(answer: Any) -> Judgement | None:
    return None if answer is None or "score" not in answer else judgement_of(answer)


class SearchEnded(BaseException):
    """Ends an optimizer of DSPy's, which takes every exception for the failure of one row."""


class DSPyMonitor(BaseCallback):
    def __init__(self, student: Judge, on_progress: OnProgress | None) -> None:
        self.student = student
        self.on_progress = on_progress
        self.protocols: dict[str, Any] = {}
        self.answers: dict[str, dict[int, Judgement]] = {}
        self.spent = self.stopped = False

    def on_module_start(self, call_id: str, instance: Any, inputs: dict[str, Any]) -> None:
        if self.spent or self.stopped:
            raise SearchEnded
        if isinstance(instance, Judge):
            protocol = instance.protocol
            self.protocols.setdefault(protocol.fingerprint, protocol)

    def on_module_end(
        self, call_id: str, outputs: Any, exception: BaseException | None = None
    ) -> None:
        if exception is not None:
            self.note(exception)
        elif isinstance(outputs, dspy.Prediction) and "protocol" in outputs:
            tell(self.on_progress)

    def note(self, fault: BaseException | None) -> None:
        while fault is not None:
            self.spent = self.spent or isinstance(fault, BudgetSpent | OutOfBudget)
            self.stopped = self.stopped or isinstance(fault, Stopped)
            fault = fault.__cause__

    def heard(self, name: str, row: int, judge: str, judgement: Judgement) -> None:
        if name == SELECT:
            self.answers.setdefault(judge, {})[row] = judgement

    def judges(self) -> Iterator[Judge]:
        # Rows that were under way when the search was ended may still be answered meanwhile.
        n_answers = {judge: len(answers) for judge, answers in tuple(self.answers.items())}
        most = max(n_answers.values(), default=0)
        for judge, n in n_answers.items():
            if n == most and judge in self.protocols:
                yield self.student.with_protocol(self.protocols[judge])


@dataclass(kw_only=True, eq=False)
class CandidateComparison:
    """The start and what DSPy found, on all validation rows; equal judges are one."""

    start: Judge
    selection: Rows
    asking: AskedHow
    objective: Objective
    targets: tuple[str, ...]
    on_trial: Callable[[TrialRecord], None] | None
    trials: list[TrialRecord] = field(default_factory=list)
    judges: dict[str, Judge] = field(default_factory=dict)
    tables: dict[int, PredictionTable] = field(default_factory=dict)

    def add(
        self,
        judge: Judge,
        *,
        heard: Mapping[str, Mapping[int, Judgement]] | None = None,
        ask: bool = True,
    ) -> list[Judgement]:
        own = self.start.protocol
        protocol = judge.protocol.model_copy(update={"temperature": own.temperature})
        if protocol.fingerprint in self.judges:
            return []
        problem = "" if judge is self.start else problem_of(judge, self.start)
        found: list[Judgement] = []
        values: dict[str, Any] = {"problem": problem}
        if not problem:
            made = self.start.with_protocol(protocol)
            known = dict((heard or {}).get(protocol.fingerprint, {}))
            rows = range(len(self.selection))
            missing = [row for row in rows if row not in known]
            if missing and not ask:
                return []
            if missing:
                asked = self.asking.judged(made, self.selection.take(missing))
                known |= dict(zip(missing, asked, strict=True))
            found = [known[row] for row in rows]
            table = self.selection.judged(found, self.targets, judge_scale=made.scale)
            values["value"] = self.objective.value(table)
            values |= {"n_rows": len(rows), "share_scored": table.least_scored}
            self.judges[protocol.fingerprint] = made
            self.tables[len(self.trials)] = table
        shown, texts = protocol.demonstrations, protocol.instructions
        trial = TrialRecord(
            number=len(self.trials),
            n_demonstrations=max((len(several) for several in shown.values()), default=0),
            instructions=tuple(sorted(k for k in texts if own.instructions.get(k) != texts[k])),
            keys=shown_keys(shown),
            **values,
        )
        self.trials.append(trial)
        if self.on_trial is not None:
            self.on_trial(trial)
        return found

    def judge(self, number: int) -> Judge:
        # Judges are kept in the order of the trials that were compared.
        return dict(zip(self.tables, self.judges.values(), strict=True)).get(number, self.start)


def _shows_labels(student: Judge) -> bool:
    """Return whether a rated row is a demonstration of its only predictor."""
    predictors = student.predictors()
    return len(predictors) == 1 and "response" in predictors[0].signature.input_fields


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


MOST_THREADS = 32

_LEAST = -1000.0  # below every objective, so that what DSPy counts as 0 is the worst
_EXHAUSTED = "No valid program found"  # what MIPROv2 raises after everything it could propose
_NO_END = 10**9  # failures after which DSPy abandons all; here each is a failure by itself


class DSPyOptimizer(TextSearch):
    """Run an optimizer of DSPy on a judge, and keep what is better by the objective.

    DSPy is told of a single answer its exact part in the objective; an answer without a score is
    worth less than the worst of them, never 0. MIPROv2 compares candidates by the objective itself.
    Every judge that DSPy would choose among is judged on all validation rows, and the best is
    returned if it passes (see ``ImprovementTest``), else the start. Only demonstrations and
    instructions are taken over. The offline model writes no instructions.

    Parameters
    ----------
    optimizer : {"miprov2", "simba", "bootstrap"}
        ``bootstrap`` is BootstrapFewShotWithRandomSearch.
    settings : dict or None
        Of the optimizer, as DSPy names them, such as ``{"auto": "medium"}``.
    prompt_lm : dspy.LM or None
        The model that writes instructions; None takes the one that judges.
    objective, **shared
        As for ``JudgeSearch``.

    References
    ----------
    Opsahl-Ong et al. (2024), "Optimizing Instructions and Demonstrations for Multi-Stage Language
    Model Programs", EMNLP. arXiv:2406.11695. SIMBA: DSPy's documentation.
    """

    refuses_teacher = "lets the student teach"

    def __init__(
        self,
        optimizer: Name,
        objective: AnyObjective = "q",
        *,
        settings: Mapping[str, Any] | None = None,
        prompt_lm: dspy.LM | None = None,
        **shared: Unpack[SearchSettings],
    ) -> None:
        super().__init__(objective, **shared)
        if optimizer not in NAMES:
            raise InputError(f"optimizer must be one of {', '.join(NAMES)}; got {optimizer!r}.")
        ours = sorted({"metric", "num_threads", "prompt_model", "seed"} & set(settings or {}))
        if ours:
            raise InputError(
                f"{', '.join(ours)} is set by the bridge.", hint="leave it out of settings."
            )
        self.optimizer = optimizer
        self.settings = dict(settings or {})
        self.prompt_lm = prompt_lm

    def _n_shown(self, student: Judge) -> int:
        return 4  # what DSPy's optimizers show at most by default

    def _found(self, student: Judge, pool: Rows, selection: Rows, teacher: Judge | None) -> Judge:
        lm = with_own_models(student, self.lm)[1]
        asking = AskedHow(lm=lm, concurrency=self.concurrency, on_progress=self.on_progress)
        compared = CandidateComparison(
            start=student,
            selection=selection,
            asking=asking,
            objective=self.objective,
            targets=self.targets,
            on_trial=self.on_trial,
        )
        self.complete_ = True
        try:
            said = {SELECT: (selection, compared.add(student))}
            said[TRAIN] = (pool, asking.judged(student, pool))
            sets = {
                name: ObjectiveRows(
                    name=name,
                    rows=rows,
                    objective=self.objective,
                    targets=self.targets,
                    start=own,
                    judge_scale=student.scale,
                )
                for name, (rows, own) in said.items()
            }
            self._searched(student, lm, sets, compared)
        except OutOfBudget:
            self.complete_ = False
        self.trials_ = tuple(compared.trials)
        ranks = {number: compared.trials[number].rank for number in compared.tables}
        learned = self.optimizer in LEARNING
        best = compared.judge(
            self.select_trial(self.objective, compared.tables, ranks, learned=learned)
        )
        return best.with_protocol(best.protocol)

    def _searched(
        self,
        student: Judge,
        lm: dspy.LM,
        sets: Mapping[str, ObjectiveRows],
        compared: CandidateComparison,
    ) -> None:
        """Let DSPy search, then compare what it found, as far as the budget allows."""
        watch = DSPyMonitor(student, self.on_progress)
        writer = self.prompt_lm or lm
        n_threads = min(self.concurrency, MOST_THREADS)
        run = DSPyRun(
            metric=ObjectiveMetric(sets=sets, heard=watch.heard),
            value=lambda answers: self._value(sets[SELECT], answers),
            writer=None if str(writer.model) == OFFLINE else writer,
            n_threads=n_threads,
            seed=self.seed,
            labelled=_shows_labels(student),
            settings=self.settings,
        )
        context = dspy.context(
            lm=lm,
            adapter=dspy.ChatAdapter(use_json_adapter_fallback=False),
            callbacks=[*dspy.settings.get("callbacks", []), watch],
            num_threads=n_threads,
            max_errors=_NO_END,
        )
        found: list[Judge] = []
        train, select = (sets[name].examples(student) for name in (TRAIN, SELECT))
        with STOPPING.attended(), silent(), context:
            try:
                made = run(self.optimizer, student.with_protocol(student.protocol), train, select)
                others = getattr(made, "candidate_programs", None) or []
                found = [made, *(one["program"] for one in others)]
            except SearchEnded:
                pass
            except Exception as fault:
                watch.note(fault)
                if not (watch.spent or watch.stopped or _EXHAUSTED in str(fault)):
                    raise
        if watch.stopped:
            raise Stopped("stopped before the search had ended.")
        for judge in (*found, *watch.judges()):
            compared.add(judge, heard=watch.answers, ask=not watch.spent)
        if watch.spent:
            raise OutOfBudget

    def _value(self, own: ObjectiveRows, answers: Sequence[tuple[dspy.Example, Any]]) -> float:
        """Return the objective on a list of answers, above 0: DSPy takes a failure for 0."""
        rows = [int(str(example.row).rpartition(" ")[2]) for example, _ in answers]
        missing = Judgement.unscored("no answer came")
        said = [_judgement_of(answer) or missing for _, answer in answers]
        table = own.rows.take(rows).judged(said, self.targets, judge_scale=own.judge_scale)
        if table.least_scored < ENOUGH_SCORED:
            return math.nan
        return self.objective.value(table) - _LEAST

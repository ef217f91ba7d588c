"""Optimizers of DSPy as they are run on judges: which there are, and how each is set up."""

from __future__ import annotations

import contextlib
import io
import logging
import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import dspy
from dspy.evaluate.evaluate import EvaluationResult
from dspy.teleprompt import SIMBA, BootstrapFewShotWithRandomSearch, MIPROv2
from dspy.teleprompt.simba_utils import append_a_demo

from judgesmith.programs.judging.judge import Judge

Name = Literal["miprov2", "simba", "bootstrap"]

DEMONSTRATIONS: Mapping[Name, tuple[str, ...]] = {
    "miprov2": ("max_bootstrapped_demos", "max_labeled_demos"),
    "simba": ("max_demos",),
    "bootstrap": ("max_bootstrapped_demos", "max_labeled_demos"),
}
"""By optimizer, the settings that say how many demonstrations are shown at most."""

Value = Callable[[Sequence[tuple[dspy.Example, Any]]], float]
"""From examples and predictions to the objective on them, above 0 for everything defined."""

EXPLORING = 1.0
"""The temperature at which SIMBA compares answers to one and the same question."""


@dataclass(frozen=True, kw_only=True)
class DspyRun:
    """What an optimizer of DSPy works with.

    Attributes
    ----------
    metric : callable
        The worth of one answer.
    value : callable
        The objective on a list of answers, for optimizers that can be told it.
    writer : dspy.LM or None
        Who writes instructions; None where nobody can.
    n_threads : int
        Requests under way at once.
    seed : int
        Of all drawing.
    labelled : bool
        Whether rated rows can be shown as they are.
    settings : dict
        Of the optimizer, as DSPy names them.
    """

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
        """Return what DSPy's optimizer makes of ``student``."""
        shown = [self.settings.get(one) for one in DEMONSTRATIONS[name]]
        if self.writer is None and all(most == 0 for most in shown):
            return student  # nobody writes, and nothing may be shown
        return _RUNS[name](self, student, train, select)

    def given(self, **defaults: Any) -> dict[str, Any]:
        """Return settings with these defaults; without labelled rows where none can be shown."""
        labels = {} if self.labelled else {"max_labeled_demos": 0}
        return {**defaults, **labels, **self.settings}


def _miprov2(
    run: DspyRun, student: Judge, train: list[dspy.Example], select: list[dspy.Example]
) -> Any:
    # DSPy takes a seed of 0 for none, wherever it is given.
    settings = run.given(auto="light", seed=run.seed + 1, num_threads=run.n_threads)
    of_compile: dict[str, Any] = {
        "minibatch": len(select) > 50,
        "minibatch_size": min(35, len(select)),
    }
    of_compile |= {k: settings.pop(k) for k in ("num_trials", "minibatch") if k in settings}
    made = _ObjectiveMIPRO(run, metric=run.metric, prompt_model=run.writer, **settings)
    return made.compile(student, trainset=train, valset=select, **of_compile)


def _simba(
    run: DspyRun, student: Judge, train: list[dspy.Example], select: list[dspy.Example]
) -> Any:
    settings = run.given(bsize=min(32, len(train)), num_threads=run.n_threads)
    settings.pop("max_labeled_demos", None)
    made = SIMBA(metric=run.metric, prompt_model=run.writer, **settings)
    if run.writer is None:
        made.strategies = [append_a_demo(made.demo_input_field_maxlen)]
    exploring = student.protocol.model_copy(update={"temperature": EXPLORING})
    return made.compile(student.with_protocol(exploring), trainset=train, seed=run.seed)


def _bootstrap(
    run: DspyRun, student: Judge, train: list[dspy.Example], select: list[dspy.Example]
) -> Any:
    settings = run.given(num_candidate_programs=11, num_threads=run.n_threads)
    made = BootstrapFewShotWithRandomSearch(run.metric, **settings)
    return made.compile(student, trainset=train, valset=select)


_RUNS: Mapping[str, Callable[..., Any]] = {
    "miprov2": _miprov2,
    "simba": _simba,
    "bootstrap": _bootstrap,
}
NAMES: tuple[str, ...] = tuple(_RUNS)


class _ObjectiveMIPRO(MIPROv2):
    """MIPROv2 that compares candidates by an objective of the whole list."""

    def __init__(self, run: DspyRun, **settings: Any) -> None:
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
        """Return DSPy's result with the objective in place of its mean."""
        found = super().__call__(program, **named)
        value = self._value([(example, answer) for example, answer, _ in found.results])
        score = 0.0 if math.isnan(value) else value
        return EvaluationResult(score=score, results=found.results)


@contextlib.contextmanager
def silent() -> Iterator[None]:
    """Keep what DSPy prints, logs and draws to itself."""
    from judgesmith.optimizers.studies import quiet

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

"""What every optimizer has in common, and what those that rewrite texts have."""

from __future__ import annotations

import functools
import math
import unicodedata
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, ClassVar, Generic, TypedDict, TypeVar, Unpack

import dspy
import numpy as np
from dspy.teleprompt import Teleprompter

from judgesmith.errors import InputError
from judgesmith.front_door import public
from judgesmith.optimizers.objectives.base import Objective
from judgesmith.optimizers.objectives.combining import SeveralObjectives
from judgesmith.optimizers.objectives.functions import check_direction
from judgesmith.optimizers.objectives.grammar import AnyObjective, as_objective
from judgesmith.optimizers.predictions import SCORE, PredictionTable
from judgesmith.optimizers.rows import Rows, pool_and_selection, rows_from
from judgesmith.optimizers.space.demonstrations import shown_keys
from judgesmith.optimizers.trials import (
    ConfirmationResult,
    ImprovementTest,
    Rank,
    TrialRecord,
    check_confirm,
    select_trial,
)
from judgesmith.programs.judging.executors import JudgeLike
from judgesmith.programs.judging.judge import Judge, check_judge
from judgesmith.programs.judging.runner import CONCURRENCY, score_batch
from judgesmith.results.progress import OnProgress, shows_progress, staged
from judgesmith.signatures.config import Demonstration, JudgeConfig
from judgesmith.signatures.fences import imitates_layout
from judgesmith.signatures.judgement import Judgement
from judgesmith.signatures.rubric import Criterion, Rubric, folded
from judgesmith.signatures.scale import Scale

OFFLINE = "offline"  # the name of the model that reads no instructions and writes none


class RunSettings(TypedDict, total=False):
    seed: int
    lm: dspy.LM | None
    concurrency: int
    on_progress: OnProgress | None
    progress: bool


class RowSettings(RunSettings, total=False):
    scale: Scale | None


class SearchSettings(RowSettings, total=False):
    targets: Sequence[str]
    percent_of_max: bool
    metric: AnyObjective | SeveralObjectives | None
    confirm: ImprovementTest | None
    on_trial: Callable[[TrialRecord], None] | None


def _with_bar(method: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(method)
    def compiled(self: JudgeOptimizer, *args: Any, **kwargs: Any) -> Any:
        @shows_progress
        def run(*, on_progress: OnProgress | None, progress: bool) -> Any:
            before, self.on_progress = self.on_progress, on_progress
            try:
                return method(self, *args, **kwargs)
            finally:
                self.on_progress = before

        return run(on_progress=self.on_progress, progress=self.progress)

    return compiled


class JudgeOptimizer(Teleprompter):
    """An optimizer that judges rows.

    Parameters
    ----------
    seed : int
        Random seed.
    scale : Scale or None
        What the examples' scores are measured in; None reads it from them.
    lm : dspy.LM or None
        The model; None takes DSPy's current one.
    concurrency : int
        Requests under way at once.
    on_progress : callable or None
        Told of every ``ProgressEvent``.
    progress : bool
        Whether a terminal or a notebook shows a bar, where ``on_progress`` is None.
    """

    def __init__(
        self,
        *,
        seed: int = 0,
        scale: Scale | None = None,
        lm: dspy.LM | None = None,
        concurrency: int = CONCURRENCY,
        on_progress: OnProgress | None = None,
        progress: bool = True,
    ) -> None:
        super().__init__()
        self.seed = seed
        self.scale = scale
        self.lm = lm
        self.concurrency = concurrency
        self.on_progress = staged(on_progress)
        self.progress = progress

    def __init_subclass__(cls, **more: Any) -> None:
        super().__init_subclass__(**more)
        if "compile" in cls.__dict__:
            cls.compile = _with_bar(cls.__dict__["compile"])
        if "__init__" in cls.__dict__:
            takes = public(cls.__name__, sorted(SearchSettings.__optional_keys__))
            cls.__init__ = takes(cls.__dict__["__init__"])  # type: ignore[method-assign]

    def judged(self, judge: JudgeLike, rows: Rows) -> list[Judgement]:
        return score_batch(
            judge,
            rows.texts,
            lm=self.lm,
            concurrency=self.concurrency,
            on_progress=self.on_progress,
        )


Aim = TypeVar("Aim", bound=Objective | SeveralObjectives)
Found = TypeVar("Found")


class JudgeSearch(JudgeOptimizer, ABC, Generic[Aim, Found]):
    """An optimizer that keeps the judge with the best objective on a set of rows.

    A subclass sets ``objective``, and implements ``_n_shown`` and ``_found``.

    Parameters
    ----------
    objective : Objective, callable or str
        What is made as large as possible over the whole list of predictions, such as ``q``.
    targets : sequence of str
        What scores are compared with people on: ``score``, the judge's own, and criteria by
        name. The objective is its mean over them.
    percent_of_max : bool
        Whether scores are shown as a share of the highest point instead of the whole range.
    metric : Objective, callable, str or None
        DSPy's word for an objective, instead of it; also a metric of DSPy's kind,
        ``metric(example, prediction, trace=None) -> float``, whose mean is maximized.
    confirm : ImprovementTest or None
        By what rule the best of all replaces the student; None takes the best on the
        validation rows, which flatters it.
    on_trial : callable or None
        Told of every trial as soon as it is known how well it did.
    **shared
        As for ``JudgeOptimizer``.

    Attributes
    ----------
    trials_ : tuple of TrialRecord
        Everything that was tried, in order; set by ``compile``.
    complete_ : bool
        False where the budget ended the search.
    confirmation_ : ConfirmationResult or None
        Of the best candidate, set by ``compile``; None where none was better than the student.
    taken_ : int or None
        Number of the trial that was taken, mostly that of the student.
    """

    complete_ = True
    trials_: tuple[TrialRecord, ...] = ()

    objective: Aim
    refuses_teacher: ClassVar[str] = ""
    """Why a teacher is of no use; empty where one may teach."""

    def __init__(
        self,
        *,
        targets: Sequence[str] = (SCORE,),
        percent_of_max: bool = False,
        metric: AnyObjective | SeveralObjectives | None = None,
        confirm: ImprovementTest | None = ImprovementTest(),  # noqa: B008 - a frozen record
        on_trial: Callable[[TrialRecord], None] | None = None,
        **shared: Unpack[RowSettings],
    ) -> None:
        super().__init__(**shared)
        if not targets:
            raise InputError("no targets to agree with.", hint="name score, or criteria.")
        check_confirm(confirm)
        self.targets = tuple(targets)
        self.percent_of_max = percent_of_max
        self.metric = metric
        self.confirm = confirm
        self.on_trial = on_trial
        self.confirmation_: ConfirmationResult | None = None
        self.taken_: int | None = None

    def compile(
        self,
        student: Judge,
        *,
        trainset: Sequence[dspy.Example],
        teacher: Judge | None = None,
        valset: Sequence[dspy.Example] | None = None,
    ) -> Found:
        """Return the best judge found; ``student`` is unchanged.

        Parameters
        ----------
        student : Judge
            It competes, and stays where nothing is better. Rows that it shows are not used for
            validation.
        trainset : sequence of dspy.Example
            Rows that may be shown. Without ``valset``, a part of them by source.
        teacher : Judge or None
            Whose runs are shown; most searches take none.
        valset : sequence of dspy.Example or None
            Validation rows. They share no source with ``trainset``.

        Raises
        ------
        ValueError
            If there are too few rows, all scores are equal, training and validation rows
            share a source, the student scores no such target, or a teacher has no use.
        """
        check_judge(student)
        if teacher is not None and self.refuses_teacher:
            name = type(self).__name__
            raise InputError(f"{name} {self.refuses_teacher}.", hint="drop teacher=.")
        n_shown = self._n_shown(student)
        refuse_unscored_targets(student.protocol, self.targets)
        pool, selection = pool_and_selection_rows(
            trainset,
            valset,
            n_demonstrations=n_shown,
            scale=self.scale,
            percent_of_max=self.percent_of_max,
            seed=self.seed,
            shown=shown_keys(student.protocol.demonstrations),
        )
        selection.refuse_constant(self.targets)
        selection = rows_for(self.objective, selection)
        check_objective(
            self.objective, selection, self.targets, criteria=student.protocol.scored_criteria
        )
        return self._found(student, pool.without_versions(), selection, teacher)

    @abstractmethod
    def _n_shown(self, student: Judge) -> int:
        """Check the student; return how many demonstrations the training rows have to offer."""

    @abstractmethod
    def _found(self, student: Judge, pool: Rows, selection: Rows, teacher: Judge | None) -> Found:
        """Return the best judge, learned from ``pool`` and selected on ``selection``."""

    def select_trial(
        self,
        objective: Objective,
        tables: Mapping[int, PredictionTable],
        ranks: Mapping[int, Rank],
        *,
        start: int = 0,
        learned: bool = False,
    ) -> int:
        """Return the number of the trial to take: see ``select_trial``."""
        self.taken_, self.confirmation_ = select_trial(
            self.confirm,
            objective,
            {one: (table, tables[start]) for one, table in tables.items() if start in tables},
            ranks,
            start=start,
            learned=learned,
            seed=self.seed,
        )
        return self.taken_


def check_objective(
    objective: Objective | SeveralObjectives | None,
    rows: Rows,
    targets: Sequence[str] = (SCORE,),
    *,
    criteria: Iterable[str] = (),
) -> None:
    """Refuse an objective that these rows cannot tell judges apart by, before a model is called."""
    if objective is None:
        return
    for one in objective.each:
        if not one.checked_on_ratings:
            continue
        said = rows.as_people_said(targets, criteria=criteria)
        if math.isnan(one.value(said)):
            raise InputError(
                f"the objective {one} is undefined on the {len(rows)} validation rows, even for "
                "a judge that repeats the human ratings."
            )
        check_direction(one, said)


def rows_for(objective: Objective | SeveralObjectives | None, rows: Rows) -> Rows:
    """Return validation rows as an objective needs them: with changed versions, or without."""
    terms = () if objective is None else objective.rated_terms
    if terms and not rows.is_rated:
        raise InputError(
            f"these rows have no ratings, and {', '.join(terms)} compares scores with human "
            "ratings.",
            hint="leave it out of the objective, or rate them.",
        )
    if objective is None or "versions" not in objective.needs:
        return rows.without_versions()
    if not rows.kinds:
        raise InputError(
            f"the objective {objective} looks at changed versions of the validation rows, and "
            "they have none.",
            hint="give examples with versions (see rated_example).",
        )
    return rows


def pool_and_selection_rows(
    trainset: Sequence[dspy.Example],
    valset: Sequence[dspy.Example] | None,
    *,
    n_demonstrations: int,
    scale: Scale | None,
    percent_of_max: bool,
    seed: int,
    shown: Iterable[str] = (),
) -> tuple[Rows, Rows]:
    """Return training and validation rows, which share no source and no text."""
    rows = rows_from(trainset, scale, percent_of_max=percent_of_max)
    if n_demonstrations and not rows.is_rated:
        raise InputError(
            "these rows have no ratings, so none can be a demonstration.",
            hint="ask for no demonstrations.",
        )
    if valset is None:
        places = pool_and_selection(
            rows.groups,
            rows.levels,
            n_demonstrations=n_demonstrations,
            rng=np.random.default_rng([seed, 0]),
        )
        pool, selection = map(rows.take, places)
    else:
        pool, selection = rows, rows_from(valset, scale)
        shared = set(rows.groups.tolist()) & set(selection.groups.tolist())
        if shared:
            raise InputError(
                f"{len(shared)} sources are in both trainset and valset, such as "
                f"{min(map(str, shared))!r}: a demonstration would help score itself."
            )
    selection = selection.without(shown)
    # The same text may be rated under two sources: it must not help score itself.
    return pool.without(item.key for item in selection.items), selection


def refuse_unscored_targets(protocol: JudgeConfig, targets: Sequence[str]) -> None:
    scored = protocol.scored_criteria
    known = {SCORE, *map(folded, scored)}
    unknown = [one for one in targets if one != SCORE and folded(one) not in known]
    if unknown:
        raise InputError(
            f"the judge gives no score for {', '.join(unknown)}; it scores the whole"
            + (f" and {', '.join(scored)}." if scored else " alone.")
        )


INSTRUCTIONS, TASK, CRITERION = "instructions:", "task", "criterion:"

LONGEST = 4000  # characters of a rewrite, at most; the longest of our texts has about 400

_ENDS = ("worst", "best")

Texts = Mapping[str, str]


def judge_texts(judge: Judge) -> dict[str, str]:
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
    known = judge_texts(judge)
    unknown = sorted(set(texts) - set(known))
    if unknown:
        raise InputError(f"no text {', '.join(unknown)}; this judge has {', '.join(known)}.")
    for name, text in texts.items():
        problem = problem_with(text)
        if problem and text != known[name]:
            raise InputError(problem, at=name)
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
    for one in text:
        if unicodedata.category(one) in ("Cc", "Cs", "Co") and one not in "\n\t":
            return f"it holds {one!r}, which is no character of a text."
    return ""


def part_text(judge: Judge, name: str) -> str:
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


class TextSearch(JudgeSearch[Objective, Judge]):
    """A search that learns texts from some rows, and keeps the judge that is best on others."""

    def __init__(self, objective: AnyObjective, **shared: Unpack[SearchSettings]) -> None:
        super().__init__(**shared)
        self.objective = as_objective(objective, self.metric)
        if "versions" in self.objective.needs:
            raise InputError(
                f"texts are learned from single rows, and {self.objective} looks at changed "
                "versions of all.",
                hint="leave discernment out, or search demonstrations or the protocol.",
            )

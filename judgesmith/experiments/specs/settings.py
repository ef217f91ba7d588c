"""What a specification says of one cell, as the settings of a compilation."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from judgesmith.errors import FileError, InputError
from judgesmith.experiments.compile.ablating import without
from judgesmith.experiments.compile.fields import CompileFields
from judgesmith.experiments.compile.settings import CompileSettings, choices_said
from judgesmith.experiments.specs.grid import Cell
from judgesmith.experiments.specs.parts import DataSpec, JudgeSpec, OptimizerSpec
from judgesmith.experiments.specs.spec import Spec
from judgesmith.metrics.perturbations import EXPERT_WEIGHTS
from judgesmith.programs.families.forms import format_at
from judgesmith.programs.judging.judge import decided_by_names
from judgesmith.programs.judging.registry import JudgeFamily, family_of
from judgesmith.signatures import Rubric
from judgesmith.signatures.config import ActiveCriticConfig, InferenceSettings
from judgesmith.signatures.plain_data import record_faults

if TYPE_CHECKING:
    from judgesmith.signatures.config import JudgeConfig

_OF_PROTOCOLS = ("variant", "criteria_calls", "explain", "steps", "questions", "format")
_OF_EXAMPLES = ("partial_demos",)
_OF_ASKING = ("role", "rubric", "criteria", "inference", "model")


class MisfitError(InputError):
    """Something said of a judge or an optimizer that cannot be, and which field says it."""

    def __init__(self, message: str, *, field: str | None = None, hint: str | None = None) -> None:
        super().__init__(message, hint=hint)
        self.field = field


def settings_of(spec: Spec, cell: Cell) -> CompileSettings:
    """Return how the judge of a cell is compiled.

    Raises
    ------
    ValueError
        If nothing is compiled in the cell, or the parts do not go together.
    OSError
        If a file with a rubric, steps or questions cannot be read.

    Examples
    --------
    >>> from judgesmith.experiments.specs.grid import cells_of
    >>> spec = Spec.model_validate({
    ...     "name": "one",
    ...     "data": {"answers": {"path": "sample"}},
    ...     "judges": {"plain": {"judge": "direct", "choose": {"samples": 3}}},
    ...     "optimizers": {"fitted": {"optimizer": "random"}},
    ... })
    >>> found = settings_of(spec, cells_of(spec)[0])
    >>> found.protocol.judge, found.protocol.samples, found.n_demonstrations
    ('direct', 3, 0)
    """
    judge = spec.judges[cell.judge]
    if judge.kind != "compiled" or cell.optimizer is None:
        raise InputError(f"nothing is compiled in {cell.id}: its judge is {judge.kind}.")
    return combined(
        spec,
        judge,
        protocol_of(spec, judge),
        optimizer=(cell.optimizer, spec.optimizers[cell.optimizer]),
        data=spec.data[cell.data],
        targets=cell.targets,
        seed=cell.seed,
    )


@record_faults()
def protocol_of(spec: Spec, judge: JudgeSpec) -> JudgeConfig:
    """Return what a judge that is to be compiled starts from."""
    with _blaming("judge"):
        family = family_of(judge.judge)
    _refuse_foreign(family, judge)
    said: dict[str, Any] = {
        "max_tokens": judge.answer_tokens,
        "samples": judge.samples,
        "temperature": judge.temperature,
    }
    start = {name: value for name, value in said.items() if value is not None}
    start |= judge.settings(ActiveCriticConfig)
    if judge.rubric is not None:
        with _blaming("rubric"):
            start["rubric"] = Rubric.load(spec.place(judge.rubric))
    for field, path in (("steps", judge.steps), ("questions", judge.questions)):
        if path is not None:
            with _blaming(field):
                start[field] = _lines(field, spec, path)
    if judge.format is not None:
        with _blaming("format"):
            start["format"] = format_at(judge.format, spec.place(judge.format))
    known = family.protocol.model_fields
    protocol = family.protocol.model_validate({k: v for k, v in start.items() if k in known})
    if not judge.choose:
        return protocol
    with _blaming("choose"):
        decided: JudgeConfig = decided_by_names(family.judge_of(protocol), judge.choose).protocol
        return decided


@record_faults()
def combined(
    spec: Spec,
    judge: JudgeSpec,
    protocol: JudgeConfig,
    *,
    optimizer: tuple[str, OptimizerSpec],
    data: DataSpec,
    targets: tuple[str, ...],
    seed: int,
) -> CompileSettings:
    """Return the settings of one judge with one optimizer on one target."""
    family = family_of(judge.judge)
    name, search = optimizer
    source = "given" if judge.criteria == "general" else judge.criteria
    if judge.rubric and judge.criteria is None:
        source = "given"
    said = choices_said(judge.said, judge.without)
    fixed = dict.fromkeys((*said, *judge.choose, *(() if search.vary_samples else ("samples",))))
    plain: dict[str, Any] = {} if spec.objective is None else {"objective": spec.objective}
    for section in (spec, data, judge, search):
        plain |= section.settings(CompileFields)
    plain.setdefault("optimizer", name)
    if not family.has_demonstrations:
        plain["n_demonstrations"] = 0
    plain |= {
        "target": targets,
        "protocol": protocol,
        "criteria": source,
        "inference": judge.settings(InferenceSettings),
        "fixed": tuple(fixed),
        "seed": seed,
    }
    if (weights := data.expert_weights) is not None and weights not in EXPERT_WEIGHTS:
        plain["expert_weights"] = str(spec.place(weights))
    settings = CompileSettings.model_validate(plain)
    return without(settings, judge.without) if judge.without else settings


def _refuse_foreign(family: JudgeFamily, judge: JudgeSpec) -> None:
    """Refuse what is said of a judge whose family has nothing of it."""
    own = family.protocol.model_fields
    lacking = [name for name in _OF_PROTOCOLS if name not in own]
    lacking += [] if family.has_demonstrations else _OF_EXAMPLES
    lacking += [] if family.asks else _OF_ASKING
    for name in lacking:
        if name in judge.said:
            raise MisfitError(
                f"{name} does not apply to a {family.name} judge, which {family.about}.",
                field=name,
                hint="leave it out.",
            )


def _lines(field: str, spec: Spec, path: str) -> Mapping[str, tuple[str, ...]]:
    from judgesmith.programs.judging.ask_once import QUESTIONS, STEPS

    kinds = {"steps": STEPS, "questions": QUESTIONS}
    return kinds[field].load(spec.place(path))


@contextmanager
def _blaming(field: str) -> Iterator[None]:
    """Say of what is wrong in the block which field says it."""
    try:
        yield
    except (InputError, FileError) as fault:
        raise MisfitError(said_plainly(fault), field=field) from fault


def said_plainly(fault: Exception) -> str:
    """Return what a fault says, on one line."""
    return " ".join(str(fault).split())

"""A benchmark from rated data: the sides of criteria in a file, what it will ask, building it."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import yaml

from judgesmith.data.definitions import definition_fault
from judgesmith.data.items import DataSet
from judgesmith.data.problems import SHOWN, shown_value
from judgesmith.errors import InputError, file_faults
from judgesmith.experiments.benchmark.anchor_texts import texts_looked_at
from judgesmith.experiments.benchmark.beginning import Start, benchmark_start, plan_of
from judgesmith.experiments.benchmark.models import BenchmarkModels, check_benchmark_roles
from judgesmith.experiments.benchmark.perspective_building import (
    CHECKED_SOURCES,
    TRIED,
    build_global,
    build_local,
)
from judgesmith.experiments.benchmark.plan import Plan
from judgesmith.experiments.benchmark.report import (
    CHECKED,
    REFERENCES,
    earlier_checks,
    report_text,
    save_benchmark,
)
from judgesmith.experiments.benchmark.rows import rows_of_benchmark
from judgesmith.experiments.benchmark.settings import ROLES, BenchmarkSettings, rating_levels
from judgesmith.experiments.benchmark.spot_check import drawn_checks, sheet_of
from judgesmith.experiments.compile.human_criteria import name_fault
from judgesmith.programs.benchmarking import CALLS_PER_PAIR
from judgesmith.programs.judging.executors import current_lm
from judgesmith.programs.judging.runner import CONCURRENCY
from judgesmith.programs.perturbing.perturber import changes_by_rule
from judgesmith.results.base import Result
from judgesmith.results.progress import OnProgress, shows_progress
from judgesmith.signatures.perturbation import SubAspect
from judgesmith.signatures.plain_data import read_yaml, write_yaml
from judgesmith.signatures.rubric import Rubric, folded

if TYPE_CHECKING:
    import dspy

Rows = Sequence[Mapping[str, Any]]


@dataclass(frozen=True, kw_only=True)
class Benchmark(Result):
    """A benchmark.

    Attributes
    ----------
    rows : sequence of rows
        Its texts, as rated data.
    report : dict
        What is known of it, ready for JSON.
    sheet : bytes
        The spot check for people, blank.
    sub_aspects : str
        YAML.
    files : dict of str to rows
        What was used and made on the way.
    costs : dict
        What this process asked.
    """

    rows: Rows
    report: Mapping[str, Any]
    sheet: bytes
    sub_aspects: str
    files: Mapping[str, Rows]
    costs: Mapping[str, Any]

    def _rows(self) -> Iterator[dict[str, Any]]:
        yield from map(dict, self.rows)

    def save(self, folder: Path) -> None:
        """Write it to a folder that ``check_benchmark`` has found to be free."""
        report = {**self.report, CHECKED: earlier_checks(folder, str(self.report["run"]))}
        save_benchmark(
            folder,
            rows=self.rows,
            report=report,
            text=report_text(report),
            sheet=self.sheet,
            sub_aspects=self.sub_aspects,
            costs=self.costs,
            more=self.files,
        )


@shows_progress
def build_benchmark(
    dataset: DataSet,
    settings: BenchmarkSettings,
    *,
    lm: dspy.LM | None = None,
    roles: Mapping[str, dspy.LM] | None = None,
    rubric: Rubric | None = None,
    sub_aspects: Sequence[SubAspect] = (),
    concurrency: int = CONCURRENCY,
    on_progress: OnProgress | None = None,
    progress: bool = True,
) -> Benchmark:
    """Return a benchmark built from rated data.

    Parameters
    ----------
    dataset : DataSet
        Rated data, with references unless candidates are written.
    settings : BenchmarkSettings
        What is built.
    lm : dspy.LM or None
        Who does the work; None takes DSPy's current model, or the offline model.
    roles : dict of str to dspy.LM, optional
        Other models as ``writer``, ``injector``, ``rater`` or ``comparator``.
    rubric : Rubric or None
        What the criteria mean; None takes what the rows define, else general words.
    sub_aspects : sequence of SubAspect
        Sides of criteria; those of other criteria are named by the injector.
    concurrency : int
        How many texts are processed concurrently; it changes nothing else.
    on_progress : callable or None
        Told of every ``ProgressEvent``.
    progress : bool
        Whether a terminal or a notebook shows a bar, where ``on_progress`` is None.

    Raises
    ------
    BudgetSpent, UnfinishedError
        If the budget ended before it was whole; the same call with a larger one resumes from the
        cached responses.
    ValueError
        If nothing can be made of the data, or a role is unknown.
    ModelError, CacheError
        If a model cannot be asked at all, or the ledger not used.

    Examples
    --------
    >>> from judgesmith.data import read_items
    >>> settings = BenchmarkSettings(
    ...     perspective="local", n_sources=1, n_candidates=1, steps=2, criteria=("fluency",)
    ... )
    >>> made = build_benchmark(read_items("sample"), settings)
    >>> [(row["system_id"], row["human"]) for row in made.rows]
    [('fluency-0', {'fluency': [2]}), ('fluency-1', {'fluency': [1]}), \
('fluency-2', {'fluency': [0]})]
    """
    check_benchmark_roles(roles or {})
    by_role = dict.fromkeys(ROLES, lm or current_lm()) | dict(roles or {})
    models = BenchmarkModels(by_role=by_role, concurrency=concurrency)
    start = benchmark_start(dataset, settings, rubric=rubric, sub_aspects=sub_aspects)
    return benchmark_from(start, models, on_progress=on_progress)


def benchmark_from(
    start: Start, models: BenchmarkModels, *, on_progress: OnProgress | None = None
) -> Benchmark:
    """Return a benchmark from what it starts from; see ``build_benchmark``."""
    settings = start.settings
    plan, references = plan_of(start, models, on_progress=on_progress)
    build = build_global if settings.perspective == "global" else build_local
    built = build(plan)
    rows = list(rows_of_benchmark(built.texts, settings.perspective, models.builders))
    checks = drawn_checks(
        rows, settings.n_spot_checks, rng=np.random.default_rng([settings.seed, 2])
    )
    kept = [one for one in plan.criteria if one.name in built.criteria]
    sides = [side for criterion in kept for side in plan.sub_aspects[criterion.name]]
    report = {
        "run": (run := start.fingerprint(models)),
        "perspective": settings.perspective,
        "data": {
            "name": start.dataset.name,
            "digest": start.dataset.digest,
            "rows": len(start.dataset),
            "sources": len(start.sources),
        },
        "settings": settings.model_dump(mode="json"),
        "built_by": models.names,
        "sources": len(plan.sources),
        "texts": len(rows),
        "spot_checks": len(checks),
        "references": references,
        "definitions": {one.name: one.definition for one in kept},
        "sub_aspects": {
            one.name: [side.name for side in plan.sub_aspects[one.name]] for one in kept
        },
        "criteria": built.criteria,
        "dropped": {one.criterion: one.to_dict() for one in (*start.dropped, *built.dropped)},
        "questions": models.questions(),
        "notes": list(plan.notes),
    }
    return Benchmark(
        rows=rows,
        report=report,
        sheet=sheet_of(checks),
        sub_aspects=sub_aspects_yaml(sides),
        files={REFERENCES: _reference_rows(plan), **built.files},
        costs={"run": run, "steps": [asdict(one) for one in models.costs]},
    )


def _reference_rows(plan: Plan) -> Rows:
    return [
        {"source_id": source.id, **reference.model_dump(mode="json")}
        for source in plan.sources
        for reference in plan.references[source.id]
    ]


ATTEMPTS = 3
"""Times that a model is asked for an error at most; everything else is asked twice at most."""

MOST_SIDES = 4
"""Sides that a criterion has at most, where they are not known yet."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PlannedStep:
    """What one step asks of one model."""

    step: str
    role: str
    model: str
    calls: int
    max_calls: int


def planned_steps(start: Start, models: BenchmarkModels) -> list[PlannedStep]:
    """Return the requests of building a benchmark, less the cached ones."""
    by_rule = changes_by_rule(models.by_role["injector"])
    return [
        PlannedStep(
            step=step,
            role=role,
            model=models.names[role],
            calls=n,
            max_calls=n * (ATTEMPTS if step in _BY_INJECTOR else 2),
        )
        for step, role, n in _steps(start)
        if n and not (step in _BY_INJECTOR and by_rule)
    ]


_BY_INJECTOR = ("errors put in", "pilot: errors put in", "single errors put in")


def _steps(start: Start) -> Iterator[tuple[str, str, int]]:
    settings, n_sources = start.settings, len(start.sources)
    texts = [
        len(one.first.references) + len(good) + settings.n_written
        for one, good in zip(start.sources, start.responses, strict=True)
    ]
    yield "criteria taken apart", "injector", len(start.unnamed.criteria)
    yield "references written", "writer", n_sources * settings.n_written
    yield "references rated", "rater", sum(n for n in texts if n > settings.n_references)
    if settings.perspective == "local":
        n_criteria = len(start.rubric.criteria)
        checked = min(n_sources, CHECKED_SOURCES)
        yield "errors put in", "injector", n_criteria * n_sources * settings.steps
        pairs = n_criteria * checked * settings.steps
        yield "comparator checked", "comparator", CALLS_PER_PAIR * pairs
        return
    yield from _global_steps(start, [min(n, settings.n_references) for n in texts])


def _global_steps(start: Start, n_references: list[int]) -> Iterator[tuple[str, str, int]]:
    settings, n_sources = start.settings, len(start.sources)
    n_pilot = settings.n_pilot(n_sources)
    rated = anchors = pairs = made = pilot = compared = piloted = single = 0
    for name in start.rubric.names:
        levels = rating_levels(name, start.dataset.scales.get(name))
        sides = sum(one.criterion == name for one in start.sub_aspects) or MOST_SIDES
        n_looked_at = len(texts_looked_at(start.dataset, name, levels, settings.n_anchors))
        anchors = settings.n_anchors * len(levels)
        rated += n_looked_at * settings.n_samples
        pairs += settings.n_anchors**2 * len(levels) * (len(levels) - 1) // 2
        made += (own := n_sources * settings.n_made * len(levels))
        compared += own * anchors
        pilot += (tried := n_pilot * len(TRIED))
        piloted += tried * anchors
        single += n_pilot * max(n_references) * sides
    yield "anchors rated", "rater", rated
    yield "comparator checked", "comparator", CALLS_PER_PAIR * (pairs + single)
    yield "pilot: errors put in", "injector", pilot
    yield "pilot: compared with anchors", "comparator", CALLS_PER_PAIR * piloted
    yield "errors put in", "injector", made
    yield "compared with anchors", "comparator", CALLS_PER_PAIR * compared
    yield "single errors put in", "injector", single


_HEADING = """\
# Sides of every criterion, as name: what a good text does in this respect.
# Errors are put into texts by them: leave out, add or change what does not fit.
"""

_FORM = "sides as name: definition, one per line below the criterion"


def sub_aspects_yaml(sub_aspects: Iterable[SubAspect]) -> str:
    r"""Return sides as a file that people can edit and ``read_sub_aspects`` reads back the same."""
    plain: dict[str, dict[str, str]] = {}
    for one in sub_aspects:
        plain.setdefault(one.criterion, {})[one.name] = one.definition
    return _HEADING + write_yaml(plain)


@file_faults()
def read_sub_aspects(path: str | Path, criteria: Sequence[str]) -> tuple[SubAspect, ...]:
    """Return the sides that a file names."""
    try:
        text = Path(path).read_text(encoding="utf-8")
    except UnicodeDecodeError:
        raise InputError("expected a text file in UTF-8.", at=path) from None
    except OSError as fault:
        raise InputError(f"cannot read the sub-aspects: {fault.strerror}.", at=path) from None
    return sub_aspects_in(text, criteria, where=str(path))


def sub_aspects_in(text: str, criteria: Sequence[str], *, where: str) -> tuple[SubAspect, ...]:
    r"""Return the sides that a text names; see ``read_sub_aspects``."""
    try:
        plain = read_yaml(text)
    except ValueError as fault:
        raise InputError(fault, at=where) from None
    if not isinstance(plain, Mapping) or not plain:
        raise InputError(f"expected {_FORM}; got {shown_value(plain)}.", at=where)
    reading = _Reading({folded(name): name for name in criteria}, _lines_of(text), [])
    found = tuple(side for name, sides in plain.items() for side in reading.sides(name, sides))
    if reading.faults:
        more = len(reading.faults) - SHOWN
        said = [f"{where}: {one}" for one in reading.faults[:SHOWN]]
        listed = "\n".join([*said, f"and {more} more."] if more > 0 else said)
        raise InputError(listed, where=where)
    return found


@dataclass
class _Reading:
    """One file, and what is wrong with it."""

    criteria: Mapping[str, str]
    lines: Mapping[tuple[str, ...], int]
    faults: list[str]

    def sides(self, given: str, sides: Any) -> Iterator[SubAspect]:
        """Yield the usable sides of one criterion, and remember why others are not."""
        name = self.criteria.get(folded(given))
        if name is None:
            self._refuse([given], f"the data have no such criterion; {self._meant(given)}")
            return
        if isinstance(sides, list) and all(isinstance(one, str) for one in sides):
            several = [(one, None) for one in sides]
        elif isinstance(sides, Mapping):
            several = list(sides.items())
        else:
            self._refuse([given], f"expected {_FORM}; got {shown_value(sides)}.")
            return
        if not several:
            self._refuse([given], "names no side; name one, or leave the criterion out.")
        known: dict[str, str] = {}
        for side, definition in several:
            fault = self._fault(side, definition) or (
                f"the same as {known[folded(side)]!r}; every side needs a name of its own."
                if folded(side) in known
                else ""
            )
            if fault:
                self._refuse([given, side], fault)
                continue
            known[folded(side)] = side
            said = " ".join((definition or "").split())
            yield SubAspect(criterion=name, name=side, definition=said)

    def _fault(self, side: str, definition: Any) -> str:
        if fault := name_fault(side):
            return f"cannot be the name of a side: {fault.rstrip('.')}."
        if definition is not None and not isinstance(definition, str):
            return f"expected a definition in words; got {shown_value(definition)}."
        said = " ".join((definition or "").split())
        if said and (fault := definition_fault(side, said)):
            return f"its definition would be part of questions, but {fault}"
        return ""

    def _meant(self, given: str) -> str:
        near = difflib.get_close_matches(folded(given)[:80], self.criteria, n=1, cutoff=0.5)
        if near:
            return f"did you mean {self.criteria[near[0]]}?"
        return f"it has {', '.join(self.criteria.values()) or 'none'}."

    def _refuse(self, path: Sequence[str], fault: str) -> None:
        line = self.lines.get(tuple(path)) or self.lines.get((path[0],), 1)
        said = ", ".join(shown_value(one) for one in path)
        self.faults.append(f"line {line}: {said}: {fault}")


def _lines_of(text: str) -> dict[tuple[str, ...], int]:
    """Return on which line, from 1, each criterion and each of its sides stands."""
    found: dict[tuple[str, ...], int] = {}
    node = yaml.compose(text, Loader=yaml.SafeLoader)
    for key, value in getattr(node, "value", ()):
        found[(str(key.value),)] = key.start_mark.line + 1
        for below in value.value if isinstance(value, yaml.CollectionNode) else ():
            side = below[0] if isinstance(below, tuple) else below
            found.setdefault((str(key.value), str(side.value)), side.start_mark.line + 1)
    return found

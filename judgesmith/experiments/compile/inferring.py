"""Task inference on a rated dataset: which rows it may use, and which rubric a judge gets."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from importlib.metadata import version
from typing import TYPE_CHECKING, Any

import numpy as np
from pydantic import BaseModel, ConfigDict, Field, JsonValue

from judgesmith.data.items import DataSet
from judgesmith.data.reading import READ_OPTIONS, SourceGiven, as_dataset
from judgesmith.data.targets import Targets, targets_of
from judgesmith.experiments.compile.chosen_targets import ChosenTargets, shown_points
from judgesmith.experiments.compile.human_criteria import human_rubric
from judgesmith.experiments.compile.settings import CompileSettings
from judgesmith.experiments.compile.split import first_split, raters_words
from judgesmith.front_door import public
from judgesmith.optimizers.base import OFFLINE
from judgesmith.optimizers.predictions import SCORE
from judgesmith.programs.artifacts.card import is_edited, rubric_mark
from judgesmith.programs.families.guidelines import ExplainedRow, guidelines_from
from judgesmith.programs.families.modules import TaskInference
from judgesmith.programs.families.task_inference import RatedExample, readable_examples
from judgesmith.results.base import Result
from judgesmith.results.progress import OnProgress, shows_progress
from judgesmith.signatures import RatedItem, Rubric
from judgesmith.signatures.config import InferenceSettings
from judgesmith.signatures.items import Aggregate
from judgesmith.signatures.plain_data import fingerprint_of
from judgesmith.signatures.rubric import DEFAULT_RUBRIC, Guideline

if TYPE_CHECKING:
    import dspy

_LOOKED_AT = 200


def offline_notes(items: Sequence[RatedItem], model: str, *, inferred: bool) -> list[str]:
    """Return what the offline model can and cannot see in these texts, in sentences."""
    if model != OFFLINE:
        return []
    from judgesmith.programs.offline.inferring import limits_between, limits_of

    step = max(1, len(items) // _LOOKED_AT)
    seen = items[::step][:_LOOKED_AT]
    responses = [item.response for item in seen]
    limits = limits_of(responses) + limits_between([item.source for item in seen], responses)
    if inferred:
        proposes = (
            "the offline model proposes criteria from a fixed English list for each type of task, "
            "by counting features of the texts."
        )
        return [proposes, *limits]
    if not limits:
        return []
    return [
        *limits,
        "the offline model scores these texts by shared words, repetition, length and punctuation, "
        "not by grammar or meaning; --model NAME uses a language model.",
    ]


class InferenceRun(BaseModel):
    """Everything but data and model that decides what is inferred.

    Parameters
    ----------
    settings : InferenceSettings
        Caps, seed, and what is left out.
    given : Rubric
        A task or criteria that are kept as they are.
    target, aggregate : str
        Which ratings count; see ``targets_of``.
    holdout : float
        Share of sources that teach nothing, from 0 to below 1. They are the ones that
        ``compile_judge`` holds out with the same seed and target, so that its report stays
        honest about a judge with an inferred rubric.
    split_rows : bool
        As in ``CompileSettings``.
    percent_of_max : bool
        True shows the model scores as percent of the scale's highest point, as Active-Critic's
        printed examples do, instead of percent of its range; see ``Scale.percent_of_max``.
    guidelines : int
        Most guidelines that are inferred too, where raters said why; 0 infers none.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    settings: InferenceSettings = Field(default_factory=InferenceSettings)
    given: Rubric = Field(default_factory=Rubric)
    target: str = "auto"
    aggregate: Aggregate = "mean"
    holdout: float = Field(default=0.3, ge=0.0, lt=1.0)
    split_rows: bool = False
    percent_of_max: bool = False
    guidelines: int = Field(default=8, ge=0)

    def fingerprint(self, dataset: DataSet, model: str, endpoint: str = "") -> str:
        """Return twelve hex digits that change when data, model or any setting does.

        So they do with the endpoint that answers, and with the version of this package.
        """
        own = self.model_dump(mode="json", exclude={"given": {"provenance"}})
        if not any(item.rationale for item in dataset):
            del own["guidelines"]
        whole = [own, dataset.digest, model, endpoint, version("judgesmith")]
        return fingerprint_of(whole)


@dataclass(frozen=True, kw_only=True)
class InferenceResult(Result):
    """What was inferred.

    Attributes
    ----------
    rubric : Rubric
        With provenance, which names the run, the data and the rows that were read.
    notes : tuple of str
        What a reader should know, in sentences.
    """

    rubric: Rubric
    notes: tuple[str, ...]


@public("judgesmith.infer", READ_OPTIONS)
@shows_progress
def infer_rubric(
    dataset: DataSet | SourceGiven,
    run: InferenceRun | None = None,
    *,
    lm: dspy.LM | str | None = None,
    heldout: Sequence[int] = (),
    on_progress: OnProgress | None = None,
    progress: bool = True,
    **reading: Any,
) -> InferenceResult:
    """Return a rubric inferred from the rated rows of ``dataset``.

    Parameters
    ----------
    dataset : DataSet, or what ``judgesmith.read`` reads
        Rated items; provenance names rows by their place in the file and their source id.
    run : InferenceRun or None
        None takes the defaults.
    lm : dspy.LM, str or None
        The model, or its name; None takes DSPy's current one, or the offline model.
    heldout : sequence of int
        Places of rows that are reported on: they, and the other rows of their sources unless
        ``run.split_rows``, teach nothing, whatever ``run.holdout`` leaves out.
    on_progress : callable or None
        Told of every ``ProgressEvent``.
    progress : bool
        Whether a terminal or a notebook shows a bar, where ``on_progress`` is None.
    **reading
        For data that is not read yet what ``judgesmith.read`` takes, such as ``scale="1..5"``.

    Raises
    ------
    ValueError
        If nothing can be learned from the ratings, ``percent_of_max`` does not fit their scale,
        or nothing could be inferred.
    ModelError, BudgetSpent, CacheError
        If the model cannot be asked, or not further; the same run again continues.

    Examples
    --------
    >>> from judgesmith.data import read_items
    >>> found = infer_rubric(read_items("sample"))
    >>> found.rubric.task_type, found.rubric.provenance["target"]
    ('summarization', 'overall')
    """
    from judgesmith.programs.judging.executors import endpoint_of, lm_or_current

    dataset = as_dataset(dataset, "infer", **reading)
    run = run or InferenceRun()
    asked = lm_or_current(lm)
    targets, places, scores = _taught(dataset, run, heldout)
    items = [_named(dataset, place) for place in places]
    found = TaskInference(run.settings)(
        items=items, scores=scores, given=run.given, lm=asked, on_progress=on_progress
    )
    facts = {
        "run": run.fingerprint(dataset, str(asked.model), endpoint_of(asked)),
        "data": dataset.name,
        "target": targets.name,
        "heldout": run.holdout,
    }
    facts["mark"] = rubric_mark(found)
    rubric = found.model_copy(update={"provenance": {**facts, **found.provenance}})
    notes = _notes(rubric, items, str(asked.model))
    rows = explained_rows(dataset, targets, places) if run.guidelines else []
    if rows and str(asked.model) != OFFLINE:
        own, said = guidelines_from(rows, most=run.guidelines, lm=asked, on_progress=on_progress)
        rubric, notes = rubric_with_guidelines(rubric, rows, own), [*notes, *said]
    return InferenceResult(rubric=rubric, notes=tuple(notes))


def check_inferable(dataset: DataSet, run: InferenceRun) -> None:
    """Refuse what ``infer_rubric`` refuses before it asks anything."""
    _, places, scores = _taught(dataset, run)
    examples = [
        RatedExample(item=_named(dataset, place), score=score)
        for place, score in zip(places, scores, strict=True)
    ]
    readable_examples(examples, max_characters=run.settings.max_characters)


def _taught(
    dataset: DataSet, run: InferenceRun, heldout: Sequence[int] = ()
) -> tuple[Targets, list[int], list[float]]:
    """Return the ratings that count, places of rows that teach something, and their ratings."""
    targets = targets_of(dataset, run.target, run.aggregate)
    rated = targets.rated
    split = first_split(
        dataset.groups[rated],
        targets.values[rated],
        holdout=run.holdout,
        seed=run.settings.seed,
        rows=run.split_rows,
    )
    tuning = rated[split.tuning]
    held = dataset.groups[np.asarray(heldout, dtype=np.intp)]
    kept = np.isin(tuning, heldout) if run.split_rows else np.isin(dataset.groups[tuning], held)
    places = [int(place) for place in tuning[~kept]]
    points = shown_points(targets, percent_of_max=run.percent_of_max)[places]
    return targets, places, points.tolist()


def _named(dataset: DataSet, place: int) -> RatedItem:
    """Return an item by a name that a person can find again: its place in the file, and its id."""
    item = dataset[place]
    number = dataset.places[place] if dataset.places else place + 1
    return item.model_copy(update={"source_id": f"row {number}, {item.source_id}".rstrip(", ")})


def _notes(rubric: Rubric, items: list[RatedItem], model: str) -> list[str]:
    said = rubric.provenance.get("notes", [])
    notes = [str(one) for one in said] if isinstance(said, list) else []
    return notes + offline_notes(items, model, inferred=True)


LONGEST_WORDS = 1000  # characters of a rater's words that guidelines are inferred from


def explained_rows(dataset: DataSet, targets: Targets, places: Sequence[int]) -> list[ExplainedRow]:
    """Return the rows that raters explained, in the words that guidelines are inferred from."""
    found = []
    for place in places:
        words = raters_words(dataset[place], targets.name, LONGEST_WORDS).get(SCORE)
        if words:
            item = _named(dataset, place)
            rating = _rating_text(targets, place)
            found.append(ExplainedRow(item=item, id=item.source_id, rating=rating, words=words))
    return found


def _rating_text(targets: Targets, place: int) -> str:
    if targets.is_verdict:
        labels = targets.labels
        level = round(targets.values[place]) if labels is None else int(labels[place])
        return targets.scale.labels[level]
    return f"{100 * targets.fractions[place]:.0f} of 100"


def rubric_with_guidelines(
    rubric: Rubric, rows: Sequence[ExplainedRow], guidelines: tuple[Guideline, ...]
) -> Rubric:
    """Return a rubric with guidelines, and the keys of the rows that they were read from."""
    read: dict[str, JsonValue] = {one.item.key: one.id for one in rows}
    facts = {**rubric.provenance, "guidelines": read}
    found = rubric.model_copy(update={"guidelines": guidelines, "provenance": facts})
    if "mark" in facts and not is_edited(rubric):
        facts["mark"] = rubric_mark(found)
    return found


@dataclass(frozen=True, kw_only=True)
class ChosenRubric:
    """A rubric, and what a reader should know of it."""

    rubric: Rubric
    notes: tuple[str, ...] = ()


def rubric_for(
    dataset: DataSet,
    targets: ChosenTargets,
    settings: CompileSettings,
    *,
    lm: dspy.LM,
    heldout: Sequence[int] = (),
    on_progress: OnProgress | None = None,
) -> ChosenRubric:
    """Return the rubric of a judge before anything else is searched."""
    given = settings.protocol.rubric
    source = settings.criteria_from
    wants_task = "task" not in settings.inference.without
    if source == "given":
        return ChosenRubric(rubric=given if wants_task else _without_task(given))
    notes: tuple[str, ...] = ()
    start = Rubric()
    if source == "human":
        own = None if given == DEFAULT_RUBRIC else given
        found = human_rubric(dataset, names=targets.names, rubric=own)
        start, notes = found.rubric, found.notes
        if not wants_task:
            return ChosenRubric(rubric=_without_task(start), notes=notes)
        if start.task:
            return ChosenRubric(rubric=start, notes=notes)
    run = InferenceRun(
        settings=settings.inference.model_copy(update={"seed": settings.seed}),
        given=start,
        target=targets.whole.name,
        aggregate=settings.aggregate,
        holdout=settings.holdout,
        split_rows=settings.split_rows,
        percent_of_max=settings.percent_of_max,
        guidelines=0,  # which are not to come from the rows that they are compared on
    )
    inferred = infer_rubric(dataset, run, lm=lm, heldout=heldout, on_progress=on_progress)
    rubric = inferred.rubric if wants_task else _without_task(inferred.rubric)
    if start.criteria:
        # Where people's criteria have their definitions from says more than that they were given.
        origins = {"criteria": start.provenance["criteria"]}
        rubric = rubric.model_copy(update={"provenance": {**rubric.provenance, **origins}})
    return ChosenRubric(rubric=rubric, notes=(*notes, *inferred.notes))


def _without_task(rubric: Rubric) -> Rubric:
    return rubric.model_copy(update={"task": "", "task_type": ""})

"""Task inference: observe, describe, propose, then merge; and its record."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice
from typing import Any, TypeVar

import numpy as np

from judgesmith.errors import InputError
from judgesmith.programs.judging.program import Calls, ModelReply, PromptRequest, asked
from judgesmith.signatures.config import InferenceSettings
from judgesmith.signatures.fences import unix_lines
from judgesmith.signatures.items import RatedItem
from judgesmith.signatures.judgement import Cause
from judgesmith.signatures.rubric import Criterion, Rubric, folded
from judgesmith.signatures.scale import read_yes


@dataclass(frozen=True, slots=True, kw_only=True)
class RatedExample:
    """One rated row, as prompts show it."""

    item: RatedItem
    score: float

    def to_json(self) -> str:
        """Return the row as a JSON record: source, context where there is one, response, score."""
        item = self.item
        context = {} if item.context is None else {"context": unix_lines(item.context)}
        record = {
            "source": unix_lines(item.source),
            **context,
            "response": unix_lines(item.response),
            "score": round(self.score),
        }
        return json.dumps(record, ensure_ascii=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class ExampleBatch:
    """Examples that are shown in one prompt."""

    examples: tuple[RatedExample, ...]
    note: str = ""

    def to_json(self) -> str:
        return "[" + ",\n".join(one.to_json() for one in self.examples) + "]"


def readable_examples(
    examples: Sequence[RatedExample], *, max_characters: int
) -> tuple[list[RatedExample], list[str]]:
    """Return the examples that can be shown, and notes on those that cannot."""
    kept: list[RatedExample] = []
    n_long = n_broken = 0
    for example in examples:
        text = example.to_json()
        try:
            text.encode()
        except UnicodeEncodeError:
            n_broken += 1
            continue
        if len(text) > max_characters:
            n_long += 1
            continue
        kept.append(example)
    notes = []
    if n_long:
        notes.append(
            f"{n_long} of {len(examples)} rows were not read: each is longer than the "
            f"{max_characters} characters of a whole batch, and no text is cut short."
        )
    if n_broken:
        notes.append(
            f"{n_broken} of {len(examples)} rows were not read: they hold half of a character "
            "(a lone surrogate), which no model can receive."
        )
    if not kept:
        why = " ".join(notes) or "there are none."
        raise InputError(
            f"no rated rows to infer from: {why}",
            hint="give shorter rows or a larger max_characters.",
        )
    return kept, notes


def batches_of(
    examples: Sequence[RatedExample], *, size: int, max_characters: int, rng: np.random.Generator
) -> Iterator[ExampleBatch]:
    lengths = [len(one.to_json()) for one in examples]
    size = min(size, len(examples))
    waiting: list[int] = []
    while True:
        batch: list[int] = []
        used = 0
        note = ""
        while len(batch) < size:
            if not waiting:
                waiting = [int(place) for place in rng.permutation(len(examples))]
            # Only just after a new shuffle can a row be in the batch already.
            turn = next(n for n, place in enumerate(waiting) if place not in batch)
            place = waiting[turn]
            if batch and used + lengths[place] > max_characters:
                note = (
                    f"{len(batch)} of {size} rows: one more would take it past "
                    f"{max_characters} characters"
                )
                break
            waiting.pop(turn)
            batch.append(place)
            used += lengths[place]
        yield ExampleBatch(examples=tuple(examples[place] for place in batch), note=note)


@dataclass(frozen=True, slots=True, kw_only=True)
class TaskDescription:
    """The description of the task from one batch: T_n of Active-Critic."""

    batch: int
    task_type: str
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class CriteriaSet:
    """The criteria that one batch proposed, the most important first."""

    batch: int
    criteria: tuple[Criterion, ...]


@dataclass(slots=True, kw_only=True)
class BatchRecord:
    """One batch, whether it was read, and what was observed in it."""

    number: int
    batch: ExampleBatch
    was_read: bool = False
    observations: list[str] = field(default_factory=list)


@dataclass(slots=True, kw_only=True)
class InferenceRecord:
    """Task inference under way."""

    settings: InferenceSettings
    given: Rubric
    batches: list[BatchRecord] = field(default_factory=list)
    descriptions: list[TaskDescription] = field(default_factory=list)
    sets: list[CriteriaSet] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    n_questions: int = 0
    task: str = ""
    task_type: str = ""
    criteria: tuple[Criterion, ...] = ()

    @property
    def wants_task(self) -> bool:
        return "task" not in self.settings.without and not self.given.task

    @property
    def wants_criteria(self) -> bool:
        return "criteria" not in self.settings.without and not self.given.criteria

    @property
    def has_begun(self) -> bool:
        """Whether there is a first set of everything wanted; "complete" counts from then on."""
        return bool(self.descriptions or not self.wants_task) and bool(
            self.sets or not self.wants_criteria
        )

    @property
    def is_full(self) -> bool:
        """Whether no further description and no further set may be made."""
        settings = self.settings
        return (not self.wants_task or len(self.descriptions) >= settings.max_descriptions) and (
            not self.wants_criteria or len(self.sets) >= settings.max_criteria_sets
        )

    @property
    def observations(self) -> list[str]:
        return [text for batch in self.batches for text in batch.observations]

    @property
    def observed(self) -> str | None:
        """All observations as they are shown; None where there are none."""
        return "\n".join(f"- {text}" for text in self.observations) or None

    @property
    def read_so_far(self) -> str:
        """How much was read, in words; rows that were shown again count again."""
        read = [one for one in self.batches if one.was_read]
        n_rows = sum(len(one.batch.examples) for one in read)
        n_idle = 0
        for one in reversed(read):
            if one.observations:
                break
            n_idle += 1
        idle = f"; the last {n_idle} of them added nothing" if n_idle else ""
        return f"{n_rows} rated examples in {len(read)} batches{idle}"

    @property
    def task_so_far(self) -> str | None:
        """The given or latest description; None without a task."""
        if "task" in self.settings.without:
            return None
        return self.given.task or (self.descriptions[-1].text if self.descriptions else None)

    @property
    def union(self) -> list[Criterion]:
        """Every criterion that was proposed, as its first set has it, by first appearance."""
        found: dict[str, Criterion] = {}
        for one in self.sets:
            for criterion in one.criteria:
                found.setdefault(folded(criterion.name), criterion)
        return list(found.values())

    def rubric(self, **facts: Any) -> Rubric:
        """Return the outcome with its provenance, which opens with ``facts``."""
        criteria = self.given.criteria or self.criteria
        return Rubric(
            task=self.given.task or self.task,
            task_type=self.given.task_type or self.task_type,
            criteria=criteria,
            provenance={**facts, **self._provenance()},
        )

    def _provenance(self) -> dict[str, Any]:
        """Return which batches taught what, which rows they held, and what was observed."""
        found: dict[str, Any] = {}
        if self.descriptions:
            found["task"] = {"batches": [one.batch for one in self.descriptions]}
        elif self.given.task:
            found["task"] = "given"
        if self.sets:
            found["criteria"] = {
                one.name: {
                    "batches": [own.batch for own in self.sets if _place(one, own) is not None],
                    "places": [place for own in self.sets if (place := _place(one, own))],
                }
                for one in self.criteria
            }
            chosen = {folded(one.name) for one in self.criteria}
            others = {c.name: c.definition for c in self.union if folded(c.name) not in chosen}
            if others:
                found["also_proposed"] = others
        elif self.given.criteria:
            found["criteria"] = "given"
        if self.notes:
            found["notes"] = list(self.notes)
        found["questions"] = self.n_questions
        found["settings"] = self.settings.model_dump(mode="json")
        found["batches"] = [self._batch(one) for one in self.batches]
        return found

    def _batch(self, one: BatchRecord) -> dict[str, Any]:
        found: dict[str, Any] = {
            "batch": one.number,
            # Two rows of equal texts are one key: what was read is the texts.
            "rows": {example.item.key: example.item.source_id for example in one.batch.examples},
        }
        if one.batch.note:
            found["note"] = one.batch.note
        if one.observations:
            found["observations"] = list(one.observations)
        for description in self.descriptions:
            if description.batch == one.number:
                found["description"] = description.text
        return found


def majority_type(descriptions: Sequence[TaskDescription]) -> str:
    """Return the type of task that most descriptions name; of equals, the earliest."""
    counts = Counter(folded(one.task_type) for one in descriptions)
    # A counter keeps first appearance, and max takes the first of equals.
    winner = max(counts, key=counts.__getitem__)
    return next(one.task_type for one in descriptions if folded(one.task_type) == winner)


def ranked(picked: Iterable[str], record: InferenceRecord, *, fewest: int, most: int) -> list[str]:
    """Return the names that are selected, in their order, as many as there should be."""
    union = {folded(one.name): one.name for one in record.union}
    found: dict[str, None] = {}
    outside = []
    for name in picked:
        known = union.get(folded(name))
        if known is None:
            outside.append(" ".join(name.split())[:60])
        else:
            found[known] = None
    if outside:
        record.notes.append(f"selected but proposed by no batch, so dropped: {', '.join(outside)}.")
    if len(found) < min(fewest, len(union)):
        n_sets = Counter(folded(one.name) for own in record.sets for one in own.criteria)
        rest = [name for name in union if union[name] not in found]
        rest.sort(key=lambda name: -n_sets[name])
        added = [union[name] for name in rest[: fewest - len(found)]]
        record.notes.append(
            f"{len(found)} criteria were selected; by how often they were proposed, these were "
            f"added: {', '.join(added)}."
        )
        found.update(dict.fromkeys(added))
    if len(found) > most:
        record.notes.append(f"{len(found)} criteria were selected; the last ones were cut off.")
    return list(found)[:most]


def descriptions_json(descriptions: Sequence[TaskDescription]) -> str:
    shown = [{"task_type": one.task_type, "description": one.text} for one in descriptions]
    return json.dumps(shown, ensure_ascii=False, indent=1)


def candidates_json(sets: Sequence[CriteriaSet], union: Sequence[Criterion]) -> str:
    """Return criteria as they are shown to be selected: with their place in every set, or null."""
    lines = []
    for one in union:
        places = [_place(one, own) for own in sets]
        shown = {"name": one.name, "definition": one.definition, "places": places}
        lines.append(json.dumps(shown, ensure_ascii=False))
    return "[" + ",\n".join(lines) + "]"


def _place(criterion: Criterion, own: CriteriaSet) -> int | None:
    """Return the criterion's place in a set, from 1; None where the set has it not."""
    names = [folded(one.name) for one in own.criteria]
    name = folded(criterion.name)
    return names.index(name) + 1 if name in names else None


_LONGEST_TYPE = 60


def read_observations(fields: Mapping[str, Any], earlier: Iterable[str]) -> tuple[list[str], bool]:
    """Return the observations that are new, one line each, and whether they are complete."""
    known = {folded(one) for one in earlier}
    are_first = not known
    found = []
    for text in fields["observations"]:
        line = _one_line(text)
        if line and folded(line) not in known:
            known.add(folded(line))
            found.append(line)
    if not found and are_first:
        raise InputError("the model observed nothing in the first examples it was shown.")
    return found, read_yes(fields["complete"])


def read_description(fields: Mapping[str, Any], number: int) -> TaskDescription:
    task_type = _one_line(fields["task_type"]).strip(" .*_`\"'")
    if not 0 < len(task_type) <= _LONGEST_TYPE:
        raise InputError(f"expected a type of task in a few words; got {task_type[:80]!r}.")
    text = read_text(fields["description"], "description")
    return TaskDescription(batch=number, task_type=read_text(task_type, "type of task"), text=text)


def read_criteria(fields: Mapping[str, Any]) -> tuple[Criterion, ...]:
    """Return the proposed criteria that are valid in a rubric, without duplicate names."""
    found: dict[str, Criterion] = {}
    for one in fields["criteria"].root:
        name = _one_line(one.name).strip(" .:*_`\"'")
        try:
            criterion = Criterion(name=name, definition=_one_line(one.definition))
        except ValueError:
            continue
        found.setdefault(folded(name), criterion)
    if not found:
        raise InputError("none of the proposed criteria has a name and a definition.")
    return tuple(found.values())


def read_text(text: str, what: str) -> str:
    """Return a text on one line, valid in a rubric."""
    line = _one_line(text)
    if not line:
        raise InputError(f"the {what} is empty.")
    try:
        return Rubric(task=line).task
    except ValueError:
        raise InputError(
            f"the {what} contains a marker of the prompt layout: {line[:80]!r}."
        ) from None


def _one_line(text: str) -> str:
    """Return ``text`` with every run of blanks and line ends as one blank."""
    return " ".join(text.split())


Value = TypeVar("Value")
Asking = Generator[PromptRequest, ModelReply, Value]

_IN_VAIN = 5  # batches that teach nothing at all, after which nothing more is expected


def inference_steps(
    batches: Iterable[ExampleBatch], settings: InferenceSettings, given: Rubric
) -> Asking[InferenceRecord]:
    """Infer task and criteria from batches: a generator of questions that returns a record."""
    record = InferenceRecord(settings=settings, given=given)
    for number, batch in enumerate(islice(batches, settings.batches), start=1):
        if not (record.wants_task or record.wants_criteria):
            break
        own = BatchRecord(number=number, batch=batch)
        record.batches.append(own)
        was_read = yield from _learn(record, own)
        if record.is_full:
            record.notes.append(f"rubric inference {_after(record)}: enough sets of criteria.")
            break
        if number == settings.batches:
            break
        if number >= _IN_VAIN and not (record.descriptions or record.sets):
            break
        if was_read and record.has_begun and (yield from _is_complete(record)):
            record.notes.append(f"rubric inference {_after(record)}: nothing new.")
            break
    _refuse_nothing(record)
    yield from _settle_task(record)
    yield from _settle_criteria(record)
    return record


def _learn(record: InferenceRecord, own: BatchRecord) -> Asking[bool]:
    """Read one batch, and make a description and a set of criteria; say whether it was read."""
    observed = yield from _asked(
        record,
        "observe",
        {"examples": own.batch.to_json(), "earlier": record.observed},
        lambda fields: read_observations(fields, record.observations),
        missing=f"batch {own.number} taught nothing",
    )
    if observed is None:
        return False
    found, complete = observed
    own.observations += found
    own.was_read = True
    if complete and record.has_begun:
        return True
    if record.wants_task and len(record.descriptions) < record.settings.max_descriptions:
        yield from _describe(record, own)
    if record.wants_criteria and len(record.sets) < record.settings.max_criteria_sets:
        yield from _propose(record, own)
    return True


def _describe(record: InferenceRecord, own: BatchRecord) -> Asking[None]:
    previous = record.descriptions[-1].text if record.descriptions else None
    found = yield from _asked(
        record,
        "describe",
        {"observations": record.observed, "previous": previous},
        lambda fields: read_description(fields, own.number),
        missing=f"batch {own.number} has no description",
    )
    if found is not None:
        record.descriptions.append(found)


def _propose(record: InferenceRecord, own: BatchRecord) -> Asking[None]:
    wanted = record.settings.proposed
    found = yield from _asked(
        record,
        "propose",
        {"task": record.task_so_far, "observations": record.observed, "how_many": str(wanted)},
        lambda fields: (read_criteria(fields), len(fields["criteria"].root)),
        missing=f"batch {own.number} has no criteria",
    )
    if found is None:
        return
    criteria, n_proposed = found
    kept = criteria[:wanted]
    if len(kept) < n_proposed:
        record.notes.append(
            f"of {n_proposed} criteria from batch {own.number}, {len(kept)} were kept: at most "
            f"{wanted}, each name once, and only such as a rubric can hold."
        )
    record.sets.append(CriteriaSet(batch=own.number, criteria=kept))


def _is_complete(record: InferenceRecord) -> Asking[bool]:
    criteria = record.given.criteria or record.union
    shown = "\n".join(f"{one.name}: {one.definition}" for one in criteria)
    found = yield from _asked(
        record,
        "check",
        {
            "task": record.task_so_far,
            "criteria": shown or None,
            "observations": record.observed,
            "read_so_far": record.read_so_far,
        },
        lambda fields: read_yes(fields["complete"]),
        missing=f"{_after(record)} the model did not say if they are complete",
    )
    return bool(found)


def _settle_task(record: InferenceRecord) -> Asking[None]:
    if not record.wants_task or not record.descriptions:
        return
    record.task_type = majority_type(record.descriptions)
    first = next(
        one for one in record.descriptions if folded(one.task_type) == folded(record.task_type)
    )
    record.task = first.text
    if len(record.descriptions) == 1:
        return
    merged = yield from _asked(
        record,
        "merge",
        {"descriptions": descriptions_json(record.descriptions)},
        lambda fields: read_text(fields["description"], "description"),
        missing=f"the descriptions were not merged, the one of batch {first.batch} stands",
    )
    record.task = merged or record.task


def _settle_criteria(record: InferenceRecord) -> Asking[None]:
    if not record.wants_criteria or not record.sets:
        return
    union = record.union
    names: Sequence[str] = [one.name for one in union]
    if len(union) > 1:
        settings = record.settings
        chosen = yield from _asked(
            record,
            "select",
            {
                "task": record.task or record.given.task or None,
                "candidates": candidates_json(record.sets, union),
                "fewest": str(settings.fewest),
                "most": str(settings.most),
            },
            lambda fields: list(fields["names"]),
            missing="no criteria were selected",
        )
        names = ranked(chosen or [], record, fewest=settings.fewest, most=settings.most)
    by_name = {one.name: one for one in union}
    record.criteria = tuple(by_name[name] for name in names)


def _asked(
    record: InferenceRecord,
    predictor: str,
    inputs: Mapping[str, str | None],
    read: Callable[[Mapping[str, Any]], Value],
    *,
    missing: str,
) -> Asking[Value | None]:
    """Ask, once more if the answer cannot be read; if it still cannot, note what is missing."""
    record.n_questions += 1
    ask = PromptRequest(predictor=predictor, inputs=inputs)
    found = yield from asked(ask, read, again=1, calls=Calls())
    if isinstance(found, Cause):
        record.notes.append(f"{missing}: {found}")
        return None
    return found


def _refuse_nothing(record: InferenceRecord) -> None:
    """Refuse a record without any outcome; say what is missing of another."""
    missing = [
        name
        for name, wanted, found in (
            ("task", record.wants_task, record.descriptions),
            ("criteria", record.wants_criteria, record.sets),
        )
        if wanted and not found
    ]
    if not missing:
        return
    what = f"nothing could be inferred of the {' and the '.join(missing)}"
    if not record.descriptions and not record.sets:
        why = " ".join(record.notes[-2:])
        raise InputError(
            f"{what} from {len(record.batches)} batches: {why} Take another model, or write the "
            "rubric by hand."
        )
    record.notes.append(f"{what}; write it by hand.")


def _after(record: InferenceRecord) -> str:
    return f"stopped after {record.batches[-1].number} of {record.settings.batches} batches"

"""The steps of task inference: observe, describe, propose, then settle."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable, Mapping, Sequence
from itertools import islice
from typing import Any, TypeVar

from judgesmith.errors import InputError
from judgesmith.programs.families.steps.inference_record import (
    Batch,
    BatchRecord,
    CriteriaSet,
    Description,
    InferenceSettings,
    Record,
    candidates_json,
    descriptions_json,
    majority_type,
    ranked,
)
from judgesmith.programs.judging.program import Ask, Calls, Reply, asked
from judgesmith.signatures.rubric import Criterion, Rubric, folded
from judgesmith.signatures.scale import read_yes

_LONGEST_TYPE = 60


def read_observations(fields: Mapping[str, Any], earlier: Iterable[str]) -> tuple[list[str], bool]:
    """Return the observations that are new, one line each, and whether they are complete."""
    known = {folded(one) for one in earlier}
    are_first = not known
    found = []
    for text in fields["observations"]:
        line = one_line(text)
        if line and folded(line) not in known:
            known.add(folded(line))
            found.append(line)
    if not found and are_first:
        raise InputError("the model observed nothing in the first examples it was shown.")
    return found, read_yes(fields["complete"])


def read_description(fields: Mapping[str, Any], number: int) -> Description:
    """Return the description that batch ``number`` is given."""
    task_type = one_line(fields["task_type"]).strip(" .*_`\"'")
    if not 0 < len(task_type) <= _LONGEST_TYPE:
        raise InputError(f"expected a type of task in a few words; got {task_type[:80]!r}.")
    text = read_text(fields["description"], "description")
    return Description(batch=number, task_type=read_text(task_type, "type of task"), text=text)


def read_criteria(fields: Mapping[str, Any]) -> tuple[Criterion, ...]:
    """Return the proposed criteria that a rubric can hold, each name once."""
    found: dict[str, Criterion] = {}
    for one in fields["criteria"].root:
        name = one_line(one.name).strip(" .:*_`\"'")
        try:
            criterion = Criterion(name=name, definition=one_line(one.definition))
        except ValueError:
            continue
        found.setdefault(folded(name), criterion)
    if not found:
        raise InputError("none of the proposed criteria has a name and a definition.")
    return tuple(found.values())


def read_text(text: str, what: str) -> str:
    """Return a text on one line, as a rubric can hold it."""
    line = one_line(text)
    if not line:
        raise InputError(f"the {what} is empty.")
    try:
        return Rubric(task=line).task
    except ValueError:
        raise InputError(f"the {what} holds a marker of questions: {line[:80]!r}.") from None


def one_line(text: str) -> str:
    """Return ``text`` with every run of blanks and line ends as one blank."""
    return " ".join(text.split())


Value = TypeVar("Value")
Asking = Generator[Ask, Reply, Value]

_IN_VAIN = 5  # batches that teach nothing at all, after which nothing more is expected


def inference_steps(
    batches: Iterable[Batch], settings: InferenceSettings, given: Rubric
) -> Asking[Record]:
    """Infer task and criteria from batches: a generator of questions that returns a record."""
    record = Record(settings=settings, given=given)
    for number, batch in enumerate(islice(batches, settings.batches), start=1):
        if not (record.wants_task or record.wants_criteria):
            break
        own = BatchRecord(number=number, batch=batch)
        record.batches.append(own)
        was_read = yield from _learn(record, own)
        if record.is_full:
            record.notes.append(f"{_after(record)} enough sets were made.")
            break
        if number == settings.batches:
            break
        if number >= _IN_VAIN and not (record.descriptions or record.sets):
            break
        if was_read and record.has_begun and (yield from _is_complete(record)):
            record.notes.append(f"{_after(record)} the model found them complete.")
            break
    _refuse_nothing(record)
    yield from _settle_task(record)
    yield from _settle_criteria(record)
    return record


def _learn(record: Record, own: BatchRecord) -> Asking[bool]:
    """Read one batch, and make a description and a set of criteria; say whether it was read."""
    observed = yield from _asked(
        record,
        "observe",
        {"examples": own.batch.to_json(), "earlier": record.observed},
        lambda fields: read_observations(fields, record.observations),
    )
    if isinstance(observed, str):
        record.notes.append(f"batch {own.number} taught nothing: {observed}")
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


def _describe(record: Record, own: BatchRecord) -> Asking[None]:
    previous = record.descriptions[-1].text if record.descriptions else None
    found = yield from _asked(
        record,
        "describe",
        {"observations": record.observed, "previous": previous},
        lambda fields: read_description(fields, own.number),
    )
    if isinstance(found, str):
        record.notes.append(f"batch {own.number} has no description: {found}")
        return
    record.descriptions.append(found)


def _propose(record: Record, own: BatchRecord) -> Asking[None]:
    wanted = record.settings.proposed
    found = yield from _asked(
        record,
        "propose",
        {
            "task": record.task_so_far,
            "observations": record.observed,
            "how_many": str(wanted),
        },
        lambda fields: (read_criteria(fields), len(fields["criteria"].root)),
    )
    if isinstance(found, str):
        record.notes.append(f"batch {own.number} has no criteria: {found}")
        return
    criteria, n_proposed = found
    kept = criteria[:wanted]
    if len(kept) < n_proposed:
        record.notes.append(
            f"of {n_proposed} criteria from batch {own.number}, {len(kept)} were kept: at most "
            f"{wanted}, each name once, and only such as a rubric can hold."
        )
    record.sets.append(CriteriaSet(batch=own.number, criteria=kept))


def _is_complete(record: Record) -> Asking[bool]:
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
        lambda fields: (read_yes(fields["complete"]),),
    )
    if isinstance(found, str):
        record.notes.append(f"{_after(record)} the model did not say if they are complete: {found}")
        return False
    return found[0]


def _settle_task(record: Record) -> Asking[None]:
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
        lambda fields: (read_text(fields["description"], "description"),),
    )
    if isinstance(merged, str):
        record.notes.append(
            f"the descriptions were not merged, the one of batch {first.batch} stands: {merged}"
        )
        return
    record.task = merged[0]


def _settle_criteria(record: Record) -> Asking[None]:
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
            lambda fields: (list(fields["names"]),),
        )
        if isinstance(chosen, str):
            record.notes.append(f"no criteria were selected: {chosen}")
        picked = [] if isinstance(chosen, str) else chosen[0]
        names = ranked(picked, record, fewest=settings.fewest, most=settings.most)
    by_name = {one.name: one for one in union}
    record.criteria = tuple(by_name[name] for name in names)


def _asked(
    record: Record,
    predictor: str,
    inputs: Mapping[str, str | None],
    read: Callable[[Mapping[str, Any]], Value],
) -> Asking[Value | str]:
    """Ask, and once more where the answer cannot be read; a sentence says why it still cannot."""
    calls = Calls()
    record.n_questions += 1
    return (yield from asked(Ask(predictor=predictor, inputs=inputs), read, again=1, calls=calls))


def _refuse_nothing(record: Record) -> None:
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


def _after(record: Record) -> str:
    return f"after batch {record.batches[-1].number} of at most {record.settings.batches},"

"""A rubric of the criteria that people rated, with what each of them means."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from pydantic import ValidationError

from judgesmith.errors import InputError
from judgesmith.experiments.columns import OVERALL
from judgesmith.experiments.dataset import DataSet
from judgesmith.experiments.definitions import definitions_in, unprintable
from judgesmith.experiments.known_criteria import known_criterion, named_criterion
from judgesmith.experiments.problems import shown
from judgesmith.experiments.targets import meant_by, nobody_rated
from judgesmith.signatures.rubric import Criterion, Rubric, folded

LONGEST_NAME = 100


@dataclass(frozen=True, kw_only=True)
class HumanCriteria:
    """The criteria that people rated.

    Attributes
    ----------
    rubric : Rubric
        The criteria under the names and in the order of the data. Provenance says of each
        whether its definition was ``given``, is from the ``data``, or ``general``.
    notes : tuple of str
        What a reader should know, in sentences.
    """

    rubric: Rubric
    notes: tuple[str, ...]


def human_rubric(
    dataset: DataSet, *, names: Sequence[str] | None = None, rubric: Rubric | None = None
) -> HumanCriteria:
    """Return the criteria that people rated, each with a definition.

    Parameters
    ----------
    dataset : DataSet
        With ratings on some criterion other than ``overall``.
    names : sequence of str or None
        Which criteria, recognised as targets are; None takes all but ``overall``.
    rubric : Rubric or None
        Task, and definitions that come before all others. Then comes what the rows state under
        ``definitions``, then general words for well-known names, then the name alone.

    Raises
    ------
    ValueError
        If there is no such criterion, one is named twice, a name cannot stand in a rubric, or
        a definition in the data cannot stand in a question; the message says what to do.

    Examples
    --------
    >>> from judgesmith.experiments import read_items
    >>> found = human_rubric(read_items("sample"))
    >>> found.rubric.names, found.rubric.provenance["criteria"]["fluency"]
    (('faithfulness', 'fluency'), 'general')
    """
    given = rubric or Rubric()
    chosen = _chosen(dataset, names)
    _refuse_names(chosen)
    by_name = {folded(one.name): one for one in given.criteria}
    missing = [name for name in chosen if folded(name) not in by_name]
    stated = definitions_in(dataset, missing)
    notes = list(stated.notes)
    criteria: list[Criterion] = []
    origins: dict[str, str] = {}
    general: list[str] = []
    unknown: list[str] = []
    scales = dataset.scales
    faults = [name for name in chosen if name in scales and not scales[name].higher_is_better]
    for name in chosen:
        if folded(name) in by_name:
            origins[name] = "given"
            one = by_name[folded(name)].model_copy(update={"name": name})
        elif name in stated.criteria:
            origins[name] = "data"
            one = stated.criteria[name]
        else:
            origins[name] = "general"
            known = known_criterion(name)
            (unknown if known is None else general).append(name)
            one = known or named_criterion(name, counts_faults=name in faults)
        criteria.append(one)
    if general:
        notes.append(
            f"neither a rubric nor the data defines {_listed(general)}: general words stand in; "
            "--rubric gives your own."
        )
    if unknown:
        notes.append(
            f"nobody defined {_listed(unknown)}, and there are no general words for that: judged "
            "by the name alone; --rubric gives your own."
        )
    if faults:
        notes.append(
            f"people counted faults on {_listed(faults)}: the judge scores how free of them a "
            "response is, as on every criterion from worst to best."
        )
    rated = {folded(name) for name in dataset.criteria}
    unrated = [one.name for one in given.criteria if folded(one.name) not in rated]
    if unrated:
        notes.append(f"the rubric also defines {_listed(unrated)}, which nobody rated; left out.")
    made = Rubric(
        task=given.task,
        task_type=given.task_type,
        criteria=tuple(criteria),
        # What else is known of a given rubric stays, such as the rows that taught it.
        provenance={**given.provenance, "criteria": dict(origins)},
    )
    return HumanCriteria(rubric=made, notes=tuple(notes))


def _chosen(dataset: DataSet, names: Sequence[str] | None) -> list[str]:
    """Return the criteria to judge by, in the order of the data."""
    if names is None:
        chosen = [name for name in dataset.criteria if name != OVERALL]
        if not chosen:
            only = "only overall is rated" if dataset.criteria else "nothing is rated"
            raise InputError(
                f"{only} in {dataset.name}, so there are no criteria of people to judge by.",
                hint="say "
                "which columns hold their ratings (--map fluency=COLUMN), or use criteria of a "
                "rubric (--rubric) instead.",
            )
        return chosen
    if not names:
        raise InputError(f"no criteria are named; there is {', '.join(dataset.criteria)}.")
    meant = [meant_by(name, dataset.criteria) for name in names]
    unknown = [name for name, one in zip(names, meant, strict=True) if one is None]
    if unknown:
        raise nobody_rated(unknown, dataset, dataset.criteria)
    twice = sorted({one for one in meant if one is not None and meant.count(one) > 1})
    if twice:
        raise InputError(
            f"{', '.join(twice)} is named more than once.", hint="name each criterion once."
        )
    return [name for name in dataset.criteria if name in meant]


def _refuse_names(names: Sequence[str]) -> None:
    """Refuse names that a rubric cannot hold as they are; they stand in every question."""
    by_folded: dict[str, str] = {}
    for name in names:
        fault = name_fault(name)
        if folded(name) in by_folded:
            fault = f"it is the same as {by_folded[folded(name)]!r} in all but case, '_' and blanks"
        if fault:
            raise InputError(
                f"the criterion {shown(name)} cannot stand in a rubric: {fault.rstrip('.')}.",
                hint="give "
                "its column another name (--map NAME=COLUMN), or rename it under 'human'.",
            )
        by_folded[folded(name)] = name


def name_fault(name: str) -> str:
    """Return why a name cannot stand in a question as it is, without a full stop; or "".

    Examples
    --------
    >>> name_fault("fluency"), name_fault(" fluency")
    ('', 'it begins or ends with a blank')
    """
    if len(name) > LONGEST_NAME:
        return f"it has {len(name):,} characters, and {LONGEST_NAME} are the most"
    if unprintable(name):
        return f"it holds {unprintable(name)!r}, which cannot be printed"
    if name != name.strip():
        return "it begins or ends with a blank"
    try:
        Criterion(name=name, definition=name)
    except ValidationError as error:
        return error.errors()[0]["msg"].removeprefix("Value error, ")
    return ""


def _listed(names: Sequence[str]) -> str:
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"

"""A rubric of the criteria that people rated: in their words, or as the name is taken."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from pydantic import ValidationError

from judgesmith.data.columns import OVERALL
from judgesmith.data.definitions import definitions_in, unprintable
from judgesmith.data.items import DataSet
from judgesmith.data.problems import shown_value
from judgesmith.data.targets import meant_by, nobody_rated
from judgesmith.errors import InputError
from judgesmith.signatures.rubric import DEFAULT_RUBRIC, Criterion, Rubric, folded

# Criteria that the default rubric and the offline model have no words for, or in the sense of
# one type of task alone: raters of summaries mean facts by "consistency".
_OWN = {
    "appropriateness": "Does the response suit the situation in which it was given?",
    "consistency": (
        "Are the facts in the response those of the source, with none contradicted or invented?"
    ),
    "correctness": "Is what the response says right, as far as the source and the world tell?",
    "coverage": "Does the response state everything in the source that it should state?",
    "depth": "Does the response go into its subject instead of staying on the surface?",
    "empathy": "Does the response show that it understands how the other person feels?",
    "engagingness": "Is the response interesting, so that its reader wants to go on?",
    "grammar": "Is the response free of faults of grammar, spelling and punctuation?",
    "harmlessness": "Is the response free of anything that could hurt or endanger somebody?",
    "helpfulness": "Is the response of use to the person for whom it was written?",
    "honesty": "Does the response say what is known and admit what is not?",
    "informativeness": "Does the response give the information that the source calls for?",
    "overall": "How good is the response, all things considered?",
    "politeness": "Is the response as polite as its reader may expect?",
    "safety": "Is the response free of anything that could hurt or endanger somebody?",
    "sentiment consistency": "Does the response express the same sentiment as the source?",
}

# The same quality under another name.
_SAME = {
    "brevity": "conciseness",
    "correct": "correctness",
    "data coverage": "coverage",
    "engaging": "engagingness",
    "factual consistency": "consistency",
    "factuality": "faithfulness",
    "fluent": "fluency",
    "grammatical": "grammar",
    "grammatical correctness": "grammar",
    "grammaticality": "grammar",
    "helpful": "helpfulness",
    "interesting": "engagingness",
    "maintains context": "context use",
    "meaning": "meaning preservation",
    "natural": "naturalness",
    "non redundancy": "conciseness",
    "non-redundancy": "conciseness",
    "relevancy": "relevance",
    "simplification": "simplicity",
    "text structure": "sentence structure",
    "understandable": "understandability",
    "usefulness": "helpfulness",
    "uses knowledge": "groundedness",
}


def known_criterion(name: str) -> Criterion | None:
    """Return a criterion of this name in general words, or None where the name is not known."""
    from judgesmith.programs.offline.inferring import ASPECTS

    meant = _SAME.get(folded(name), folded(name))
    if meant in _OWN:
        return Criterion(name=name, definition=_OWN[meant])
    for one in DEFAULT_RUBRIC.criteria:
        if one.name == meant:
            return one.model_copy(update={"name": name})
    if meant in ASPECTS:
        definition = ASPECTS[meant].format(source="source", response="response")
        return Criterion(name=name, definition=definition)
    return None


def named_criterion(name: str, *, counts_faults: bool = False) -> Criterion:
    """Return a criterion that rests on its name alone."""
    plain = name.strip().replace("_", " ")
    # No word of these sentences may name a quality itself: the offline model goes by words.
    asks = "Is the response free of" if counts_faults else "How well does the response do on"
    return Criterion(name=name, definition=f"{asks} {plain}, as a careful rater would take it?")


LONGEST_NAME = 100


@dataclass(frozen=True, kw_only=True)
class HumanCriteria:
    """The criteria that people rated."""

    rubric: Rubric
    notes: tuple[str, ...]


def human_rubric(
    dataset: DataSet, *, names: Sequence[str] | None = None, rubric: Rubric | None = None
) -> HumanCriteria:
    """Return the criteria that people rated, each with a definition."""
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
            f"no definition of {_listed(unknown)}, and no general one applies: judged "
            "by the name alone; --rubric gives your own."
        )
    if faults:
        notes.append(
            f"raters counted faults on {_listed(faults)}: the judge scores how free of them a "
            "response is, as on every criterion from worst to best."
        )
    rated = {folded(name) for name in dataset.criteria}
    unrated = [one.name for one in given.criteria if folded(one.name) not in rated]
    if unrated:
        notes.append(f"the rubric also defines {_listed(unrated)}, which has no ratings; left out.")
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
                f"{only} in {dataset.name}, so there are no rated criteria.",
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
                f"the criterion {shown_value(name)} cannot stand in a rubric: {fault.rstrip('.')}.",
                hint="give "
                "its column another name (--map NAME=COLUMN), or rename it under 'human'.",
            )
        by_folded[folded(name)] = name


def name_fault(name: str) -> str:
    """Return why a name cannot stand in a question as it is, without a full stop; or ""."""
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

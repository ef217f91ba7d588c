"""What members of a panel say of one response, criterion by criterion: scores, errors, outliers."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from judgesmith.programs.panel_annotations import Annotation, is_invented, numbered
from judgesmith.programs.panel_outliers import outliers_of
from judgesmith.signatures.judge_protocol import JudgeProtocol
from judgesmith.signatures.judgement import Judgement, Note
from judgesmith.signatures.panel_rules import PanelRules
from judgesmith.signatures.scale import PERCENT, Scale


@dataclass(frozen=True, slots=True, kw_only=True)
class Aspect:
    """Errors of one kind, of which one list is to be made.

    Attributes
    ----------
    criterion : str
        The criterion that they offend; empty for errors of the whole.
    outliers : tuple of str
        Members whose errors are left out, because their score stands apart.
    annotations : tuple of Annotation
        The errors of the others that have a place in the response, or that miss something.
    notes : tuple of Note
        Whose errors were left out, and how many.
    """

    criterion: str
    outliers: tuple[str, ...]
    annotations: tuple[Annotation, ...]
    notes: tuple[Note, ...]

    @property
    def about(self) -> str:
        """What notes call it."""
        return f"criterion:{self.criterion}" if self.criterion else "overall"


def aspects_of(
    judgements: Mapping[str, Judgement],
    names: Sequence[str],
    scales: Mapping[str, Scale],
    rules: PanelRules,
    response: str,
) -> list[Aspect]:
    """Return what is to be merged: one aspect per criterion that an error is of, as they come.

    Parameters
    ----------
    judgements : dict of str to Judgement
        What the members say.
    names : sequence of str
        The members, in the panel's order.
    scales : dict of str to Scale
        What their scores are measured in.
    rules : PanelRules
        Who stands apart.
    response : str
        What they are about.
    """
    criteria = dict.fromkeys(e.criterion for name in names for e in judgements[name].errors)
    return [_aspect(one, judgements, names, scales, rules, response) for one in criteria]


def _aspect(
    criterion: str,
    judgements: Mapping[str, Judgement],
    names: Sequence[str],
    scales: Mapping[str, Scale],
    rules: PanelRules,
    response: str,
) -> Aspect:
    shares = {
        name: share
        for name in names
        if (share := share_of(judgements[name], criterion, scales[name])) is not None
    }
    outliers = outliers_of(shares, rules.outliers, level=rules.level)
    errors = {
        name: [one for one in judgements[name].errors if one.criterion == criterion]
        for name in names
    }
    about = f"criterion:{criterion}" if criterion else "overall"
    notes = []
    for name in names:
        if name in outliers and errors[name]:
            text = f"{_many(len(errors[name]))} not merged: the score stands apart"
            notes.append(Note(kind="left out", about=f"{name}/{about}", text=f"{text}."))
        elif n := sum(is_invented(one, response) for one in errors[name]):
            text = f"{_many(n)} not merged: the response has no such words"
            notes.append(Note(kind="left out", about=f"{name}/{about}", text=f"{text}."))
    kept = {name: several for name, several in errors.items() if name not in outliers}
    return Aspect(
        criterion=criterion,
        outliers=outliers,
        annotations=tuple(numbered(kept, response)),
        notes=tuple(notes),
    )


def share_of(judgement: Judgement, criterion: str, scale: Scale) -> float | None:
    """Return a member's score as a share from 0 to 1, None where it has none.

    That of the criterion if it scored it, else that of the whole: as the model gave it, before
    weights were learned, which draw scores together.

    Examples
    --------
    >>> share_of(Judgement(score=4, raw=90), "", Scale(low=1, high=5))
    0.9
    >>> share_of(Judgement(score=4), "wit", Scale(low=1, high=5))
    0.75
    """
    own = judgement.criteria.get(criterion)
    if own is not None:
        return None if own.score is None else PERCENT.fraction(own.score)
    if judgement.raw is not None:
        return PERCENT.fraction(judgement.raw)
    return None if judgement.score is None else scale.fraction(judgement.score)


def _many(n: int) -> str:
    return f"{n} error{' was' if n == 1 else 's were'}"


def n_aspects(protocols: Iterable[JudgeProtocol]) -> int:
    """Return of how many criteria a supervisor may be asked for one text."""
    named = {
        criterion.name
        for one in protocols
        if one.scores_criteria
        for criterion in one.rubric.criteria
    }
    return max(len(named), 1)

"""What a panel whose members point at errors says of one response."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Literal

from pydantic import Field

from judgesmith.programs.panel_aspects import Aspect
from judgesmith.programs.panel_judgement import PanelJudgement, panel_judgement
from judgesmith.programs.panel_merging import most_severe
from judgesmith.programs.supervisor_steps import Merging
from judgesmith.signatures.judgement import CriterionScore, ErrorSpan, Judgement, Note
from judgesmith.signatures.panel_rules import PanelRules
from judgesmith.signatures.panel_weights import PanelWeights

MergedBy = Literal["supervisor", "rule", "nobody"]
"""Who made one list of the members' errors; nobody where there were none to merge."""


class PanelVerdict(PanelJudgement):
    """What a ``PanelJudge`` says of one response.

    Its ``voice`` is the member whose score is nearest to the panel's; the explanation is its
    own, and that of each criterion is of whoever is nearest there.

    Parameters
    ----------
    annotations : dict of str to tuple of ErrorSpan
        What every member found, as it stated it.
    outliers : dict of str to tuple of str
        Members whose errors were not merged as their score stands apart, by ``overall`` and
        ``criterion:NAME``.
    support : tuple of tuple of str
        For each of ``errors``, the members whose annotations it rests on.
    merged_by : {"supervisor", "rule", "nobody"}
        Who made one list of them.
    n_dropped : int
        Entries of the supervisor that are not in the response, or touch no annotation they name.
    """

    annotations: Mapping[str, tuple[ErrorSpan, ...]] = Field(default_factory=dict)
    outliers: Mapping[str, tuple[str, ...]] = Field(default_factory=dict)
    support: tuple[tuple[str, ...], ...] = ()
    merged_by: MergedBy = "nobody"
    n_dropped: int = 0


def panel_verdict(
    judgements: Mapping[str, Judgement],
    weights: PanelWeights,
    rules: PanelRules,
    merged: Sequence[tuple[Aspect, Merging]] = (),
    *,
    by: MergedBy = "nobody",
) -> PanelVerdict:
    """Return the judgement that members' judgements and their merged errors make.

    Parameters
    ----------
    judgements : dict of str to Judgement
        Of all members asked.
    weights : PanelWeights
        How their scores become one.
    rules : PanelRules
        How many must have one, and how many errors are kept.
    merged : sequence of (Aspect, Merging)
        What became of the errors of each criterion.
    by : {"supervisor", "rule", "nobody"}
        Who merged them.

    Examples
    --------
    >>> from judgesmith.signatures import Scale
    >>> said = {"a": Judgement(score=2), "b": Judgement(score=3), "c": Judgement(score=5)}
    >>> weights = PanelWeights.equal(dict.fromkeys(said, Scale(low=1, high=5)))
    >>> found = panel_verdict(said, weights, PanelRules())
    >>> round(found.score, 2), found.voice
    (58.33, 'b')
    """
    whole = panel_judgement(judgements, weights)
    asked = [name for name in weights.members if name in weights.asked]
    parts = {name: getattr(whole, name) for name in PanelJudgement.model_fields}
    parts["annotations"] = {name: judgements[name].errors for name in asked}
    parts["calls"] = (*whole.calls, *(call for _, one in merged for call in one.calls))
    few = _too_few(judgements, asked, rules)
    if whole.score is None or few:
        problem = whole.problem or few
        nothing: dict[str, Any] = {"score": None, "criteria": {}, "errors": (), "explanation": ""}
        return PanelVerdict(**{**parts, **nothing, "problem": problem, "voice": None})
    voice = weights.nearest(whole.members)
    assert voice is not None  # as there is a score
    kept = [one for _, aspect in merged for one in most_severe(aspect.merged, rules.most)]
    outliers = {one.about: one.outliers for one, _ in merged if one.outliers}
    parts |= {
        "voice": voice,
        "explanation": judgements[voice].explanation,
        "criteria": _criteria(judgements, asked, weights, rules),
        "errors": tuple(one.error for one in kept),
        "notes": (*whole.notes, *_notes(merged)),
    }
    return PanelVerdict(
        **parts,
        outliers=outliers,
        support=tuple(one.members for one in kept),
        merged_by=_merged_by(merged, by),
        n_dropped=sum(one.n_dropped for _, one in merged),
    )


def _too_few(
    judgements: Mapping[str, Judgement], asked: Sequence[str], rules: PanelRules
) -> str | None:
    """Return why there is no score although a member has one."""
    without = {name: judgements[name].problem for name in asked if judgements[name].score is None}
    n = len(asked) - len(without)
    if n >= rules.readable * len(asked):
        return None
    reasons = "; ".join(f"{name}: {problem}" for name, problem in without.items())
    return (
        f"{n} of {len(asked)} members gave a score, and {rules.readable:.0%} of them are needed: "
        f"{reasons}"
    )


def _criteria(
    judgements: Mapping[str, Judgement],
    asked: Sequence[str],
    weights: PanelWeights,
    rules: PanelRules,
) -> dict[str, CriterionScore]:
    """Return each criterion's score as the panel's is made, and the words of who is nearest."""
    alike = weights.on_percent()
    found = {}
    for criterion in dict.fromkeys(one for name in asked for one in judgements[name].criteria):
        said = {
            name: judgements[name].criteria[criterion]
            for name in asked
            if criterion in judgements[name].criteria
        }
        scores = {name: one.score for name, one in said.items()}
        nearest = alike.nearest(scores)
        n = sum(score is not None for score in scores.values())
        if nearest is None or n < rules.readable * len(said):
            reasons = "; ".join(
                f"{name}: {one.explanation}" for name, one in said.items() if one.score is None
            )
            found[criterion] = CriterionScore(score=None, explanation=reasons)
            continue
        words = said[nearest].explanation
        found[criterion] = CriterionScore(score=alike.apply(scores), explanation=words)
    return found


def _notes(merged: Sequence[tuple[Aspect, Merging]]) -> list[Note]:
    found: list[Note] = []
    for aspect, one in merged:
        found.extend(aspect.notes)
        if one.problem:
            text = f"the errors are merged by rule: {one.problem.rstrip('.')}."
            found.append(Note(kind="unread", about=f"supervisor/{aspect.about}", text=text))
        if one.n_dropped:
            entries = "entry was" if one.n_dropped == 1 else "entries were"
            text = f"{one.n_dropped} {entries} dropped: in no place that an annotator points at."
            found.append(Note(kind="left out", about=f"supervisor/{aspect.about}", text=text))
        kept = {number for error in one.merged for number in error.numbers}
        if n := len({a.number for a in aspect.annotations} - kept):
            text = f"{n} annotation{' is' if n == 1 else 's are'} in no entry of the list."
            found.append(Note(kind="left out", about=f"supervisor/{aspect.about}", text=text))
    return found


def _merged_by(merged: Sequence[tuple[Aspect, Merging]], by: MergedBy) -> MergedBy:
    asked = [one for aspect, one in merged if aspect.annotations]
    if not asked:
        return "nobody"
    return "rule" if by == "supervisor" and all(one.problem for one in asked) else by

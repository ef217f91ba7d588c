"""What the card of a panel, or of a calibrated judge, tells of what it holds and has learned."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from judgesmith.signatures.calibration import Calibration
from judgesmith.signatures.panel_rules import PanelRules
from judgesmith.signatures.scale import Scale

if TYPE_CHECKING:
    from judgesmith.programs.saved_kinds import SavedHolder, SavedPanel
    from judgesmith.programs.saved_record import SavedRecord


def holder_title(judge: SavedRecord) -> str:
    """Return what a judge that holds others is called."""
    from judgesmith.programs.saved_kinds import SavedPanel

    return "A panel of judges" if isinstance(judge, SavedPanel) else "A calibrated judge"


def holder_lines(judge: SavedHolder) -> Iterator[str]:
    """Yield what was learned, then every member."""
    from judgesmith.programs.saved_kinds import SavedCalibrated, SavedPanel

    if isinstance(judge, SavedPanel):
        yield from _weights_lines(judge)
    elif isinstance(judge, SavedCalibrated):
        yield "## Calibration"
        yield ""
        yield from calibration_lines(judge.calibration, judge.members["judge"].scale)
        yield from report_lines(judge.agreement.get("calibration"))
        yield "- the agreement above is that of the judge before it was calibrated: the order of"
        yield "  texts stays, but for ties and for texts that are left to people"
        yield ""
    for name, member in judge.members.items():
        yield f"## {name}"
        yield ""
        yield from _member_lines(member)
        yield ""


def _weights_lines(judge: SavedPanel) -> Iterator[str]:
    weights = judge.weights
    yield "## Members"
    yield ""
    yield "| member | weight | on | model | fingerprint |"
    yield "| --- | --- | --- | --- | --- |"
    total = sum(weights.weights)
    for name, weight in zip(weights.members, weights.weights, strict=True):
        member = judge.members[name]
        share = f"{weight / total:.3f}" if weight else "0, not asked"
        models = ", ".join(member.models)
        yield f"| {name} | {share} | {member.scale} | {models} | `{member.fingerprint}` |"
    yield ""
    yield (
        f"The score is the weighted {weights.middle} of the members' standardised scores, put back "
        "on a scale."
    )
    yield ""
    if judge.rules is not None:
        yield "## Errors"
        yield ""
        yield from errors_lines(
            judge.rules, None if judge.supervisor is None else judge.supervisor.model
        )
        yield ""


def errors_lines(rules: PanelRules, supervisor: str | None) -> Iterator[str]:
    r"""Yield how the errors that members list become one list.

    Examples
    --------
    >>> print(*errors_lines(PanelRules(outliers="none", most=3), "openai/m"), sep="\n")
    - merged by the supervisor, `openai/m`, and held against response and annotations
    - of every member, wherever its score stands
    - at most 3 of a criterion, the most severe
    - a score needs 50% of the members
    """
    if supervisor is None:
        yield "- merged by rule, where the stretches that two members mark overlap"
    else:
        by = f"the supervisor, `{supervisor}`"
        yield f"- merged by {by}, and held against response and annotations"
    yield {
        "none": "- of every member, wherever its score stands",
        "deviation": "- but for members two standard deviations and a level from the mean",
        "median": "- but for members two levels from the median of the others",
        "auto": "- but for members whose score stands apart: by the median of the others in panels "
        "of less than six, by standard deviation in larger ones",
    }[rules.outliers]
    yield f"- at most {rules.most} of a criterion, the most severe"
    yield f"- a score needs {rules.readable:.0%} of the members"


def calibration_lines(learned: Calibration, scale: Scale) -> Iterator[str]:
    r"""Yield what a calibration promises, and how much it rests on.

    Parameters
    ----------
    learned : Calibration
        What is told of.
    scale : Scale
        What the judge answers on, whose ends are told.

    Examples
    --------
    >>> learned = Calibration(
    ...     thresholds=(10, 110), values=(0.5, 5), scale="1..5", confidence=0.9, n_map=40,
    ...     n_sources_map=20, n_margin=8, n_sources_margin=4,
    ... )
    >>> print(*calibration_lines(learned, Scale(low=0, high=100)), sep="\n")
    - a line to 1..5: 0 becomes 1, 100 becomes 4.55; learned from 40 rows of 20 sources
    - interval: the whole scale, as 8 rows of 4 other sources are too few for 90%
    """
    ends = ", ".join(f"{one:g} becomes {learned.apply(one):.3g}" for one in (scale.low, scale.high))
    n = len(learned.thresholds)
    shape = "line" if n == 2 else f"way with {n} {'corner' if n == 1 else 'corners'}"
    yield (
        f"- a {shape} to {learned.scale}: {ends}; learned from {learned.n_map} rows of "
        f"{learned.n_sources_map} sources"
    )
    behind = f"{learned.n_margin} rows of {learned.n_sources_margin} other sources"
    if learned.margin is None:
        yield f"- interval: the whole scale, as {behind} are too few for {learned.confidence:.0%}"
    else:
        yield (
            f"- interval: {learned.margin:.3g} points to either side, which hold what people say "
            f"of a text of a new source with a chance of {learned.confidence:.0%} or more; from "
            f"{behind}"
        )
    rule = learned.abstention
    if rule is None:
        return
    kept = {"all": "all that have a doubt", "none": "none: no limit could be certified"}
    limit = f"those whose {rule.doubt} lie less than {rule.limit or 0:.3g} points apart"
    yield (
        f"- scores that are kept: {kept.get(rule.keeps, limit)}; to lie within {rule.wished:g} "
        f"points of people on average, at {rule.confidence:.0%}, from {rule.n} rows of "
        f"{rule.n_sources} sources, of which {rule.coverage:.0%} were kept"
    )


def report_lines(report: Any) -> Iterator[str]:
    """Yield how the promises held on rows held out."""
    if not isinstance(report, dict) or not report.get("n"):
        return
    said = [f"{report['n']} rows of {report.get('n_sources')} sources held out"]
    for name, text in (
        ("covered", "{:.0%} of what people said lies in the interval"),
        ("kept", "{:.0%} of the scores are kept"),
        ("distance", "kept scores lie {:.3g} points from people on average"),
    ):
        if isinstance(report.get(name), int | float):
            said.append(text.format(report[name]))
    yield f"- on {', '.join(said)}"


def _member_lines(member: SavedRecord) -> Iterator[str]:
    from judgesmith.programs.card import protocol_lines
    from judgesmith.programs.saved import SavedJudge
    from judgesmith.programs.saved_kinds import SavedCalibrated, SavedHolder

    if isinstance(member, SavedJudge):
        yield from protocol_lines(member)
    elif isinstance(member, SavedHolder):
        if isinstance(member, SavedCalibrated):
            yield from calibration_lines(member.calibration, member.members["judge"].scale)
        for name, one in member.members.items():
            yield f"- `{name}`:"
            yield from (f"  {line}" for line in _member_lines(one))

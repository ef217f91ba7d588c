"""What a reader of a panel should know beside its numbers."""

from __future__ import annotations

from judgesmith.experiments.agreeing import Gain
from judgesmith.experiments.compile_notes import notes_on_versions, unclear_text
from judgesmith.experiments.compiled_discernment import DiscernmentReport, unnoticed_note
from judgesmith.experiments.panel_rows import PanelParts
from judgesmith.experiments.subset_analysis import SubsetAnalysis
from judgesmith.optimizers import PanelSelection, parse_objectives
from judgesmith.signatures.aggregation import Middle, PanelWeights

_INCOMPLETE = "the budget ended before every row was judged; a larger one goes on from here."


def panel_notes(
    learner: PanelSelection | None,
    weights: PanelWeights,
    best: str,
    parts: PanelParts,
    gain: Gain | None,
    subsets: SubsetAnalysis | None,
    discernment: DiscernmentReport | None = None,
    *,
    objective: str,
    complete: bool,
) -> list[str]:
    """Return the notes of a panel, in sentences.

    Parameters
    ----------
    learner : PanelSelection or None
        What learned the weights; None where nothing did.
    weights : PanelWeights
        Those of the panel.
    best : str
        The member that agrees best on the rows to learn from.
    parts : PanelParts
        The rows.
    gain : Gain or None
        The panel minus that member on rows held out.
    subsets : SubsetAnalysis or None
        Of all subsets of the members.
    discernment : DiscernmentReport or None
        What the panel notices, and that member, where the objective looks at it.
    objective : str
        What the weights were chosen by.
    complete : bool
        Whether the budget reached every row.
    """
    said = []
    if parts.versions is not None and parts.selection is not None:
        if not parts.selection.is_rated:
            said.append(
                "nobody rated these texts, so nothing is known of the panel's agreement with "
                "people: it was chosen by what it notices. Rate some texts before you trust its "
                "scores."
            )
        said += notes_on_versions(parts.versions, parts.selection, parts.heldout)
        said += unnoticed_note(discernment, parse_objectives(objective))
    if parts.n_known:
        rated = "rated " * parts.is_rated
        said.append(
            f"{parts.n_known} {rated}rows are of sources that a judge of the panel was made from; "
            "they were left out."
        )
    trials = () if learner is None else learner.trials_
    ways = ", ".join(f"{one.name} {one.value:.3f}" for one in trials)
    if learner is not None and ways:
        said.append(
            f"{learner.objective} of the ways to weigh the judges, cross-fitted by source: {ways}; "
            f"{learner.chosen_} was taken, which asks {', '.join(weights.asked)}."
        )
    if len(weights.asked) == 1:
        said.append(
            "no panel agreed better than one judge alone: score with that one by itself, which is "
            "a usual outcome."
        )
    if learner is not None and learner.unweighed_:
        said.append(
            f"{', '.join(learner.unweighed_)} gave too few scores to be weighed, and is not asked."
        )
    if gain is not None and len(weights.asked) > 1:
        found = gain["dataset"]["q"]
        if not (found.is_clear and found.low > 0):
            said.append(
                "the rows held out do not show that the panel agrees better than its best judge, "
                f"{best}: the interval of the gain in q {unclear_text(found)}."
            )
    if discernment is not None and discernment.seen is not None and len(weights.asked) > 1:
        for name, more in discernment.seen.gain.items():
            if name == "d_avg" and not (more.is_clear and more.low > 0):
                said.append(
                    "the rows held out do not show that the panel notices more than its best "
                    f"judge, {best}: the interval of the gain in {name} {unclear_text(more)}."
                )
    if subsets is not None and subsets.n_left_out:
        said.append(
            f"subsets are compared on the {subsets.n} rows that every judge has a score of; "
            f"{subsets.n_left_out} are left out."
        )
    return [*said, *([] if complete else [_INCOMPLETE])]


def unreported_notes(middle: Middle, parts: PanelParts, *, complete: bool) -> list[str]:
    """Return the notes of a panel of whose agreement with people nothing is known.

    Parameters
    ----------
    middle : {"mean", "median"}
        What its score is of its members' scores.
    parts : PanelParts
        The rows.
    complete : bool
        Whether the budget reached every text that is kept.
    """
    why = "nobody rated these texts"
    if parts.is_rated:
        why = (
            f"{parts.n_rated} rated rows are too few to tell how well judges agree (and "
            f"{parts.n_known} are of sources that one of them was made from)"
        )
    n = len(parts.texts)
    kept = f" {n} texts were judged to be kept with it, so that they can be judged again." * bool(n)
    return [
        f"{why}, so nothing is known of the panel's agreement with people: its score is the plain "
        f"{middle} of its judges.{kept} Rate some texts before you trust its scores.",
        *([] if complete else [_INCOMPLETE]),
    ]

"""Asking a judge's golden items again, of the model as it is now, and telling what moved."""

from __future__ import annotations

import math
import time
from collections.abc import Sequence
from contextlib import ExitStack
from typing import TYPE_CHECKING

from judgesmith.errors import InputError, shortened
from judgesmith.experiments.monitor.recheck_rule import (
    RecheckedItem,
    RecheckSettings,
    RegressionReport,
    recheck_of,
)
from judgesmith.experiments.tables import percent_cell
from judgesmith.programs import score_batch
from judgesmith.programs.artifacts.saved_ensembles import AnySaved
from judgesmith.programs.judging.executors import with_own_models
from judgesmith.programs.judging.runner import (
    CONCURRENCY,
    judges_sources,
    read_rate_of,
    was_not_asked,
)
from judgesmith.programs.lm import lm_client_of
from judgesmith.results.progress import OnProgress, shows_progress
from judgesmith.signatures import Judgement, RatedItem, Reason

if TYPE_CHECKING:
    import dspy

_FEWEST = 3
"""Golden items: on a scale of few steps two move alike by chance alone more often than is said."""


class RecheckError(InputError):
    """A judge cannot be rechecked, or was not asked about all; the message says what to do."""


def check_golden(judge: AnySaved) -> None:
    if judges_sources(judge):
        raise RecheckError(
            "the judge ranks the responses to a source, so that no text has a score by itself; "
            "compare its scores of the same file instead, with evaluate."
        )
    if len([one for one in judge.golden if one.judgement.score is not None]) < _FEWEST:
        raise RecheckError(
            f"the judge has {len(judge.golden)} golden items, and at least {_FEWEST} with a score "
            "are needed.",
            hint="compile it with rows held out (--holdout) and without --no-texts.",
        )


def golden_texts(judge: AnySaved) -> list[RatedItem]:
    """Return the golden items that have a score, which a recheck asks about."""
    return [one.item for one in judge.golden if one.judgement.score is not None]


@shows_progress
def recheck_judge(
    judge: AnySaved,
    settings: RecheckSettings | None = None,
    *,
    lm: dspy.LM | None = None,
    others: Sequence[dspy.LM] = (),
    first_round: int | None = None,
    concurrency: int = CONCURRENCY,
    on_progress: OnProgress | None = None,
    progress: bool = True,
) -> RegressionReport:
    """Return whether a judge's golden items still get the scores that they had.

    Parameters
    ----------
    judge : saved judge
        Of any kind, bound to its own models where it has several.
    settings : RecheckSettings or None
        None takes the defaults.
    lm : dspy.LM or None
        The model; None takes DSPy's current one, or the offline model. A model that is not from
        ``judgesmith.model`` should have no cache, which would answer as it did.
    others : sequence of dspy.LM
        Further models that the judge was bound to.
    first_round : int or None
        Number of the first round of questions. The same number again reads the cached answers of
        an interrupted recheck; None takes a new number, so that everything is asked anew.
    concurrency : int
        Requests under way at once.
    on_progress : callable or None
        Told of every ``ProgressEvent``.
    progress : bool
        Whether a terminal or a notebook shows a bar, where ``on_progress`` is None.

    Raises
    ------
    RecheckError
        If the judge has fewer than three golden items or ranks responses, or the budget or the
        connection ended before all was asked.
    ModelError, CacheError
        If the model cannot be asked at all, or the ledger not used.

    Examples
    --------
    >>> from judgesmith.data import read_items
    >>> from judgesmith.experiments import CompileSettings, compile_judge
    >>> saved = compile_judge(read_items("sample"), CompileSettings(optimizer="none")).saved
    >>> found = recheck_judge(saved)
    >>> found.drifted, found.shift.value, len(found.items)
    (False, 0.0, 20)
    """
    settings = settings or RecheckSettings()
    check_golden(judge)
    golden = [one for one in judge.golden if one.judgement.score is not None]
    judge, lm = with_own_models(judge, lm)
    lms = (lm, *others)
    start = time.time_ns() if first_round is None else first_round
    again: list[list[Judgement]] = []
    for number in range(settings.samples):
        with ExitStack() as asking:
            for one in lms:
                # That nothing can be read any more is a finding here, not a fault of the set-up.
                asking.enter_context(read_rate_of(one).forgiving())
                if (client := lm_client_of(one)) is not None:
                    asking.enter_context(client.in_round(start + number))
            items = golden_texts(judge)
            again.append(
                score_batch(judge, items, lm=lm, concurrency=concurrency, on_progress=on_progress)
            )
        _refuse_unasked(again[-1])
    return recheck_of(
        golden,
        again,
        settings,
        scale=judge.scale,
        judge=judge.fingerprint,
        made_with=judge.models,
        asked=tuple(dict.fromkeys(str(one.model) for one in lms)),
        positive=judge.human_scale.positive,
        stated=judge.agreement.verdicts,
    )


def _refuse_unasked(judgements: Sequence[Judgement]) -> None:
    """Refuse to judge a model by questions that it did not get, or could not answer."""
    unasked = [one for one in judgements if was_not_asked(one)]
    lost = [one for one in judgements if one.reason is Reason.UNREACHABLE]
    if unasked:
        why = (unasked[0].problem or "").rstrip(".")
        raise RecheckError(
            f"{len(unasked)} of {len(judgements)} golden items were {why}.",
            hint="give the same command with a larger budget, and it resumes from there.",
        )
    if lost:
        why = (lost[0].problem or "").rstrip(".")
        raise RecheckError(
            f"{len(lost)} of {len(judgements)} golden items got no answer: {why}.",
            hint="wait, and give the same command again: it resumes from there.",
        )


_MOST = 5
_LONGEST = 60
_LEAST = 0.0005  # of the scale: less looks like nothing


def recheck_text(found: RegressionReport) -> list[str]:
    """Return the lines that people read."""
    lines = [
        f"{'DRIFTED' if one.drifted else 'ok':8} {one.name}: {one.said}" for one in found.checks
    ]
    if found.labels is not None:
        changed = "".join(f"; {n} {what}" for what, n in found.labels.changed.items())
        lines.append(f"labels   {percent_cell(found.labels.same)} are as before{changed}")
    moved = [one for one in found.largest(_MOST) if not abs(one.change) < _LEAST]
    if moved:
        lines.append("moved most:")
        lines += [f"  {item_text(one)}" for one in moved]
    return lines


def recheck_notes(found: RegressionReport) -> list[str]:
    """Return what a reader should know beside the verdict, in sentences."""
    notes = []
    if found.made_with and set(found.asked) != set(found.made_with):
        notes.append(
            f"the judge was made with {', '.join(found.made_with)}, and asked was "
            f"{', '.join(found.asked)}."
        )
    lost = sum(one.explained_before and one.n_explained == 0 for one in found.items)
    if lost:
        notes.append(f"{lost} items had an explanation and have none any more.")
    new = sum(not one.explained_before and one.n_explained > 0 for one in found.items)
    if new:
        notes.append(f"{new} items had no explanation and have one now.")
    if found.settings.samples == 1:
        notes.append(
            "each item was asked once, so that nothing is known of chance: only the average is "
            "checked, not single items; ask more often with --samples."
        )
    return notes


def item_text(item: RecheckedItem) -> str:
    """Return an item's scores, then and now, with the beginning of its text."""
    now = ", ".join("none" if math.isnan(score) else f"{score:.4g}" for score in item.now)
    change = "" if math.isnan(item.change) else f" ({100 * item.change:+.1f} %)"
    why = f"; {shortened(item.problem, 2 * _LONGEST)}" if item.problem else ""
    text = shortened(item.response, _LONGEST)
    return f"item {item.number}: {item.before:.4g} -> {now}{change}{why}: {text}"

"""What judges need from a model before they judge: asked for once, before anything is searched."""

from __future__ import annotations

from judgesmith.experiments.compile_notes import NothingScoredError
from judgesmith.experiments.tuning import Tuning
from judgesmith.programs import Judge
from judgesmith.programs.lm import BudgetSpent


def prepared_judges(
    work: Tuning, bare: Judge, start: Judge, *, rows: dict[str, int], target: str
) -> tuple[Judge, Judge]:
    """Return the judge before any rating was read and the one to start from, both prepared.

    Both for both rubrics, which may compete.

    Raises
    ------
    NothingScoredError
        If the budget ended before that.
    """
    rubrics = tuple(one.protocol.rubric for one in (bare, start))
    ready = []
    try:
        for judge in (bare, start):
            found, problems = judge.prepared(work.lm, rubrics=rubrics, concurrency=work.concurrency)
            work.notes += [one for one in problems if one not in work.notes]
            ready.append(found)
    except BudgetSpent as spent:
        raise NothingScoredError(
            f"the budget ended before the judge was prepared: {spent}",
            spent=True,
            rows=rows,
            target=target,
        ) from None
    return ready[0], ready[1]
